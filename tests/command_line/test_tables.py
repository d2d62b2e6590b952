"""Tables on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.recorded import worked_game

from command_line.tables import show_table
from recordings import append_record

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
STYLES = re.compile(r"\x1b\[[0-9;]*m")


def on_a_terminal(*arguments: str) -> list[str]:
    """Return the lines that a command prints on a terminal of 120 columns."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "COLUMNS": "120", "TERM": "xterm"}
    command = [sys.executable, "-m", "bot.cli.main", *arguments]
    with subprocess.Popen(command, stdout=theirs, env=environment) as process:
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 4096):
                said += part
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    assert process.returncode == 0
    return [line.rstrip() for line in STYLES.sub("", said.decode()).splitlines()]


def piped(*arguments: str) -> list[str]:
    command = [sys.executable, "-m", "bot.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_the_list_of_tables(tmp_path: Path) -> None:
    list_tables = ("tables", "list", "--folder", str(tmp_path))
    lines = [line.split() for line in on_a_terminal(*list_tables) if line]
    assert lines[0] == ["table", "holds", "size", "formation"]
    assert (lines[-1][0], lines[-1][-1]) == ("4x4.extract", "bundled")
    (line,) = piped(*list_tables)
    assert line.split()[:3] == lines[-1][:3]


def test_several_games_stand_in_a_table(tmp_path: Path) -> None:
    for _ in range(2):
        append_record(tmp_path / "games.jsonl", worked_game())
    lines = on_a_terminal("records", "show", str(tmp_path))
    (heading,) = (number for number, line in enumerate(lines) if line.split()[:2] == ["game", "score"])
    rows = [line.split() for line in lines[heading + 2 :] if line]
    assert [row[:7] for row in rows] == [
        [number, "16", "8", "5", "game", "over", "7"] for number in ("1", "2")
    ]
    assert not any("game  score" in line for line in piped("records", "show", str(tmp_path)))


def test_texts_from_outside_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(("name", ">count"), [("[red]x[/red]", "1"), ("[/]", "20")])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if "x" in line or "/" in line] == [
        ["[red]x[/red]", "1"],
        ["[/]", "20"],
    ]
    assert len({len(line.rstrip()) for line in lines if line.rstrip().endswith(("1", "20"))}) == 1
