from __future__ import annotations

import numpy as np
import pytest
from support.dataset_games import late_game, played, with_search

from game2048 import DIRECTIONS, Board, Direction
from game2048.errors import RecordError
from game2048.size import Size
from game2048.symmetry import isomorphs
from recordings.datasets.augment import direction_maps, images_of, with_all_images
from recordings.datasets.identity import identity
from recordings.replay import verify


@pytest.mark.parametrize("size", [(2, 2), (4, 4), (2, 5), (3, 2)])
def test_an_image_of_a_slide_is_the_slide_of_the_image(size: tuple[int, int]) -> None:
    cells = bytes(range(1, size[0] * size[1])) + b"\0"
    board = Board(*size, cells)
    for direction in DIRECTIONS:
        after = isomorphs(board.slide(direction).afterstate)
        for number, image in enumerate(isomorphs(board)):
            turned = DIRECTIONS[direction_maps(Size(*size))[number][direction.index]]
            assert image.slide(turned).afterstate == after[number]


def test_the_mirror_image_swaps_left_and_right() -> None:
    maps = direction_maps(Size(4, 4))
    assert maps[0].tolist() == [0, 1, 2, 3]
    assert maps[1].tolist() == [0, 3, 2, 1]
    assert len({tuple(row) for row in maps.tolist()}) == 8


@pytest.mark.parametrize(("size", "count"), [((4, 4), 8), ((5, 5), 8), ((2, 7), 4)])
def test_all_images_of_a_game_follow_the_rules_and_differ(size: tuple[int, int], count: int) -> None:
    game = with_search(played(*size, seed=8, max_moves=200))
    found = list(images_of(game))
    assert [image.info.symmetry for image in found] == list(range(count))
    assert all(verify(image) is None for image in found)
    assert len({image.cells.tobytes() for image in found}) == count
    assert len({identity(image) for image in found}) == 1
    assert found[0].cells.tobytes() == game.cells.tobytes()


def test_what_the_engine_thought_turns_with_the_board() -> None:
    game = with_search(played(4, 4, 3))
    for image in images_of(game):
        assert image.values is not None
        assert game.values is not None
        chosen = np.arange(game.plies)
        np.testing.assert_array_equal(
            image.values[chosen, image.directions], game.values[chosen, game.directions]
        )
    mirrored = list(images_of(game))[1]
    np.testing.assert_array_equal(
        mirrored.values[:, Direction.LEFT.index], game.values[:, Direction.RIGHT.index]
    )


def test_games_come_one_after_the_other_with_their_images() -> None:
    numbers = [image.info.symmetry for image in with_all_images([late_game(), played(2, 3, 1)])]
    assert numbers == [*range(8), *range(4)]


def test_an_image_is_not_turned_again() -> None:
    with pytest.raises(RecordError, match="image 3 of another already"):
        list(with_all_images([list(images_of(late_game()))[3]]))


def test_the_same_game_has_one_identity_and_another_one_has_another() -> None:
    game = played(4, 4, 1)
    others = [
        played(4, 4, 1, game=1),
        played(4, 4, 2),
        game.with_info(depth=2),
        game.with_info(solver="fast"),
        game.with_info(id="abc"),
        game.with_info(seed=None),
        played(4, 5, 1),
        late_game(),
    ]
    assert identity(game) == identity(game.with_info(timestamp="2020-01-01", outcome=None))
    assert len({identity(other) for other in [game, *others]}) == 1 + len(others)
    assert identity(game.with_info(id="abc")) == "abc"
