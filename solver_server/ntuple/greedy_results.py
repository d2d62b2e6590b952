"""Play greedy games of a network for their results: many games in one kernel, nothing recorded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from game2048.kernels.word_ops import make_move_rules
from game2048.spawn import game_state
from solver_server.ntuple.network import Network
from solver_server.ntuple.one_word_network import OneWordTables
from solver_server.ntuple.patterns import active_weights
from solver_server.ntuple.training.episodes import play_for_results
from solver_server.ntuple.training.lockstep import play_in_lockstep
from solver_server.ntuple.training.td_kernels import (
    NO_RATE,
    LearningThread,
    LearnWhen,
    make_lanes,
    make_scratch,
)

_LANES = 3


class GreedyScorer:
    """Plays whole games by reward + value of the afterstate. One instance serves one thread.

    On 4×4 it plays a few games at once (`training.lockstep`); they are those that it would play one by one.

    Args:
        network: the network; its weights are shared, not copied.
    """

    def __init__(self, network: Network) -> None:
        pattern = network.pattern
        tables = network.tables()
        self._in_lockstep = isinstance(tables, OneWordTables)
        lanes = _LANES if self._in_lockstep else 1
        self._thread = LearningThread(
            learner=make_lanes(lanes),
            tables=tables,
            rules=make_move_rules(pattern.rows, pattern.columns),
            rate=NO_RATE,
            scratch=make_scratch(pattern.rows, pattern.columns, active_weights(pattern), lanes),
            when=LearnWhen.NEVER,
        )

    def play(self, seed: int, games: Sequence[int]) -> npt.NDArray[np.int64]:
        """Play some games.

        Args:
            seed: seed of the run.
            games: numbers of the games in it (`game2048.spawn.game_state`).

        Returns:
            int64 [games, 3]: score, largest exponent, number of moves.
        """
        states = np.array([game_state(seed, game) for game in games], dtype=np.uint64)
        results = np.zeros((len(games), 3), dtype=np.int64)
        play = play_in_lockstep if self._in_lockstep else play_for_results
        play(self._thread, states, results)
        return results
