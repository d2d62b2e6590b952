"""The n-tuple engine: the search of all engines, with a network at its leaves."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.board import Board
from game2048.errors import SolverError
from game2048.kernels.jit import overload
from solver_server.engine import Decision, Limit
from solver_server.limits import PLAYER_MOVES, DepthRule
from solver_server.ntuple.network import Network, NetworkTables
from solver_server.ntuple.one_word_network import value_of_bitboard
from solver_server.ntuple.two_word_network import value_of_grid
from solver_server.search.board_ops import is_grid
from solver_server.search.chance import make_policy
from solver_server.search.evaluator import is_evaluator, value_of_leaf
from solver_server.search.expectimax_engine import Effort, ExpectimaxEngine, make_search

_MIN_PROBABILITY = 1e-3
# Some milliseconds at most, on average less than one: three moves, a fourth where few spawns are possible.
_EFFORT = Effort(bitboard=12_000, grid=12_000, growth=8.0)


class NetworkEvaluator(NamedTuple):
    """A network as an evaluator of the search (`solver_server.search.evaluator`).

    Attributes:
        tables: the network.
        reward_weight: 1, since values are score points.
        dead_value: 0, since a board without moves makes no points.
    """

    tables: NetworkTables
    reward_weight: float = 1.0
    dead_value: float = 0.0


@overload(value_of_leaf)
def _(board: Any, evaluator: Any) -> Any:
    if not is_evaluator(evaluator, NetworkEvaluator):
        return None
    if is_grid(board):
        return lambda board, evaluator: value_of_grid(board, evaluator.tables)
    return lambda board, evaluator: value_of_bitboard(board, evaluator.tables)


class NetworkEngine:
    """Chooses by expectimax over a network. One instance serves one thread.

    Args:
        network: the network; its weights are shared, not copied.
        depths: rule of its depth, and the default.
        log2_entries: size of the transposition table.
        min_probability: see `ChancePolicy`.
        threads: see `ExpectimaxEngine`.

    Attributes:
        stop_flag: stops the running search.
    """

    def __init__(
        self,
        network: Network,
        depths: DepthRule = PLAYER_MOVES,
        log2_entries: int = 16,
        min_probability: float = _MIN_PROBABILITY,
        threads: int = 1,
    ) -> None:
        self._pattern = network.pattern
        chance = make_policy(min_probability=min_probability)
        search = make_search(NetworkEvaluator(network.tables()), chance, log2_entries=log2_entries)
        self._search = ExpectimaxEngine(search, depths, effort=_EFFORT, threads=threads)
        self.stop_flag = self._search.stop_flag

    def choose(self, board: Board, limit: Limit) -> Decision | None:
        """See `Engine.choose`."""
        self._check_size(board.rows, board.columns)
        return self._search.choose(board, limit)

    def choose_packed(
        self,
        boards: npt.NDArray[np.uint64],
        limit: Limit,
        directions: npt.NDArray[np.int8],
        turn: float = math.inf,
    ) -> int:
        """See `ManyBoards.choose_packed`."""
        self._check_size(4, 4)
        return self._search.choose_packed(boards, limit, directions, turn)

    def _check_size(self, rows: int, columns: int) -> None:
        pattern = self._pattern
        if (rows, columns) != (pattern.rows, pattern.columns):
            raise SolverError(
                f"the board is {rows}×{columns}; network {pattern.name} plays "
                f"{pattern.rows}×{pattern.columns}"
            )
