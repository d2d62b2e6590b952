"""``--watch`` on a real terminal: a pseudo-terminal whose text is read back."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from command_line.board_view import coloured_board, opinion
from game2048.board import Board
from game2048.direction import Direction

pty = pytest.importorskip("pty")  # not on Windows

BOT = [sys.executable, "-m", "bot.cli.main"]
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(*arguments: str) -> tuple[int, str]:
    """Run a command on a terminal of its own; return its exit code and what it wrote, without colours."""
    main, child = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "50"}
    process = subprocess.Popen([*BOT, *arguments], stdin=child, stdout=child, stderr=child, env=env)
    os.close(child)
    written = b""
    while True:
        try:
            chunk = os.read(main, 65536)
        except OSError:  # the command has ended
            break
        if not chunk:
            break
        written += chunk
    os.close(main)
    return process.wait(60), _CODES.sub("", written.decode())


def test_watch_draws_the_board_the_rate_and_what_the_engine_thinks(tmp_path: Path) -> None:
    quick = ["--engine", "fast", "--depth", "2", "--no-gif", "--max-moves", "60", "--out", str(tmp_path)]
    code, text = on_terminal("demo", "--watch", *quick)
    assert code == 0, text
    *_, drawn = re.finditer(r"   60 moves   \d+ moves/s", text)
    last = text[drawn.start() :]
    assert re.search(r"last move by fast: search, depth 2, [\d,]+ nodes, [\d.]+ ms", last)
    shown = {line.split()[0] for line in last.splitlines() if line.strip()}
    assert {"up", "right", "down", "left"} <= shown
    assert "game 1: score" in last


def test_watch_without_a_terminal_is_the_progress_line(tmp_path: Path) -> None:
    quick = ["--engine", "fast", "--depth", "1", "--no-gif", "--max-moves", "5", "--out", str(tmp_path)]
    done = subprocess.run([*BOT, "demo", "--watch", *quick], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert "5 moves" in done.stdout
    assert "last move by" not in done.stderr + done.stdout
    assert "\x1b" not in done.stderr + done.stdout


def test_hint_is_coloured_on_a_terminal_and_plain_elsewhere() -> None:
    board = "8 8 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"
    code, text = on_terminal("hint", "--engine", "fast", "--depth", "1", board)
    assert code == 0
    assert re.search(r"found by search, depth 1, [\d,]+ nodes", text)
    assert text.count(" 8 ") == 2
    done = subprocess.run(
        [*BOT, "hint", "--engine", "fast", "--depth", "1", board], capture_output=True, text=True, timeout=240
    )
    assert "\x1b" not in done.stdout
    assert "found by search" in done.stdout


def drawn(*parts: object) -> str:
    from rich.console import Console

    console = Console(width=120, force_terminal=True, color_system="truecolor", record=True)
    with console.capture() as capture:
        console.print(*parts)
    return capture.get()


def test_tiles_have_the_classic_colours_and_fit_their_numbers() -> None:
    text = drawn(coloured_board(Board.from_text("2 131072 / 0 2048")))
    assert "48;2;237;194;46m  2048  " in text  # gold, #edc22e
    assert "48;2;60;58;50m 131072 " in text  # dark, #3c3a32, and as wide as its number
    widths = {len(_CODES.sub("", line)) for line in text.splitlines()}
    assert widths == {2 * (8 + 1) + 1}


def test_the_best_direction_is_marked_and_others_are_differences() -> None:
    values = {Direction.UP: 1500.0, Direction.LEFT: 1200.0}
    lines = _CODES.sub("", drawn(opinion(values, Direction.UP))).splitlines()
    assert lines[0].split() == ["up", "1,500"]
    assert lines[1].split() == ["right", "cannot", "move"]
    assert lines[3].split() == ["left", "1,200", "-300"]
