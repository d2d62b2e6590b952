"""The isomorphisms of a board: a square board has 8, any other rectangle 4."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from game2048.board import Board


@lru_cache(maxsize=64)
def permutations(rows: int, columns: int) -> npt.NDArray[np.uint8]:
    """Return the isomorphisms as permutations of cell indices.

    Returns:
        uint8 [8 or 4, rows · columns], read-only: isomorphism s moves the tile of cell [s, i] to cell i.
        Number 0 is the identity; s and s + 1 (s even) are mirror images of each other.
    """
    cells = np.arange(rows * columns, dtype=np.uint8).reshape(rows, columns)
    turns = range(4) if rows == columns else range(0, 4, 2)
    images = [image for turn in turns for image in (np.rot90(cells, turn), np.fliplr(np.rot90(cells, turn)))]
    table = np.stack([image.reshape(-1) for image in images])
    table.flags.writeable = False
    return table


def isomorphs(board: Board) -> list[Board]:
    """Return all images of a board, the board itself first: 8 of a square board, 4 of any other."""
    return [
        Board(board.rows, board.columns, bytes(board.cells[i] for i in permutation))
        for permutation in permutations(board.rows, board.columns)
    ]
