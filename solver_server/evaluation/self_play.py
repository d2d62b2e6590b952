"""Games that engines play against the spawn rule, for measuring them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from game2048.spawn import Spawner
from solver_server.engine import Engine, Limit
from solver_server.ntuple.greedy_results import GreedyScorer
from solver_server.ntuple.network import Network

_BATCH_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class GameResult:
    """How a game ended.

    Attributes:
        game: its number in the run.
        score: its score.
        top: its largest exponent.
        moves: how many were made.
    """

    game: int
    score: int
    top: int
    moves: int


def warm_up(agent: Engine, rows: int, columns: int, limit: Limit) -> None:
    """Let an engine make one decision, so that the time its kernels take to compile is not measured.

    Raises:
        SolverError: the engine does not play such boards, or not to this limit.
    """
    agent.choose(Spawner(0).start(rows, columns), limit)


def play_game(agent: Engine, seed: int, game: int, rows: int, columns: int, limit: Limit) -> GameResult:
    """Play one game to its end.

    Raises:
        SolverError: the engine does not play such boards, or not to this limit.
    """
    spawner = Spawner(seed, game)
    board = spawner.start(rows, columns)
    score = moves = 0
    while (decision := agent.choose(board, limit)) is not None:
        slide = board.slide(decision.direction)
        score += slide.reward
        moves += 1
        board = spawner.spawn(slide.afterstate)
    return GameResult(game, score, max(board.cells), moves)


def play_games(
    make_agent: Callable[[], Engine],
    games: int,
    *,
    rows: int = 4,
    columns: int = 4,
    limit: Limit | None = None,
    seed: int = 0,
    threads: int = 1,
) -> Iterator[GameResult]:
    """Play games with an engine, and give each result as it comes; with more threads not in order.

    Args:
        make_agent: called once for each thread.
        games: how many.
        rows: of the board.
        columns: of the board.
        limit: of each decision.
        seed: each game has spawns of its own, the same whatever plays it and in whichever thread.
        threads: games at a time.
    """
    agents = threading.local()

    def play(game: int) -> GameResult:
        if not hasattr(agents, "own"):
            agents.own = make_agent()
        return play_game(agents.own, seed, game, rows, columns, limit or Limit())

    if threads == 1:
        yield from map(play, range(games))
        return
    pool = ThreadPoolExecutor(threads)
    try:
        for future in as_completed([pool.submit(play, game) for game in range(games)]):
            yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def play_greedily(network: Network, games: int, *, seed: int = 0, threads: int = 1) -> Iterator[GameResult]:
    """Play games greedily with a network, in one kernel; the same spawns as in `play_games`."""
    workers = [GreedyScorer(network) for _ in range(threads)]
    workers[0].play(seed, [])  # compiles
    first = 0
    size = threads
    with ThreadPoolExecutor(threads) as pool:
        while first < games:
            numbers = range(first, min(first + size, games))
            begun = time.perf_counter()
            shares = [numbers[worker::threads] for worker in range(threads)]
            for share, results in zip(
                shares, pool.map(lambda w, share: w.play(seed, share), workers, shares), strict=True
            ):
                for game, (score, top, moves) in zip(share, results.tolist(), strict=True):
                    yield GameResult(game, score, top, moves)
            first = numbers.stop
            if time.perf_counter() - begun < _BATCH_SECONDS:
                size *= 2
