"""The engine that keeps the large tiles in order, as endgame tables need them."""

from __future__ import annotations

import math
import time

import numpy as np
import numpy.typing as npt

from game2048.board import Board
from game2048.direction import DIRECTIONS
from game2048.errors import SolverError
from game2048.kernels import bitboard, grid
from solver_server.engine import Decision, Limit
from solver_server.limits import PLAYER_MOVES, DepthRule, seconds_of
from solver_server.search.expectimax import NO_LIMIT, Span
from solver_server.search.expectimax_engine import OVERHEAD_SECONDS
from solver_server.search.order import decide_by_order, decide_many_by_order, make_order_search
from solver_server.stop_flag import StopFlag

FIRST_DEPTH = 4
"""Least depth without any limit, in player moves."""
EFFORT = 150_000
"""Nodes without any limit: less than half a millisecond on average, with tables."""


class OrderEngine:
    """Chooses by `order.decide_by_order`, on 4×4 boards. One instance serves one thread.

    Args:
        depths: rule of its depth.
        effort: nodes without a limit.

    Attributes:
        stop_flag: stops the running search.
    """

    def __init__(self, depths: DepthRule = PLAYER_MOVES, effort: int = EFFORT) -> None:
        self._depths = depths
        self._effort = effort
        self.stop_flag = StopFlag()
        self._search = make_order_search()._replace(stop=self.stop_flag.array)

    def choose(self, board: Board, limit: Limit) -> Decision | None:
        """See `Engine.choose`."""
        begun = time.perf_counter()
        if (board.rows, board.columns) != (4, 4):
            raise SolverError(f"the board is {board.rows}×{board.columns}; engine order plays 4×4")
        packed = np.uint64(bitboard.downgrade(grid.to_grid(board)))
        first, last, seconds, nodes = self._span(limit)
        left = seconds - (time.perf_counter() - begun) - OVERHEAD_SECONDS
        best, depth = decide_by_order(packed, first, last, left, nodes, self._search)
        self.stop_flag.check()
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
            nodes=int(self._search.state["nodes"][0]),
            elapsed_ms=(time.perf_counter() - begun) * 1000,
        )

    def choose_packed(
        self,
        boards: npt.NDArray[np.uint64],
        limit: Limit,
        directions: npt.NDArray[np.int8],
        turn: float = math.inf,
    ) -> int:
        """See `ManyBoards.choose_packed`."""
        first, last, seconds, nodes = self._span(limit)
        span = Span(first, last, seconds, nodes, 0.0)
        done = int(decide_many_by_order(boards, span, turn, self._search, directions))
        self.stop_flag.check()
        return done

    def _span(self, limit: Limit) -> tuple[int, int, float, int]:
        """Return the first depth and the last, and seconds and nodes for all but the first."""
        seconds = seconds_of(limit)
        if limit == Limit():
            return FIRST_DEPTH, self._depths.maximum, seconds, self._effort
        last = self._depths.maximum if limit.depth is None else self._depths.check(limit.depth)
        # Deepening takes half as long again; it leaves a move to answer when time is up.
        return last if limit.time_ms is None else 1, last, seconds, NO_LIMIT
