"""Learn the values of tiles without numbers from the effects of moves and the rules of the game.

A look is a key that is the same for all tiles of one value, made from a picture, a letter or some pixels.
Only 2s and 4s spawn, and two equal tiles merge into the next one, so the rules give each look its value.
"""

from __future__ import annotations

import itertools
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Self

from game2048.board import Board, board_lines, highest_exponent
from game2048.direction import Direction
from game2048.errors import PageError

logger = logging.getLogger(__name__)

GROUND = "-"
"""The look of an empty cell, from readers that can recognise one."""
SPAWNED = (1, 2)
"""The exponents that spawn."""
ENOUGH_SPAWNS = 4
"""If this many tiles spawned and all have one look, they are 2s; all are 4s once in ten thousand games."""

Looks = tuple[str, ...]


class LookBook:
    """The values of looks on one board.

    Args:
        rows: number of rows.
        columns: number of columns.
        first: the looks of the first board, row by row. The board is nearly empty, so the most frequent look
            is the empty one, unless some cells have the look "-".
        moved: whether moves were made before, so that some of these tiles may be merged ones.
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
        """The exponents of looks that are known from outside, not learned from moves."""

    @classmethod
    def of_board(cls, board: Board, looks: Looks) -> Self | None:
        """Make the book for a game in progress, from a known board that may have one spawned tile more now.

        Args:
            board: the board before or after the slide of the last move.
            looks: the looks that the page shows now.

        Returns:
            The book; ``None`` if the looks do not fit the board.
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
            book._known[look] = tile
        book._derive()
        return book

    @classmethod
    def of_moves(
        cls, rows: int, columns: int, looks: Sequence[Looks], directions: Sequence[Direction]
    ) -> Self | None:
        """Make the book from the moves at the start of a game.

        Args:
            rows: number of rows.
            columns: number of columns.
            looks: the looks before the first move, and after each move.
            directions: the directions of the moves.

        Returns:
            The book; ``None`` if the rules do not explain the moves.
        """
        book = cls(rows, columns, looks[0])
        moves = zip(itertools.pairwise(looks), directions, strict=True)
        explained = [book.observe(before, direction, after) for (before, after), direction in moves]
        return book if all(explained) else None

    @classmethod
    def of_values(cls, rows: int, columns: int, looks: Looks, values: Mapping[str, int]) -> Self | None:
        """Make the book from the values of all looks on a board.

        Args:
            rows: number of rows.
            columns: number of columns.
            looks: the looks of the board, row by row.
            values: the exponents of looks; all others are those of empty cells.

        Returns:
            The book; ``None`` if the other looks cannot all be empty, or if two looks have one value.
        """
        book = cls(rows, columns, looks)
        empty = set(looks) - values.keys()
        book._known = {look: values[look] for look in dict.fromkeys(looks) if look in values}
        if len(empty) > 1 or not book._known or len(set(book._known.values())) < len(book._known):
            return None
        book.empty = empty.pop() if empty else GROUND
        book._derive()
        return book

    def _derive(self) -> None:
        """Derive merges and spawns from the known values."""
        by_value = {tile: look for look, tile in self._known.items()}
        self._next = {look: by_value[tile + 1] for tile, look in by_value.items() if tile + 1 in by_value}
        self._spawned = Counter(by_value[tile] for tile in SPAWNED if tile in by_value)
        self._order = list(self._known)

    @property
    def is_given(self) -> bool:
        """Whether the values were known from the start."""
        return bool(self._known)

    @property
    def certain(self) -> bool:
        """Whether the look of the 2 is known."""
        if self._known:
            return True
        spawned = self._spawned
        if len(spawned) > 1 and any(self._next.get(a) in spawned for a in spawned):
            return True
        return len(spawned) == 1 and sum(spawned.values()) >= ENOUGH_SPAWNS

    def tells(self, looks: Sequence[str]) -> bool:
        """Return whether the origin of all these looks is known: a spawn or a merge."""
        return set(looks) <= self._derived().keys()

    def values(self) -> dict[str, int]:
        """Return the exponent of each known look, 0 for the empty one."""
        values = self._derived()
        for look in self._order:  # looks whose origin is unknown
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
                f"the board shows {len(unknown)} tiles of unknown looks; expected looks that came from "
                "a spawn or a merge; try a new game (--new-game)"
            )
        return Board(self.rows, self.columns, bytes(values[look] for look in looks))

    def know(self, look: str, exponent: int) -> None:
        """Set the value of a look that the page's own rule has made.

        Args:
            look: the look.
            exponent: the exponent of its tile.
        """
        if not self._known:
            self._known = {known: value for known, value in self.values().items() if value}
        self._known[look] = exponent
        self.adopt([look])

    def adopt(self, looks: Sequence[str]) -> None:
        """Add looks that no move explains, so that the game can continue."""
        self._order += [look for look in dict.fromkeys(looks) if look not in self._order]

    def observe(self, before: Looks, direction: Direction, after: Looks, *, learn: bool = True) -> bool:
        """Learn from a move; return whether the move and one spawn lead from ``before`` to ``after``."""
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
        """Return the slide; ``(look,)`` stands for the unknown look that two equal looks merge into."""
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
        """Return the most likely look of the 2."""
        candidates = list(self._spawned) or self._order
        if not candidates:
            return self.empty

        def likelihood(look: str) -> tuple[bool, bool, int]:
            others = [other for other in candidates if other != look]
            follows = any(self._next.get(other) == look for other in others)
            # If a look is the 2, two of it make the 4, which is the other look that spawns.
            breaks = bool(others) and look in self._next and self._next[look] not in others
            return (not follows, not breaks, self._spawned[look])

        return max(candidates, key=likelihood)

    def _follow(self, look: str, value: int, values: dict[str, int]) -> None:
        while look not in values:
            values[look] = value
            if look not in self._next:
                return
            look, value = self._next[look], value + 1
