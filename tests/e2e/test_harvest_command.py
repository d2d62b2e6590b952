"""``bot2048 harvest`` as a person runs it: a real process, a real browser, our own page."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from recordings.datasets.dataset_file import read_games
from recordings.datasets.resumable import working_files
from recordings.replay import verify
from scraper.demo.server import serve_demo

PATIENCE = 240  # seconds; kernels may have to be compiled first
OPTIONS = ("--engine", "fast", "--depth", "1", "--max-moves", "12", "--tabs", "3")


@pytest.fixture
def page() -> Iterator[str]:
    with serve_demo() as url:
        yield url


def harvest(*arguments: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "bot.cli.main", "harvest", *map(str, arguments), *OPTIONS]
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)


def broken_off(moment: Callable[[], bool], number: signal.Signals, *arguments: object) -> int:
    """Start a harvest and send it a signal at some moment; its exit code. Nothing of it is left running."""
    words = [sys.executable, "-m", "bot.cli.main", "harvest", *map(str, arguments), *OPTIONS]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    family: list[psutil.Process] = []
    try:
        while not moment() and process.poll() is None:
            with contextlib.suppress(psutil.NoSuchProcess):
                family = psutil.Process(process.pid).children(recursive=True) or family
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
        process.send_signal(number)
        return process.wait(PATIENCE)
    finally:
        for each in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        psutil.wait_procs(family)


def journaled(output: Path) -> int:
    """Moves on disk that are in no finished game yet."""
    folder = output.with_name(output.name + ".journals")
    moves = 0
    for file in folder.glob("*.journal"):
        with contextlib.suppress(FileNotFoundError):  # its game ended just now
            moves += file.read_bytes().count(b'"direction"')
    return moves


def test_pages_of_two_sizes_are_harvested_at_once_and_one_that_is_none_stops_nobody(
    page: str, tmp_path: Path, unused_tcp_port: int
) -> None:
    output = tmp_path / "games.parquet"
    nowhere = f"http://127.0.0.1:{unused_tcp_port}/"
    pages = (f"{page}?seed=1", f"{page}?size=5&seed=2", nowhere)
    done = harvest(*pages, "--games", 4, "-o", output, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["games"], found["moves"]) == (4, 48)
    assert found["pages"][nowhere] == {"games": 0, "given_up": True}
    games = list(read_games(output))
    assert {game.size for game in games} == {(4, 4), (5, 5)}
    assert {game.info.outcome for game in games} == {"stopped"}
    assert all(verify(game) is None for game in games)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["games.games.parquet", "games.parquet"]


def test_ctrl_c_keeps_what_was_played_and_resume_goes_on(page: str, tmp_path: Path) -> None:
    output = tmp_path / "games.jsonl"
    words = (page, "--games", 1000, "-o", output)
    code = broken_off(lambda: output.exists() and journaled(output) > 5, signal.SIGINT, *words)
    assert code == 130
    before = list(read_games(output))
    assert "stopped" in {game.info.outcome for game in before}
    finished = sum(game.info.outcome == "stopped" for game in before)
    done = harvest(page, "--games", finished + 2, "-o", output, "--resume", "--json")
    assert done.returncode == 0, done.stderr
    games = list(read_games(output))
    assert sum(game.info.outcome == "stopped" for game in games) == finished + 2
    assert [game.info.id for game in games[: len(before)]] == [game.info.id for game in before]


def survives_kills(page: str, output: Path, kills: int, draw: random.Random) -> None:
    """Kill it at random moments: every game is there in the end, and every file is readable."""
    finished: set[str] = set()
    place = output if output.suffix == ".jsonl" else working_files(output)[0]
    for _ in range(kills):
        # Three games of twelve moves are under way at most, seldom all near their ends.
        more = draw.randrange(24)
        code = broken_off(
            lambda more=more: journaled(output) > more,
            signal.SIGKILL,
            page,
            "--games",
            1000,
            "-o",
            output,
            "--resume",
        )
        assert code == -signal.SIGKILL
        names = [game.info.id or "" for game in read_games(place)] if place.exists() else []
        assert len(set(names)) == len(names)
        assert finished <= set(names)
        finished = set(names)
    done = harvest(page, "--games", len(finished) + 1, "-o", output, "--resume", "--json")
    assert done.returncode == 0, done.stderr
    games = list(read_games(output))
    assert finished < {game.info.id for game in games}
    assert all(verify(game) is None for game in games)
    assert not any(file.name.endswith((".journals", ".part", ".ahead")) for file in output.parent.iterdir())


def test_a_kill_loses_no_game(page: str, tmp_path: Path) -> None:
    survives_kills(page, tmp_path / "games.jsonl", 1, random.Random(1))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("extension", ["jsonl", "parquet"])
def test_twenty_kills_lose_no_game(page: str, tmp_path: Path, extension: str) -> None:
    survives_kills(page, tmp_path / f"games.{extension}", 20 if extension == "jsonl" else 5, random.Random(2))


def test_what_cannot_be_is_told_before_anything_is_begun(page: str, tmp_path: Path) -> None:
    output = tmp_path / "games.jsonl"
    assert harvest(page, "-o", output, "--force", "--resume").returncode == 2
    assert "is not known" in harvest(page, "-o", tmp_path / "games.txt").stderr
    output.write_text("")
    assert "exists; expected a new name, or --force" in harvest(page, "-o", output).stderr
    no_browser = harvest(page, "-o", tmp_path / "more.jsonl", "--browser", tmp_path / "none")
    assert no_browser.returncode == 1
    assert no_browser.stderr.splitlines()[-1].startswith("error: ")
    assert [file.name for file in tmp_path.iterdir()] == ["games.jsonl"]
