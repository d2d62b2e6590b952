"""The outcomes of one try to make a move."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from game2048.board import Board
from scraper.moves.rule_variants import Deviation
from scraper.reading import Ply, Reading


@dataclass(frozen=True, slots=True)
class Slid:
    """The page followed the rules: the board slid, one tile spawned, and the board is at rest."""

    reading: Reading


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The page did not react. Check ``reading.status`` for a message of the page, then try again.

    Attributes:
        reading: what the page shows now.
        exhausted: whether every input method has been tried.
    """

    reading: Reading
    exhausted: bool = False


class Cause(enum.Enum):
    """Why a board is not the slide of the old one plus one spawned tile."""

    OWN_RULE = enum.auto()
    """The page's own rules explain the board."""
    UNKNOWN = enum.auto()
    """No rule explains the board."""
    MOVED_BEFORE = enum.auto()
    """The board changed before the key arrived."""
    LOADED_ANEW = enum.auto()
    """The page has loaded again."""
    OTHER_BOARD = enum.auto()
    """From now on another board of the page is read, or the same board by another reader."""


@dataclass(frozen=True, slots=True)
class Unexplained:
    """The board is at rest, but it is not the slide of the old one plus one spawned tile.

    Attributes:
        reading: what the page shows now; the game can continue from there.
        why: the reason in one sentence, for people.
        cause: the reason for programs.
        at_key: the board when the key arrived, if it was not the board that the move was chosen for. Either
            an earlier key took effect late, or the reading before was believed too early;
            `is_slide_with_spawn` tells which.
        rules: the deviations from the rules of 2048 that explain the board; empty if nothing explains it.
    """

    reading: Reading
    why: str
    cause: Cause = Cause.UNKNOWN
    at_key: Board | None = None
    rules: tuple[Deviation, ...] = ()


MoveOutcome = Slid | Unchanged | Unexplained


def is_slide_with_spawn(ply: Ply, after: Board) -> bool:
    """Return whether a board is the afterstate of a move plus one spawned 2 or 4."""
    if not ply.slide.moved or ply.before.size != after.size:
        return False
    pairs = zip(ply.slide.afterstate.cells, after.cells, strict=True)
    differing = [(old, new) for old, new in pairs if old != new]
    return len(differing) == 1 and differing[0] in {(0, 1), (0, 2)}
