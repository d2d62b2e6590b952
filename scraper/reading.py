"""What a page shows at one moment, and the moves that are possible on it."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Self

import msgspec

from game2048.board import Board, Slide
from game2048.direction import Direction
from game2048.errors import PageError
from game2048.size import MAX_SIDE

TileFaces = Annotated[list[int], msgspec.Meta(max_length=MAX_SIDE * MAX_SIDE)]
"""Face values row by row, 0 for an empty cell, as a page's script returns them."""


class UnreadableError(PageError):
    """What a reader saw is not a board; another reader may see more."""


class Status(enum.Enum):
    """Where a game stands. Its ``value`` is what the command line and JSON show."""

    PLAYING = "playing"
    WON = "won"
    """The page shows its message of the win; most take no key until a button lets the game continue."""
    OVER = "over"


@dataclass(frozen=True, slots=True)
class ReaderTraits:
    """What is known of a reader: how far its boards can be believed.

    Attributes:
        weak: it sees boards also where there are none; it is asked last.
        numbered: it reads numbers on tiles; where those are not of 2048, weaker readers are not asked.
        any_grid: it reads any grid of numbers, so the board may be of another game.
        trusts_score: the number beside the board is the score even where the rules give another.
        proving_moves: this many moves by the rules, before its numbers are believed.
    """

    weak: bool = False
    numbered: bool = False
    any_grid: bool = False
    trusts_score: bool = False
    proving_moves: int = 0


@dataclass(frozen=True, slots=True)
class Ply:
    """A move of the player, with what it does.

    Attributes:
        before: the board that it is made on.
        direction: where the tiles slide to.
        slide: what the rules of 2048 make of it, before the spawn.
    """

    before: Board
    direction: Direction
    slide: Slide

    @classmethod
    def of(cls, before: Board, direction: Direction) -> Self:
        """Make the ply of a direction on a board."""
        return cls(before, direction, before.slide(direction))

    def __str__(self) -> str:
        return f"{self.direction} on {self.before}"


@dataclass(frozen=True)
class Reading:
    """What a page showed at one moment.

    Attributes:
        board: the board, at rest.
        score: the page's own count, ``None`` if it shows none that could be read.
        best: its best score, ``None`` likewise.
        status: over where the board has no moves; otherwise what the page's messages say.
        reader: the name of the reader that saw it.
        traits: how far that reader can be believed.
    """

    board: Board
    score: int | None
    best: int | None
    status: Status
    reader: str
    traits: ReaderTraits = dataclasses.field(default=ReaderTraits(), compare=False, repr=False)

    @cached_property
    def slides(self) -> Mapping[Direction, Slide]:
        """What each direction does to the board, computed once."""
        return self.board.slides()

    @property
    def legal(self) -> tuple[Direction, ...]:
        """The directions that change the board."""
        return tuple(direction for direction, slide in self.slides.items() if slide.moved)

    def ply(self, direction: Direction) -> Ply:
        """Return the move in a direction from this board."""
        return Ply(self.board, direction, self.slides[direction])

    def changed(self, **changes: Any) -> Reading:
        """Return this reading with other fields; what was computed of the same board is kept."""
        other = dataclasses.replace(self, **changes)
        if other.board is self.board and "slides" in self.__dict__:
            other.__dict__["slides"] = self.slides
        return other
