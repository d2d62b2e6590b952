from __future__ import annotations

import random

import pytest

from game2048.board import Board
from game2048.direction import DIRECTIONS, Direction
from game2048.look.motion import TileMotion, tile_motions


def test_two_equal_tiles_move_into_one_cell_and_a_third_follows() -> None:
    board = Board.from_text("2 2 0 2 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    assert tile_motions(board, Direction.LEFT) == [
        TileMotion(0, 0, 1, True),
        TileMotion(1, 0, 1, True),
        TileMotion(3, 1, 1, False),
    ]


def test_four_equal_tiles_make_two_pairs_counted_from_the_edge() -> None:
    board = Board.from_text("4 0 / 4 0 / 4 0 / 4 0")
    # Downwards the edge is the last row: cells 6 and 4 meet in 6, cells 2 and 0 in 4.
    assert tile_motions(board, Direction.DOWN) == [
        TileMotion(6, 6, 2, True),
        TileMotion(4, 6, 2, True),
        TileMotion(2, 4, 2, True),
        TileMotion(0, 4, 2, True),
    ]


def test_a_merged_tile_does_not_take_in_a_third_that_equals_it() -> None:
    board = Board.from_text("2 2 4 0 / 0 0 0 0")
    assert [(m.start, m.end, m.merges) for m in tile_motions(board, Direction.LEFT)] == [
        (0, 0, True),
        (1, 0, True),
        (2, 1, False),
    ]


@pytest.mark.parametrize("size", [(4, 4), (5, 5), (2, 3)])
def test_the_motions_of_random_boards_add_up_to_the_afterstate(size: tuple[int, int]) -> None:
    random_number = random.Random(1)
    rows, columns = size
    for _ in range(300):
        cells = bytes(random_number.choice((0, 1, 1, 2, 2, 3)) for _ in range(rows * columns))
        board = Board(rows, columns, cells)
        for direction in DIRECTIONS:
            motions = tile_motions(board, direction)
            assert sorted(m.start for m in motions) == [i for i, e in enumerate(cells) if e]
            arrived: dict[int, list[TileMotion]] = {}
            for motion in motions:
                arrived.setdefault(motion.end, []).append(motion)
            built = bytearray(rows * columns)
            for end, group in arrived.items():
                assert len(group) == 1 + group[0].merges
                assert len({m.exponent for m in group}) == 1
                built[end] = group[0].exponent + group[0].merges
            assert bytes(built) == board.slide(direction).afterstate.cells
