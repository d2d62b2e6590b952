from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import naive
from support.strategies import boards

from game2048 import DIRECTIONS, Board, Direction, RulesError
from game2048.board import highest_exponent


@given(boards())
def test_every_slide_agrees_with_the_oracle(board: Board) -> None:
    tiles = board.tiles()
    for direction in DIRECTIONS:
        expected, reward = naive.slide(tiles, direction.value)
        slide = board.slide(direction)
        assert slide.afterstate.tiles() == expected
        assert slide.reward == reward
        assert slide.moved == (expected != tiles)
    assert [d.value for d in board.legal_directions()] == naive.legal(tiles)
    assert board.is_over == (not naive.legal(tiles))


@given(boards())
def test_text_and_tiles_round_trip(board: Board) -> None:
    assert Board.from_text(board.text()) == board
    assert Board.from_tiles(board.tiles()) == board


def test_the_top_tiles_merge_and_score() -> None:
    board = Board.from_text("32768 32768 0 0 / 65536 0 0 65536 / 2 4 8 16 / 0 0 0 0")
    slide = board.slide(Direction.LEFT)
    assert slide.afterstate.tiles()[:2] == [[65536, 0, 0, 0], [131072, 0, 0, 0]]
    assert slide.reward == 65536 + 131072
    assert slide.afterstate.max_tile == 131072


def test_an_illegal_move_changes_nothing() -> None:
    board = Board.from_text("2 4 8 16 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    slide = board.slide(Direction.LEFT)
    assert (slide.afterstate, slide.reward, slide.moved) == (board, 0, False)
    assert board.legal_directions() == (Direction.DOWN,)
    assert [d for d, slide in board.slides().items() if slide.moved] == [Direction.DOWN]


def test_text_forms_that_people_write() -> None:
    expected = Board.from_tiles([[2, 0], [4, 8]])
    for text in ("2 0/4 8", "2 . / 4 8", "2,0\n4,8", " 2 -\n4  8 \n"):
        assert Board.from_text(text) == expected


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("2 4 / 8", "ragged: row 2 has 1 cells"),
        ("3 0 / 0 0", "3 in row 1, column 1 is not a tile"),
        ("1 0 / 0 0", "1 in row 1, column 1"),
        ("-2 0 / 0 0", "'-2' is not a tile"),
        ("2 x / 0 0", "'x' is not a tile"),
        ("٢ 0 / 0 0", "is not a tile"),
        ("9" * 5000 + " 0 / 0 0", "is not a tile"),
        ("2 4", "board of 1×2"),
        ("", "board of 0×0"),
        ("2 4 // 4 2", "empty row"),
        ("262144 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "expected 0 or a power of two from 2 to 131072"),
        ("2 0 0 0 0 0 0 0 0 / " * 2, "board of 2×9"),
    ],
)
def test_bad_text_is_told_with_the_value(text: str, complaint: str) -> None:
    with pytest.raises(RulesError, match=complaint.replace("×", ".")):
        Board.from_text(text)


@pytest.mark.parametrize(
    "tiles", [None, 5, "2 4", [2, 4], [[2.0, 0], [0, 0]], [[True, 0], [0, 0]], [["2", 0], [0, 0]]]
)
def test_bad_tiles_are_refused(tiles: object) -> None:
    with pytest.raises(RulesError):
        Board.from_tiles(tiles)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rows", "columns", "cells"),
    [(4, 4, bytes(15)), (1, 4, bytes(4)), (9, 2, bytes(18)), (2, 2, bytes((64, 0, 0, 0)))],
)
def test_a_board_cannot_be_made_wrong(rows: int, columns: int, cells: bytes) -> None:
    with pytest.raises(RulesError):
        Board(rows, columns, cells)


def test_the_highest_tile_of_each_size() -> None:
    assert [highest_exponent(*size) for size in ((2, 2), (4, 4), (5, 5), (8, 8))] == [17, 17, 26, 50]


def test_putting_a_tile_needs_an_empty_cell() -> None:
    board = Board.from_text("2 0 / 0 0")
    assert board.with_tile(3, 2).text() == "2 0 / 0 4"
    for cell in (0, 4, -1):
        with pytest.raises(RulesError, match="is not empty"):
            board.with_tile(cell, 1)


def test_pretty_aligns_columns() -> None:
    assert Board.from_text("2 0 / 1024 4").pretty() == "   2    .\n1024    4"


@given(st.sampled_from(DIRECTIONS))
def test_direction_names_round_trip(direction: Direction) -> None:
    assert Direction.parse(direction.value) is direction
    assert DIRECTIONS[direction.index] is direction


@pytest.mark.parametrize("name", ["UP", "", 0, None, "north"])
def test_unknown_directions_are_refused(name: object) -> None:
    with pytest.raises(RulesError, match="expected up, right, down or left"):
        Direction.parse(name)


@given(boards(max_exponent=63))
def test_what_repr_shows_makes_the_same_board(board: Board) -> None:
    assert eval(repr(board)) == board


def test_a_board_is_empty_and_4x4_unless_told_otherwise() -> None:
    assert Board().tiles() == [[0, 0, 0, 0]] * 4
    assert Board(2, 3) == Board.from_text("0 0 0 / 0 0 0")
    assert repr(Board(2, 2)) == "Board.from_text('0 0 / 0 0')"
    # Exponent 18 is beyond what text may hold, but not beyond a board.
    assert repr(Board(2, 2, bytes((18, 0, 0, 0)))) == r"Board(2, 2, b'\x12\x00\x00\x00')"


def test_boards_can_be_copied_and_pickled_and_do_not_change() -> None:
    board = Board.from_text("2 0 / 0 4")
    assert copy.deepcopy(board) == pickle.loads(pickle.dumps(board)) == board
    with pytest.raises(AttributeError):
        board.rows = 3  # type: ignore[misc]
