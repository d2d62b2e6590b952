"""The commands `probe` and `install-browser`, and the browser options that other commands share."""

from __future__ import annotations

import asyncio
import functools
import json
import re
from pathlib import Path
from typing import Any

import click

from command_line.command import Command
from command_line.gather import gather, in_section
from scraper.chromium.launch import BROWSER_VARIABLE, BrowserOptions
from scraper.page import Reading


class _Viewport(click.ParamType):  # type: ignore[type-arg]  # not generic at run time before click 8.4
    """A parameter of width and height in pixels."""

    name = "WxH"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Return the size in pixels."""
        if isinstance(value, tuple):
            return value
        found = re.fullmatch(r"(\d{2,5})x(\d{2,5})", str(value))
        if found is None:
            self.fail(f"{value} is not a window size; expected e.g. 1280x800", param, ctx)
        return int(found[1]), int(found[2])


def _browser(*, headed: bool, **given: Any) -> BrowserOptions:
    return BrowserOptions(headless=not headed, **given)


browser_options = gather(
    "browser",
    _browser,
    "Browser",
    click.option(
        "--browser",
        "path",
        metavar="PATH",
        envvar=BROWSER_VARIABLE,
        show_envvar=True,
        help="Chromium, Chrome or Edge to start. [default: the first that is found]",
    ),
    click.option(
        "--headed/--headless", default=False, show_default="headless", help="Show the browser's window."
    ),
    click.option(
        "--cdp",
        metavar="URL",
        help="Use a running Chromium with remote debugging, http://HOST:PORT or ws://..., in new tabs.",
    ),
    click.option(
        "--user-data-dir",
        type=click.Path(file_okay=False, path_type=Path),
        help="Browser profile to use and keep. [default: a new one that is deleted]",
    ),
    click.option(
        "--slow-mo",
        type=click.FloatRange(0),
        default=0.0,
        metavar="MS",
        help="Milliseconds to wait before each action of the browser.",
    ),
    click.option("--viewport", type=_Viewport(), help="Size of the window in pixels, e.g. 1280x800."),
    click.option("--device", metavar="NAME", help="Device to imitate, e.g. 'Pixel 7'."),
)
"""Decorate a command with the browser's options; it gets them as ``browser``, a `BrowserOptions`."""

site_option = in_section(
    "Page",
    click.option(
        "--site",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Site profile (TOML) for a page that the program cannot read by itself; see docs/pages.md.",
    ),
)


def page_options(command: Any) -> Any:
    """Decorate a command with --site and --report."""
    return site_option(
        in_section(
            "Page",
            click.option(
                "--report",
                type=click.Path(file_okay=False, path_type=Path),
                help="Folder for a bug report, if the page cannot be played.",
            ),
        )(command)
    )


@click.command(cls=Command)
@click.argument("url")
@browser_options
@page_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def probe(url: str, browser: BrowserOptions, site: Path | None, report: Path | None, as_json: bool) -> None:
    """Read the page at URL once, and print its board, score, status and reader.

    If the tiles show no numbers, `probe` makes some moves and learns their values from the rules.
    """
    reading, notes = asyncio.run(_read_once(url, browser, site, report))
    click.echo(json.dumps(_as_object(url, reading) | notes) if as_json else _as_text(reading, notes))


@click.command("install-browser", cls=Command)
@browser_options
def install_browser_command(browser: BrowserOptions) -> None:
    """Find a browser that starts, or install Chromium."""
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
        if page.sees_window:
            notes["pictures"] = "of the window: the page's canvas cannot be read in the page, which is slower"
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
