"""Engines at work in threads: searches run off the event loop, one engine instance a thread at a time."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from game2048.board import Board
from game2048.errors import SolverError
from game2048.wire.messages import EngineInfo
from solver_server.engine import Decision, Engine, Limit
from solver_server.limits import UNLIMITED
from solver_server.stop_flag import StopFlag

log = logging.getLogger(__name__)

T = TypeVar("T")
ManyToPlay = npt.NDArray[np.uint64] | npt.NDArray[np.uint8] | Sequence[Board]
"""4×4 boards packed (uint64 [n]) or as exponents (uint8 [n, 16]), or boards of any size."""

_TURN = 0.02
"""Seconds after which a thread that works on many boards serves the next connection."""


@dataclass(frozen=True, slots=True)
class EngineOffer:
    """An engine that a server offers.

    Attributes:
        info: what clients learn about it.
        create: makes an instance; called in a worker thread, once for each search that runs at a time.
        warm_up: limits of the small searches that load all its kernels.
    """

    info: EngineInfo
    create: Callable[[], Engine]
    warm_up: tuple[Limit, ...] = (UNLIMITED,)


class EnginePool:
    """A fixed number of threads and the engine instances they use.

    An instance is kept after its search. The one used last is used next: its memory is warm.

    Args:
        offers: the engines by name.
        threads: how many searches run at a time.
    """

    def __init__(self, offers: Mapping[str, EngineOffer], threads: int) -> None:
        self._offers = offers
        self._idle: dict[str, list[Engine]] = {name: [] for name in offers}
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="search")
        self._running: set[Future[Any]] = set()
        self._jobs: set[_Job] = set()
        self._warmed = asyncio.Event()

    @property
    def is_ready(self) -> bool:
        """Whether the default engine is loaded."""
        return self._warmed.is_set()

    @property
    def searching(self) -> int:
        """Searches that run, or wait for a thread."""
        return len(self._running)

    async def warm_up(self, name: str) -> None:
        """Load and compile an engine by small searches. Searches asked for meanwhile wait for it.

        Args:
            name: the engine.

        Raises:
            SolverError: the engine cannot be made ready.
        """
        try:
            for limit in self._offers[name].warm_up:
                await self.choose_now(name, _small_board(self._offers[name].info), limit)
        finally:
            self._warmed.set()  # where this engine fails, others may still play
        log.info("engine %s is ready", name)

    async def choose(self, name: str, board: Board, limit: Limit) -> Decision | None:
        """Search for a move in a thread, once the default engine is loaded.

        When the caller is cancelled, a search that has not begun never will; one that runs is stopped.

        Returns:
            The engine's decision; ``None`` where the game is over.

        Raises:
            SolverError: the engine refused, or failed unexpectedly (the log has the traceback).
        """
        await self._warmed.wait()
        return await self.choose_now(name, board, limit)

    async def choose_now(self, name: str, board: Board, limit: Limit) -> Decision | None:
        """Search as `choose` does, whether or not the default engine is loaded."""
        return await self._run(name, lambda engine: engine.choose(board, limit), board)

    async def choose_many(self, name: str, boards: ManyToPlay, limit: Limit) -> npt.NDArray[np.int8]:
        """Choose for many boards, a turn at a time: between two turns the thread serves others.

        Returns:
            int8 [n]: the index of the direction, −1 where the game is over.

        Raises:
            SolverError: as `choose`.
        """
        await self._warmed.wait()
        batch = _Batch(boards, limit)
        while not batch.is_done:
            await self._run(name, batch.take_turn, _Count(len(boards)))
        return batch.directions

    async def close(self, grace: float) -> bool:
        """Begin no more searches, stop those that run, and wait for them.

        Returns:
            Whether all have ended within ``grace`` seconds; an engine without a stop flag may go on.
        """
        self._executor.shutdown(wait=False, cancel_futures=True)
        # A copy: threads take their searches out of the set when these end.
        running = {asyncio.wrap_future(future) for future in self._running.copy()}
        if not running:
            return True
        for job in self._jobs.copy():
            job.stop()
        finished, unfinished = await asyncio.wait(running, timeout=grace)
        for future in finished:
            if not future.cancelled():
                future.exception()  # whoever asked for the search learns of it; this one is a second view
        for future in unfinished:
            future.cancel()
        return not unfinished

    async def _run(self, name: str, search: Callable[[Engine], T], what: Board | _Count) -> T:
        job = _Job()
        work = self._executor.submit(self._search, name, search, job)
        self._running.add(work)
        self._jobs.add(job)
        work.add_done_callback(self._running.discard)
        future = asyncio.wrap_future(work)
        try:
            return await future
        except asyncio.CancelledError:
            job.stop()
            if future.done() and not future.cancelled():
                future.exception()  # it has just ended; nobody asks how
            raise
        except SolverError:
            raise
        except Exception as error:
            text = what.text() if isinstance(what, Board) else f"{what.boards} boards"
            log.error("engine %s failed on %s", name, text, exc_info=error)
            raise SolverError(f"engine {name!r} failed on {text!r}: {error!r}") from error
        finally:
            self._jobs.discard(job)

    def _search(self, name: str, search: Callable[[Engine], T], job: _Job) -> T:
        """Run in a thread. An instance that failed unexpectedly is not used again."""
        try:
            engine = self._idle[name].pop()
        except IndexError:
            engine = self._offers[name].create()
        try:
            job.begin(engine)
            result = search(engine)
        except SolverError:
            self._idle[name].append(engine)
            raise
        finally:
            job.end()
        self._idle[name].append(engine)
        return result


@dataclass(frozen=True, slots=True)
class _Count:
    """Many boards, for messages."""

    boards: int


class _Job:
    """A search that may be stopped before, while or after it runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flag: StopFlag | None = None
        self._stopped = False

    def begin(self, engine: Engine) -> None:
        """Connect the job with the engine that does it.

        Raises:
            SolverError: the job was stopped before.
        """
        with self._lock:
            if self._stopped:
                raise SolverError("the search was withdrawn before it began")
            self._flag = getattr(engine, "stop_flag", None)
            if self._flag is not None:
                self._flag.clear()

    def end(self) -> None:
        """Leave the engine to other jobs."""
        with self._lock:
            self._flag = None

    def stop(self) -> None:
        """Stop the search."""
        with self._lock:
            self._stopped = True
            if self._flag is not None:
                self._flag.set()


class _Batch:
    """Many boards, played a turn at a time.

    Attributes:
        directions: int8 [n], the indices of the directions so far, −1 where the game is over.
    """

    def __init__(self, boards: ManyToPlay, limit: Limit) -> None:
        self.directions = np.full(len(boards), -1, dtype=np.int8)
        self._boards = boards
        self._limit = limit
        self._packed: npt.NDArray[np.uint64] | None = None
        self._done = 0

    @property
    def is_done(self) -> bool:
        """Whether all boards have their direction."""
        return self._done == len(self._boards)

    def take_turn(self, engine: Engine) -> None:
        """Play on until all boards are done or the turn is over; runs in a thread."""
        from solver_server.search.many_boards import ManyBoards, choose_each  # compiles

        directions = self.directions[self._done :]
        if isinstance(self._boards, np.ndarray):
            packed = self._to_play(self._boards)[self._done :]
            if isinstance(engine, ManyBoards):
                self._done += engine.choose_packed(packed, self._limit, directions, _TURN)
                return
            from game2048.kernels.bitboard import to_board

            rest: Sequence[Board] = [to_board(board) for board in packed]
        else:
            rest = self._boards[self._done :]
        self._done += choose_each(engine, rest, self._limit, directions, _TURN)

    def _to_play(self, boards: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
        from solver_server.search.many_boards import downgrade_packed, pack_exponents

        if self._packed is None:
            self._packed = pack_exponents(boards) if boards.dtype == np.uint8 else downgrade_packed(boards)
        return self._packed


def _small_board(info: EngineInfo) -> Board:
    rows, columns = (4, 4) if "any" in info.boards else map(int, info.boards[0].split("x"))
    return Board(rows, columns).with_tile(0, 1).with_tile(columns + 1, 1)
