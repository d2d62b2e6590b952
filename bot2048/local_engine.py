"""Engines in this process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from bot2048.contract import AsyncOpenEngine, OpenEngine
from game2048.board import Board
from game2048.direction import DIRECTIONS, Direction
from game2048.errors import SolverError
from game2048.size import STANDARD_SIZE
from game2048.wire.messages import engine_for_size
from solver_server import limits
from solver_server.engine import Decision, Engine, Limit
from solver_server.engines import default_for_play, engines_for
from solver_server.search.many_boards import ManyBoards, choose_each, pack_exponents
from solver_server.stop_flag import StopFlag

T = TypeVar("T")

_STOP_EVERY_S = 0.05


class LocalEngine(OpenEngine):
    """An engine in this process; without a name, the default one for the size of each board.

    Args:
        name: the engine's name; ``None`` for the default.
        weights: weights file for engine ``ntuple``.
        tables: whether every engine uses endgame tables.
        search_threads: threads that share the search of one move.

    Raises:
        SolverError: the name is unknown, or the weights cannot be read.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        weights: Path | None = None,
        tables: bool = False,
        search_threads: int = 1,
    ) -> None:
        self._specs = engines_for(weights, tables=tables)
        if name is not None and name not in self._specs:
            raise SolverError(f"engine {name!r} is unknown; expected one of {', '.join(self._specs)}")
        self._name = name
        self._default = default_for_play(weights=weights)
        self._threads = search_threads
        self._engines: dict[str, Engine] = {}
        self._turn = threading.Lock()
        self._running: StopFlag | None = None

    def choose(self, board: Board, time_ms: float | None = None, depth: int | None = None) -> Decision | None:
        """See `OpenEngine.choose`."""
        limit = Limit(depth, time_ms)
        return self._ask(board, limit, lambda engine: engine.choose(board, limit))

    def choose_many(
        self, boards: Sequence[Board], time_ms: float | None = None, depth: int | None = None
    ) -> list[Direction | None]:
        """See `OpenEngine.choose_many`."""
        limit = Limit(depth, time_ms)
        found = np.full(len(boards), -1, dtype=np.int8)
        for size in dict.fromkeys(board.size for board in boards):
            places = [place for place, board in enumerate(boards) if board.size == size]
            same = [boards[place] for place in places]
            found[places] = self._ask(same[0], limit, partial(_each, same, limit))
        return [None if index < 0 else DIRECTIONS[index] for index in found.tolist()]

    def close(self) -> None:
        """See `OpenEngine.close`."""
        with self._turn:
            self._engines.clear()

    def stop(self) -> None:
        """Stop the search that runs in another thread; it raises `SolverError` there."""
        running = self._running
        if running is not None:
            running.set()

    def _ask(self, board: Board, limit: Limit, question: Callable[[Engine], T]) -> T:
        infos = {name: spec.info for name, spec in self._specs.items()}
        name = self._name or engine_for_size(infos.values(), self._default, *board.size)
        limits.check(infos[name], limit)
        limits.check_board(infos[name], board)
        with self._turn:
            if name not in self._engines:
                self._engines[name] = self._specs[name].create(self._threads)
            engine = self._engines[name]
            self._running = getattr(engine, "stop_flag", None)
            try:
                return question(engine)
            finally:
                if self._running is not None:
                    self._running.clear()
                self._running = None


def _each(boards: Sequence[Board], limit: Limit, engine: Engine) -> npt.NDArray[np.int8]:
    """Return the index of a direction for each board of one size, −1 where the game is over."""
    found = np.full(len(boards), -1, dtype=np.int8)
    if boards[0].size != STANDARD_SIZE or not isinstance(engine, ManyBoards):
        choose_each(engine, boards, limit, found)
        return found
    cells = np.frombuffer(b"".join(board.cells for board in boards), dtype=np.uint8)
    packed = pack_exponents(cells.reshape(-1, STANDARD_SIZE.cells))
    done = 0
    while done < len(boards):
        done += engine.choose_packed(packed[done:], limit, found[done:], np.inf)
    return found


class AsyncLocalEngine(AsyncOpenEngine):
    """An engine in this process for asyncio: it searches in a thread.

    Args:
        engine: the engine; closed with this one.
    """

    def __init__(self, engine: LocalEngine) -> None:
        self._engine = engine
        self._turn = asyncio.Lock()

    async def connect(self) -> None:
        """See `AsyncOpenEngine.connect`; there is nothing to reach."""

    async def choose(
        self, board: Board, time_ms: float | None = None, depth: int | None = None
    ) -> Decision | None:
        """See `AsyncOpenEngine.choose`."""
        return await self._in_thread(lambda: self._engine.choose(board, time_ms, depth))

    async def choose_many(
        self, boards: Sequence[Board], time_ms: float | None = None, depth: int | None = None
    ) -> list[Direction | None]:
        """See `AsyncOpenEngine.choose_many`."""
        return await self._in_thread(lambda: self._engine.choose_many(boards, time_ms, depth))

    async def close(self) -> None:
        """See `AsyncOpenEngine.close`."""
        await asyncio.to_thread(self._engine.close)

    async def _in_thread(self, question: Callable[[], T]) -> T:
        async with self._turn:
            search = asyncio.ensure_future(asyncio.to_thread(question))
            try:
                return await asyncio.shield(search)
            except asyncio.CancelledError:
                while not search.done():
                    self._engine.stop()  # again, for the search may only begin now
                    await asyncio.wait({search}, timeout=_STOP_EVERY_S)
                search.exception()  # nobody asks for it
                raise
