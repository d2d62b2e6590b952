"""The size of a board."""

from __future__ import annotations

import re
from typing import NamedTuple

from game2048.errors import RulesError

MIN_SIDE = 2
MAX_SIDE = 8
_TEXT = re.compile(r"\s*(\d{1,2})\s*(?:[x×X]\s*(\d{1,2})\s*)?", re.ASCII)


class Size(NamedTuple):
    """Rows and columns of a board; ``4x4`` in commands and files.

    Attributes:
        rows: 2 to 8.
        columns: 2 to 8.
    """

    rows: int
    columns: int

    @classmethod
    def parse(cls, text: str) -> Size:
        """Read a size: ``4x4``, ``4×6``, or ``5`` for a square board.

        Raises:
            RulesError: the text is not a size, or a side is not 2 to 8.
        """
        match = _TEXT.fullmatch(text)
        if match is None:
            raise RulesError(f"{text[:40]!r} is not a board size; expected e.g. 4x4, 4x6 or 5")
        return cls(int(match[1]), int(match[2] or match[1])).checked()

    def checked(self) -> Size:
        """Return this size, if it is supported.

        Raises:
            RulesError: a side is not 2 to 8.
        """
        if not all(MIN_SIDE <= side <= MAX_SIDE for side in self):
            raise RulesError(
                f"a board of {self.rows}×{self.columns} is not supported; "
                f"expected {MIN_SIDE} to {MAX_SIDE} rows and columns"
            )
        return self

    @property
    def cells(self) -> int:
        """Rows times columns."""
        return self.rows * self.columns

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}"


STANDARD_SIZE = Size(4, 4)
"""The size of the original game."""
