"""Commands that play and learn run to their end where the output cannot hold our signs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scraper.demo.server import serve_demo

QUICK = ("--engine", "fast", "--depth", "1", "--max-moves", "3")


def run(encoding: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "bot.cli.main", *arguments],
        capture_output=True,
        env={**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": encoding},
        timeout=280,
    )


@pytest.mark.parametrize("encoding", ["ascii", pytest.param("cp1252", marks=pytest.mark.slow)])
def test_play_and_training_end_well_in_any_code_page(tmp_path: Path, encoding: str) -> None:
    with serve_demo() as url:
        commands = (
            ("-v", "demo", "--watch", *QUICK, "--out", str(tmp_path / "demo")),
            ("-v", "harvest", url, "--games", "1", *QUICK, "--out", str(tmp_path / "games.csv")),
            ("probe", url),
            ("train", "--network", "0123 4567", "--episodes", "20", "--out", str(tmp_path / "train")),
            ("benchmark", "--seconds", "0.02", "--network", "seed-17x4"),
        )
        for command in commands:
            done = run(encoding, *command)
            assert done.returncode == 0, (command, done.stderr.decode("utf-8", "replace"))
            assert b"Traceback" not in done.stderr
            assert done.stdout.decode("utf-8" if encoding == "ascii" else encoding)
