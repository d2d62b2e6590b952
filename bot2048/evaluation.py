"""Measure an engine by games of its own."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from game2048.errors import SolverError
from game2048.size import Size
from solver_server.engine import Limit
from solver_server.engines import spec_of
from solver_server.evaluation.games import opened, plan_for
from solver_server.evaluation.summary import Summary, summarize


def evaluate(
    engine: str | None = None,
    games: int = 100,
    *,
    weights: str | Path | None = None,
    limit: Limit | None = None,
    size: Size | None = None,
    threads: int = 1,
    seed: int = 0,
) -> Summary:
    """Let an engine play games, and return how strong and how fast it was.

    It plays as `bot2048.play` does: the same default engine, the same search.

    Args:
        engine: the engine's name; by default the strongest for the board.
        games: how many games.
        weights: weights file for engine ``ntuple``.
        limit: depth and time of each decision; by default the engine's own. ``Limit(depth=1)`` measures a
            network without search.
        size: of the board; by default that of the weights, else 4×4.
        threads: games played at the same time.
        seed: of the spawns; the same seed gives the same games, unless ``limit`` has a time.

    Raises:
        SolverError: the engine is unknown, does not play such boards or not to this limit, or the weights
            cannot be read.
    """
    for name, count in (("games", games), ("threads", threads)):
        if count < 1:
            raise SolverError(f"{name} is {count}; expected at least 1")
    if engine is not None:
        spec_of(engine)
    plan = plan_for(engine, None if weights is None else Path(weights), size, limit or Limit())
    plan = msgspec.structs.replace(plan, seed=seed)
    with opened(plan, threads, None) as (playing, at_once):
        begun = time.perf_counter()
        results = list(playing(games))
        return summarize(results, time.perf_counter() - begun, at_once)
