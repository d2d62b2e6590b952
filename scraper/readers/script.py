"""The reader whose script does all the work inside the page."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Annotated

import msgspec

from game2048.board import Board
from game2048.errors import RulesError
from game2048.size import MAX_SIDE, MIN_SIDE
from scraper.reading import Reading, Status, UnreadableError

Side = Annotated[int, msgspec.Meta(ge=MIN_SIDE, le=MAX_SIDE)]
Cells = Annotated[list[int], msgspec.Meta(max_length=MAX_SIDE * MAX_SIDE)]
Look = Annotated[str, msgspec.Meta(max_length=64)]
Digits = Annotated[str, msgspec.Meta(max_length=32, pattern="^[0-9]*$")]

MAX_SCORE = 10**15
"""No game comes near it; a larger number on a page is not a score."""


class RawReading(msgspec.Struct, frozen=True):
    """What a script's ``read()`` returns, by its shape; see ``page_probe.js``."""

    rows: Side
    columns: Side
    cells: Cells
    score: Digits | None
    best: Digits | None
    won: bool
    over: bool
    looks: Annotated[list[Look], msgspec.Meta(max_length=MAX_SIDE * MAX_SIDE)] | None = None
    odd: Annotated[list[int], msgspec.Meta(max_length=8)] = []


@dataclass(frozen=True, slots=True)
class ScriptReader:
    """A reader given by a file of JavaScript in this folder.

    Attributes:
        name: what `probe` and records call it.
        looks_for: what it looks for in a page, in words.
        file: the name of the script.
        parts: the names of scripts that it is made with, each a function of those before: it is itself a
            function of them all then.
        mode: what the script, a function then, is to be called with to become a reader.
        weak: whether it sees boards also where there are none; such readers are asked last.
    """

    name: str
    looks_for: str
    file: str
    parts: tuple[str, ...] = ()
    mode: str | None = None
    weak: bool = False

    def script(self) -> str:
        """The text of the script."""
        text = _text_of(self.file)
        if self.parts:
            made = "".join(f"Object.assign(parts, ({_text_of(part)})(parts));\n" for part in self.parts)
            text = f"(() => {{ const parts = {{}};\n{made}return ({text})(parts); }})()"
        return text if self.mode is None else f"({text})({self.mode!r})"

    def reading(self, raw: object) -> Reading:
        """What the script returned, checked.

        Raises:
            UnreadableError: it is no board that the rules know.
        """
        try:
            seen = msgspec.convert(raw, RawReading)
            if seen.odd:
                raise RulesError(f"its tiles show {', '.join(map(str, seen.odd[:4]))}")
            board = board_of(seen.cells, seen.rows, seen.columns)
        except (msgspec.ValidationError, RulesError) as error:
            raise UnreadableError(
                f"the reader {self.name} saw something that is no board of 2048: {error}; "
                "expected 2 to 8 rows and columns of tiles that are powers of two"
            ) from error
        return Reading(board, _score(seen.score), _score(seen.best), _status(seen, board), self.name)


def _text_of(file: str) -> str:
    return (resources.files(__package__) / file).read_text(encoding="utf-8")


def board_of(cells: list[int], rows: int, columns: int) -> Board:
    """The board of face values in one list, row by row.

    Raises:
        RulesError: it is none.
    """
    if len(cells) != rows * columns:
        raise RulesError(f"{len(cells)} cells do not fill a board of {rows}×{columns}")
    return Board.from_tiles([cells[start : start + columns] for start in range(0, len(cells), columns)])


def _score(digits: str | None) -> int | None:
    score = int(digits) if digits else None
    return score if score is not None and score <= MAX_SCORE else None


def _status(seen: RawReading, board: Board) -> Status:
    if board.is_over:
        return Status.OVER
    if seen.won:
        return Status.WON
    return Status.OVER if seen.over else Status.PLAYING
