"""The results of an attempt at a move, and how long the board has stood still."""

from __future__ import annotations

import time
from dataclasses import dataclass

from game2048.direction import Direction
from scraper.page import Ply, Reading, Slid, Unexplained

STALLED_TURNS = 4
"""How many turns in a row the page may react without moving the board."""
STALLED_TURNS_AT_WIN = 2
"""The same while the page shows a win; the player asks it to continue between the turns."""
STALLED_S = 90.0
"""How many seconds a page may ignore all moves."""


@dataclass(frozen=True, slots=True)
class Made:
    """An attempt that moved the board.

    Attributes:
        ply: the move.
        outcome: what the page did.
        score: the score before the move.
    """

    ply: Ply
    outcome: Slid | Unexplained
    score: int

    @property
    def reading(self) -> Reading:
        """What the page shows now."""
        return self.outcome.reading


@dataclass(frozen=True, slots=True)
class Ignored:
    """An attempt that the page ignored, although the player tried the moves several times.

    Attributes:
        reading: what the page shows now.
        directions: the moves that were tried.
    """

    reading: Reading
    directions: tuple[Direction, ...]


@dataclass(frozen=True, slots=True)
class Overtaken:
    """An attempt to which the page reacted in another way: it showed a message or another board.

    Attributes:
        reading: what the page shows now.
    """

    reading: Reading


class Stall:
    """How long the board has stood still.

    Attributes:
        turns: how many turns have passed since the last move.
        won: whether the page has shown a win since then.
    """

    def __init__(self) -> None:
        self.end()

    def end(self) -> None:
        """Note that the board has moved."""
        self.turns = 0
        self.won = False
        self._since = time.monotonic()

    @property
    def is_late(self) -> bool:
        """Whether the board has not moved for too long."""
        return time.monotonic() - self._since > STALLED_S

    @property
    def is_hopeless(self) -> bool:
        """Whether the page will take no more moves."""
        return self.is_late or self.turns >= (STALLED_TURNS_AT_WIN if self.won else STALLED_TURNS)
