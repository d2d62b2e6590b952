"""Play many games on live pages into one dataset, in several tabs at once."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from bot.client import client_for
from bot.options import rate_for
from bot.page_errors import naming_page
from bot.player import GamePlayer
from bot.progress import Goal, Progress
from bot.rate_limit import RateLimit
from bot.solver_access import asking, solver_source
from bot.variant_search import Solver
from game2048.board import Board
from game2048.errors import PageError, RecordError, SolverRefusedError
from game2048.solver_options import SolverOptions
from game2048.wire.messages import DecisionMessage, GameOver
from recordings.datasets.formats.chunks import Chunk
from recordings.datasets.resumable import GrowingDataset, Mode
from recordings.datasets.statistics import GameTally
from recordings.game_arrays import arrays_of
from recordings.journal import GameJournal
from recordings.jsonl import GAMES_FILE, read_records
from recordings.record import GameRecord
from recordings.recovery import recover
from scraper.chromium.launch import BrowserOptions
from scraper.page import GamePage

logger = logging.getLogger(__name__)

FAULTS = 3
"""The harvest gives a page up after this many failures in a row."""

JOURNALS_SUFFIX = ".journals"

OpenTab = Callable[[], AbstractAsyncContextManager[GamePage]]
OpenSolver = Callable[[], AbstractAsyncContextManager[tuple[Solver, Callable[[Board], str]]]]


class Archive:
    """Write games into a dataset, and keep their journals until the dataset is finished.

    Until then the games are also in the folder of the journals (``NAME.journals``), so that a kill loses no
    game. The ``id`` of a game prevents that it is added twice.

    Args:
        dataset: the dataset to extend.
        tally: counts the games.
    """

    def __init__(self, dataset: GrowingDataset, tally: GameTally) -> None:
        self._dataset = dataset
        self._tally = tally
        self._ids: set[str] = set()
        self.folder = dataset.path.with_name(dataset.path.name + JOURNALS_SUFFIX)
        self.finished = 0

    def take_stock(self) -> None:
        """Count the games of the dataset, and add the games that a killed program left in its journals."""
        for game in self._dataset.games():
            self._count(game.info.id, game.info.outcome)
            self._tally.add(game)
        if self.folder.exists():
            recover(self.folder)
        if (self.folder / GAMES_FILE).exists():
            for record in read_records(self.folder / GAMES_FILE, skip_torn=True):
                self.add(record)

    def add(self, record: GameRecord) -> None:
        """Add a game to the dataset unless it is there already."""
        if record.id in self._ids:
            return
        game = arrays_of(record)
        self._dataset.append(Chunk(0, 1, [game]))
        self._count(record.id, record.outcome)
        self._tally.add(game)

    def _count(self, name: str | None, outcome: str | None) -> None:
        if name is not None:
            self._ids.add(name)
        self.finished += outcome != "interrupted"

    def finish(self) -> None:
        """Write the finished dataset, and remove the journals."""
        self._dataset.finish()
        (self.folder / GAMES_FILE).unlink(missing_ok=True)
        if self.folder.exists() and not any(self.folder.iterdir()):
            self.folder.rmdir()


@dataclass(slots=True)
class PageRecord:
    """The state of one page in a harvest.

    Attributes:
        games: how many games have ended.
        under_way: how many games are being played now.
        faults: how many failures in a row there were.
        fault: the text of the last failure.
    """

    games: int = 0
    under_way: int = 0
    faults: int = 0
    fault: str = ""

    @property
    def given_up(self) -> bool:
        """Whether the page failed too often in a row."""
        return self.faults >= FAULTS


@dataclass(frozen=True, slots=True)
class TabOptions:
    """The options for the tabs of a harvest.

    Attributes:
        browser: which browser to start, and how.
        solver: which engine chooses the moves, and where it runs.
        site: file of a site profile.
    """

    browser: BrowserOptions
    solver: SolverOptions
    site: Path | None = None


@dataclass(slots=True)
class Harvest:
    """Play games on pages until there are enough.

    Attributes:
        pages: the state of each page, by address.
        archive: stores the games.
        games: how many games the dataset holds at the end.
        tabs: how many tabs play at a time.
        goal: when to stop a game.
        rate: moves a second on each host; ``None`` for the default, 0 for no limit.
        open_tab: opens a new tab.
        open_solver: opens a solver for one tab, and gives its name for the records.
        report: called after each move.
        done: called after each game.
        retry_seconds: seconds to wait after each failure of a page, times its failures in a row.
    """

    pages: dict[str, PageRecord]
    archive: Archive
    games: int
    tabs: int
    goal: Goal
    rate: float | None
    open_tab: OpenTab
    open_solver: OpenSolver
    report: Callable[[Progress], None]
    done: Callable[[str, GameRecord], None]
    retry_seconds: float = 2.0
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _rates: dict[str, RateLimit] = field(default_factory=dict)

    async def run(self) -> None:
        """Play the missing games.

        Raises:
            PageError: every page failed too often.
            SolverError: the solver does not answer any more.
            RecordError: the disk does not take the games.
        """
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.tabs):
                    group.create_task(self._tab())
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None
        if self.archive.finished < self.games:
            faults = "; ".join(f"{url}: {page.fault}" for url, page in self.pages.items())
            raise PageError(
                f"every page failed after {self.archive.finished} of {self.games} games: {faults}"
            )

    async def _tab(self) -> None:
        """Play one game after another until there are enough."""
        async with self.open_solver() as (solver, name_for):
            while (url := await self._next_page()) is not None:
                page = self.pages[url]
                try:
                    with naming_page(url):
                        await self._game(url, solver, name_for)
                    page.games += 1
                    page.faults = 0
                except (PageError, SolverRefusedError) as error:
                    page.faults += 1
                    page.fault = str(error)
                    next_step = "giving it up" if page.given_up else "trying again"
                    logger.warning("%s failed (%s); %s", url, error, next_step)
                finally:
                    page.under_way -= 1
                    async with self._changed:
                        self._changed.notify_all()
                if page.faults:
                    await asyncio.sleep(self.retry_seconds * page.faults)

    async def _next_page(self) -> str | None:
        """Return the address of the next page; ``None`` if there are enough games or no page is left."""
        async with self._changed:
            while True:
                left = {url: page for url, page in self.pages.items() if not page.given_up}
                under_way = sum(page.under_way for page in self.pages.values())
                if self.archive.finished >= self.games or (not left and not under_way):
                    return None
                if left and self.archive.finished + under_way < self.games:
                    url = min(left, key=lambda url: left[url].games + left[url].under_way)
                    left[url].under_way += 1
                    return url
                await self._changed.wait()  # until a game ends

    async def _game(self, url: str, solver: Solver, name_for: Callable[[Board], str]) -> None:
        """Play one game in a new tab."""
        rate = self._rate_of(url)

        async def choose(board: Board) -> DecisionMessage | GameOver:
            await rate.turn()
            return await solver(board)

        async with self.open_tab() as page:
            reading = await page.open(url)
            if not reading.board.legal_directions():
                reading = await page.new_game()
            journal = GameJournal.create(self.archive.folder, source=url, solver=name_for(reading.board))
            player = GamePlayer(page, choose, journal, self.goal)
            try:
                async for progress in player.play(reading):
                    self.report(progress)
            finally:
                if player.record is not None:
                    self.archive.add(player.record)
                    self.done(url, player.record)
            if player.record is None:
                raise PageError(f"{url} took no move: the game was over, or its goal was reached", url=url)

    def _rate_of(self, url: str) -> RateLimit:
        host = urlsplit(url).netloc
        if host not in self._rates:
            self._rates[host] = RateLimit(rate_for(url, self.rate))
        return self._rates[host]


@asynccontextmanager
async def real_tabs_and_solvers(options: TabOptions) -> AsyncIterator[tuple[OpenTab, OpenSolver]]:
    """Open one browser for all tabs, and one server with a connection for each tab."""
    from playwright.async_api import Error as PlaywrightError

    from scraper.open_page import open_tabs
    from scraper.site_profile import read_profile

    solver = options.solver
    site = None if options.site is None else read_profile(options.site)
    async with AsyncExitStack() as stack:
        source = await stack.enter_async_context(solver_source(solver))
        new_tab = await stack.enter_async_context(open_tabs(options.browser, site))

        @asynccontextmanager
        async def open_solver() -> AsyncIterator[tuple[Solver, Callable[[Board], str]]]:
            async with client_for(solver, source) as client:
                yield asking(client, solver), partial(solver.described, await client.connect())

        @asynccontextmanager
        async def open_tab() -> AsyncIterator[GamePage]:
            try:
                async with new_tab() as page:
                    yield page
            except PlaywrightError as error:
                raise PageError(f"the browser does not open a tab, or lost it: {error.message}") from error

        yield open_tab, open_solver


def prepare_journals(path: Path, mode: Mode) -> None:
    """Keep ("resume"), remove ("overwrite") or refuse ("new") the journals of an earlier harvest.

    Raises:
        RecordError: there are journals and ``mode`` is ``new``, or they cannot be removed.
    """
    folder = path.with_name(path.name + JOURNALS_SUFFIX)
    if mode == "resume" or not folder.exists():
        return
    if mode == "new":
        raise RecordError(
            f"{folder} has games of an interrupted harvest; try --resume to continue it, "
            "or --force to drop them",
            path=folder,
        )
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise RecordError(f"{folder} cannot be removed: {error.strerror or error}", path=folder) from error
