"""The command ``harvest``: datasets from live pages."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scraper.chromium.launch import BROWSER_VARIABLE, BrowserOptions

if TYPE_CHECKING:  # imports numpy
    from bot.harvest import Archive, PageRecord
    from bot.player import Progress
    from recordings.datasets.resumable import Mode
    from recordings.datasets.statistics import GameTally
    from recordings.record import GameRecord


_SOLVER = ("server", "token", "engine", "weights", "depth", "time_ms")


@click.command()
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@click.option(
    "-g", "--games", type=click.IntRange(1), default=10, show_default=True, help="How many, on all pages."
)
@click.option(
    "--tabs", type=click.IntRange(1, 64), default=2, show_default=True, help="Games played at a time."
)
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("data/harvested_games.jsonl"),
    show_default=True,
    help="Its extension is the format: .jsonl, .json, .csv, .parquet or .h5.",
)
@click.option("--resume", is_flag=True, help="Go on with an interrupted or smaller dataset, up to --games.")
@click.option("--force", is_flag=True, help="Overwrite what is there.")
@click.option("--until-tile", type=click.IntRange(4), help="Stop a game once this tile is reached.")
@click.option("--max-moves", type=click.IntRange(1), help="Stop a game after so many moves.")
@click.option(
    "--max-moves-per-second",
    "rate",
    type=click.FloatRange(0),
    help="On each host, all tabs together; 0 for no limit. [default: 20, on this machine no limit]",
)
@click.option("--engine", metavar="NAME", help="The engine that chooses. [default: the server's]")
@click.option(
    "--weights",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The network that a server of our own plays by.",
)
@click.option("--depth", type=click.IntRange(1), help="How far it searches, in its own count.")
@click.option("--time-ms", type=click.FloatRange(0, min_open=True), help="Milliseconds a move.")
@click.option(
    "--server", metavar="URL", help="A running solver server, ws://…; otherwise one is started for the run."
)
@click.option("--token", envvar="BOT2048_TOKEN", show_envvar=True, help="What that server asks for.")
@click.option(
    "--browser",
    metavar="PATH",
    envvar=BROWSER_VARIABLE,
    show_envvar=True,
    help="Chromium, Chrome or Edge to start; otherwise the first that is found.",
)
@click.option("--headed/--headless", default=False, show_default="headless", help="Show its window, or not.")
@click.option("--json", "as_json", is_flag=True, help="Print the statistics as one JSON object.")
@click.pass_context
def harvest(
    ctx: click.Context, /, urls: tuple[str, ...], games: int, out: Path, as_json: bool, **given: Any
) -> None:
    """Play many games on the pages at URL..., several at once, into one dataset.

    A page that fails is tried again and then given up; the others go on. Each move keeps the board that the
    page showed, so that the dataset tells how the page spawns its tiles. Whatever ends the program, no game
    is lost: --resume goes on. Please respect the terms of the sites.
    """
    from bot.harvest import Archive, PageRecord, prepare_journals
    from recordings.datasets.resumable import GrowingDataset
    from recordings.datasets.statistics import GameTally

    if given["resume"] and given["force"]:
        raise click.UsageError("--force drops what --resume goes on with: give one of them")
    if given["server"] and given["weights"]:
        raise click.UsageError("--weights is for a server of our own: give it to the one that --server names")
    mode: Mode = "resume" if given["resume"] else "overwrite" if given["force"] else "new"
    prepare_journals(out, mode)
    pages = {url: PageRecord() for url in urls}
    tally = GameTally()
    with GrowingDataset(out, mode) as dataset:
        archive = Archive(dataset, tally)
        archive.take_stock()
        interrupted = False
        try:
            asyncio.run(_until_stopped(_run(pages, archive, games, given)))
        except KeyboardInterrupt:
            interrupted = True
        finally:
            # However it ends: what was played is written, and told of.
            if tally.games:
                archive.finish()
                _report(pages, tally, out, as_json=as_json)
    if interrupted:
        ctx.exit(130)


async def _until_stopped(work: Any) -> None:
    """Await something; SIGTERM breaks it off as Ctrl-C does."""
    task = asyncio.current_task()
    if sys.platform != "win32" and task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        await work
    except asyncio.CancelledError:
        if task is not None and task.uncancel() >= 0:
            raise KeyboardInterrupt from None


async def _run(pages: dict[str, PageRecord], archive: Archive, games: int, given: dict[str, Any]) -> None:
    from tqdm import tqdm
    from tqdm.contrib.logging import logging_redirect_tqdm

    from bot.harvest import Harvest, real_tabs_and_solvers
    from bot.options import SolverOptions
    from bot.player import Goal

    solver = SolverOptions(**{name: given[name] for name in _SOLVER})
    browser = BrowserOptions(path=given["browser"], headless=not given["headed"])
    bar = tqdm(
        total=games,
        initial=archive.finished,
        desc="Harvesting games",
        mininterval=0.1 if sys.stderr.isatty() else 5.0,  # say it seldom where nobody sees it redrawn
        dynamic_ncols=True,
    )
    moves = 0

    def moved(_progress: Progress) -> None:
        nonlocal moves
        moves += 1
        bar.set_postfix_str(f"{moves:,} moves", refresh=False)
        bar.update(0)

    def ended(_url: str, record: GameRecord) -> None:
        bar.update(record.outcome != "interrupted")

    with logging_redirect_tqdm(), bar:
        async with real_tabs_and_solvers(browser, solver) as (open_tab, open_solver):
            await Harvest(
                pages=pages,
                archive=archive,
                games=games,
                tabs=given["tabs"],
                goal=Goal(given["until_tile"], given["max_moves"]),
                rate=given["rate"],
                open_tab=open_tab,
                open_solver=open_solver,
                report=moved,
                done=ended,
            ).run()


def _report(pages: dict[str, PageRecord], tally: GameTally, out: Path, *, as_json: bool) -> None:
    import msgspec

    from recordings.datasets.statistics import statistics_text

    statistics = tally.statistics()
    if as_json:
        figures = {
            **msgspec.to_builtins(statistics),
            "output": str(out),
            "pages": {url: {"games": page.games, "given_up": page.given_up} for url, page in pages.items()},
        }
        click.echo(msgspec.json.encode(figures).decode())
        return
    click.echo(statistics_text(statistics))
    click.echo("\nPages:")
    for url, page in pages.items():
        end = f", given up: {page.fault}" if page.given_up else ""
        click.echo(f"  {url}: {page.games} games{end}")
    click.echo(f"\nOutput saved to: {out}")
