"""Play games to measure an engine; only their results are kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from solver_server.generate.players import Player


@dataclass(frozen=True, slots=True)
class GameResult:
    """The result of a game.

    Attributes:
        game: number of the game in the run.
        score: its score.
        top: its largest exponent.
        moves: number of moves.
    """

    game: int
    score: int
    top: int
    moves: int


def result_of(player: Player, game: int) -> GameResult:
    """Play the game of that number, and return its result.

    Raises:
        SolverError: the engine does not play such boards, or not to this limit.
    """
    played = player.play(game)
    return GameResult(game, played.final_score, int(played.cells[-1].max()), played.plies)


def play_in_threads(make_player: Callable[[], Player], games: int, threads: int = 1) -> Iterator[GameResult]:
    """Play games in this process and yield the result of each game when it ends; threads end in any order.

    Args:
        make_player: called once for each thread.
        games: number of games; a game has the same spawns on any thread.
        threads: number of games at a time.
    """
    own = threading.local()

    def play(game: int) -> GameResult:
        if not hasattr(own, "player"):
            own.player = make_player()
        return result_of(own.player, game)

    if threads == 1:
        yield from map(play, range(games))
        return
    pool = ThreadPoolExecutor(threads)
    try:
        for future in as_completed([pool.submit(play, game) for game in range(games)]):
            yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
