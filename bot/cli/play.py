"""The commands `play` and `demo`."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import statistics
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli.options import goal_options, out_option, rate_option, size_option
from bot.cli.progress_line import ProgressLine
from bot.options import GameSummary, PlayOptions, new_run_folder, rate_for
from bot.progress import Goal, Progress
from command_line.command import Command
from command_line.engine_options import solver_options
from command_line.gather import gather
from command_line.running import until_stopped
from command_line.tables import on_terminal
from game2048.solver_options import SolverOptions
from recordings.cli.gif_options import animation_options
from recordings.jsonl import GAMES_FILE, prepare_folder
from recordings.pictures.animation_options import SHOW_ALL, AnimationOptions
from scraper.chromium.launch import BrowserOptions
from scraper.cli import browser_options, page_options

if TYPE_CHECKING:  # loads the browser driver
    from bot.cli.watch_view import WatchView
    from bot.play import PageRun


@dataclass(frozen=True, slots=True)
class PlayGames:
    """Which games `play` and `demo` play, and which files they write.

    Attributes:
        games: how many games to play.
        new_game: begin a new game even if the page shows a game in progress.
        until_tile: stop a game when this tile is reached.
        max_moves: stop a game after this many moves.
        rate: moves a second; 0 for no limit, ``None`` for the default.
        out: folder of the recordings; ``None`` for a new one.
        dashboard: show the games in a browser.
        watch: draw the board in the terminal.
        gif_from_page: take the frames of GIFs from the page.
    """

    games: int
    new_game: bool
    until_tile: int | None
    max_moves: int | None
    rate: float | None
    out: Path | None
    dashboard: bool
    watch: bool
    gif_from_page: bool


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
                "--watch",
                is_flag=True,
                help="Draw the board in colour, with the engine's opinion of each direction; on a terminal.",
            ),
            click.option(
                "--gif-from-page",
                is_flag=True,
                help="Take the frames of the GIF from the page itself; slows play down at first.",
            ),
            out_option,
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
    size_option,
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
    if run.gif_from_page and gif is not None and (gif.moving or gif.show != SHOW_ALL):
        raise click.UsageError(
            "--gif-from-page takes pictures as the page shows them; leave out --gif-motion and --gif-show"
        )
    return PlayOptions(
        url=url,
        games=run.games,
        out=run.out or new_run_folder(),
        goal=Goal(run.until_tile, run.max_moves, rate_for(url, run.rate)),
        solver=solver,
        browser=browser,
        gif=gif,
        new_game=run.new_game,
        site=site,
        report=report,
        gif_from_page=run.gif_from_page,
    )


def _run(options: PlayOptions, asked: PlayGames) -> None:
    """Play, and show the games in a browser if asked; on a terminal the replay then stays until Ctrl-C."""
    if not asked.dashboard:
        _play(options, watch=asked.watch)
        return
    from bot.dashboard.beside import dashboard_beside

    prepare_folder(options.out)
    with dashboard_beside(options.out) as beside:
        click.echo(f"watch it: {beside.live_url}", err=True)
        is_watched = on_terminal()
        if is_watched:
            click.launch(beside.live_url)
        _play(options, watch=asked.watch)
        if beside.is_own and not is_watched:
            return
        click.echo(f"replay it: {beside.replay_url(options.out / GAMES_FILE)}")
        if beside.is_own:
            click.echo("the dashboard stays until Ctrl-C", err=True)
            with contextlib.suppress(KeyboardInterrupt):
                threading.Event().wait()


def _play(options: PlayOptions, *, watch: bool) -> None:
    """Play, show the games on standard error, and print a summary even after an error."""
    from tqdm.contrib.logging import logging_redirect_tqdm

    from bot.play import PageRun  # loads the browser driver and Pillow

    run = PageRun(options)
    try:
        with logging_redirect_tqdm(), _shown_by(watch, options.games) as line:
            asyncio.run(until_stopped(_show(run, line)))
    finally:
        if run.summaries:
            click.echo(summed_up(run.summaries, options.out))


def _shown_by(watch: bool, games: int) -> ProgressLine | WatchView:
    """Return the view of the games; without a terminal it is the progress line."""
    if not (watch and sys.stderr.isatty()):
        return ProgressLine(games)
    from bot.cli.watch_view import WatchView  # loads rich

    return WatchView(games)


async def _show(run: PageRun, line: ProgressLine | WatchView) -> None:
    async with contextlib.aclosing(run.events()) as events:
        async for event in events:
            if isinstance(event, Progress):
                line.show(event)
            else:
                line.end_game()


def summed_up(summaries: list[GameSummary], out: Path) -> str:
    """Return a summary of the games in a few lines."""
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
