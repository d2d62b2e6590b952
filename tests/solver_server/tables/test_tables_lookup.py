from __future__ import annotations

import random

import numpy as np
import pytest

from game2048 import bitboard
from game2048.board import Board
from game2048.direction import DIRECTIONS
from game2048.symmetry import isomorphs
from solver_server.tables.building import Table, solve
from solver_server.tables.formations import BLOCK, CORNER, TableSpec
from solver_server.tables.indexing import index_of
from solver_server.tables.lookup import make_table_set, no_tables, table_moves, table_value


@pytest.fixture(scope="module")
def tables() -> list[Table]:
    four = solve(TableSpec(BLOCK, 4, slack=8, large=2, spare=3))
    return [four, solve(TableSpec(BLOCK, 3, slack=8, large=2, spare=3), four)]


def board_of(locked: list[int], moving: dict[int, int]) -> Board:
    """A board of the block formation: the anchor last among the locked tiles."""
    cells = [0] * 16
    for cell, exponent in zip((0, 1, 2, 4, 5, 6), locked, strict=True):
        cells[cell] = exponent
    for cell, exponent in moving.items():
        cells[cell] = exponent
    return Board(4, 4, bytes(cells))


def value_of(board: Board, tables: list[Table]) -> int:
    return table_value(bitboard.from_board(board), make_table_set(tables))


def test_the_value_is_that_of_the_small_tiles_in_every_image(tables: list[Table]) -> None:
    draw = random.Random(1)
    moving_cells = [3, *range(7, 16)]
    found = 0
    for _ in range(400):
        table = draw.choice(tables)
        goal = table.spec.goal
        moving = {cell: draw.choice((0, 0, 0, 0, 1, 2, goal - 1)) for cell in moving_cells}
        nibbles = sum(exponent << (4 * cell) for cell, exponent in moving.items())
        index = index_of(np.uint64(nibbles), table.index)
        expected = int(table.values[index]) if index >= 0 else -1
        found += expected > 0
        large = draw.sample(range(goal + 1, 15), 5)
        assert {value_of(image, tables) for image in isomorphs(board_of([*large, goal], moving))} == {
            expected
        }
    assert found > 50


@pytest.mark.parametrize(
    ("locked", "why"),
    [
        ([9, 8, 7, 6, 9, 4], "two equal large tiles"),
        ([9, 8, 7, 6, 4, 5], "the smallest does not stand at the anchor"),
        ([9, 8, 7, 6, 5, 2], "no table for that anchor"),
        ([9, 8, 7, 6, 0, 4], "a locked cell is empty"),
    ],
)
def test_boards_that_do_not_fit_have_no_value(tables: list[Table], locked: list[int], why: str) -> None:
    assert value_of(board_of([9, 8, 7, 6, 5, 4], {15: 1, 14: 2}), tables) > 0
    assert value_of(board_of(locked, {15: 1, 14: 2}), tables) == -1, why


def test_a_small_tile_above_the_goal_has_no_value(tables: list[Table]) -> None:
    assert value_of(board_of([12, 11, 10, 9, 8, 3], {15: 1, 14: 5}), tables) == -1


def test_the_best_of_several_formations_counts(tables: list[Table]) -> None:
    corner = solve(TableSpec(CORNER, 3, slack=8, large=2, spare=3))
    board = Board(4, 4, bytes([12, 11, 10, 3, 9, 8, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1]))
    alone = value_of(board, [corner])
    assert alone > 0
    assert value_of(board, tables) == -1
    assert value_of(board, [*tables, corner]) == alone


def test_an_empty_set_knows_nothing() -> None:
    assert table_value(np.uint64(0x123456789ABCDEF0), no_tables()) == -1


def moves_of(board: Board, tables: list[Table]) -> tuple[int, list[int]]:
    values = np.zeros(4, dtype=np.int64)
    rows = bitboard.make_row_tables()
    best = table_moves(bitboard.from_board(board), rows, make_table_set(tables), values)
    return best, values.tolist()


def test_a_merge_into_the_anchor_at_the_top_of_a_chain_is_certain(tables: list[Table]) -> None:
    # Up joins the 16 below the anchor with it; no table knows a board whose anchor is 32.
    best, values = moves_of(board_of([12, 11, 10, 9, 8, 4], {10: 4, 14: 1}), tables)
    assert (best, values[0]) == (0, 65535)


def test_a_merge_into_the_anchor_that_makes_another_merge_ready_is_certain(tables: list[Table]) -> None:
    best, values = moves_of(board_of([12, 11, 10, 9, 4, 3], {10: 3, 14: 1}), tables)
    assert (best, values[0]) == (0, 65535)


def test_a_merge_into_the_anchor_below_the_top_has_the_value_of_the_table_above(tables: list[Table]) -> None:
    board = board_of([12, 11, 10, 9, 8, 3], {10: 3, 14: 1})
    best, values = moves_of(board, tables)
    assert best == 0
    assert values[0] == value_of(board.slide(DIRECTIONS[0]).afterstate, tables)
    assert 0 < values[0] < 65535


def test_a_board_that_can_only_step_aside_does(tables: list[Table]) -> None:
    # One small tile below the block: up and left change nothing, right and down move locked tiles.
    board = board_of([12, 11, 10, 9, 8, 4], {8: 1})
    best, values = moves_of(board, tables)
    assert values[0] == values[3] == -1
    assert best in (1, 2)
    assert 0 < values[best] < 65535


def test_a_board_that_fits_no_table_has_no_move(tables: list[Table]) -> None:
    assert moves_of(Board.from_text("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 ."), tables) == (-1, [-1] * 4)
