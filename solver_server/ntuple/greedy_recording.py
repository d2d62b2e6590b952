"""Greedy games of a network as arrays: every board, direction and score, for datasets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from game2048.kernels.grid import is_grid_over, spawn_into, start_into
from game2048.kernels.jit import kernel
from game2048.kernels.word_ops import make_move_rules, unpack_words
from game2048.kernels.words import read_words
from game2048.spawn import game_state
from solver_server.ntuple.network import Network
from solver_server.ntuple.patterns import active_weights
from solver_server.ntuple.training.episodes import play_episode
from solver_server.ntuple.training.td_kernels import (
    NO_RATE,
    GamePath,
    LearningThread,
    LearnWhen,
    make_learner,
    make_path,
    make_scratch,
)

_CAPACITY = 1 << 14


@dataclass(frozen=True, slots=True)
class GreedyGame:
    """A game of n moves.

    Attributes:
        cells: uint8 [n + 1, rows, columns], exponents before each move and after the last one.
        directions: uint8 [n], index of each direction.
        scores: int64 [n + 1], scores before each move and after the last one.
        worths: float32 [n, 4], reward + value of each direction, NaN where illegal; [0, 4] if not asked for.
        over: whether the game is over; else it was stopped.
    """

    cells: npt.NDArray[np.uint8]
    directions: npt.NDArray[np.uint8]
    scores: npt.NDArray[np.int64]
    worths: npt.NDArray[np.float32]
    over: bool


@kernel
def _fill_boards(random: np.uint64, thread: LearningThread, cells: Any) -> None:
    """Write the boards of the game on the path after its first one; the spawns are drawn once more.

    Args:
        random: state of the generator after the first board.
        thread: has played the game.
        cells: uint8 [moves + 1, rows, columns]; the first board is there, the others are overwritten.
    """
    for t in range(cells.shape[0] - 1):
        unpack_words(read_words(thread.learner.path.afterstates, t), cells[t + 1], thread.rules)
        random = spawn_into(cells[t + 1], random)


class GreedyRecorder:
    """Plays whole games by reward + value of the afterstate, as the network's engine does at depth 1.

    One instance serves one thread.

    Args:
        network: the network; its weights are shared, not copied.
        worths: whether the worth of all directions is kept.
    """

    def __init__(self, network: Network, *, worths: bool = False) -> None:
        pattern = network.pattern
        self._worths = worths
        self._size = pattern.rows, pattern.columns
        self._thread = LearningThread(
            learner=make_learner(0, make_path(_CAPACITY, worths=worths)),
            tables=network.tables(),
            rules=make_move_rules(pattern.rows, pattern.columns),
            rate=NO_RATE,
            scratch=make_scratch(pattern.rows, pattern.columns, active_weights(pattern)),
            when=LearnWhen.NEVER,
        )

    def play(self, seed: int, game: int, max_moves: int | None = None) -> GreedyGame:
        """Play one game.

        Args:
            seed: seed of the run.
            game: number of the game in it (`game2048.spawn.game_state`).
            max_moves: stop after so many moves; ``None`` for no limit.
        """
        random = game_state(seed, game)
        while True:
            thread = self._limited(max_moves)
            room = thread.learner.path.rewards.size
            thread.learner.put("random", random)
            over = room > 0 and bool(play_episode(thread)[1])
            plies = thread.learner.get("length") if room else 0
            if over or room == max_moves:
                break
            self._make_room(2 * room)  # for the same game again
        path = thread.learner.path
        cells = np.zeros((plies + 1, *self._size), dtype=np.uint8)
        _fill_boards(np.uint64(start_into(cells[0], np.uint64(random))), thread, cells)
        return GreedyGame(
            cells,
            path.directions[:plies].copy(),
            np.concatenate(([0], np.cumsum(path.rewards[:plies]))),
            path.worths[:plies].copy(),
            over or bool(is_grid_over(cells[-1])),
        )

    def _limited(self, max_moves: int | None) -> LearningThread:
        """Return the thread with a path of at most ``max_moves`` moves."""
        learner = self._thread.learner
        if max_moves is None or max_moves >= learner.path.rewards.size:
            return self._thread
        path = learner.path
        cut = GamePath(
            path.afterstates[:max_moves],
            path.rewards[:max_moves],
            path.directions[:max_moves],
            path.worths[:max_moves],
        )
        return self._thread._replace(learner=learner._replace(path=cut))

    def _make_room(self, capacity: int) -> None:
        path = make_path(capacity, worths=self._worths)
        self._thread = self._thread._replace(learner=self._thread.learner._replace(path=path))
