"""The commands `probe` and `install-browser`, and the browser options that other commands share."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable
from typing import Any, TypeVar

import click

from scraper.browser import BROWSER_VARIABLE, BrowserOptions
from scraper.page import Reading

Command = TypeVar("Command", bound=Callable[..., Any])


def browser_options(command: Command) -> Command:
    """Decorate a command with --browser and --headed; it gets one argument ``browser``: `BrowserOptions`."""

    @click.option(
        "--browser",
        "browser_path",
        metavar="PATH",
        envvar=BROWSER_VARIABLE,
        show_envvar=True,
        help="Chromium, Chrome or Edge to start; otherwise the first that is found.",
    )
    @click.option(
        "--headed/--headless",
        default=False,
        show_default="headless",
        help="Show the browser's window, or not.",
    )
    @functools.wraps(command)
    def with_browser(*args: Any, browser_path: str | None, headed: bool, **kwargs: Any) -> Any:
        options = BrowserOptions(path=browser_path, headless=not headed)
        return command(*args, browser=options, **kwargs)

    return with_browser  # type: ignore[return-value]


@click.command()
@click.argument("url")
@browser_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def probe(url: str, browser: BrowserOptions, as_json: bool) -> None:
    """Print what is read on the page at URL: board, score, status, and which reader saw it."""
    reading = asyncio.run(_read_once(url, browser))
    click.echo(json.dumps(_as_object(url, reading)) if as_json else _as_text(reading))


@click.command("install-browser")
@browser_options
def install_browser(browser: BrowserOptions) -> None:
    """Find a browser that starts, or download or install Chromium."""
    from scraper.install import install_browser as install

    click.echo(install(browser, functools.partial(click.echo, err=True)))


async def _read_once(url: str, options: BrowserOptions) -> Reading:
    from scraper.live_page import open_page  # loads the browser driver

    async with open_page(options) as page:
        return await page.open(url)


def _as_text(reading: Reading) -> str:
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
