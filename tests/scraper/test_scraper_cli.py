from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from game2048 import Board
from game2048.errors import PageError
from scraper.chromium.launch import BrowserOptions
from scraper.cli import browser_options, install_browser_command, probe


def test_probe_prints_what_is_read(demo_url: str) -> None:
    result = CliRunner().invoke(probe, [f"{demo_url}?seed=7"])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    shown = dict(line.split(maxsplit=1) for line in lines[4:])
    board = Board.from_text(shown["board"])
    assert len(board.empty_cells()) == 14
    assert lines[:4] == board.pretty().splitlines()
    assert (shown["size"], shown["score"], shown["status"]) == ("4×4", "0", "playing")
    assert shown["reader"] == "position-classes"


def test_probe_prints_json(demo_url: str) -> None:
    url = f"{demo_url}?seed=7&size=3x5"
    result = CliRunner().invoke(probe, [url, "--json"])
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    board = Board.from_tiles(answer.pop("board"))
    assert (board.rows, board.columns) == (3, 5)
    assert answer == {
        "url": url,
        "score": 0,
        "best": 0,
        "status": "playing",
        "reader": "position-classes",
    }


def test_probe_tells_what_it_could_not_open() -> None:
    result = CliRunner().invoke(probe, ["nowhere"])
    assert isinstance(result.exception, PageError)


def test_install_browser_names_the_one_there_is() -> None:
    result = CliRunner().invoke(install_browser_command, [])
    assert result.exit_code == 0, result.output
    assert "version" in result.stdout


def test_install_browser_only_checks_one_that_is_named(tmp_path: Path) -> None:
    result = CliRunner().invoke(install_browser_command, ["--browser", str(tmp_path / "missing")])
    assert isinstance(result.exception, PageError)
    assert "missing" in str(result.exception)


@pytest.mark.parametrize(
    ("arguments", "environment", "options"),
    [
        ([], {}, BrowserOptions(path=None, headless=True)),
        (["--headed"], {}, BrowserOptions(path=None, headless=False)),
        (["--browser", "a"], {"BOT2048_BROWSER": "b"}, BrowserOptions(path="a", headless=True)),
        ([], {"BOT2048_BROWSER": "b"}, BrowserOptions(path="b", headless=True)),
    ],
)
def test_the_browser_options_come_as_one_argument(
    arguments: list[str], environment: dict[str, str], options: BrowserOptions
) -> None:
    seen: list[BrowserOptions] = []

    @click.command()
    @browser_options
    def command(browser: BrowserOptions) -> None:
        seen.append(browser)

    result = CliRunner().invoke(command, arguments, env={"BOT2048_BROWSER": None, **environment})
    assert result.exit_code == 0, result.output
    assert seen == [options]


@pytest.mark.parametrize(
    "module", ["scraper", "scraper.cli", "scraper.chromium.launch", "scraper.demo.server"]
)
def test_importing_loads_no_browser_driver_and_no_compiler(module: str) -> None:
    program = f"import sys, {module}; print(*sys.modules)"
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    assert not {"playwright", "numba", "PIL"} & set(done.stdout.split())
