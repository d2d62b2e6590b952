"""The isomorphisms of a board: 8 of a square one, 4 of any other rectangle."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from game2048.board import Board


@lru_cache(maxsize=64)
def permutations(rows: int, columns: int) -> npt.NDArray[np.uint8]:
    """The isomorphisms as permutations of cell indices.

    Returns:
        uint8 [8 or 4, rows · columns], read-only: entry [s, i] is the cell whose tile stands on cell i after
        isomorphism s. Number 0 is the identity; s and s + 1 (s even) are each other's mirror image.
    """
    cells = np.arange(rows * columns, dtype=np.uint8).reshape(rows, columns)
    turns = range(4) if rows == columns else range(0, 4, 2)
    images = [image for turn in turns for image in (np.rot90(cells, turn), np.fliplr(np.rot90(cells, turn)))]
    table = np.stack([image.reshape(-1) for image in images])
    table.flags.writeable = False
    return table


def isomorphs(board: Board) -> list[Board]:
    """All images of a board, itself first; 8 of a square one, 4 of any other."""
    return [
        Board(board.rows, board.columns, bytes(board.cells[i] for i in permutation))
        for permutation in permutations(board.rows, board.columns)
    ]


def canonical(board: Board) -> Board:
    """The smallest image of a board: equal for all boards that are the same but for turning and mirroring."""
    return min(isomorphs(board), key=lambda image: image.cells)
