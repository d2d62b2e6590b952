"""Measuring an engine on workers: the games of a plan, of which only the results come back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from solver_server.engine import Limit
from solver_server.engines import NETWORK_ENGINE, default_for
from solver_server.evaluation.self_play import GameResult
from solver_server.generate import players
from solver_server.generate.plan import Plan, encode_plan
from solver_server.workers import Crew, DaskCluster

_CHUNK_GAMES = 64
"""At most so many games a task, and at least four tasks a worker, so that none is long without one."""


def play_results(plan: bytes, first: int, count: int) -> bytes:
    """Play some consecutive games: what workers are asked to do.

    Args:
        plan: from `encode_plan`.
        first: number of the first game.
        count: how many.

    Returns:
        Their results, as a message for `play_on`.
    """
    _, player = players.player_of(plan)
    results = []
    for number in range(first, first + count):
        game = player.play(number)
        results.append(GameResult(number, game.final_score, int(game.cells[-1].max()), game.plies))
    return msgspec.msgpack.encode(results)


def play_on(crew: Crew, plan: Plan, games: int) -> Iterator[GameResult]:
    """Play the first games of a plan, and give each result as it comes, not in order.

    Args:
        crew: workers of `play_results`; stopped at the end.
        plan: what to play.
        games: how many.
    """
    message = encode_plan(plan)
    count = max(1, min(_CHUNK_GAMES, games // (4 * crew.size)))
    tasks = range(0, games, count)
    with crew:
        for first in tasks:
            crew.submit(message, first, min(count, games - first))
        for _ in tasks:
            yield from msgspec.msgpack.decode(crew.result(), type=list[GameResult])


def play_on_cluster(
    scheduler: str,
    engine: str | None,
    weights: Path | None,
    games: int,
    limit: Limit,
    board: tuple[int, int] | None,
    seed: int,
) -> tuple[Iterator[GameResult], int]:
    """Play games on a Dask cluster.

    Args:
        scheduler: its address.
        engine: by default the network engine with weights, else the strongest.
        weights: of a network, in a file that the workers can read too.
        games: how many.
        limit: of each decision; by default a network plays greedily.
        board: rows and columns; by default those of the weights, or 4×4.
        seed: of the games.

    Returns:
        The results as they come, and how many games are played at a time.

    Raises:
        SolverError: the engine does not play so, or the cluster cannot be reached.
    """
    rows, columns = board or ((4, 4) if weights is None else players.board_of(weights))
    engine = engine or default_for(rows, columns, weights)
    plan = Plan(
        engine=engine,
        depth=1 if engine == NETWORK_ENGINE and limit == Limit() else limit.depth,
        time_ms=limit.time_ms,
        weights=None if weights is None else str(weights.resolve()),
        seed=seed,
        rows=rows,
        columns=columns,
    )
    plan = players.settled(plan)
    crew = DaskCluster(play_results, scheduler)
    return play_on(crew, plan, games), crew.size
