"""The command ``harvest``: datasets from live pages."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.options import goal_options, rate_option
from command_line.command import Command
from command_line.engine_options import solver_options
from command_line.gather import gather
from command_line.progress import progress
from command_line.running import until_stopped
from game2048.solver_options import SolverOptions
from scraper.chromium.launch import BrowserOptions
from scraper.cli import browser_options, site_option

if TYPE_CHECKING:  # imports numpy
    from bot.harvest import Archive, PageRecord, TabOptions
    from bot.progress import Progress
    from recordings.datasets.resumable import Mode
    from recordings.datasets.statistics import GameTally
    from recordings.record import GameRecord


@dataclass(frozen=True, slots=True)
class HarvestGames:
    """Which games `harvest` plays, and where it writes them.

    Attributes:
        games: how many games the dataset holds at the end.
        tabs: games played at the same time.
        until_tile: stop a game when this tile is reached.
        max_moves: stop a game after this many moves.
        rate: moves a second on each host; 0 for no limit, ``None`` for the default.
        out: the dataset.
        resume: whether to continue an interrupted or smaller dataset.
        force: whether to overwrite an existing dataset.
    """

    games: int
    tabs: int
    until_tile: int | None
    max_moves: int | None
    rate: float | None
    out: Path
    resume: bool
    force: bool

    @property
    def mode(self) -> Mode:
        """How to open the dataset."""
        return "resume" if self.resume else "overwrite" if self.force else "new"


@click.command(cls=Command)
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@gather(
    "run",
    HarvestGames,
    "Games",
    click.option(
        "-g",
        "--games",
        type=click.IntRange(1),
        default=10,
        show_default=True,
        help="Games in the dataset at the end, of all pages together.",
    ),
    click.option(
        "--tabs",
        type=click.IntRange(1, 64),
        default=2,
        show_default=True,
        help="Games played at the same time.",
    ),
    goal_options,
    rate_option,
    click.option(
        "-o",
        "--out",
        type=click.Path(dir_okay=False, path_type=Path),
        default=Path("data/harvested_games.jsonl"),
        show_default=True,
        help="Dataset to write; its extension is the format: .jsonl, .json, .csv, .parquet or .h5.",
    ),
    click.option("--resume", is_flag=True, help="Continue an interrupted or smaller dataset, up to --games."),
    click.option("--force", is_flag=True, help="Overwrite an existing dataset."),
)
@solver_options(remote=True)
@browser_options
@site_option
@click.option("--json", "as_json", is_flag=True, help="Print the statistics as one JSON object.")
@click.pass_context
def harvest(
    ctx: click.Context,
    urls: tuple[str, ...],
    run: HarvestGames,
    solver: SolverOptions,
    browser: BrowserOptions,
    site: Path | None,
    as_json: bool,
) -> None:
    """Play many games on the pages at URL... into one dataset.

    Several games run at once. If a page fails, `harvest` tries it again; after three failures in a row it
    drops the page and continues with the others. The record of each move holds the board that the page
    showed, so the dataset shows how the page spawns its tiles. Finished games are kept even if the program is
    killed: --resume continues. Please respect the terms of the sites.
    """
    from bot.harvest import Archive, PageRecord, TabOptions, prepare_journals
    from recordings.datasets.resumable import GrowingDataset
    from recordings.datasets.statistics import GameTally

    if run.resume and run.force:
        raise click.UsageError("--force drops what --resume continues; give one of them")
    prepare_journals(run.out, run.mode)
    pages = {url: PageRecord() for url in urls}
    tally = GameTally()
    with GrowingDataset(run.out, run.mode) as dataset:
        archive = Archive(dataset, tally)
        archive.take_stock()
        interrupted = False
        try:
            tabs = TabOptions(browser, solver, site)
            asyncio.run(until_stopped(_play(pages, archive, run, tabs)))
        except KeyboardInterrupt:
            interrupted = True
        finally:
            # Write and report the games that were played, even after an error.
            if tally.games:
                archive.finish()
                _report(pages, tally, run.out, as_json=as_json)
    if interrupted:
        ctx.exit(130)


async def _play(
    pages: dict[str, PageRecord], archive: Archive, run: HarvestGames, options: TabOptions
) -> None:
    from bot.harvest import Harvest, real_tabs_and_solvers
    from bot.progress import Goal

    moves = 0
    with progress("Harvesting games", "games", total=run.games, initial=archive.finished) as bar:

        def moved(_progress: Progress) -> None:
            nonlocal moves
            moves += 1
            bar.set_postfix_str(f"{moves:,} moves", refresh=False)
            bar.update(0)

        def ended(_url: str, record: GameRecord) -> None:
            bar.update(record.outcome != "interrupted")

        async with real_tabs_and_solvers(options) as (open_tab, open_solver):
            await Harvest(
                pages=pages,
                archive=archive,
                games=run.games,
                tabs=run.tabs,
                goal=Goal(run.until_tile, run.max_moves),
                rate=run.rate,
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
