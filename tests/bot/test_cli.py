"""The command as a whole: help, lazy loading, exit codes."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from bot.cli.main import COMMANDS, main
from game2048.errors import RulesError


def command(name: str) -> click.Command:
    found = main.get_command(click.Context(main), name)
    assert found is not None
    return found


def test_help_names_every_command_with_its_own_first_line() -> None:
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    for name, (_, _, summary) in COMMANDS.items():
        assert name in result.output
        assert command(name).get_short_help_str(limit=1000) == summary


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_says_what_it_does(name: str) -> None:
    pending = [command(name)]
    while pending:
        each = pending.pop()
        assert each.help
        for parameter in each.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{name} {parameter.opts}"
        if isinstance(each, click.Group):
            pending += each.commands.values()


@pytest.mark.parametrize("name", ["demo", "window", "generate", "train"])
def test_the_default_size_is_shown_as_one_types_it(name: str) -> None:
    shown = " ".join(CliRunner().invoke(main, [name, "--help"]).output.split())
    assert "[default: 4x4]" in shown


def test_every_command_is_in_the_readme_s_table() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    missing = [name for name in COMMANDS if not re.search(rf"^\| `bot2048 {name}[ `]", readme, re.MULTILINE)]
    assert missing == []


@pytest.mark.parametrize(
    "arguments", [["--help"], ["play", "--help"], ["records", "--help"], ["serve", "--help"]]
)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys\n"
        "from bot.cli.main import main\n"
        f"main({arguments!r}, standalone_mode=False)\n"
        "heavy = {'numba', 'playwright', 'PIL', 'numpy', 'rich', 'tqdm'}\n"
        "print('loaded:', sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "loaded: []", done.stdout + done.stderr


def test_a_told_failure_is_one_line_and_exits_with_1() -> None:
    result = CliRunner().invoke(main, ["hint", "2 3 / 4 8"])
    assert result.exit_code == 1
    assert result.stderr.startswith("error: 3 in row 1, column 2 is not a tile")
    assert len(result.stderr.splitlines()) == 1


def test_ctrl_c_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_self: object, _ctx: click.Context, name: str) -> click.Command:
        @click.command(name)
        def stop() -> None:
            raise KeyboardInterrupt

        return stop

    monkeypatch.setattr(type(main), "get_command", interrupted)
    assert CliRunner().invoke(main, ["play"]).exit_code == 130


def test_other_errors_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_self: object, _ctx: click.Context, name: str) -> click.Command:
        @click.command(name)
        def fail() -> None:
            raise RulesError("told") if name == "told" else ZeroDivisionError

        return fail

    monkeypatch.setattr(type(main), "get_command", broken)
    assert CliRunner().invoke(main, ["told"]).exit_code == 1
    assert isinstance(CliRunner().invoke(main, ["bug"]).exception, ZeroDivisionError)


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is needed")
def test_on_a_terminal_help_names_each_option_once() -> None:
    import pty

    read, write = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "bot.cli.main", "hint", "--help"],
        stdin=write, stdout=write, stderr=write, env={**os.environ, "COLUMNS": "100", "TERM": "xterm"},
    )  # fmt: skip
    os.close(write)
    shown = b""
    with contextlib.suppress(OSError):  # the end of a pseudo-terminal
        while piece := os.read(read, 65536):
            shown += piece
    os.close(read)
    assert process.wait(60) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode("utf-8"))
    for option in ("--engine", "--depth", "--json", "--help"):
        assert len(re.findall(rf"^\s+(?:-\w\s+)?{option}\b", text, re.MULTILINE)) == 1, text
    assert text.index("Engine:") < text.index("--engine") < text.index("Options:") < text.index("--json")
