"""Playing greedily with a network, many games in one kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from game2048.spawn import game_state
from solver_server.ntuple import network_ops
from solver_server.ntuple.files.native import Network
from solver_server.ntuple.network import active_weights
from solver_server.ntuple.training import episodes, td_kernels


class GreedyPlayer:
    """Plays whole games by reward + value of the afterstate. One instance serves one thread.

    Args:
        network: the weights are shared, not copied.
    """

    def __init__(self, network: Network) -> None:
        pattern = network.pattern
        self._tables = network.tables()
        self._rules = network_ops.make_rules(pattern.rows, pattern.columns)
        self._learner = td_kernels.make_learner(0)
        self._scratch = td_kernels.make_scratch(pattern.rows, pattern.columns, active_weights(pattern))

    def play(self, seed: int, games: Sequence[int]) -> npt.NDArray[np.int64]:
        """Play some games of a seed (`game2048.spawn.game_state`).

        Returns:
            int64 [games, 3]: score, largest exponent, moves.
        """
        states = np.array([game_state(seed, game) for game in games], dtype=np.uint64)
        results = np.zeros((len(games), 3), dtype=np.int64)
        nothing = td_kernels.Rate(np.zeros(0, dtype=np.float32), np.float32(0), np.float32(0))
        episodes.play_games(self._learner, self._tables, nothing, self._rules, states, results, self._scratch)
        return results
