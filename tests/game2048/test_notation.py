"""Boards in every notation that people use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from game2048.board import Board
from game2048.errors import RulesError
from game2048.notation import MAX_CHARACTERS, read_board

TILES = [[2, 4, 8, 16], [0, 0, 2, 4], [0, 0, 0, 2], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    "text",
    [
        "2 4 8 16 / . . 2 4 / . . . 2 / . . . .",
        "2 4 8 16 / - - 2 4 / _ _ _ 2 / 0 0 0 0",
        "2 4 8 16 \n 0 0 2 4 \r\n 0 0 0 2 \n 0 0 0 0\n",
        "2,4,8,16;0,0,2,4;0,0,0,2;0,0,0,0",
        "[[2,4,8,16],[0,0,2,4],[0,0,0,2],[0,0,0,0]]",
        "[2,4,8,16,0,0,2,4,0,0,0,2,0,0,0,0]",
        "2 4 8 16 0 0 2 4 0 0 0 2 0 0 0 0",
        "2,4,8,16,0,0,2,4,0,0,0,2,0,0,0,0",
        "1234001200010000",
    ],
)
def test_a_board_is_read_in_every_notation(text: str) -> None:
    assert read_board(text).tiles() == TILES


def test_hexadecimal_digits_are_exponents() -> None:
    assert read_board("EDC1BA9187611110").tiles()[0] == [16384, 8192, 4096, 2]
    assert read_board("edc1ba9187611110") == read_board("EDC1BA9187611110")
    assert read_board("1200") == Board.from_tiles([[2, 4], [0, 0]])


def test_numbers_are_exponents_where_that_is_said() -> None:
    for text in ("1 2 / 0 11", "[[1,2],[0,11]]", "1,2,0,11", "1 2 / . 11"):
        assert read_board(text, exponents=True).tiles() == [[2, 4], [0, 2048]]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("2 4 8", "a board of one list has 3 numbers"),
        ("[2,4,8]", "a board of one list has 3 numbers"),
        ("[[2,4],[8]]", "ragged"),
        ('[[2,4],[8,"x"]]', "is not a list of rows"),
        ("[[2,4],[8", "is not a list of rows"),
        ("[" * 3000, "is not a list of rows"),
        ("3 4 / 0 0", "3 in row 1"),
        ("2 x / 0 0", "'x'"),
        ("0" * (MAX_CHARACTERS + 1), "is too long"),
        ("", "a board of one list has 0 numbers"),
    ],
)
def test_what_is_not_a_board_is_refused_in_one_sentence(text: str, complaint: str) -> None:
    with pytest.raises(RulesError) as caught:
        read_board(text)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["1 99 / 0 0", "1 x / 0 0", "[[1,-2],[0,0]]", "1 63 / 0 0"])
def test_exponents_out_of_range_are_refused(text: str) -> None:
    with pytest.raises(RulesError):
        read_board(text, exponents=True)


@given(st.text(max_size=60) | st.text("[]{}0123456789abcdef,./;|-_ \n", max_size=80), st.booleans())
def test_any_text_is_a_board_or_refused(text: str, exponents: bool) -> None:
    try:
        board = read_board(text, exponents=exponents)
    except RulesError:
        return
    assert read_board(board.text()) == board
