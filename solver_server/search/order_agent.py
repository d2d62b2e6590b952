"""An engine that keeps the large tiles in order, for endgame tables to find them so."""

from __future__ import annotations

import math
import time

import numpy as np

from game2048 import bitboard, grid
from game2048.board import Board
from game2048.direction import DIRECTIONS
from game2048.errors import SolverError
from solver_server.agent import Decision, Limit
from solver_server.depth import PLAYER_MOVES, DepthRule
from solver_server.search.agent import LONGEST_SECONDS
from solver_server.search.order import decide_by_order, make_order_search

FIRST_DEPTH = 4
"""How far it always looks without any limit, in player moves."""
EFFORT = 150_000
"""Nodes without any limit: less than half a millisecond on average, with tables."""
NO_LIMIT = 2**62

# What a decision takes besides the search: entering the kernel, and making an answer of its values.
_OVERHEAD_SECONDS = 5e-5


class OrderAgent:
    """Chooses by `order.decide_by_order`, on 4×4 boards. One instance serves one thread.

    Args:
        depths: how its depth is counted.
        effort: nodes without a limit.
    """

    def __init__(self, depths: DepthRule = PLAYER_MOVES, effort: int = EFFORT) -> None:
        self._depths = depths
        self._effort = effort
        self._search = make_order_search()

    def choose(self, board: Board, limit: Limit) -> Decision | None:
        """See `Agent.choose`."""
        begun = time.perf_counter()
        if (board.rows, board.columns) != (4, 4):
            raise SolverError(f"engine order does not play {board.rows}×{board.columns}: expected 4×4")
        packed = np.uint64(bitboard.downgrade(grid.from_board(board)))
        first, last, seconds, nodes = self._span(limit)
        left = seconds - (time.perf_counter() - begun) - _OVERHEAD_SECONDS
        best, depth = decide_by_order(packed, first, last, left, nodes, self._search)
        if best < 0:
            return None
        values = self._search.values[0]
        return Decision(
            direction=DIRECTIONS[best],
            values={
                direction: float(values[direction.index])
                for direction in DIRECTIONS
                if board.slide(direction).moved
            },
            depth=int(depth),
            nodes=int(self._search.counters[0]),
            elapsed_ms=(time.perf_counter() - begun) * 1000,
        )

    def _span(self, limit: Limit) -> tuple[int, int, float, int]:
        """The first depth and the last, and seconds and nodes for all but the first."""
        if limit.time_ms is not None and not 0 < limit.time_ms < math.inf:
            raise SolverError(f"a time limit of {limit.time_ms} ms is out of range: expected more than 0")
        if limit == Limit():
            return FIRST_DEPTH, self._depths.maximum, LONGEST_SECONDS, self._effort
        last = self._depths.maximum if limit.depth is None else self._depths.check(limit.depth)
        # Deepening costs little, and leaves a move to answer with when a limit comes first.
        return 1, last, LONGEST_SECONDS if limit.time_ms is None else limit.time_ms / 1000, NO_LIMIT
