"""Output in code pages that lack our signs never ends a command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli.main import COMMANDS
from command_line.streams import plain

CODE_PAGES = (
    "ascii",
    "cp1252",
    pytest.param("cp437", marks=pytest.mark.slow),
    pytest.param("cp932", marks=pytest.mark.slow),
)
READ_AS = {"ascii": "utf-8"}  # which click writes where a stream is said to be ASCII


def run(encoding: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "bot.cli.main", *arguments],
        capture_output=True,
        env={**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": encoding},
        timeout=200,
    )


@pytest.mark.parametrize("encoding", CODE_PAGES)
@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=" ".join)
def test_help_is_written_in_any_code_page(command: tuple[str, ...], encoding: str) -> None:
    done = run(encoding, *command, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode(READ_AS.get(encoding, encoding)).startswith("Usage:")
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("encoding", CODE_PAGES)
def test_reports_and_errors_are_written_in_any_code_page(tmp_path: Path, encoding: str) -> None:
    dataset = str(tmp_path / "games.jsonl")
    common = ("--engine", "fast", "-d", "1", "--max-moves", "20")
    generated = run(encoding, "generate", "-g", "2", "-v", "--workers", "1", "-o", dataset, *common)
    commands = (
        ("evaluate", "-g", "1", "--engine", "fast", "--depth", "1", "--board", "2x2"),
        ("records", "stats", dataset),
        ("records", "show", dataset),
        ("records", "verify", dataset),
        ("weights", "show"),
        ("tables", "list", "--folder", str(tmp_path)),
    )
    for done in (generated, *(run(encoding, *command) for command in commands)):
        assert done.returncode == 0, done.stderr
        assert done.stdout.decode(READ_AS.get(encoding, encoding))
    refused = run(encoding, "hint", "3 × λ 🎯 / 0 0 0 0")
    assert refused.returncode == 1
    assert refused.stderr.decode(READ_AS.get(encoding, encoding)).startswith("error: ")
    assert b"Traceback" not in refused.stderr


def test_a_plain_form_keeps_the_meaning() -> None:
    assert plain("4×4 ± λ → … é 🎯", "ascii") == "4x4 +/- lambda -> ... e ?"
    assert plain("4×4 ± λ", "cp1252") == "4×4 ± lambda"
    assert plain("\udcff", "ascii") == "?"
