"""The search that keeps the large tiles in order, against a slow one written from its description."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from game2048 import DIRECTIONS, Board, Direction
from game2048.errors import SolverError
from game2048.kernels import bitboard
from game2048.spawn import chance_outcomes
from game2048.symmetry import isomorphs
from solver_server.engine import Limit
from solver_server.search.order import (
    ORDER_WEIGHTS,
    OrderWeights,
    decide_by_order,
    make_lines,
    make_order_search,
    order_value,
)
from solver_server.search.order_engine import FIRST_DEPTH, OrderEngine

UP, RIGHT, DOWN, LEFT = DIRECTIONS
SEARCH = make_order_search(12)
ORDERED = Board.from_text("1024 512 64 2 / 256 128 8 0 / 4 2 0 0 / 0 0 2 0")
MESSY = Board.from_text("2 64 8 2 / 32 4 128 0 / 512 2 0 0 / 4 0 2 16")


def line_value(line: tuple[int, ...], weights: OrderWeights = ORDER_WEIGHTS) -> int:
    """The value of exponents that should fall from the first on."""
    tiles = [exponent**weights.power * 2**exponent for exponent in line]
    value = tiles[0]
    for before, after in pairwise(tiles):
        rises = weights.disorder * (before - after)
        value += weights.before * before + after if before >= after else rises
        value += weights.equal * before if before == after else 0
    return round(value)


def naive_value(board: Board, weights: OrderWeights = ORDER_WEIGHTS) -> int:
    """Rows and columns that should fall from the first cell on."""
    cells, n = board.cells, board.columns
    rows = [tuple(cells[i : i + n]) for i in range(0, n * n, n)]
    return sum(line_value(line, weights) for line in (*rows, *zip(*rows, strict=True)))


def in_its_corner(board: Board) -> Board:
    """The image whose large tiles are nearest to the first cell."""

    def nearness(image: Board) -> int:
        return sum(e * 2**e * (6 - i // 4 - i % 4) for i, e in enumerate(image.cells))

    return max(isomorphs(board), key=nearness)


class Naive:
    def __init__(self, board: Board, depth: int, weights: OrderWeights = ORDER_WEIGHTS) -> None:
        self.weights = weights
        self.least = 2.0 ** -(weights.bits + weights.bits_each * depth)
        top = max(board.cells)
        points = top * 2**top
        cut = naive_value(board, weights) >= weights.uncut * points
        self.settled = weights.cut * points if cut else -(10**18)
        self.dead = -max(2**17, weights.loss * points)

    def value(self, after: Board, depth: int, probability: float) -> int:
        value = naive_value(after, self.weights)
        if depth == 0 or value < self.settled or probability < self.least:
            return value
        mean = 0.0
        for chance, board in chance_outcomes(after):
            moves = [slide.afterstate for slide in map(board.slide, DIRECTIONS) if slide.moved]
            values = [self.value(next_after, depth - 1, chance * probability) for next_after in moves]
            mean += chance * max(values, default=self.dead)
        return int(mean)


def test_a_line_is_worth_its_tiles_and_costs_its_steps_up() -> None:
    # Points: exponent · tile. 8, 4, 2, nothing: 24 + (24 + 8) + (8 + 2) + (2 + 0).
    assert line_value((3, 2, 1, 0)) == 24 + 32 + 10 + 2
    # Equal ones count once more; a step up counts twelve times what it rises by.
    assert line_value((1, 1, 0, 0)) == 2 + (2 + 2 + 2) + 2 + (0 + 0 + 0)
    assert line_value((0, 2, 0, 0)) == 0 - 12 * 8 + 8 + 0


def test_the_rows_know_what_lines_are_worth() -> None:
    lines = make_lines()
    draw = random.Random(0)
    for _ in range(500):
        line = tuple(draw.randrange(16) for _ in range(4))
        assert lines[sum(exponent << (4 * i) for i, exponent in enumerate(line))] == line_value(line)


@pytest.mark.parametrize("board", [ORDERED, MESSY])
def test_a_board_is_worth_its_rows_and_columns(board: Board) -> None:
    assert order_value(bitboard.from_board(board), SEARCH) == naive_value(board)


def decide(board: Board, depth: int) -> tuple[Direction | None, dict[Direction, int]]:
    best, reached = decide_by_order(bitboard.from_board(board), depth, depth, np.inf, 2**62, SEARCH)
    assert best < 0 or reached == depth
    legal = [direction for direction in DIRECTIONS if board.slide(direction).moved]
    values = {direction: int(SEARCH.values[0, direction.index]) for direction in legal}
    return (None if best < 0 else DIRECTIONS[best]), values


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("board", [ORDERED, MESSY])
def test_values_are_those_of_a_slow_search(board: Board, depth: int) -> None:
    image = in_its_corner(board)
    naive = Naive(image, depth)
    expected = [
        naive.value(slide.afterstate, depth - 1, 1.0) for slide in map(image.slide, DIRECTIONS) if slide.moved
    ]
    best, values = decide(board, depth)
    assert np.abs(np.array(sorted(values.values())) - sorted(expected)).max() <= depth
    assert best is not None
    assert values[best] == max(values.values())


@pytest.mark.parametrize("board", [ORDERED, MESSY])
def test_other_weights_are_searched_as_a_slow_search_does(board: Board) -> None:
    weights = OrderWeights(
        7.5, 0.5, before=1.25, power=1.5, cut=1.5, uncut=-9, loss=40, bits=2, bits_each=0.5
    )
    search = make_order_search(12, weights)
    decide_by_order(bitboard.from_board(board), 3, 3, np.inf, 2**62, search)
    legal = [direction.index for direction in DIRECTIONS if board.slide(direction).moved]
    found = np.sort(search.values[0][legal])
    image = in_its_corner(board)
    afterstates = [slide.afterstate for slide in map(image.slide, DIRECTIONS) if slide.moved]
    expected = sorted(Naive(image, 3, weights).value(after, 2, 1.0) for after in afterstates)
    assert np.abs(found - expected).max() <= 3
    assert expected != sorted(Naive(image, 3).value(after, 2, 1.0) for after in afterstates)


@pytest.mark.parametrize("depth", [1, 3])
def test_all_images_are_played_alike(depth: int) -> None:
    best, values = decide(ORDERED, depth)
    assert best is not None
    ends = set(isomorphs(ORDERED.slide(best).afterstate))
    for image in isomorphs(ORDERED):
        turned, turned_values = decide(image, depth)
        assert turned is not None
        assert image.slide(turned).afterstate in ends
        # Means are cut to whole numbers; the order of summing may move one across.
        assert np.abs(np.subtract(sorted(turned_values.values()), sorted(values.values()))).max() <= depth


def test_the_corner_of_the_large_tiles_is_kept() -> None:
    # Down and right would pull 1024 and 512 out of their corner for two 2s.
    board = Board.from_text("1024 512 128 64 / 2 0 0 0 / 2 0 0 0 / 0 0 0 0")
    assert decide(board, 2)[0] in (UP, LEFT)


def test_a_dead_board_has_no_move() -> None:
    assert decide(Board.from_text("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2"), 1)[0] is None


def test_the_agent_looks_as_far_as_it_is_told() -> None:
    agent = OrderEngine()
    for limit, depths in ((Limit(depth=3), (3, 3)), (Limit(), (FIRST_DEPTH, 8))):
        decision = agent.choose(ORDERED, limit)
        assert decision is not None
        assert depths[0] <= decision.depth <= depths[1]
        assert decision.nodes > 0
        assert set(decision.values) == {move for move in DIRECTIONS if ORDERED.slide(move).moved}
        assert decision.values[decision.direction] == max(decision.values.values())


def test_a_limit_of_time_leaves_a_move() -> None:
    decision = OrderEngine().choose(ORDERED, Limit(time_ms=0.001))
    assert decision is not None
    assert decision.depth == 1
    deeper = OrderEngine().choose(ORDERED, Limit(depth=4, time_ms=60_000.0))
    assert deeper is not None
    assert deeper.depth == 4


def test_a_depth_alone_is_searched_at_once() -> None:
    decision = OrderEngine().choose(ORDERED, Limit(depth=4))
    timed = OrderEngine().choose(ORDERED, Limit(depth=4, time_ms=60_000.0))
    search = make_order_search()
    decide_by_order(bitboard.from_board(ORDERED), 4, 4, np.inf, 2**62, search)
    assert decision is not None
    assert timed is not None
    assert decision.nodes == int(search.state["nodes"][0]) < timed.nodes
    assert decision.direction == timed.direction


def test_beside_a_32768_a_tile_in_the_making_is_not_taken_for_the_next_larger_one() -> None:
    # 1024 and 1024 make the 2048 that is missing; beside the 4096 it must not seem to be one more 4096.
    board = Board.from_text("32768 16384 8 4 / 8192 4096 1024 1024 / 32 16 4 2 / 2 0 0 0")
    naive = Naive(board, 3)
    decision = OrderEngine().choose(board, Limit(depth=3))
    assert decision is not None
    for direction, value in decision.values.items():
        assert abs(value - naive.value(board.slide(direction).afterstate, 2, 1.0)) <= 3


def test_past_32768_it_plays_on() -> None:
    board = Board.from_text("65536 512 64 2 / 256 128 8 0 / 4 2 0 0 / 0 0 2 0")
    decision = OrderEngine().choose(board, Limit(depth=2))
    assert decision is not None
    assert decision.direction in (UP, LEFT)


def test_boards_of_other_sizes_and_limits_of_nothing_are_told() -> None:
    with pytest.raises(SolverError, match="engine order plays 4×4"):
        OrderEngine().choose(Board.from_text("2 2 0 / 0 0 0 / 0 0 0"), Limit())
    with pytest.raises(SolverError, match="time_ms 0 is out of range; expected more than 0"):
        OrderEngine().choose(ORDERED, Limit(time_ms=0))
