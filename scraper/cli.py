"""The commands `probe` and `install-browser`, and the browser options that other commands share."""

from __future__ import annotations

import asyncio
import functools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from scraper.chromium.launch import BROWSER_VARIABLE, BrowserOptions
from scraper.page import Reading

Command = TypeVar("Command", bound=Callable[..., Any])


class _Viewport(click.ParamType):  # type: ignore[type-arg]  # not generic at run time before click 8.4
    """Width and height."""

    name = "WxH"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """The size in pixels."""
        if isinstance(value, tuple):
            return value
        found = re.fullmatch(r"(\d{2,5})x(\d{2,5})", str(value))
        if found is None:
            self.fail(f"{value} is no size of a window: expected e.g. 1280x800", param, ctx)
        return int(found[1]), int(found[2])


WHICH_BROWSER = (
    click.option(
        "--browser",
        "path",
        metavar="PATH",
        envvar=BROWSER_VARIABLE,
        show_envvar=True,
        help="Chromium, Chrome or Edge to start; otherwise the first that is found.",
    ),
    click.option(
        "--headed/--headless",
        default=False,
        show_default="headless",
        help="Show the browser's window, or not.",
    ),
    click.option(
        "--cdp",
        metavar="URL",
        help="Use a running Chromium with remote debugging, http://… or ws://…; in a tab of its own.",
    ),
    click.option(
        "--user-data-dir",
        type=click.Path(file_okay=False, path_type=Path),
        help="A browser profile to use and keep; otherwise a new one each time.",
    ),
    click.option(
        "--slow-mo",
        type=click.FloatRange(0),
        default=0.0,
        metavar="MS",
        help="Milliseconds to wait before each thing done with the browser.",
    ),
    click.option("--viewport", type=_Viewport(), help="Size of the window, e.g. 1280x800."),
    click.option("--device", metavar="NAME", help="A device to play on, e.g. 'Pixel 7'."),
)


def browser_options(command: Command) -> Command:
    """Decorate a command with the browser's options; it gets one argument ``browser``: `BrowserOptions`."""

    @functools.wraps(command)
    def with_browser(*args: Any, headed: bool, **kwargs: Any) -> Any:
        named = ("path", "cdp", "user_data_dir", "slow_mo", "viewport", "device")
        given = {name: kwargs.pop(name) for name in named}
        return command(*args, browser=BrowserOptions(headless=not headed, **given), **kwargs)

    for option in reversed(WHICH_BROWSER):
        with_browser = option(with_browser)
    return with_browser  # type: ignore[return-value]


def page_options(command: Command) -> Command:
    """Decorate a command with --site and --report, of what is known of a page and what is kept of it."""
    command = click.option(
        "--site",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A site profile (TOML), for what cannot be found out; see docs/pages.md.",
    )(command)
    return click.option(
        "--report",
        type=click.Path(file_okay=False, path_type=Path),
        help="Where to put what was seen of the board if the page cannot be played.",
    )(command)


@click.command()
@click.argument("url")
@browser_options
@page_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def probe(url: str, browser: BrowserOptions, site: Path | None, report: Path | None, as_json: bool) -> None:
    """Print what is read on the page at URL: board, score, status, and which reader saw it.

    Where tiles show no numbers some moves are made, to learn from the rules what they are worth.
    """
    reading, notes = asyncio.run(_read_once(url, browser, site, report))
    click.echo(json.dumps(_as_object(url, reading) | notes) if as_json else _as_text(reading, notes))


@click.command("install-browser")
@browser_options
def install_browser(browser: BrowserOptions) -> None:
    """Find a browser that starts, or download or install Chromium."""
    from scraper.chromium.install import install_browser as install

    click.echo(install(browser, functools.partial(click.echo, err=True)))


async def _read_once(
    url: str, options: BrowserOptions, site: Path | None, report: Path | None
) -> tuple[Reading, dict[str, object]]:
    from scraper.open_page import open_page  # loads the browser driver
    from scraper.site_profile import read_profile

    profile = None if site is None else read_profile(site)
    async with open_page(options, site=profile, report=report) as page:
        reading = await page.open(url)
        notes: dict[str, object] = {}
        if page.rules:
            notes["rules"] = [str(rule) for rule in page.rules]
        if page.tried:
            notes["given_up"] = dict(page.tried)
        return reading, notes


def _as_text(reading: Reading, notes: dict[str, object]) -> str:
    board = reading.board
    return "\n".join(
        [
            board.pretty(),
            f"board   {board.text()}",
            f"size    {board.rows}×{board.columns}",
            f"score   {_shown(reading.score)}",
            f"best    {_shown(reading.best)}",
            f"status  {reading.status.value}",
            f"reader  {reading.reader}",
            *(f"{name:7} {value}" for name, value in notes.items()),
        ]
    )


def _as_object(url: str, reading: Reading) -> dict[str, object]:
    return {
        "url": url,
        "board": reading.board.tiles(),
        "score": reading.score,
        "best": reading.best,
        "status": reading.status.value,
        "reader": reading.reader,
    }


def _shown(score: int | None) -> str:
    return "not shown" if score is None else str(score)
