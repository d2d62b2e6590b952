"""What tiles without numbers are worth, learned by the rules of the game from what moves do.

A look is any key that is the same for tiles of one value: of a picture, a letter, a patch of pixels. Only
2s and 4s spawn, and two equal tiles merge into the next; so the rules of the game label the pictures.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from typing import Self

from game2048.board import Board, board_lines, highest_exponent
from game2048.direction import Direction
from game2048.errors import PageError

logger = logging.getLogger(__name__)

GROUND = "-"
"""The look of a cell in which there is nothing, where readers can tell."""
SPAWNED = (1, 2)
"""The exponents that spawn."""
ENOUGH_SPAWNS = 4
"""So many spawned tiles of one look are 2s: that all are 4s happens once in ten thousand games."""

Looks = tuple[str, ...]


class LookBook:
    """The values of looks on one board.

    Args:
        rows: of the board.
        columns: of the board.
        first: the looks of the first board, nearly empty: the look of most cells is the empty one, unless
            there are cells in which nothing is ("-").
        moved: whether moves were made before, so that not all of these tiles have spawned.
    """

    def __init__(self, rows: int, columns: int, first: Sequence[str], *, moved: bool = False) -> None:
        self.rows, self.columns = rows, columns
        counts = Counter(first)
        self.empty = GROUND if counts[GROUND] else counts.most_common(1)[0][0]
        self._next: dict[str, str] = {}
        tiles = Counter(look for look in first if look != self.empty)
        self._spawned: Counter[str] = Counter() if moved else tiles
        self._order: list[str] = list(tiles)
        self._known: dict[str, int] = {}
        """The exponents of looks that were known from the beginning."""

    @classmethod
    def of_board(cls, board: Board, looks: Looks) -> Self | None:
        """Make the book of a game under way, from a board that is shown with at most one tile more.

        Args:
            board: what a move slid to, or what it was made on.
            looks: what is shown now.

        Returns:
            ``None`` where the looks are not those of that board.
        """
        free = Counter(look for look, tile in zip(looks, board.cells, strict=True) if not tile)
        book = cls(board.rows, board.columns, looks)
        book.empty = free.most_common(1)[0][0] if free.total() > 1 else GROUND
        if free.total() - free[book.empty] > 1:
            return None
        for look, tile in zip(looks, board.cells, strict=True):
            if tile and (look == book.empty or book._known.setdefault(look, tile) != tile):
                return None
        if len(set(book._known.values())) < len(book._known):
            return None
        by_value = {tile: look for look, tile in book._known.items()}
        spawned = [look for look in free if look != book.empty and look not in book._known]
        for look, tile in zip(spawned, [tile for tile in SPAWNED if tile not in by_value], strict=False):
            book._known[look], by_value[tile] = tile, look
        book._next = {look: by_value[tile + 1] for tile, look in by_value.items() if tile + 1 in by_value}
        book._spawned = Counter(by_value[tile] for tile in SPAWNED if tile in by_value)
        book._order = list(book._known)
        return book

    @property
    def certain(self) -> bool:
        """Whether it is known which look is the 2."""
        if self._known:
            return True
        spawned = self._spawned
        if len(spawned) > 1 and any(self._next.get(a) in spawned for a in spawned):
            return True
        return len(spawned) == 1 and sum(spawned.values()) >= ENOUGH_SPAWNS

    def tells(self, looks: Sequence[str]) -> bool:
        """Return whether it is known of all of these how they came about."""
        return set(looks) <= self._derived().keys()

    def values(self) -> dict[str, int]:
        """Return the exponent of every look that is known, 0 for the empty one."""
        values = self._derived()
        for look in self._order:  # seen, but not how it came about
            if look not in values:
                self._follow(look, 1, values)
        return values

    def _derived(self) -> dict[str, int]:
        values = {self.empty: 0}
        for look, value in self._known.items():
            self._follow(look, value, values)
        if not self._known:
            self._follow(self._base(), 1, values)
        for look in self._spawned:
            if look not in values:
                self._follow(look, 2 if 1 in values.values() else 1, values)
        return values

    def labels(self) -> dict[str, int]:
        """Return the face values of the looks, as pages show them."""
        return {look: 1 << value if value else 0 for look, value in self.values().items()}

    def board(self, looks: Sequence[str]) -> Board:
        """Return the board of these looks.

        Raises:
            PageError: a look has never been seen, or a tile is too large for the board.
        """
        values = self.values()
        unknown = [look for look in looks if look not in values]
        top = highest_exponent(self.rows, self.columns)
        if unknown or len(looks) != self.rows * self.columns or max(values[look] for look in looks) > top:
            raise PageError(
                f"the board shows {len(unknown)} tiles of unknown looks; expected each to have come about "
                "by a spawn or a merge; try a new game (--new-game)"
            )
        return Board(self.rows, self.columns, bytes(values[look] for look in looks))

    def know(self, look: str, exponent: int) -> None:
        """Take in what a look is worth that came about by a rule of the page's own."""
        if not self._known:
            self._known = {known: value for known, value in self.values().items() if value}
        self._known[look] = exponent
        self.adopt([look])

    def adopt(self, looks: Sequence[str]) -> None:
        """Take in looks that no move explains, so that the game can continue."""
        self._order += [look for look in dict.fromkeys(looks) if look not in self._order]

    def observe(self, before: Looks, direction: Direction, after: Looks, *, learn: bool = True) -> bool:
        """Learn from a move; return whether it and one spawned tile lead from ``before`` to ``after``."""
        slid = self._slide(before, direction)
        if len(after) != len(before) or slid == list(before):
            return False
        merged: dict[str, str] = {}
        spawned = []
        for expected, seen in zip(slid, after, strict=True):
            if expected == seen:
                continue
            if expected == self.empty:
                spawned.append(seen)
            elif isinstance(expected, tuple) and seen not in (self.empty, expected[0]):
                if merged.setdefault(expected[0], seen) != seen:
                    return False
            else:
                return False
        if len(spawned) != 1 or len(set(merged.values())) != len(merged):
            return False
        if any(target in self._next.values() for target in merged.values()):
            return False
        if spawned[0] not in self._spawned and len(self._spawned) >= 2:
            return False
        if learn:
            self._next.update(merged)
            self._spawned[spawned[0]] += 1
            self.adopt([*merged.values(), spawned[0]])
        return True

    def _slide(self, before: Looks, direction: Direction) -> list[str | tuple[str]]:
        """The slide, with ``(look,)`` where two of a look merge into one that is not known yet."""
        result: list[str | tuple[str]] = [self.empty] * len(before)
        for line in board_lines(self.rows, self.columns)[direction]:
            tiles = [before[cell] for cell in line if before[cell] != self.empty]
            out: list[str | tuple[str]] = []
            while tiles:
                tile = tiles.pop(0)
                if tiles and tiles[0] == tile:
                    tiles.pop(0)
                    out.append(self._next.get(tile, (tile,)))
                else:
                    out.append(tile)
            for cell, look in zip(line, out, strict=False):
                result[cell] = look
        return result

    def _base(self) -> str:
        """The look that is the 2, as far as can be told."""
        candidates = list(self._spawned) or self._order
        if not candidates:
            return self.empty

        def likelihood(look: str) -> tuple[bool, bool, int]:
            others = [other for other in candidates if other != look]
            follows = any(self._next.get(other) == look for other in others)
            # A look cannot be the 2 if two of it make something else than the other look that spawns.
            breaks = bool(others) and look in self._next and self._next[look] not in others
            return (not follows, not breaks, self._spawned[look])

        return max(candidates, key=likelihood)

    def _follow(self, look: str, value: int, values: dict[str, int]) -> None:
        while look not in values:
            values[look] = value
            if look not in self._next:
                return
            look, value = self._next[look], value + 1
