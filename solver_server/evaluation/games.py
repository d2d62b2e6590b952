"""Play the games of an evaluation: in threads of this process, or on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec

from game2048.errors import SolverError
from game2048.size import STANDARD_SIZE, Size
from solver_server.engine import Limit
from solver_server.engines import default_for_play
from solver_server.evaluation.self_play import GameResult, play_in_threads, result_of
from solver_server.generate import players
from solver_server.generate.plan import Plan, encode_plan
from solver_server.workers import Crew, DaskCluster

_CHUNK_GAMES = 64
"""Most games of a task. A worker gets at least four tasks, so that none is idle for long."""

Play = Callable[[int], Iterator[GameResult]]


def plan_for(engine: str | None, weights: Path | None, size: Size | None, limit: Limit) -> Plan:
    """Return the plan of an evaluation: an engine as it plays elsewhere.

    Args:
        engine: name of the engine; ``None`` for the default of `play`.
        weights: file of a network, which all workers can read.
        size: size of the board; ``None`` for that of the weights, else 4×4.
        limit: limit of each decision.

    Raises:
        SolverError: the weights cannot be read, or are for another board.
    """
    if weights is None:
        size = size or STANDARD_SIZE
    else:
        own = players.board_size_of(weights)
        if size not in (None, own):
            raise SolverError(f"--board is {size}; {weights} plays {own}: leave out --board, or give {own}")
        size = own
    return Plan(
        engine=engine or default_for_play(size, weights),
        depth=limit.depth,
        time_ms=limit.time_ms,
        weights=None if weights is None else str(weights.resolve()),
        size=size,
    )


@contextmanager
def opened(plan: Plan, threads: int, scheduler: str | None) -> Iterator[tuple[Play, int]]:
    """Prepare players; yield a function that plays the first games of a plan, and its games at a time.

    Args:
        plan: the plan.
        threads: number of threads of this process, if there is no cluster.
        scheduler: address of a Dask cluster.

    Raises:
        SolverError: the engine does not play so, or the cluster cannot be reached.
    """
    plan = players.settled(plan)
    if scheduler is not None:
        crew = DaskCluster(play_results, scheduler)
        yield partial(play_on, crew, plan), crew.size
    else:
        players.prepare(plan)
        yield partial(play_in_threads, partial(players.make_player, plan), threads=threads), threads


def play_results(plan: bytes, first: int, count: int) -> bytes:
    """Play consecutive games: the task of a worker.

    Args:
        plan: the plan, from `encode_plan`.
        first: number of the first game.
        count: number of games.

    Returns:
        Their results, as a message for `play_on`.
    """
    _, player = players.player_of(plan)
    return msgspec.msgpack.encode([result_of(player, number) for number in range(first, first + count)])


def play_on(crew: Crew, plan: Plan, games: int) -> Iterator[GameResult]:
    """Play the first games of a plan and yield the result of each game when it ends, in any order.

    Args:
        crew: workers of `play_results`; stopped at the end.
        plan: the plan.
        games: number of games.
    """
    message = encode_plan(plan)
    count = max(1, min(_CHUNK_GAMES, games // (4 * crew.size)))
    tasks = range(0, games, count)
    with crew:
        for first in tasks:
            crew.submit(message, first, min(count, games - first))
        for _ in tasks:
            yield from msgspec.msgpack.decode(crew.result(), type=list[GameResult])
