"""The commands `play` and `demo`."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import signal
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

import click
from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

from bot.options import GameSummary, GifOptions, PlayOptions, SolverOptions, rate_for
from bot.player import Goal, Progress
from recordings.cli.records import gif_options
from recordings.jsonl import GAMES_FILE
from scraper.chromium.launch import BrowserOptions
from scraper.cli import browser_options, page_options

if TYPE_CHECKING:  # loads the browser driver
    from bot.play import PageRun

Command = TypeVar("Command", bound=Callable[..., Any])


class _Tile(click.ParamType):  # type: ignore[type-arg]  # not generic at run time before click 8.4
    """A face value."""

    name = "tile"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The tile of that number."""
        try:
            tile = int(value)
        except ValueError:
            tile = 0
        if tile < 4 or tile & (tile - 1):
            self.fail(f"{value} is no tile to reach: expected a power of two from 4 up", param, ctx)
        return tile


def game_options(command: Command) -> Command:
    """Decorate a command with all that `play` and `demo` share, for `_options` to gather."""
    decorators = (
        click.option(
            "--games", type=click.IntRange(1), default=1, show_default=True, help="How many to play."
        ),
        click.option("--until-tile", type=_Tile(), help="Stop a game once this tile is reached."),
        click.option("--max-moves", type=click.IntRange(1), help="Stop a game after so many moves."),
        click.option(
            "--max-moves-per-second",
            "rate",
            type=click.FloatRange(0),
            help="Play no faster; 0 for no limit. [default: 20 on pages of other machines, else no limit]",
        ),
        click.option("--engine", metavar="NAME", help="The engine that chooses. [default: the server's]"),
        click.option(
            "--weights",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE",
            help="A network to play by, as `bot2048 train` writes it or TDL2048+.",
        ),
        click.option("--depth", type=click.IntRange(1), help="How far it searches, in its own count."),
        click.option("--time-ms", type=click.FloatRange(0, min_open=True), help="Milliseconds a move."),
        click.option(
            "--search-threads",
            type=click.IntRange(1, 64),
            help="Threads at work on one search, where --time-ms limits it. [default: 1]",
        ),
        click.option(
            "--tables",
            is_flag=True,
            help="Let any engine play by endgame tables, as order always does (docs/tables.md).",
        ),
        click.option(
            "--server",
            metavar="URL",
            help="A running solver server, ws://…; otherwise one is started for the run.",
        ),
        click.option("--token", envvar="BOT2048_TOKEN", show_envvar=True, help="What that server asks for."),
        click.option(
            "--out",
            type=click.Path(file_okay=False, path_type=Path),
            help="Folder of the recordings; games are added to what is there. [default: a new one in runs/]",
        ),
        click.option("--gif/--no-gif", default=True, show_default=True, help="Draw a GIF of each game."),
        gif_options,
        click.option("--new-game", is_flag=True, help="Begin anew where a game was begun before."),
        browser_options,
        page_options,
    )
    for decorator in reversed(decorators):
        command = decorator(command)
    return command


@click.command()
@click.argument("url")
@game_options
def play(url: str, **given: Any) -> None:
    """Play games on the page at URL and record them.

    The page is opened in Chromium and played with real key presses. Please respect the terms of the site.
    """
    _run(_options(url, given))


@click.command()
@click.option("--size", default="4", show_default=True, metavar="N|RxC", help="The board: 4, 5, 4x6, …")
@click.option("--page-seed", type=click.IntRange(0), help="Let the page play the same game again.")
@game_options
def demo(size: str, page_seed: int | None, **given: Any) -> None:
    """Play on our own page, without any network.

    By default one game up to the 2048 tile; --until-tile or --max-moves say otherwise.
    """
    from scraper.demo.server import serve_demo

    if given["until_tile"] is None and given["max_moves"] is None:
        given["until_tile"] = 2048
    query = f"size={size}" + ("" if page_seed is None else f"&seed={page_seed}")
    with serve_demo() as url:
        _run(_options(f"{url}?{query}", given))


def _options(url: str, given: dict[str, Any]) -> PlayOptions:
    for option in ("weights", "search_threads", "tables"):
        if given["server"] is not None and given[option]:
            raise click.UsageError(
                f"--{option.replace('_', '-')} is for a server of our own: "
                "give it to the `serve` that --server names"
            )
    out = given["out"] or Path("runs") / f"{datetime.datetime.now():%Y%m%d-%H%M%S}"
    browser: BrowserOptions = given["browser"]
    return PlayOptions(
        url=url,
        games=given["games"],
        out=out,
        goal=Goal(given["until_tile"], given["max_moves"], rate_for(url, given["rate"])),
        solver=SolverOptions(
            server=given["server"],
            token=given["token"],
            engine=given["engine"],
            weights=given["weights"],
            depth=given["depth"],
            time_ms=given["time_ms"],
            search_threads=given["search_threads"],
            tables=given["tables"],
        ),
        browser=browser,
        gif=GifOptions(given["gif_frames"], given["gif_ms"], given["gif_size"]) if given["gif"] else None,
        new_game=given["new_game"],
        site=given["site"],
        report=given["report"],
    )


def _run(options: PlayOptions) -> None:
    """Play with a progress line on stderr, and sum up on stdout, however the run ends."""
    from bot.play import PageRun  # loads the browser driver and Pillow

    run = PageRun(options)
    try:
        with logging_redirect_tqdm(), _ProgressLine(options.games) as line:
            asyncio.run(_until_stopped(_show(run, line)))
    finally:
        if run.summaries:
            click.echo(summed_up(run.summaries, options.out))


async def _show(run: PageRun, line: _ProgressLine) -> None:
    async with contextlib.aclosing(run.events()) as events:
        async for event in events:
            if isinstance(event, Progress):
                line.show(event)
            else:
                line.end_game()


async def _until_stopped(games: Any) -> None:
    """Await something; SIGTERM breaks it off as Ctrl-C does, so that what was played is recorded."""
    task = asyncio.current_task()
    if sys.platform != "win32" and task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        await games
    except asyncio.CancelledError:
        if task is not None and task.uncancel() >= 0:
            raise KeyboardInterrupt from None


class _ProgressLine:
    """One line on stderr: moves, rate, score, largest tile."""

    def __init__(self, games: int) -> None:
        self._games = games
        self._game = 1
        self._shown = 0
        self._bar: tqdm[NoReturn] | None = None
        self._begun = time.perf_counter()

    def __enter__(self) -> Self:
        self._bar = self._new_bar()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def _new_bar(self) -> tqdm[NoReturn]:
        name = "playing" if self._games == 1 else f"game {self._game}/{self._games}"
        # Where nobody watches the line being redrawn, say it seldom.
        interval = 0.1 if sys.stderr.isatty() else 5.0
        return tqdm(desc=name, unit=" moves", mininterval=interval, dynamic_ncols=True)

    def show(self, progress: Progress) -> None:
        """After a move."""
        if self._bar is None:
            self._bar = self._new_bar()
        self._bar.set_postfix_str(f"score {progress.score:,}, tile {progress.board.max_tile}", refresh=False)
        self._bar.update(1)

    def end_game(self) -> None:
        """After a game."""
        self._game += 1
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def summed_up(summaries: list[GameSummary], out: Path) -> str:
    """What was played, in a few lines."""
    records = [summary.record for summary in summaries]
    moves = sum(record.total_moves for record in records)
    seconds = sum(summary.seconds for summary in summaries)
    lines = []
    for number, summary in enumerate(summaries, 1):
        record = summary.record
        lines.append(
            f"game {number}: score {record.final_score:,}, tile {record.max_tile}, "
            f"{record.total_moves:,} moves, {(record.outcome or 'ended').replace('_', ' ')}"
        )
    if len(records) > 1:
        scores = [record.final_score for record in records]
        lines.append(f"scores: mean {statistics.fmean(scores):,.0f}, best {max(scores):,}")
    wins = sum(record.won for record in records)
    lines.append(
        f"{len(records)} games, {wins} won, {moves:,} moves, {moves / max(seconds, 1e-9):.0f} moves/s"
    )
    lines.append(f"recorded in {out / GAMES_FILE}")
    lines += [f"GIF in {summary.gif}" for summary in summaries if summary.gif is not None]
    return "\n".join(lines)
