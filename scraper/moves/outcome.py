"""What came of one try to make a move."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from game2048.board import Board
from scraper.moves.rule_variants import Deviation
from scraper.reading import Ply, Reading


@dataclass(frozen=True, slots=True)
class Slid:
    """The page did what the rules say: the board slid, one tile spawned, and all is at rest."""

    reading: Reading


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The page did not react. Look at ``reading.status`` first, a message may have come up; then try again.

    Attributes:
        reading: what the page shows now.
        exhausted: every way of making the move has been tried.
    """

    reading: Reading
    exhausted: bool = False


class Cause(enum.Enum):
    """Why a board is not the slide of the old one plus one spawned tile."""

    OWN_RULE = enum.auto()
    """The page has rules of its own; they explain the board."""
    UNKNOWN = enum.auto()
    """No rule explains the board."""
    MOVED_BEFORE = enum.auto()
    """The page had moved on before the key arrived."""
    LOADED_ANEW = enum.auto()
    """The page has loaded anew."""
    OTHER_BOARD = enum.auto()
    """Another board of the page is looked at from now on, or the same one by another reader."""


@dataclass(frozen=True, slots=True)
class Unexplained:
    """The board is at rest, but it is not the slide of the old one plus one spawned tile.

    Attributes:
        reading: what the page shows now; the game can continue from there.
        why: one sentence for people.
        cause: the same for programs.
        at_key: the board as it stood when the key arrived, where that was not the board the move was chosen
            for: the page had moved on late, or the reading before had been believed too early.
            `is_slide_with_spawn` tells which.
        rules: the deviations from the rules of 2048 that do explain the board; empty where nothing does.
    """

    reading: Reading
    why: str
    cause: Cause = Cause.UNKNOWN
    at_key: Board | None = None
    rules: tuple[Deviation, ...] = ()


MoveOutcome = Slid | Unchanged | Unexplained


def is_slide_with_spawn(ply: Ply, after: Board) -> bool:
    """Return whether a board is what a move slides to plus one spawned 2 or 4."""
    if not ply.slide.moved or ply.before.size != after.size:
        return False
    pairs = zip(ply.slide.afterstate.cells, after.cells, strict=True)
    differing = [(old, new) for old, new in pairs if old != new]
    return len(differing) == 1 and differing[0] in {(0, 1), (0, 2)}
