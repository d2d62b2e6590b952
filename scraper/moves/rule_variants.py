"""Pages whose rules differ a little from those of 2048: which deviation explains a move, by name.

The standard rules are `game2048.board`'s. What is here is tried only after they have failed to explain a move
on a board at rest.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from game2048.board import Board
from game2048.direction import Direction

logger = logging.getLogger(__name__)

MOST_SPAWNED = 5
"""The largest exponent that is taken for a spawned tile (32)."""
MOST_SPAWNS = 2

CHAIN = "chain merges: a merged tile merges again in the same move"
FAR_END = "merges from the far end: 2 2 2 to the left is 2 4"
TO_THE_END = "merges until no two are left to merge: 2 2 2 2 is 8"
TO_THE_END_FAR = "merges until no two are left to merge, each time from the far end: 2 2 2 to the left is 2 4"
ONE_A_LINE = "one merge a line in each move"
NO_SPAWN = "now and then no tile spawns"
TWO_SPAWNS = "now and then two tiles spawn"
SPAWNED = "tiles of {} spawn"
IDLE_SPAWN = "a tile spawns on a move that changes nothing"
RANKS = "tiles show powers: 1, 2, 3 for 2, 4, 8"
DOUBLED = "tiles begin at 1: every tile is taken at twice what it shows"


def _merge(tiles: list[int], *, chain: bool = False, once: bool = False) -> list[int]:
    out: list[int] = []
    is_open = False
    merges = 0
    for tile in tiles:
        if is_open and out[-1] == tile and not (once and merges):
            out[-1] += 1
            merges += 1
            is_open = chain
        else:
            out.append(tile)
            is_open = True
    return out


def _merge_to_the_end(tiles: list[int]) -> list[int]:
    while (merged := _merge(tiles)) != tiles:
        tiles = merged
    return tiles


MERGES: dict[str, Callable[[list[int]], list[int]]] = {
    CHAIN: lambda tiles: _merge(tiles, chain=True),
    FAR_END: lambda tiles: _merge(tiles[::-1])[::-1],
    ONE_A_LINE: lambda tiles: _merge(tiles, once=True),
    TO_THE_END: _merge_to_the_end,
    TO_THE_END_FAR: lambda tiles: _merge_to_the_end(tiles[::-1])[::-1],
}


def slide_by(name: str, board: Board, direction: Direction) -> Board:
    """The slide where lines merge as the deviation of that name says."""
    cells = bytearray(len(board.cells))
    for line in _lines(board, direction):
        tiles = MERGES[name]([board.cells[cell] for cell in line if board.cells[cell]])
        for cell, tile in zip(line, tiles, strict=False):
            cells[cell] = tile
    return Board(board.rows, board.columns, bytes(cells))


@dataclass(slots=True)
class PageRules:
    """The rules that a page was seen to follow.

    Attributes:
        names: the deviations, in the order in which they were noticed.
        values: the exponents that spawn.
        least: how many tiles spawn at least.
        most: and at most.
    """

    names: list[str] = field(default_factory=list)
    values: set[int] = field(default_factory=lambda: {1, 2})
    least: int = 1
    most: int = 1

    def afters(self, board: Board, direction: Direction) -> list[Board]:
        """What a move may slide to, the standard first."""
        slides = [board.slide(direction).afterstate]
        slides += [slide_by(name, board, direction) for name in self.names if name in MERGES]
        return list(dict.fromkeys(slides))

    @property
    def merges(self) -> str | None:
        """The deviation by which lines merge, if the page has one; the last that was noticed."""
        return next((name for name in reversed(self.names) if name in MERGES), None)

    def afterstate(self, board: Board, direction: Direction) -> Board:
        """What a move slides to on this page; the board itself where it changes nothing."""
        if self.merges is None:
            return board.slide(direction).afterstate
        return slide_by(self.merges, board, direction)

    def explain(self, before: Board, direction: Direction, after: Board) -> tuple[str, ...] | None:
        """The deviations that explain a move: none for the standard rules, ``None`` if nothing does."""
        if (before.rows, before.columns) != (after.rows, after.columns):
            return None
        slides: Iterable[tuple[str | None, Board]] = [
            (None, before.slide(direction).afterstate),
            *((name, slide_by(name, before, direction)) for name in MERGES),
        ]
        found = []
        for merge, slid in slides:
            spawned = self._spawned(slid, after)
            if slid != before and spawned is not None:
                found.append(((merge,) if merge else ()) + spawned)
        if not found and (idle := self.explain_idle(before, after)):
            found.append(idle)
        # The fewest deviations, those that are known of the page before new ones.
        return min(found, key=lambda names: (len(set(names) - set(self.names)), len(names)), default=None)

    def explain_idle(self, before: Board, after: Board) -> tuple[str, ...]:
        """The deviations that explain that tiles came without a slide; none if nothing does, or none came."""
        spawned = self._spawned(before, after)
        return (IDLE_SPAWN, *spawned) if spawned is not None and NO_SPAWN not in spawned else ()

    def _spawned(self, slid: Board, after: Board) -> tuple[str, ...] | None:
        differing = [(old, new) for old, new in zip(slid.cells, after.cells, strict=True) if old != new]
        if len(differing) > MOST_SPAWNS or any(old or new > MOST_SPAWNED for old, new in differing):
            return None
        names = [NO_SPAWN] if not differing else [TWO_SPAWNS] if len(differing) == MOST_SPAWNS else []
        names += [SPAWNED.format(1 << new) for _, new in differing if new not in (1, 2)]
        return tuple(dict.fromkeys(names))

    def adopt(self, names: Iterable[str], spawned: Iterable[int] = ()) -> list[str]:
        """Follow these deviations from now on; those that are new."""
        new = [name for name in names if name not in self.names]
        self.names += new
        if NO_SPAWN in new:
            self.least = 0
        if TWO_SPAWNS in new:
            self.most = MOST_SPAWNS
        self.values.update(spawned)
        for name in new:
            logger.info("the page has a rule of its own: %s", name)
        return new


def spawned_values(names: Iterable[str]) -> list[int]:
    """The exponents that the names say spawn besides 2 and 4."""
    tiles = [name.split()[2] for name in names if name.startswith("tiles of ")]
    return [int(tile).bit_length() - 1 for tile in tiles]


def _lines(board: Board, direction: Direction) -> list[list[int]]:
    across = [[r * board.columns + c for c in range(board.columns)] for r in range(board.rows)]
    down = [[r * board.columns + c for r in range(board.rows)] for c in range(board.columns)]
    lines = across if direction in (Direction.LEFT, Direction.RIGHT) else down
    return [line[::-1] for line in lines] if direction in (Direction.RIGHT, Direction.DOWN) else lines
