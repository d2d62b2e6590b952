"""The engine that chooses by expectimax: a `Search` and a rule for its depth."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from game2048.board import Board
from game2048.direction import DIRECTIONS
from game2048.kernels import bitboard, grid
from solver_server.engine import Decision, Limit
from solver_server.limits import DepthRule, seconds_of
from solver_server.search.chance import ChancePolicy, make_spawns
from solver_server.search.expectimax import LEVELS, NO_LIMIT, Search, Span, decide, decide_many, make_stack
from solver_server.search.many_boards import choose_each
from solver_server.search.root_split import RootSplit
from solver_server.search.transposition import make_transposition_table
from solver_server.stop_flag import StopFlag


@dataclass(frozen=True, slots=True)
class Effort:
    """The nodes of a search without any limit.

    Attributes:
        bitboard: nodes on 4×4 boards.
        grid: nodes on other boards.
        growth: see `expectimax.decide`; 0 begins every depth and drops a depth that the limit cuts short.
    """

    bitboard: int = 35_000
    grid: int = 20_000
    growth: float = 0.0


OVERHEAD_SECONDS = 5e-5
"""Seconds of a decision beside the search: to enter the kernel, and to make an answer of its values."""

_GOLDEN = 0x9E3779B97F4A7C15


def make_search(
    evaluator: Any, chance: ChancePolicy, *, log2_entries: int, exact_depth: bool = False
) -> Search:
    """Make a search over an evaluator, with its own working memory and table."""
    return Search(
        rows=bitboard.make_row_tables(),
        evaluator=evaluator,
        chance=chance,
        spawns=make_spawns(LEVELS),
        stack=make_stack(()),
        exact_depth=exact_depth,
        table=make_transposition_table(log2_entries),
        counters=np.zeros(2, dtype=np.int64),
        values=np.zeros((2, 4)),
        deadline=np.zeros(1),
        node_limit=np.zeros(1, dtype=np.int64),
        clock=np.zeros(2, dtype=np.int64),
        stop=np.zeros(1, dtype=np.int64),
    )


def sibling_of(search: Search) -> Search:
    """Make a search over the same evaluator for another thread. It must not sample."""
    return make_search(
        search.evaluator,
        search.chance,
        log2_entries=search.table.entries.size.bit_length() - 1,
        exact_depth=search.exact_depth,
    )


class ExpectimaxEngine:
    """Chooses by `expectimax.decide`.

    Args:
        search: the search.
        depths: rule of its depth.
        on_grid: whether 4×4 boards too are searched as grids, which need no downgrading past 32768.
        effort: nodes without a limit.
        threads: number of threads that share a search with a time limit. Other searches take one thread, so
            that the move depends on the board alone.

    Attributes:
        stop_flag: stops the running search.
    """

    def __init__(
        self,
        search: Search,
        depths: DepthRule,
        *,
        on_grid: bool = False,
        effort: Effort | None = None,
        threads: int = 1,
    ) -> None:
        self.stop_flag = StopFlag()
        searches = [search, *(sibling_of(search) for _ in range(threads - 1))]
        self._searches = [search._replace(stop=self.stop_flag.array) for search in searches]
        self._split = RootSplit(threads) if threads > 1 else None
        self._stack_shape: tuple[int, ...] = ()
        self._depths = depths
        self._on_grid = on_grid
        self._effort = effort or Effort()

    def choose(self, board: Board, limit: Limit) -> Decision | None:
        """See `Engine.choose`."""
        begun = time.perf_counter()
        # Samples depend on the board alone: the same board gets the same answer at any time.
        self._searches[0].chance.random_state[0] = (hash_of(board) * _GOLDEN) & 0xFFFFFFFFFFFFFFFF
        position = self._position(board)
        self._fit_stacks(position.shape[1:])
        search = self._searches[0]
        first, last, seconds = self._span(limit)
        nodes, growth = self._nodes(limit)
        left = seconds - (time.perf_counter() - begun) - OVERHEAD_SECONDS
        if self._split is not None and limit.time_ms is not None:
            best, plies = self._split.decide(position, first, last, left, self._searches)
        else:
            best, plies = decide(position, first, last, left, nodes, growth, search)
        self.stop_flag.check()
        if best < 0:
            return None
        return Decision(
            direction=DIRECTIONS[best],
            values={
                direction: float(value)
                for direction, value in zip(DIRECTIONS, search.values[0], strict=True)
                if not math.isnan(value)
            },
            depth=self._depths.depth(plies),
            nodes=int(search.counters[0]),
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
        if self._on_grid:
            return choose_each(self, [bitboard.to_board(board) for board in boards], limit, directions, turn)
        self._fit_stacks(())
        first, last, seconds = self._span(limit)
        nodes, growth = self._nodes(limit)
        span = Span(first, last, seconds, nodes, growth)
        done = int(decide_many(boards, span, turn, self._searches[0], directions))
        self.stop_flag.check()
        return done

    def _position(self, board: Board) -> npt.NDArray[Any]:
        """Return the board as the search takes it: an array of one."""
        cells = grid.to_grid(board)
        if self._on_grid or (board.rows, board.columns) != (4, 4):
            return cells[np.newaxis]
        return np.array([bitboard.downgrade(cells)], dtype=np.uint64)

    def _fit_stacks(self, shape: tuple[int, ...]) -> None:
        if shape != self._stack_shape:
            self._searches = [search._replace(stack=make_stack(shape)) for search in self._searches]
            self._stack_shape = shape

    def _span(self, limit: Limit) -> tuple[int, int, float]:
        """Return the plies of the first and last search, and the seconds for all but the first."""
        depths = self._depths
        seconds = seconds_of(limit)
        depth = None if limit.depth is None else depths.check(limit.depth)
        if depth is not None:
            last = depths.plies(depth)
        else:
            last = depths.plies(depths.default if limit.time_ms is None else depths.maximum)
        # Deepening costs little, and leaves a move to answer when a limit comes first.
        first = min(2 - last % 2, last)
        return first, last, seconds

    def _nodes(self, limit: Limit) -> tuple[int, float]:
        """Return the nodes for all searches together, and the growth from one to the next."""
        if limit != Limit():
            return NO_LIMIT, 0.0
        effort = self._effort
        return (effort.grid if self._stack_shape else effort.bitboard), effort.growth


def hash_of(board: Board) -> int:
    """Return a number that depends on the board alone, the same in every process."""
    return int.from_bytes(board.cells, "big") + board.columns
