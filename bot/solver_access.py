"""Reach the solver of a run: the server that the options name, or one that is started for the run."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from bot.client import SolverClient, UrlSource
from bot.own_server import OwnServer
from bot.variant_search import Solver
from game2048.board import Board
from game2048.solver_options import SolverOptions
from game2048.wire.messages import DecisionMessage, GameOver


@contextlib.asynccontextmanager
async def solver_source(solver: SolverOptions, *arguments: str) -> AsyncIterator[str | UrlSource]:
    """Yield where the solver server is; start a server for the block if the options name none.

    Args:
        solver: the options of the command.
        arguments: further arguments of ``bot2048 serve``, for a server that is started.

    Raises:
        SolverError: the server does not start.
    """
    if solver.server is not None:
        yield solver.server
        return
    async with OwnServer([*solver.arguments(), *arguments]) as own:
        yield own.ensure_running


def asking(client: SolverClient, solver: SolverOptions) -> Solver:
    """Return a function that asks the client for moves with the engine and the limits of the options."""

    async def ask(board: Board) -> DecisionMessage | GameOver:
        return await client.choose(board, engine=solver.engine, depth=solver.depth, time_ms=solver.time_ms)

    return ask
