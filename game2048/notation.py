"""Boards in every notation that people use."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from game2048.board import Board
from game2048.errors import RulesError

MAX_CHARACTERS = 4096
"""A longer text is refused before it is read."""

_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{4,64}")
_ROWS_END = re.compile(r"\r\n|[/;|\n\r]")
_MAX_EXPONENT = 63

Cell = TypeVar("Cell")


def read_board(text: str, *, exponents: bool = False) -> Board:
    """Return the board that a text describes.

    These describe the same board, the last two by exponents:

        2 4 8 16 / . . 2 4 / . . . 2 / . . . .          rows end with /, ; or a line end; 0, . - _ are empty
        [[2,4,8,16],[0,0,2,4],[0,0,0,2],[0,0,0,0]]      rows as JSON
        2,4,8,16,0,0,2,4,0,0,0,2,0,0,0,0                a square board in one list; also as JSON
        1234001200010000                                hexadecimal exponents
        1 2 3 4 / 0 0 1 2 / 0 0 0 1 / 0 0 0 0           with ``exponents``

    Args:
        text: the board.
        exponents: whether numbers are exponents (11 is the tile 2048), and not face values.

    Raises:
        RulesError: the text is not a board.
    """
    text = text.strip()
    if len(text) > MAX_CHARACTERS:
        raise RulesError(
            f"a board of {len(text)} characters is too long; expected at most {MAX_CHARACTERS} characters"
        )
    if text.startswith("["):
        return _from_numbers(_json_rows(text), exponents=exponents)
    if _HEXADECIMAL.fullmatch(text) and _is_square(len(text)):
        return _from_numbers(_square([int(digit, 16) for digit in text]), exponents=True)
    if len(_ROWS_END.split(text)) == 1:
        words = text.replace(",", " ").split()
        if not _is_square(len(words)):
            raise RulesError(
                f"a board of one list has {len(words)} numbers; expected 4, 9, 16, 25, 36, 49 or 64, "
                'or rows as in "2 4 / 0 2"'
            )
        text = " / ".join(" ".join(row) for row in _square(words))
    if not exponents:
        return Board.from_text(_ROWS_END.sub("\n", text))
    rows = [row.replace(",", " ").split() for row in _ROWS_END.split(text) if row.strip()]
    return _from_numbers([[_number(word) for word in row] for row in rows], exponents=True)


def _json_rows(text: str) -> list[list[int]]:
    try:
        found = msgspec.json.decode(text.encode("utf-8", "replace"), type=list[list[int] | int])
    except (msgspec.DecodeError, RecursionError) as error:
        raise RulesError(
            f"board {text[:80]!r} is not a list of rows: {error}; expected e.g. [[2,0],[4,8]]"
        ) from error
    rows = [row for row in found if isinstance(row, list)]
    numbers = [number for number in found if isinstance(number, int)]
    if rows or not numbers:
        return rows
    if not _is_square(len(numbers)):
        raise RulesError(
            f"a board of one list has {len(numbers)} numbers; expected 4, 9, 16, 25, 36, 49 or 64"
        )
    return _square(numbers)


def _from_numbers(rows: list[list[int]], *, exponents: bool) -> Board:
    if not exponents:
        return Board.from_tiles(rows)
    for row in rows:
        for number in row:
            if not 0 <= number <= _MAX_EXPONENT:
                raise RulesError(f"exponent {number} is out of range; expected 0 to {_MAX_EXPONENT}")
    return Board.from_tiles([[1 << number if number else 0 for number in row] for row in rows])


def _number(word: str) -> int:
    if word in {".", "-", "_"}:
        return 0
    if word.isascii() and word.isdigit() and len(word) <= 3:
        return int(word)
    raise RulesError(f"{word[:40]!r} is not an exponent; expected 0 to {_MAX_EXPONENT}")


def _is_square(count: int) -> bool:
    return 4 <= count <= 64 and math.isqrt(count) ** 2 == count


def _square(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return the rows of a square board."""
    side = math.isqrt(len(cells))
    return [list(cells[start : start + side]) for start in range(0, len(cells), side)]
