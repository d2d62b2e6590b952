"""Learn the tile values of one page: the values of looks, and the scale of numbers that begin at 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from game2048.board import Board
from game2048.direction import Direction
from game2048.size import Size
from scraper.eye import Sighting
from scraper.readers.appearances import SPAWNED, LookBook, Looks
from scraper.reading import Ply, Reading, UnreadableError

PROVING_MOVES = 4
"""After this many moves by the rules, a doubtful board is believed."""
FIRST_RANK = 3
"""The first number that shows that tiles are exponents (1, 2, 3) and not powers of two (1, 2, 4)."""
PROVING_LOOKS = 2
"""After this many moves by the rules, a board of looks is believed."""
PROVEN_TILE = 8
"""The tile that proves a board whose tiles begin at 1: the page shows it as a 4, made of 2 and 2."""


class TileValues:
    """Learn the values of tiles, and replace looks in readings by face values."""

    def __init__(self) -> None:
        self.forget()

    def forget(self, ply: Ply | None = None, *, moved: bool = False) -> None:
        """Forget all values, because the reader saw another board, or no board.

        Args:
            ply: during a game, the last move; its afterstate gives the values of the tiles.
            moved: whether moves have been made on this board.
        """
        self._ply = ply
        self._moved = moved
        self.book: LookBook | None = None
        self.looks: Looks = ()
        """The looks of the last reading; empty where tiles have numbers."""
        self.scale = 1
        """2 if the tiles begin at 1, because no board holds a tile of 1; else 1."""
        self.rivals = False
        """Whether the page shows another board of the same size."""
        self.ranks = False
        """Whether the tiles show exponents: 1, 2, 3, 4 for 2, 4, 8, 16."""
        self._counts_otherwise = False
        """Whether the numbers on looks are not the values of the tiles."""

    @property
    def labels(self) -> dict[str, int]:
        """The face values of the looks that are known."""
        return self.book.labels() if self.book else {}

    @property
    def are_guessed(self) -> bool:
        """Whether the values of the looks are still uncertain."""
        return self.book is not None and not self.book.certain

    def doubts(self, reading: Reading, moves: int) -> bool:
        """Return whether more moves must be seen before the reading can be believed."""
        if self.book is not None:
            if self.book.is_given:
                return False
            return not self.book.certain or moves < PROVING_LOOKS or not self.book.tells(self.looks)
        if self.rivals or reading.traits.proving_moves:
            return moves < max(reading.traits.proving_moves, PROVING_MOVES if self.rivals else 0)
        return (self.scale > 1 or self.ranks) and (
            reading.board.max_tile < PROVEN_TILE or moves < PROVING_MOVES
        )

    def explains(self, direction: Direction, looks: Looks) -> bool:
        """Return whether a move from the last reading explains these looks; learn nothing."""
        return self.book is not None and self.book.observe(self.looks, direction, looks, learn=False)

    def take(self, sighting: Sighting, direction: Direction) -> bool | None:
        """Learn from a move; return whether the rules explain it, ``None`` if the board has no looks."""
        looks = _looks_of(sighting)
        if looks is None or self.book is None or len(looks) != len(self.looks):
            return None
        return self.book.observe(self.looks, direction, looks)

    def replay(self, size: Size, looks: Sequence[Looks], directions: Sequence[Direction]) -> None:
        """Learn from moves that were made before the looks could be told apart.

        Args:
            size: the size of the board.
            looks: the looks before the first move, and after each move.
            directions: the directions of the moves.
        """
        self.forget(moved=True)
        self.book = LookBook.of_moves(size.rows, size.columns, looks, directions)
        self.looks = looks[-1]

    def take_by(self, afters: Sequence[Board], sighting: Sighting) -> bool:
        """Learn the value of one new look that the page's own rule has made.

        Args:
            afters: the possible afterstates of the move.
            sighting: the answer of the eye after the move.

        Returns:
            Whether one afterstate and one spawned tile explain all looks.
        """
        looks, book = _looks_of(sighting), self.book
        if looks is None or book is None or not book.certain:
            return False
        values = book.values()
        new = {look for look in looks if look not in values}
        if len(new) != 1:
            return False
        for after in afters:
            pairs = list(zip(after.cells, looks, strict=False))
            worth = {value for value, look in pairs if look in new}
            spawned = [look for value, look in pairs if not value and values.get(look) != 0]
            known = all(values[look] == value for value, look in pairs if value and look in values)
            if (
                len(after.cells) == len(looks)
                and known
                and len(worth) == 1
                and min(worth) > max(SPAWNED)
                and [values.get(look) in SPAWNED for look in spawned] == [True]
            ):
                book.know(new.pop(), worth.pop())
                return True
        return False

    def raw(self, sighting: Sighting) -> object:
        """Return the reading of a sighting, with looks and numbers from 1 replaced by face values."""
        raw = sighting.reading
        if not isinstance(raw, dict):
            return raw
        self.rivals = raw.get("rivals") is True
        if raw.get("unsure") is True:
            raise UnreadableError("a tile looks nearly as much like one value as like another")
        looks = _looks_of(sighting)
        if looks is None:
            return self._scaled(raw)
        rows, columns = raw.get("rows"), raw.get("columns")
        if not isinstance(rows, int) or not isinstance(columns, int) or rows * columns != len(looks):
            raise UnreadableError(f"{len(looks)} cells do not fill a board of {rows}×{columns}")
        book = self.book
        if book is not None and (book.rows, book.columns) != (rows, columns):
            book = None
        shown = self._shown(raw.get("numbers"))
        labels = book.values() if book else {}
        if book is None or any(labels.get(look, value) != value for look, value in shown.items()):
            book = LookBook.of_values(rows, columns, looks, shown) or book
        self.book = book or self._new_book(rows, columns, looks)
        self.book.adopt(looks)
        self.looks = looks
        return {**raw, "cells": _cells(self.book.board(looks)), "looks": None}

    def _shown(self, numbers: object) -> dict[str, int]:
        """Return the exponents of looks with known numbers; nothing if the numbers are not powers of two."""
        if not isinstance(numbers, dict) or self._counts_otherwise:
            return {}
        if not all(isinstance(number, int) and is_face(number) for number in numbers.values()):
            self._counts_otherwise = True
            return {}
        return {look: number.bit_length() - 1 for look, number in numbers.items()}

    def _new_book(self, rows: int, columns: int, looks: Looks) -> LookBook:
        if self._ply is None:
            return LookBook(rows, columns, looks, moved=self._moved)
        for board in (self._ply.slide.afterstate, self._ply.before):
            if board.size == Size(rows, columns) and (book := LookBook.of_board(board, looks)) is not None:
                return book
        raise UnreadableError(
            f"the looks of {rows}×{columns} cells do not follow from {self._ply}; expected the same tiles"
        )

    def turns_to_ranks(self, sighting: Sighting) -> bool:
        """Read tiles that begin at 1 as exponents as soon as one shows a 3; return whether that is new.

        Earlier readings stay right, because 1 and 2 mean the tiles 2 and 4 in both cases. The next reading
        must show whether two 2s make a 3.
        """
        odd = sighting.reading.get("odd") if isinstance(sighting.reading, dict) else None
        if self.ranks or self.scale == 1 or odd != [FIRST_RANK] * len(odd or ()) or not odd:
            return False
        self.scale, self.ranks = 1, True
        return True

    def _scaled(self, raw: dict[Any, Any]) -> object:
        cells = raw.get("cells")
        if not isinstance(cells, list) or not all(isinstance(cell, int) for cell in cells):
            return raw
        if 1 in cells and not self.ranks:
            self.scale = 2
        return raw if self.scale == 1 else {**raw, "cells": [cell * self.scale for cell in cells]}


def is_face(number: int) -> bool:
    """Return whether a number is the face value of a tile."""
    return number >= 2 and number.bit_count() == 1


def _looks_of(sighting: Sighting) -> Looks | None:
    raw = sighting.reading
    looks = raw.get("looks") if isinstance(raw, dict) and raw.get("unsure") is not True else None
    if not isinstance(looks, list) or not all(isinstance(look, str) and len(look) <= 64 for look in looks):
        return None
    return tuple(looks)


def _cells(board: Board) -> list[int]:
    return [1 << exponent if exponent else 0 for exponent in board.cells]
