"""The reader whose work is done by a script inside the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import msgspec

from game2048.board import Board
from game2048.errors import RulesError
from game2048.size import MAX_SIDE, MIN_SIDE
from scraper.reading import ReaderTraits, Reading, Status, TileFaces, UnreadableError

SideLength = Annotated[int, msgspec.Meta(ge=MIN_SIDE, le=MAX_SIDE)]
Look = Annotated[str, msgspec.Meta(max_length=64)]
Digits = Annotated[str, msgspec.Meta(max_length=32, pattern="^[0-9]*$")]

LARGEST_SCORE = 10**15
"""No game reaches this score, so a larger number on a page is something else."""
NO_TRAITS = ReaderTraits()
"""The traits of a reader without special ones."""


class RawReading(msgspec.Struct, frozen=True):
    """The answer of a script's ``read()``, with its types and bounds; see ``types.d.ts``."""

    rows: SideLength
    columns: SideLength
    cells: TileFaces
    score: Digits | None
    best: Digits | None
    won: bool
    over: bool
    looks: Annotated[list[Look], msgspec.Meta(max_length=MAX_SIDE * MAX_SIDE)] | None = None
    odd: Annotated[list[int], msgspec.Meta(max_length=8)] = []


@dataclass(frozen=True, slots=True)
class ScriptReader:
    """A reader with a script of the same name in ``scraper/in_page``.

    Attributes:
        name: the name in `probe` and in records.
        looks_for: what the reader looks for, in words.
        traits: how reliable the reader is.
        profile: the board of a site profile, for the script that uses it.
    """

    name: str
    looks_for: str
    traits: ReaderTraits = NO_TRAITS
    profile: Mapping[str, object] | None = None

    def reading(self, raw: object) -> Reading:
        """Check the script's answer, and turn it into a reading.

        Raises:
            UnreadableError: the answer is not a board of 2048.
        """
        try:
            seen = msgspec.convert(raw, RawReading)
            if seen.odd:
                raise RulesError(f"its tiles show {', '.join(map(str, seen.odd[:4]))}")
            board = board_of_faces(seen.cells, seen.rows, seen.columns)
        except (msgspec.ValidationError, RulesError) as error:
            raise UnreadableError(
                f"the reader {self.name} saw something that is not a board of 2048: {error}; "
                "expected 2 to 8 rows and columns of tiles that are powers of two",
                reader=self.name,
            ) from error
        score, best = _score(seen.score), _score(seen.best)
        reading = Reading(board, score, best, Status.PLAYING, self.name, self.traits)
        return reading.changed(status=_status(seen, reading))


def board_of_faces(cells: list[int], rows: int, columns: int) -> Board:
    """Make a board from a list of face values, row by row.

    Raises:
        RulesError: the values do not make a board.
    """
    if len(cells) != rows * columns:
        raise RulesError(f"{len(cells)} cells do not fill a board of {rows}×{columns}")
    return Board.from_tiles([cells[start : start + columns] for start in range(0, len(cells), columns)])


def _score(digits: str | None) -> int | None:
    score = int(digits) if digits else None
    return score if score is not None and score <= LARGEST_SCORE else None


def _status(seen: RawReading, reading: Reading) -> Status:
    if not reading.legal:
        return Status.OVER
    if seen.won:
        return Status.WON
    return Status.OVER if seen.over else Status.PLAYING
