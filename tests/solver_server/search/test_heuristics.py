"""The evaluations against values worked out by hand."""

from __future__ import annotations

import pytest

from game2048 import Board
from game2048.kernels import grid
from solver_server.search.heuristics import (
    COMPOSITE_EXPONENTS,
    composite_value,
    gradient_value,
    make_composite,
    make_gradient,
)


def composite(text: str) -> float:
    return composite_value(grid.to_grid(Board.from_text(text)), make_composite())


def gradient(text: str) -> float:
    return gradient_value(grid.to_grid(Board.from_text(text)), make_gradient())


def test_the_composite_weights_snake_down_from_the_upper_right_corner() -> None:
    path = [(0, 3), (0, 2), (0, 1), (0, 0), (1, 0), (1, 1), (1, 2), (1, 3)]
    path += [(2, 3), (2, 2), (2, 1), (2, 0), (3, 0), (3, 1), (3, 2), (3, 3)]
    assert [COMPOSITE_EXPONENTS[r][c] for r, c in path] == list(range(15, -1, -1))


def test_composite_of_one_tile_in_its_corner() -> None:
    # position 2·4^15, 15 empty cells, all 24 steps follow a trend, no neighbours, corner bonus 2·10,000
    expected = 2 * 4**15 + 15 * 50_000 + 24 * 10_000 + 20_000
    assert composite("0 0 0 2 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0") == expected


def test_composite_of_a_tile_elsewhere_gets_no_corner_bonus() -> None:
    # position 2·4^0; its row rises and then is level: 3 of 3; its column likewise
    assert composite("0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2") == 2 + 15 * 50_000 + 24 * 10_000


def test_composite_of_a_full_board() -> None:
    text = "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2"
    weights = [4**e for row in COMPOSITE_EXPONENTS for e in row]
    tiles = [tile for row in Board.from_text(text).tiles() for tile in row]
    position = sum(w * t for w, t in zip(weights, tiles, strict=True))
    # each of the 8 lines goes up, down, up (or the reverse): 2 of 3 steps follow the better trend;
    # 24 neighbouring pairs, each 1 apart; the corner holds a 4, the largest tile
    assert composite(text) == position + 8 * 2 * 10_000 - 24 * 1_000 + 4 * 10_000


def test_gradient_worked_out() -> None:
    # 14 empty cells; 4 (exponent 2) on weight 16, 16 (exponent 4) on weight 15; one pair 2 apart
    expected = 2.7 * 14 + 16 * 2 + 15 * 4 - 0.1 * 2
    assert gradient("4 16 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0") == pytest.approx(expected)


def test_large_tiles_are_not_downgraded_by_the_older_evaluations() -> None:
    assert gradient("131072 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0") == pytest.approx(2.7 * 15 + 16 * 17)
    expected = 131072 * 4**12 + 15 * 50_000 + 24 * 10_000
    assert composite("131072 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0") == expected
