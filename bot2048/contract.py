"""What an engine from `bot2048.engine` can do, in this process or on a server, sync or async."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from game2048.board import Board
from game2048.direction import Direction
from solver_server.engine import Decision


class OpenEngine(abc.ABC):
    """An engine that is ready to be asked. Use it as a context manager, or call `close`.

    It may be asked from several threads; it answers them one after another.
    """

    @abc.abstractmethod
    def choose(self, board: Board, time_ms: float | None = None, depth: int | None = None) -> Decision | None:
        """Return the move for a board, or ``None`` where the game is over.

        Args:
            board: the position.
            time_ms: time limit, in milliseconds; ``None`` for the engine's own.
            depth: search depth in player moves, 1 is greedy; ``None`` for the engine's own.

        Raises:
            SolverError: the engine does not play boards of this size, or does not take this limit; or its
                server cannot be reached.
        """

    @abc.abstractmethod
    def choose_many(
        self, boards: Sequence[Board], time_ms: float | None = None, depth: int | None = None
    ) -> list[Direction | None]:
        """Return the direction for each board, in order; ``None`` where the game is over.

        Much faster than one `choose` after another. Limits hold for each board.

        Raises:
            SolverError: as `choose`.
        """

    @abc.abstractmethod
    def close(self) -> None:
        """Release what the engine holds. A second call does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncOpenEngine(abc.ABC):
    """An engine that is ready to be asked from asyncio. Use it as an async context manager."""

    @abc.abstractmethod
    async def choose(
        self, board: Board, time_ms: float | None = None, depth: int | None = None
    ) -> Decision | None:
        """Do as `OpenEngine.choose` does. Where the caller is cancelled, the search stops."""

    @abc.abstractmethod
    async def choose_many(
        self, boards: Sequence[Board], time_ms: float | None = None, depth: int | None = None
    ) -> list[Direction | None]:
        """Do as `OpenEngine.choose_many` does. Where the caller is cancelled, the search stops."""

    @abc.abstractmethod
    async def connect(self) -> None:
        """Get ready: reach the server, if there is one.

        Raises:
            SolverError: it cannot be reached.
        """

    @abc.abstractmethod
    async def close(self) -> None:
        """Release what the engine holds."""

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
