from __future__ import annotations

from hypothesis import given
from support.strategies import boards

from game2048 import DIRECTIONS, Board
from game2048.symmetry import isomorphs, permutations


def test_the_eight_images_of_a_corner() -> None:
    board = Board.from_text("2 4 0 / 0 0 0 / 0 0 0")
    assert [image.text() for image in isomorphs(board)] == [
        "2 4 0 / 0 0 0 / 0 0 0",
        "0 4 2 / 0 0 0 / 0 0 0",
        "0 0 0 / 4 0 0 / 2 0 0",
        "0 0 0 / 0 0 4 / 0 0 2",
        "0 0 0 / 0 0 0 / 0 4 2",
        "0 0 0 / 0 0 0 / 2 4 0",
        "0 0 2 / 0 0 4 / 0 0 0",
        "2 0 0 / 4 0 0 / 0 0 0",
    ]


def test_a_rectangle_has_four() -> None:
    assert permutations(2, 3).shape == (4, 6)
    assert len({image.cells for image in isomorphs(Board.from_text("2 4 8 / 0 0 0"))}) == 4


@given(boards())
def test_images_are_the_same_game(board: Board) -> None:
    images = isomorphs(board)
    rewards = sorted(board.slide(d).reward for d in DIRECTIONS)
    for image in images:
        assert sorted(image.slide(d).reward for d in DIRECTIONS) == rewards
        assert set(isomorphs(image)) == set(images)
    assert images[0] == board
