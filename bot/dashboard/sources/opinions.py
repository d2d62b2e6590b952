"""Ask engines about boards, on our own solver servers, which end with the dashboard."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from bot.client import SolverClient
from bot.dashboard.faults import DashboardError
from bot.solver_access import solver_source
from game2048.board import Board
from game2048.direction import DIRECTIONS, Direction
from game2048.engine_names import ANY_BOARD_ENGINE, NETWORK_ENGINE
from game2048.errors import SolverError, SolverRefusedError
from game2048.size import STANDARD_SIZE, Size
from game2048.solver_options import SolverOptions
from game2048.wire.messages import DecisionMessage

MAX_SERVERS = 2
"""Servers at a time; each holds its engine's tables in memory."""

OPINION_DEPTH = 12


@dataclass(frozen=True, slots=True)
class Opinion:
    """What an engine thinks of a board.

    Attributes:
        direction: the move it would make.
        values: its value of each legal direction, in the engine's own unit.
        rewards: the merge reward of each legal direction.
        in_points: whether the values are score points, the merge reward included.
        elapsed_ms: time of the search.
        engine: name of the engine that answered.
        depth: how deep it searched.
        nodes: how many positions it looked at.
    """

    direction: Direction
    values: dict[Direction, float]
    rewards: dict[Direction, int]
    in_points: bool
    elapsed_ms: float
    engine: str
    depth: int
    nodes: int

    def afterstate_value(self, direction: Direction) -> float | None:
        """Return V of the afterstate of a direction, in points; ``None`` where the engine has none."""
        if direction not in self.values or not self.in_points:
            return None
        return self.values[direction] - self.rewards[direction]

    def as_json(self) -> dict[str, object]:
        """Return it as scripts in pages read it; missing directions are illegal."""
        return {
            "direction": self.direction.value,
            "values": {direction.value: value for direction, value in self.values.items()},
            "afterstates": {direction.value: self.afterstate_value(direction) for direction in self.values},
            "inPoints": self.in_points,
            "elapsedMs": self.elapsed_ms,
            "engine": self.engine,
            "depth": self.depth,
            "nodes": self.nodes,
        }


def default_choice(size: Size) -> SolverOptions:
    """Return the default engine, which is a fast one."""
    return (
        SolverOptions(NETWORK_ENGINE, depth=1) if size == STANDARD_SIZE else SolverOptions(ANY_BOARD_ENGINE)
    )


@dataclass(slots=True)
class _Serving:
    """A running server, and the number of its current callers."""

    stack: contextlib.AsyncExitStack
    client: SolverClient
    asking: int = 0


class Opinions:
    """Asks engines. Each weights file has a separate server; the least recently used server ends."""

    def __init__(self) -> None:
        self._servers: OrderedDict[tuple[str | None, Path | None], _Serving] = OrderedDict()
        self._turn = asyncio.Lock()

    async def ask(self, board: Board, choice: SolverOptions) -> Opinion | None:
        """Return what an engine thinks of a board; ``None`` where the game is over.

        Raises:
            DashboardError: the engine does not play such boards, or its server does not start.
        """
        async with self._client(choice) as client:
            try:
                answer = await client.choose(board, engine=choice.engine, depth=choice.depth)
            except SolverRefusedError as error:
                raise DashboardError(str(error)) from error
            except SolverError as error:
                raise DashboardError(str(error), status=502) from error
            hello = client.hello
        if not isinstance(answer, DecisionMessage) or hello is None:
            return None
        in_points = any(info.name == answer.engine and info.in_points for info in hello.engines)
        values = answer.by_direction
        rewards = {
            direction: board.slide(direction).reward for direction in DIRECTIONS if direction in values
        }
        return Opinion(
            answer.chosen,
            values,
            rewards,
            in_points,
            answer.elapsed_ms,
            answer.engine,
            answer.depth,
            answer.nodes,
        )

    async def close(self) -> None:
        """End all servers."""
        async with self._turn:
            servers, self._servers = list(self._servers.values()), OrderedDict()
            for serving in servers:
                await serving.stack.aclose()

    @contextlib.asynccontextmanager
    async def _client(self, choice: SolverOptions) -> AsyncIterator[SolverClient]:
        serving = await self._serving(choice)
        serving.asking += 1
        try:
            yield serving.client
        finally:
            serving.asking -= 1

    async def _serving(self, choice: SolverOptions) -> _Serving:
        key = (choice.engine, choice.weights)
        async with self._turn:
            if key in self._servers:
                self._servers.move_to_end(key)
                return self._servers[key]
            while len(self._servers) >= MAX_SERVERS:
                oldest = next((key for key, each in self._servers.items() if not each.asking), None)
                if oldest is None:
                    raise DashboardError("all engines are busy; wait for their answers", status=503)
                await self._servers.pop(oldest).stack.aclose()
            self._servers[key] = serving = await _started(choice)
            return serving


async def _started(choice: SolverOptions) -> _Serving:
    options = SolverOptions(engine=choice.engine, weights=choice.weights)
    async with contextlib.AsyncExitStack() as stack:
        try:
            source = await stack.enter_async_context(solver_source(options, "--threads", "1"))
            client = await stack.enter_async_context(SolverClient(source))
        except SolverError as error:
            raise DashboardError(str(error), status=502) from error
        return _Serving(stack.pop_all(), client)
    raise AssertionError("unreachable")
