"""The commands `play` and `demo`."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import shlex
import statistics
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from bot.cli.options import goal_options, rate_option
from bot.options import GameSummary, PlayOptions, rate_for
from bot.player import Goal, Progress
from command_line.command import Command
from command_line.engine_options import solver_options
from command_line.gather import gather
from command_line.progress import progress_bar
from command_line.running import until_stopped
from command_line.types import SizeType
from game2048.size import STANDARD_SIZE
from game2048.solver_options import SolverOptions
from recordings.cli.gif_options import animation_options
from recordings.jsonl import GAMES_FILE, prepare_folder
from recordings.pictures.animation_options import AnimationOptions
from scraper.chromium.launch import BrowserOptions
from scraper.cli import browser_options, page_options

if TYPE_CHECKING:  # loads the browser driver
    from bot.play import PageRun
    from command_line.progress import Bar


@dataclass(frozen=True, slots=True)
class PlayGames:
    """Which games `play` and `demo` play, and what they leave behind.

    Attributes:
        games: how many.
        new_game: begin a new game even where the page shows one that has begun.
        until_tile: stop a game when this tile is reached.
        max_moves: stop a game after so many moves.
        rate: moves a second; 0 for no limit, ``None`` for the default.
        out: folder of the recordings; ``None`` for a new one.
        dashboard: show the games in a browser.
    """

    games: int
    new_game: bool
    until_tile: int | None
    max_moves: int | None
    rate: float | None
    out: Path | None
    dashboard: bool


def game_options(command: Any) -> Any:
    """Decorate a command with all options that `play` and `demo` share."""
    decorators = (
        gather(
            "run",
            PlayGames,
            "Games",
            click.option(
                "-g", "--games", type=click.IntRange(1), default=1, show_default=True, help="Games to play."
            ),
            goal_options,
            click.option(
                "--new-game", is_flag=True, help="Begin a new game even if the page shows one that has begun."
            ),
            rate_option,
            click.option(
                "-o",
                "--out",
                type=click.Path(file_okay=False, path_type=Path),
                help="Folder for the recordings; games are added to it. [default: a new one in runs/]",
            ),
            click.option(
                "--dashboard",
                is_flag=True,
                help="Show the games in a browser, by the running `bot2048 dashboard` or one of its own.",
            ),
        ),
        solver_options(remote=True),
        animation_options("gif", optional=True),
        browser_options,
        page_options,
    )
    for decorator in reversed(decorators):
        command = decorator(command)
    return command


@click.command("play", cls=Command)
@click.argument("url")
@game_options
def play_command(url: str, **given: Any) -> None:
    """Play games on the page at URL and record them.

    The page is opened in Chromium and played with real key presses. Please respect the terms of the site.
    """
    _run(_options(url, **given), given["run"])


@click.command(cls=Command)
@gather(
    "page",
    lambda **given: given,
    "Page",
    click.option(
        "--size",
        type=SizeType(),
        default=STANDARD_SIZE,
        show_default=True,
        help="Size of the board: 4x4, 5, 4x6.",
    ),
    click.option("--page-seed", type=click.IntRange(0), help="Seed of the page's spawns. [default: random]"),
)
@game_options
def demo(page: dict[str, Any], run: PlayGames, **given: Any) -> None:
    """Play on the demo page of this package; needs no network.

    Plays one game up to the 2048 tile, unless --until-tile or --max-moves say otherwise.
    """
    from dataclasses import replace

    from scraper.demo.server import serve_demo

    if run.until_tile is None and run.max_moves is None:
        run = replace(run, until_tile=2048)
    seed = "" if page["page_seed"] is None else f"&seed={page['page_seed']}"
    with serve_demo() as url:
        _run(_options(f"{url}?size={page['size']}{seed}", run, **given), run)


def _options(
    url: str,
    run: PlayGames,
    solver: SolverOptions,
    browser: BrowserOptions,
    gif: AnimationOptions | None,
    site: Path | None,
    report: Path | None,
) -> PlayOptions:
    return PlayOptions(
        url=url,
        games=run.games,
        out=run.out or Path("runs") / f"{datetime.datetime.now():%Y%m%d-%H%M%S}",
        goal=Goal(run.until_tile, run.max_moves, rate_for(url, run.rate)),
        solver=solver,
        browser=browser,
        gif=gif,
        new_game=run.new_game,
        site=site,
        report=report,
    )


def _run(options: PlayOptions, asked: PlayGames) -> None:
    """Play, in a browser's sight if asked for; after that the replay stays until Ctrl-C on a terminal."""
    if not asked.dashboard:
        _play(options)
        return
    from bot.dashboard.beside import dashboard_beside

    prepare_folder(options.out)
    with dashboard_beside(options.out) as beside:
        click.echo(f"watch it: {beside.live_url}", err=True)
        is_watched = sys.stdout.isatty()
        if is_watched:
            click.launch(beside.live_url)
        _play(options)
        if beside.is_own and not is_watched:
            return
        click.echo(f"replay it: {beside.replay_url(options.out / GAMES_FILE)}")
        if beside.is_own:
            click.echo("the dashboard stays until Ctrl-C", err=True)
            with contextlib.suppress(KeyboardInterrupt):
                threading.Event().wait()


def _play(options: PlayOptions) -> None:
    """Play with a progress line on standard error, and sum up on standard output, however the run ends."""
    from tqdm.contrib.logging import logging_redirect_tqdm

    from bot.play import PageRun  # loads the browser driver and Pillow

    run = PageRun(options)
    try:
        with logging_redirect_tqdm(), _ProgressLine(options.games) as line:
            asyncio.run(until_stopped(_show(run, line)))
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


class _ProgressLine:
    """One line on standard error: moves, rate, score, largest tile."""

    def __init__(self, games: int) -> None:
        self._games = games
        self._game = 1
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        self._bar = self._new_bar()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def _new_bar(self) -> Bar:
        return progress_bar("playing" if self._games == 1 else f"game {self._game}/{self._games}", "moves")

    def show(self, progress: Progress) -> None:
        """Show how the game stands after a move."""
        if self._bar is None:
            self._bar = self._new_bar()
        self._bar.set_postfix_str(f"score {progress.score:,}, tile {progress.board.max_tile}", refresh=False)
        self._bar.update(1)

    def end_game(self) -> None:
        """Note that a game has ended."""
        self._game += 1
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def summed_up(summaries: list[GameSummary], out: Path) -> str:
    """Return what was played, in a few lines."""
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
    gifs = [summary.gif for summary in summaries if summary.gif is not None]
    lines += [f"GIF in {gif}" for gif in gifs]
    lines += [f"no GIF: {summary.gif_fault}" for summary in summaries if summary.gif_fault is not None]
    if not gifs:
        lines.append(f"draw it: bot2048 records gif {shlex.quote(str(out))}")
    lines.append(f"replay it: bot2048 dashboard --runs {shlex.quote(str(out))}")
    return "\n".join(lines)
