"""The reader whose script does all the work inside the page."""

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
"""No game comes near it; a larger number on a page is not a score."""
NO_TRAITS = ReaderTraits()
"""Of a reader of which nothing is known."""


class RawReading(msgspec.Struct, frozen=True):
    """What a script's ``read()`` returns, by its shape; see ``types.d.ts``."""

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
    """A reader whose script is one of ``scraper/in_page``, where it has the same name.

    Attributes:
        name: what `probe` and records call it.
        looks_for: what it looks for in a page, in words.
        traits: how far its boards can be believed.
        profile: what a site's profile says of the board, for the script that follows it.
    """

    name: str
    looks_for: str
    traits: ReaderTraits = NO_TRAITS
    profile: Mapping[str, object] | None = None

    def reading(self, raw: object) -> Reading:
        """Check what the script returned, and make a reading of it.

        Raises:
            UnreadableError: the rules do not know such a board.
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
    """Make a board of face values in one list, row by row.

    Raises:
        RulesError: the values are not those of a board.
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
