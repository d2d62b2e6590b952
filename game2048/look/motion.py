"""How single tiles move in a slide: what a picture between two boards needs."""

from __future__ import annotations

from typing import NamedTuple

from game2048.board import Board, board_lines
from game2048.direction import Direction


class TileMotion(NamedTuple):
    """The way of one tile in a slide.

    Attributes:
        start: index of the cell where the tile stands before.
        end: index of the cell where it stands after; the same for a tile that does not move.
        exponent: the tile before the slide.
        merges: whether it becomes part of a larger tile; two motions then share one ``end``.
    """

    start: int
    end: int
    exponent: int
    merges: bool


def tile_motions(board: Board, direction: Direction) -> list[TileMotion]:
    """Return how each tile of a board moves in that direction.

    The ways are read off the slide's result (`Board.slide`): along a line, tiles fill the cells of the
    afterstate in their order, two of them where the tile has grown.
    """
    after = board.slide(direction).afterstate.cells
    motions = []
    for line in board_lines(board.rows, board.columns)[direction]:
        place = 0
        half = False
        for cell in line:
            exponent = board.cells[cell]
            if not exponent:
                continue
            end = line[place]
            merges = after[end] != exponent
            motions.append(TileMotion(cell, end, exponent, merges))
            half = merges and not half
            place += not half
    return motions
