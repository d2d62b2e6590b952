"""Engines of a solver server, asked over its websocket."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bot.client import SolverClient
from bot2048.contract import AsyncOpenEngine, OpenEngine
from bot2048.loop_thread import LoopThread
from game2048.board import Board
from game2048.direction import Direction
from game2048.wire.messages import GameOver
from solver_server.engine import Decision


class AsyncRemoteEngine(AsyncOpenEngine):
    """An engine of a solver server, for asyncio.

    Args:
        url: address of the server, ``ws://`` or ``wss://``.
        name: which of its engines answers; ``None`` for the server's default.
        token: the server's token.
        ca: PEM file of certificates to trust besides the system's.
    """

    def __init__(
        self, url: str, name: str | None = None, *, token: str | None = None, ca: Path | None = None
    ) -> None:
        self._client = SolverClient(url, token=token, ca=ca)
        self._name = name

    async def connect(self) -> None:
        """See `AsyncOpenEngine.connect`."""
        await self._client.connect()

    async def choose(
        self, board: Board, time_ms: float | None = None, depth: int | None = None
    ) -> Decision | None:
        """See `AsyncOpenEngine.choose`."""
        answer = await self._client.choose(board, engine=self._name, depth=depth, time_ms=time_ms)
        if isinstance(answer, GameOver):
            return None
        return Decision(
            direction=answer.chosen,
            values=answer.by_direction,
            depth=answer.depth,
            nodes=answer.nodes,
            elapsed_ms=answer.elapsed_ms,
            found_by=answer.found_by,
        )

    async def choose_many(
        self, boards: Sequence[Board], time_ms: float | None = None, depth: int | None = None
    ) -> list[Direction | None]:
        """See `AsyncOpenEngine.choose_many`."""
        return await self._client.choose_many(boards, engine=self._name, depth=depth, time_ms=time_ms)

    async def close(self) -> None:
        """See `AsyncOpenEngine.close`."""
        await self._client.close()


class RemoteEngine(OpenEngine):
    """An engine of a solver server, for plain code.

    Args:
        engine: the engine; connected here, and closed with this one.

    Raises:
        SolverError: the server cannot be reached.
    """

    def __init__(self, engine: AsyncRemoteEngine) -> None:
        self._engine = engine
        self._thread = LoopThread()
        try:
            self._thread.run(engine.connect())
        except BaseException:
            self._thread.close()
            raise

    def choose(self, board: Board, time_ms: float | None = None, depth: int | None = None) -> Decision | None:
        """See `OpenEngine.choose`."""
        return self._thread.run(self._engine.choose(board, time_ms, depth))

    def choose_many(
        self, boards: Sequence[Board], time_ms: float | None = None, depth: int | None = None
    ) -> list[Direction | None]:
        """See `OpenEngine.choose_many`."""
        return self._thread.run(self._engine.choose_many(boards, time_ms, depth))

    def close(self) -> None:
        """See `OpenEngine.close`."""
        if not self._thread.is_closed:
            self._thread.run(self._engine.close())
            self._thread.close()
