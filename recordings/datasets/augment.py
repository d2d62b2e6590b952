"""The symmetric images of recorded games: 8 of one on a square board, 4 on any other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from game2048.errors import RecordError
from game2048.size import Size
from game2048.symmetry import permutations
from recordings.datasets.identity import identity
from recordings.game_arrays import GameArrays

_STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))  # up, right, down, left


@lru_cache(maxsize=64)
def direction_maps(size: Size) -> npt.NDArray[np.uint8]:
    """Return what each isomorphism makes of the directions.

    Returns:
        uint8 [8 or 4, 4]: entry [s, d] is what moving in direction d looks like after isomorphism s
        (`game2048.symmetry.permutations`).
    """
    maps = []
    for permutation in permutations(*size):
        place = np.argsort(permutation)  # where the tile of each cell goes
        middle = [divmod(int(place[cell]), size.columns) for cell in (0, 1, size.columns)]
        right = (middle[1][0] - middle[0][0], middle[1][1] - middle[0][1])
        down = (middle[2][0] - middle[0][0], middle[2][1] - middle[0][1])
        up, left = (-down[0], -down[1]), (-right[0], -right[1])
        maps.append([_STEPS.index(step) for step in (up, right, down, left)])
    return np.array(maps, dtype=np.uint8)


def images_of(game: GameArrays) -> Iterator[GameArrays]:
    """Yield all images of a game, itself first. They share its ``id``; each names its ``symmetry``.

    Raises:
        RecordError: the game is an image already.
    """
    if game.info.symmetry is not None:
        raise RecordError(
            f"the game is image {game.info.symmetry} of another already; expected games as they were played"
        )
    flat = game.cells.reshape(-1, game.size.cells)
    tables = permutations(*game.size)
    for symmetry, (permutation, directions) in enumerate(zip(tables, direction_maps(game.size), strict=True)):
        values = None
        if game.values is not None:
            values = np.empty_like(game.values)
            values[:, directions] = game.values
        image = replace(
            game,
            cells=flat[:, permutation].reshape(game.cells.shape),
            directions=directions[game.directions],
            values=values,
        )
        yield image.with_info(symmetry=symmetry, id=identity(game))


def with_all_images(games: Iterable[GameArrays]) -> Iterator[GameArrays]:
    """Yield all images of all games, one at a time."""
    for game in games:
        yield from images_of(game)
