"""What is seen on a page."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from game2048.board import Board
from game2048.errors import PageError


class UnreadableError(PageError):
    """What a reader saw is no board; another reader may see more."""


class Status(enum.Enum):
    """Where a game stands. Its ``value`` is what the command line and JSON show."""

    PLAYING = "playing"
    WON = "won"
    """The page shows its message of the win; most take no key until told to keep going."""
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a page showed at one moment.

    Attributes:
        board: the board, at rest.
        score: the page's own count, ``None`` if it shows none that could be read.
        best: its best score, ``None`` likewise.
        status: by the board if it is dead, else by the page's messages.
        reader: the name of the reader that saw it.
    """

    board: Board
    score: int | None
    best: int | None
    status: Status
    reader: str
