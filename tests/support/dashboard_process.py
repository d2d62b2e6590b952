"""The dashboard as a process, with a folder of runs whose contents are known."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from recordings.datasets.dataset_file import write_games
from recordings.jsonl import append_record
from solver_server.ntuple.files.native import save_weights
from solver_server.ntuple.network import Network
from solver_server.ntuple.patterns import Pattern
from support.dataset_games import played
from support.recorded import worked_game

TRAINING_ROWS = [
    # Games, moves, seconds, mean, share with 2048: 50 moves a second first, then 200.
    (100, 1000, 20.0, 1000.0, 0.0),
    (200, 3000, 30.0, 3000.0, 0.25),
    (300, 5000, 40.0, 9000.0, 0.5),
]
FIVE_BY_FIVE_MOVES = 40


class DashboardProcess(NamedTuple):
    """A running dashboard.

    Attributes:
        url: its address, without a slash at the end.
        runs: the folder that it shows.
        process: the process; its standard error is a pipe.
    """

    url: str
    runs: Path
    process: subprocess.Popen[str]


@contextmanager
def dashboard_process(runs: Path, *arguments: str) -> Iterator[DashboardProcess]:
    """Start ``dashboard`` on a free port; at the end its input ends, and so does it."""
    command = [sys.executable, "-m", "bot.cli.main", "dashboard", "--port", "0", "--runs", str(runs)]
    with subprocess.Popen(
        [*command, "--stop-with-stdin", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("dashboard on http://"), process.communicate()
            yield DashboardProcess(line.split()[-1].rstrip("/"), runs, process)
            assert process.stdin is not None
            process.stdin.close()
            process.wait(60)
        finally:
            process.kill()


def write_training_log(path: Path, rows: int = len(TRAINING_ROWS)) -> None:
    lines = []
    for games, moves, seconds, mean, reached in TRAINING_ROWS[:rows]:
        row = {
            "episode": games,
            "moves": moves,
            "seconds": seconds,
            "mean": mean,
            "median": mean,
            "max": 20000,
        }
        lines.append(json.dumps(row | {"reach": {"2048": reached, "4096": 0.0}}))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines))


def constant_network(path: Path, weight: float) -> None:
    """Write a 4×4 network of one tuple whose weights are all the same: V is 8 times that on every board."""
    pattern = Pattern("constant", 4, 4, ((0, 1),), source="a test")
    save_weights(path, Network(pattern, np.full(pattern.entries, weight, dtype=np.float32), ()))


def fill_runs(runs: Path) -> None:
    """Write one file of each kind, and what must not be served."""
    hand = runs / "hand"
    hand.mkdir(parents=True)
    append_record(hand / "games.jsonl", worked_game())
    write_games(runs / "played" / "five.jsonl", [played(5, 5, 1, max_moves=FIVE_BY_FIVE_MOVES)])
    write_games(runs / "played" / "four.jsonl", [played(4, 4, 2), played(4, 4, 3)])
    constant_network(runs / "nets" / "ones.n2048", 1.0)
    write_training_log(runs / "first" / "training.jsonl")
    write_training_log(runs / "second" / "training.jsonl", 2)
    frames = [Image.new("P", (16, 16), colour) for colour in (0, 1)]
    frames[0].save(hand / "game-001.gif", save_all=True, append_images=frames[1:])
    (runs / "notes.txt").write_text("not for the dashboard")
    outside = runs.parent / "outside.jsonl"
    outside.write_bytes((hand / "games.jsonl").read_bytes())
    (runs / "link.jsonl").symlink_to(outside)
    (runs / "linked").symlink_to(runs.parent, target_is_directory=True)
