"""Explain moves on pages whose rules differ a little from the rules of 2048.

The standard rules are in `game2048.board`. The deviations here are tried only if the standard rules do not
explain a move on a board at rest.
"""

from __future__ import annotations

import enum
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from game2048.board import Board, board_lines
from game2048.direction import Direction
from scraper.reading import Ply

logger = logging.getLogger(__name__)

MOST_SPAWNED = 5
"""The largest exponent of a spawned tile (32); a larger new tile is not believed to be a spawn."""
MOST_SPAWNS = 2


class DeviationKind(enum.Enum):
    """The kinds of deviations. The ``value`` is the text in records and reports."""

    CHAIN = "chain merges: a merged tile merges again in the same move"
    FAR_END = "merges from the far end: 2 2 2 to the left is 2 4"
    TO_THE_END = "merges until no two are left to merge: 2 2 2 2 is 8"
    TO_THE_END_FAR = (
        "merges until no two are left to merge, each time from the far end: 2 2 2 to the left is 2 4"
    )
    ONE_A_LINE = "one merge a line in each move"
    GAPS = "merges leave gaps: 2 2 4 to the left is 4 0 4"
    NO_SPAWN = "now and then no tile spawns"
    TWO_SPAWNS = "now and then two tiles spawn"
    SPAWNS = "tiles of {} spawn"
    IDLE_SPAWN = "a tile spawns on a move that changes nothing"
    RANKS = "tiles show powers: 1, 2, 3 for 2, 4, 8"
    DOUBLED = "tiles begin at 1: every tile is taken at twice what it shows"
    ENDS = "the game ends at the win, at a tile of {}"
    UNEXPLAINED = "some boards follow from no known rule, the first after move {}"
    RESIZED = "the board changed its size after move {}"
    IGNORED_MOVES = "a legal move does nothing now and then"


@dataclass(frozen=True, slots=True)
class Deviation:
    """One way in which a page differs from the rules of 2048.

    Attributes:
        kind: the kind of the deviation.
        number: the face value of its tile, or the number of its move; ``None`` if the kind has no number.
    """

    kind: DeviationKind
    number: int | None = None

    def __str__(self) -> str:
        return self.kind.value.format(self.number)


CHAIN = Deviation(DeviationKind.CHAIN)
FAR_END = Deviation(DeviationKind.FAR_END)
TO_THE_END = Deviation(DeviationKind.TO_THE_END)
TO_THE_END_FAR = Deviation(DeviationKind.TO_THE_END_FAR)
ONE_A_LINE = Deviation(DeviationKind.ONE_A_LINE)
GAPS = Deviation(DeviationKind.GAPS)
NO_SPAWN = Deviation(DeviationKind.NO_SPAWN)
TWO_SPAWNS = Deviation(DeviationKind.TWO_SPAWNS)
IDLE_SPAWN = Deviation(DeviationKind.IDLE_SPAWN)
RANKS = Deviation(DeviationKind.RANKS)
DOUBLED = Deviation(DeviationKind.DOUBLED)
IGNORED_MOVES = Deviation(DeviationKind.IGNORED_MOVES)


def spawning(tile: int) -> Deviation:
    """Make the deviation that tiles of this face value spawn."""
    return Deviation(DeviationKind.SPAWNS, tile)


def ending_at(tile: int) -> Deviation:
    """Make the deviation that the page ends the game at a win with a tile of this face value."""
    return Deviation(DeviationKind.ENDS, tile)


def unexplained_from(move: int) -> Deviation:
    """Make the note that no rule explains some boards, the first of them after this move."""
    return Deviation(DeviationKind.UNEXPLAINED, move)


def resized_after(move: int) -> Deviation:
    """Make the note that the board had another size after this move."""
    return Deviation(DeviationKind.RESIZED, move)


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


def _merge_with_gaps(tiles: list[int]) -> list[int]:
    out: list[int] = []
    is_open = False
    for tile in tiles:
        if is_open and out[-1] == tile:
            out[-1:] = [tile + 1, 0]
            is_open = False
        else:
            out.append(tile)
            is_open = True
    return out


MERGES: dict[Deviation, Callable[[list[int]], list[int]]] = {
    CHAIN: lambda tiles: _merge(tiles, chain=True),
    FAR_END: lambda tiles: _merge(tiles[::-1])[::-1],
    ONE_A_LINE: lambda tiles: _merge(tiles, once=True),
    TO_THE_END: _merge_to_the_end,
    TO_THE_END_FAR: lambda tiles: _merge_to_the_end(tiles[::-1])[::-1],
    GAPS: _merge_with_gaps,
}
"""For each deviation, what the tiles of a line become; the line has no gaps before, and 0 is a gap after."""


def slide_by(merging: Deviation, board: Board, direction: Direction) -> Board:
    """Return the afterstate of a move whose lines merge by a deviation."""
    cells = bytearray(len(board.cells))
    for line in board_lines(board.rows, board.columns)[direction]:
        tiles = MERGES[merging]([board.cells[cell] for cell in line if board.cells[cell]])
        for cell, tile in zip(line, tiles, strict=False):
            cells[cell] = tile
    return Board(board.rows, board.columns, bytes(cells))


@dataclass(slots=True)
class PageRules:
    """The observed rules of a page.

    Attributes:
        deviations: the deviations from the rules of 2048, in the order in which they were noticed.
        values: the exponents of tiles that spawn.
        least: the least number of tiles that spawn after a move.
        most: the most number of tiles that spawn after a move.
    """

    deviations: list[Deviation] = field(default_factory=list)
    values: set[int] = field(default_factory=lambda: {1, 2})
    least: int = 1
    most: int = 1

    def afters(self, ply: Ply) -> list[Board]:
        """Return the possible afterstates of a move; the one by the standard rules comes first."""
        slides = [ply.slide.afterstate]
        slides += [slide_by(one, ply.before, ply.direction) for one in self.deviations if one in MERGES]
        return list(dict.fromkeys(slides))

    def own_slides(self, ply: Ply) -> list[Board]:
        """Return the possible afterstates by the known deviations; if none is known, by all deviations."""
        known = [one for one in self.deviations if one in MERGES]
        return [slide_by(one, ply.before, ply.direction) for one in known or MERGES]

    @property
    def merging(self) -> Deviation | None:
        """The latest deviation of the merges; ``None`` while the page merges by the rules."""
        return next((one for one in reversed(self.deviations) if one in MERGES), None)

    def afterstate(self, ply: Ply) -> Board:
        """Return the afterstate of a move on this page; the board itself if the move changes nothing."""
        if self.merging is None:
            return ply.slide.afterstate
        return slide_by(self.merging, ply.before, ply.direction)

    def explain(self, ply: Ply, after: Board) -> tuple[Deviation, ...] | None:
        """Return the deviations that explain a move.

        Returns:
            An empty tuple if the standard rules explain it, ``None`` if nothing explains it.
        """
        before = ply.before
        if before.size != after.size:
            return None
        slides: Iterable[tuple[Deviation | None, Board]] = [
            (None, ply.slide.afterstate),
            *((merging, slide_by(merging, before, ply.direction)) for merging in MERGES),
        ]
        found = []
        for merging, slid in slides:
            spawned = self._spawned(slid, after)
            if slid != before and spawned is not None:
                found.append(((merging,) if merging else ()) + spawned)
        if not found and (idle := self.explain_idle(before, after)):
            found.append(idle)
        # Prefer the fewest new deviations, then the fewest deviations in all.
        known = set(self.deviations)
        return min(found, key=lambda those: (len(set(those) - known), len(those)), default=None)

    def explain_idle(self, before: Board, after: Board) -> tuple[Deviation, ...]:
        """Return the deviations that explain a spawn without a slide; empty if they do not explain it."""
        spawned = self._spawned(before, after)
        return (IDLE_SPAWN, *spawned) if spawned is not None and NO_SPAWN not in spawned else ()

    def _spawned(self, slid: Board, after: Board) -> tuple[Deviation, ...] | None:
        differing = [(old, new) for old, new in zip(slid.cells, after.cells, strict=True) if old != new]
        if len(differing) > MOST_SPAWNS or any(old or new > MOST_SPAWNED for old, new in differing):
            return None
        found = [NO_SPAWN] if not differing else [TWO_SPAWNS] if len(differing) == MOST_SPAWNS else []
        found += [spawning(1 << new) for _, new in differing if new not in (1, 2)]
        return tuple(dict.fromkeys(found))

    def adopt(self, deviations: Iterable[Deviation]) -> None:
        """Follow these deviations from now on."""
        for one in deviations:
            if one in self.deviations:
                continue
            self.deviations.append(one)
            logger.info("the page has its own rule: %s", one)
            if one == NO_SPAWN:
                self.least = 0
            elif one == TWO_SPAWNS:
                self.most = MOST_SPAWNS
            elif one.kind is DeviationKind.SPAWNS and one.number is not None:
                self.values.add(one.number.bit_length() - 1)
