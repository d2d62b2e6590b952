from __future__ import annotations

import random

import numpy as np
import pytest
from support.brute_force import CERTAIN, BruteForce

from game2048.board import Board
from game2048.direction import DIRECTIONS, Direction
from game2048.kernels import bitboard
from game2048.symmetry import isomorphs
from solver_server.tables.build.builder import EndgameTable, solve_table
from solver_server.tables.build.indexing import index_of
from solver_server.tables.formations import BLOCK, FORMATIONS, HOOK, TableSpec
from solver_server.tables.lookup import make_table_set, table_moves

UP, RIGHT, DOWN, LEFT = DIRECTIONS
ROWS = bitboard.make_row_tables()


@pytest.fixture(scope="module")
def tables() -> dict[str, EndgameTable]:
    return {
        name: solve_table(TableSpec(formation, 4, slack=8, large=2, spare=3))
        for name, formation in FORMATIONS.items()
    }


def board_of(large: list[int], moving: dict[int, int], cells: tuple[int, ...] = (0, 1, 2, 4, 5, 6)) -> Board:
    """A board with large tiles on the locked cells of a formation and others where they are said to be."""
    exponents = dict(zip(cells, large, strict=True)) | moving
    return Board(4, 4, bytes(exponents.get(cell, 0) for cell in range(16)))


def moves_of(board: Board, *tables: EndgameTable) -> dict[Direction, int] | None:
    """The values of all directions, or ``None`` where no table is to be followed."""
    values, scratch = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
    best = table_moves(bitboard.from_board(board), ROWS, make_table_set(tables), scratch, values)
    if best < 0:
        return None
    assert values[best] == values.max()
    return {direction: int(values[direction.index]) for direction in DIRECTIONS}


def value_of(board: Board, table: EndgameTable) -> int:
    """What a table says of an afterstate; 0 if it does not keep it."""
    moving = sum(board.cells[cell] << (4 * cell) for cell in table.spec.formation.moving)
    index = index_of(np.uint64(moving), table.index)
    return int(table.values[index]) if index >= 0 else 0


@pytest.mark.parametrize("name", FORMATIONS)
def test_each_direction_has_the_value_of_the_board_it_leads_to(
    name: str, tables: dict[str, EndgameTable]
) -> None:
    table = tables[name]
    locked, moving_cells = table.spec.formation.locked, table.spec.formation.moving
    is_goal = BruteForce(table.spec).is_goal
    draw = random.Random(1)
    found = 0
    for _ in range(600):
        moving = {cell: draw.choice((0, 0, 0, 0, 1, 2)) for cell in moving_cells}
        if name == "hook":
            moving |= {6: draw.choice((3, 4)), 7: draw.choice((0, 3)), 10: draw.choice((0, 3))}
        board = board_of(draw.sample(range(6, 16), len(locked)), moving, locked)
        values = moves_of(board, table)
        expected = {}
        for direction in DIRECTIONS:
            after = board.slide(direction).afterstate
            kept = after != board and all(after.cells[cell] == board.cells[cell] for cell in locked)
            expected[direction] = -1 if not kept else CERTAIN if is_goal(after) else value_of(after, table)
        if is_goal(board):
            assert values is None
        elif max(expected.values()) >= max(table.spec.formation.trusted * CERTAIN, 1):
            assert values == expected
            found += 1
        else:
            assert values is None
    assert 20 < found < 580


def test_all_images_of_a_board_get_the_same_move(tables: dict[str, EndgameTable]) -> None:
    board = board_of([14, 13, 12, 11, 10, 9], {8: 4, 9: 3, 15: 1, 14: 2, 11: 2})
    values = moves_of(board, tables["block"])
    assert values is not None
    best = max(values, key=lambda direction: values[direction])
    after = board.slide(best).afterstate
    ends = set(isomorphs(after))
    for image in isomorphs(board):
        turned = moves_of(image, tables["block"])
        assert turned is not None
        assert sorted(turned.values()) == sorted(values.values())
        assert image.slide(max(turned, key=lambda direction: turned[direction])).afterstate in ends


@pytest.mark.parametrize(
    ("large", "moving", "why"),
    [
        ([9, 9, 8, 7, 10, 6], {}, "two locked tiles side by side are equal"),
        ([9, 8, 7, 6, 10, 5], {8: 5}, "a small tile as large as a locked one"),
        ([9, 8, 7, 6, 10, 5], {15: 3}, "a small tile beyond the bound of its cell"),
        ([9, 8, 7, 6, 10, 0], {}, "a locked cell is empty"),
        ([9, 8, 7, 6, 10, 3], {}, "locked tiles too small for a chain below them"),
    ],
)
def test_boards_that_do_not_fit_have_no_move(
    tables: dict[str, EndgameTable], large: list[int], moving: dict[int, int], why: str
) -> None:
    small = {13: 1, 14: 2}
    assert moves_of(board_of([9, 8, 7, 6, 10, 5], small), tables["block"]) is not None
    assert moves_of(board_of(large, small | moving), tables["block"]) is None, why


def test_a_smaller_anchor_has_a_nearer_goal(tables: dict[str, EndgameTable]) -> None:
    # With 32 the smallest large tile the chain is 16, 8, 4, 4; with 16 it is 8, 4, 2, 2.
    chain = {8: 3, 9: 2, 14: 1, 3: 3, 7: 2, 11: 1}
    near, far = board_of([9, 8, 7, 6, 10, 4], chain), board_of([9, 8, 7, 6, 10, 5], chain)
    near_values, far_values = moves_of(near, tables["block"]), moves_of(far, tables["block"])
    assert near_values is not None
    assert far_values is not None
    assert near_values[UP] == CERTAIN  # brings the two 2s together at the end of the chain
    assert far_values[UP] == value_of(far.slide(UP).afterstate, tables["block"]) < CERTAIN


def test_above_its_largest_top_a_table_serves_too(tables: dict[str, EndgameTable]) -> None:
    small = {8: 4, 13: 1, 14: 2}
    one = moves_of(board_of([9, 8, 7, 6, 10, 5], small), tables["block"])
    assert one is not None
    assert one == moves_of(board_of([14, 12, 11, 10, 13, 9], small), tables["block"])


def test_the_hook_is_followed_first_where_it_promises_enough(tables: dict[str, EndgameTable]) -> None:
    board = board_of([14, 13, 12, 11, 10], {6: 4, 7: 3, 15: 1, 14: 2}, HOOK.locked)
    assert moves_of(board, *tables.values()) == moves_of(board, tables["hook"])
    assert tables["hook"].spec.formation.trusted > tables["block"].spec.formation.trusted


def test_an_empty_set_knows_nothing() -> None:
    values = np.zeros(4, dtype=np.int64)
    board = bitboard.from_board(board_of([9, 8, 7, 6, 10, 5], {13: 1}))
    assert table_moves(board, ROWS, make_table_set(()), values.copy(), values) == -1


def test_a_board_in_no_order_has_no_move(tables: dict[str, EndgameTable]) -> None:
    board = Board.from_text("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 .")
    assert moves_of(board, *tables.values()) is None
    assert {BLOCK, HOOK} == {table.spec.formation for table in tables.values()}
