"""Find the ground of each cell on a canvas: what the cell shows while it is empty. Does no I/O.

A drawing may show through empty cells, so that each has a look of its own. Some moves tell ground and tiles
apart: after a move to the left the tiles of each row lie at its left end, except for one spawned tile.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from game2048.board import board_lines
from game2048.direction import Direction
from scraper.readers.canvas_appearances import Crops, difference

EQUAL = 0.4
"""Two pictures of one cell with a smaller difference show the same."""
FULL = 32.0
"""If a pixel differs from the ground by this many grey levels, it belongs to the tile."""
TILE = 0.01
"""The cost of a tile in one picture; a broken rule costs 1."""
LEAST_MOVES = 6
"""Fewer moves than this explain too little."""
MOST_PAIRS = 4000
"""The most pairs of changes to try."""

Groups = NDArray[np.int64]
"""int64 [pictures, cells]: equal numbers in a column stand for equal pictures of that cell."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """The grounds of the cells of one board.

    Attributes:
        pictures: the ground of each cell.
        known: bool [cells], which cells have been seen empty.
        covered: whether tiles cover their cells, so that no ground can be seen around them.
    """

    pictures: Crops
    known: NDArray[np.bool_]
    covered: bool = False

    def tiles(self, crops: Crops) -> Crops:
        """Return the crops with the ground replaced by one colour, and empty cells set to 0."""
        empty = self.known & (difference(crops, self.pictures) < EQUAL)
        shown = crops if self.covered else self._without_ground(crops)
        return np.where(empty[:, None, None, None], 0, shown).astype(np.float32)

    def _without_ground(self, crops: Crops) -> Crops:
        off = np.abs(crops - self.pictures).max(axis=-1, keepdims=True)
        share = np.clip(off / FULL, 0, 1)
        even = self.pictures[self.known].mean(axis=(0, 1, 2))
        tiles = share * crops + (1 - share) * even
        return np.where(self.known[:, None, None, None], tiles, crops)


def grounds_of(
    pictures: Sequence[Crops], directions: Sequence[Direction], rows: int, columns: int
) -> Grounds | None:
    """Find the grounds that explain some moves.

    Args:
        pictures: the cells at rest before the first move, and after each move.
        directions: the directions of the moves.
        rows: number of rows.
        columns: number of columns.

    Returns:
        The grounds; ``None`` if the moves do not show them.
    """
    groups = _grouped(pictures)
    moves = [
        (before, direction, after)
        for (before, after), direction in zip(itertools.pairwise(groups), directions, strict=True)
        if (before != after).any()
    ]
    if len(moves) < LEAST_MOVES:
        return None
    chosen, broken = _Search(groups, moves, rows, columns).best()
    if broken:
        return None
    first = [int(np.argmax(groups[:, cell] == group)) for cell, group in enumerate(chosen)]
    grounds = np.stack([pictures[at][cell] for cell, at in enumerate(first)])
    return Grounds(grounds, np.asarray(chosen) >= 0)


def _grouped(pictures: Sequence[Crops]) -> Groups:
    groups = np.zeros((len(pictures), len(pictures[0])), dtype=np.int64)
    for cell in range(len(pictures[0])):
        seen: list[Crops] = []
        for at, picture in enumerate(pictures):
            for group, other in enumerate(seen):
                if float(difference(picture[cell], other)) < EQUAL:
                    groups[at, cell] = group
                    break
            else:
                groups[at, cell] = len(seen)
                seen.append(picture[cell])
    return groups


_Moves = list[tuple[NDArray[np.int64], Direction, NDArray[np.int64]]]


class _Search:
    """Search for the group of each cell that is its ground; -1 for a cell that always holds a tile."""

    def __init__(self, groups: Groups, moves: _Moves, rows: int, columns: int) -> None:
        self._groups = groups
        self._moves = moves
        self._lines = {
            direction: np.asarray(lines) for direction, lines in board_lines(rows, columns).items()
        }

    def best(self) -> tuple[list[int], int]:
        """Return the best choice and how many times it breaks the rules."""
        chosen = [int(np.bincount(column).argmax()) for column in self._groups.T]
        cost = self._cost(chosen)
        single = [
            ((cell, group),)
            for cell, column in enumerate(self._groups.T)
            for group in (*range(int(column.max()) + 1), -1)
        ]
        pairs = [
            (*one, *other) for one, other in itertools.combinations(single, 2) if one[0][0] != other[0][0]
        ]
        for changes in (single, pairs[:MOST_PAIRS]):
            while True:
                costs = [self._cost(_changed(chosen, change)) for change in changes]
                least = min(costs)
                if least >= cost:
                    break
                chosen, cost = _changed(chosen, changes[costs.index(least)]), least
            if cost < 1:
                break
        return chosen, math.floor(cost)

    def _cost(self, chosen: list[int]) -> float:
        ground = np.asarray(chosen)
        tiles = float((self._groups != ground).mean())
        broken = sum(
            _broken(before[lines] != ground[lines], after[lines] != ground[lines])
            for before, direction, after in self._moves
            for lines in (self._lines[direction],)
        )
        return broken + TILE * tiles


def _changed(chosen: list[int], change: tuple[tuple[int, int], ...]) -> list[int]:
    changed = list(chosen)
    for cell, group in change:
        changed[cell] = group
    return changed


def _broken(before: NDArray[np.bool_], after: NDArray[np.bool_]) -> int:
    """Count how often a slide along the lines and one spawned tile contradict what is seen.

    Args:
        before: bool [lines, cells of a line], which cells held tiles; they slide towards the first cell.
        after: the same after the move.
    """
    held, holds = before.sum(axis=1), after.sum(axis=1)
    behind = holds - np.cumprod(after, axis=1).sum(axis=1)  # tiles behind a gap
    without = behind + _outside(holds, held)
    spawned = np.maximum(behind - 1, 0) + _outside(holds - 1, held)
    return int(without.sum() + (spawned - without).min())


def _outside(count: NDArray[np.int64], held: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return by how much the counts miss what merges can leave: from half of the tiles to all of them."""
    return np.asarray(np.maximum(count - held, 0) + np.maximum((held + 1) // 2 - count, 0))
