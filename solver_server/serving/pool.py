"""Engines at work in threads: searches run off the event loop, one engine instance a thread at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from game2048.board import Board
from game2048.errors import SolverError
from game2048.wire import EngineInfo
from solver_server.engine import Decision, Engine, Limit
from solver_server.limits import UNLIMITED

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EngineOffer:
    """An engine that a server offers.

    Attributes:
        info: what clients are told of it.
        create: makes an instance; called in a worker thread, once for each search that runs at a time.
        warm_up: limits of the small searches that load all its kernels.
    """

    info: EngineInfo
    create: Callable[[], Engine]
    warm_up: tuple[Limit, ...] = (UNLIMITED,)


class EnginePool:
    """A fixed number of threads and the engine instances they use.

    An instance is kept after its search, and the one used last is used next: it remembers the most.

    Args:
        offers: the engines by name.
        threads: how many searches run at a time.
    """

    def __init__(self, offers: Mapping[str, EngineOffer], threads: int) -> None:
        self._offers = offers
        self._idle: dict[str, list[Engine]] = {name: [] for name in offers}
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="search")
        self._running: set[Future[Decision | None]] = set()
        self._warmed = asyncio.Event()

    async def warm_up(self, name: str, slow_after: float = 3.0) -> None:
        """Load and compile an engine by small searches. Searches asked for meanwhile wait for it.

        Args:
            name: the engine.
            slow_after: seconds after which the log says why it takes so long.

        Raises:
            SolverError: the engine cannot be made ready.
        """
        loop = asyncio.get_running_loop()
        notice = loop.call_later(slow_after, log.warning, "compiling kernels, once; this may take a minute")
        try:
            for limit in self._offers[name].warm_up:
                await self._run(name, _small_board(self._offers[name].info), limit)
        finally:
            notice.cancel()
            self._warmed.set()  # where this engine fails, others may still play
        log.info("engine %s is ready", name)

    async def choose(self, name: str, board: Board, limit: Limit) -> Decision | None:
        """The engine's move, searched for in a thread.

        When the caller is cancelled, a search that has not begun never will; one that runs is left to end.

        Raises:
            SolverError: the engine refused, or failed unexpectedly (the log has the traceback).
        """
        await self._warmed.wait()
        return await self._run(name, board, limit)

    async def close(self, grace: float) -> bool:
        """Begin no more searches and wait for those that run.

        Returns:
            Whether all have ended within ``grace`` seconds; a thread that has not cannot be stopped.
        """
        self._executor.shutdown(wait=False, cancel_futures=True)
        # A copy: threads take their searches out of the set when these end.
        running = {asyncio.wrap_future(future) for future in self._running.copy()}
        if not running:
            return True
        _, unfinished = await asyncio.wait(running, timeout=grace)
        for future in unfinished:
            future.cancel()
        return not unfinished

    async def _run(self, name: str, board: Board, limit: Limit) -> Decision | None:
        work = self._executor.submit(self._search, name, board, limit)
        self._running.add(work)
        work.add_done_callback(self._running.discard)
        future = asyncio.wrap_future(work)
        try:
            await asyncio.wait({future})
        finally:
            future.cancel()
        error = future.exception()
        if error is None:
            return future.result()
        if isinstance(error, SolverError):
            raise error
        log.error("engine %s failed on %s", name, board, exc_info=error)
        raise SolverError(f"engine {name!r} failed on {board.text()!r}: {error!r}") from error

    def _search(self, name: str, board: Board, limit: Limit) -> Decision | None:
        """Runs in a thread. An instance that failed unexpectedly is not used again."""
        try:
            agent = self._idle[name].pop()
        except IndexError:
            agent = self._offers[name].create()
        try:
            decision = agent.choose(board, limit)
        except SolverError:
            self._idle[name].append(agent)
            raise
        self._idle[name].append(agent)
        return decision


def _small_board(info: EngineInfo) -> Board:
    rows, columns = (4, 4) if "any" in info.boards else map(int, info.boards[0].split("x"))
    return Board(rows, columns).with_tile(0, 1).with_tile(columns + 1, 1)
