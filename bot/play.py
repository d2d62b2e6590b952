"""Play games on one page: start browser and solver server, and record each game."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator

from bot.client import SolverClient, client_for
from bot.options import GameSummary, PlayOptions, SolverOptions
from bot.page_errors import naming_page
from bot.player import GamePlayer, KeyIgnoredError
from bot.progress import Progress
from bot.solver_access import asking, solver_source
from bot.variant_search import Solver
from game2048.board import Board
from game2048.errors import RecordError, SolverError
from game2048.wire.messages import Hello
from recordings import prepare_folder
from recordings.journal import GameJournal
from recordings.pictures.animation import write_animation
from recordings.pictures.page_frames import PagePictures, write_page_animation
from recordings.record import GameRecord
from scraper.live_page import LivePage
from scraper.open_page import open_page
from scraper.page import Reading, Status
from scraper.site_profile import read_profile

logger = logging.getLogger(__name__)

WARM_UP = Board.from_text("2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")


Event = Progress | GameSummary
"""An event of a run: a move was made, or a game ended."""


class PageRun:
    """Play games on a page, one after another, and record each.

        run = PageRun(options)
        async with contextlib.aclosing(run.events()) as events:
            async for event in events: ...

    Args:
        options: which page, which solver, how many games.

    Attributes:
        summaries: the games so far with at least one move, in order; interrupted games too.
    """

    def __init__(self, options: PlayOptions) -> None:
        self._options = options
        self.summaries: list[GameSummary] = []

    async def events(self) -> AsyncGenerator[Event, None]:
        """Play the games. Closing the generator records the current game, and ends browser and server.

        Yields:
            A `Progress` after each move; a `GameSummary` after each game with at least one move.

        Raises:
            PageError, SolverError, RecordError: see `GamePlayer.play`. Also before the first game: the
                folder is not writable, no browser starts, the page shows no board, or no server answers.
        """
        options = self._options
        prepare_folder(options.out)
        async with _opened(options) as (client, page):
            hello = await client.connect()
            own = asking(client, options.solver) if options.solver.server is None else None
            async with warming_up(own):
                reading = await page.open(options.url)
            _check_size(hello, options.solver, reading.board)
            for number in range(options.games):
                for reload in (False, True):
                    begun_before = reading.board.max_tile > 4 or reading.status is not Status.PLAYING
                    if reload or number or not reading.legal or (options.new_game and begun_before):
                        reading = await page.new_game(anew=reload)
                    solver = options.solver.described(hello, reading.board)
                    journal = GameJournal.create(options.out, source=options.url, solver=solver)
                    player = GamePlayer(page, asking(client, options.solver), journal, options.goal)
                    try:
                        async with contextlib.aclosing(self._moves(page, player, reading)) as moves:
                            async for progress in moves:
                                yield progress
                    except KeyIgnoredError:
                        if reload or not number or player.record is not None:
                            raise
                        logger.warning("the new game takes no move; loading the page again")
                        continue
                    break
                if player.record is not None:
                    yield self.summaries[-1]

    async def _moves(
        self, page: LivePage, player: GamePlayer, reading: Reading
    ) -> AsyncGenerator[Progress, None]:
        """Play one game, and add its summary even if an error ends it."""
        options = self._options
        gif = options.gif
        pictures = PagePictures(gif.frames) if gif is not None and options.gif_from_page else None
        begun = time.perf_counter()
        try:
            if pictures is not None:
                await _picture(page, pictures, 0)
            async with contextlib.aclosing(player.play(reading)) as moves:
                async for progress in moves:
                    if pictures is not None:
                        await _picture(page, pictures, progress.moves)
                    yield progress
            if pictures is not None:
                await _picture(page, pictures, None)
        finally:
            if player.record is not None:
                seconds = time.perf_counter() - begun
                self.summaries.append(summary_of(player.record, seconds, options, pictures))


async def _picture(page: LivePage, pictures: PagePictures, moves: int | None) -> None:
    """Take a picture of the board after this many moves, if the GIF needs one; ``None``: the game ended."""
    if not pictures.wants(moves):
        return
    picture = await page.picture()
    if picture is not None:
        pictures.add(moves, picture)


@contextlib.asynccontextmanager
async def _opened(options: PlayOptions) -> AsyncIterator[tuple[SolverClient, LivePage]]:
    """Start a solver and a browser at the same time."""
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(naming_page(options.url))

        async def solver() -> SolverClient:
            source = await stack.enter_async_context(solver_source(options.solver))
            return client_for(options.solver, source)

        site = None if options.site is None else read_profile(options.site)
        try:
            async with asyncio.TaskGroup() as group:
                client = group.create_task(solver())
                opened = open_page(options.browser, site=site, report=options.report)
                page = group.create_task(stack.enter_async_context(opened))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None
        stack.push_async_callback(client.result().close)
        yield client.result(), page.result()


@contextlib.asynccontextmanager
async def warming_up(solver: Solver | None) -> AsyncIterator[None]:
    """Let a solver load its data while the block runs; its first answer can take seconds."""

    async def ask(solver: Solver) -> None:
        with contextlib.suppress(SolverError):  # the first real question raises it
            await solver(WARM_UP)

    if solver is None:
        yield
        return
    task = asyncio.create_task(ask(solver))
    try:
        yield
        await task
    finally:
        task.cancel()


def _check_size(hello: Hello, solver: SolverOptions, board: Board) -> None:
    """Check that the engine plays boards of this size.

    Raises:
        SolverError: it does not.
    """
    name = solver.engine or hello.engine_for(board.rows, board.columns)
    size = f"{board.rows}x{board.columns}"
    for info in hello.engines:
        if info.name == name and not info.plays(board.rows, board.columns):
            fitting = [e.name for e in hello.engines if e.plays(board.rows, board.columns)]
            raise SolverError(
                f"engine {name!r} does not play the {size} boards of this page; "
                f"expected one of {', '.join(fitting) or 'none; another server may'}"
            )


def summary_of(
    record: GameRecord, seconds: float, options: PlayOptions, pictures: PagePictures | None = None
) -> GameSummary:
    """Return the summary of a recorded game; write its GIF beside its record, under the first free number.

    Args:
        record: the game.
        seconds: how long the game took.
        options: the options of the run.
        pictures: the frames of the GIF; ``None`` to draw them from the record.
    """
    if options.gif is None:
        return GameSummary(record, seconds, None)
    numbers = (options.out / f"game-{number:03}.gif" for number in range(1, 1_000_000))
    path = next(path for path in numbers if not path.exists())
    try:
        if pictures is None:
            write_animation(record, path, options.gif)
        else:
            write_page_animation(pictures.in_order(), path, options.gif)
    except RecordError as error:
        return GameSummary(record, seconds, None, str(error))
    return GameSummary(record, seconds, path)
