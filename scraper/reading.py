"""The reading of a page at one moment, and the moves that are possible from there."""

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
    """The reader saw something that is not a board; another reader may see the board."""


class NoBoardError(PageError):
    """No reader sees a board of 2048 on the page."""


class MisreadError(PageError):
    """What was read until now was no board of 2048, although it followed the rules for a while."""


class Status(enum.Enum):
    """The status of a game. Its ``value`` is what the command line and JSON show."""

    PLAYING = "playing"
    WON = "won"
    """The page shows its win message; most pages then ignore keys until a button continues the game."""
    OVER = "over"


@dataclass(frozen=True, slots=True)
class ReaderTraits:
    """How reliable a reader is.

    Attributes:
        weak: the reader may see boards that do not exist, so it comes last.
        numbered: the reader reads numbers on tiles. If they are not of 2048, weak readers are not tried.
        any_grid: the reader reads any grid of numbers, so the board may belong to another game.
        trusts_score: the number beside the board is the score even if the rules give another number.
        proving_moves: how many moves must follow the rules before the numbers are believed.
    """

    weak: bool = False
    numbered: bool = False
    any_grid: bool = False
    trusts_score: bool = False
    proving_moves: int = 0


@dataclass(frozen=True, slots=True)
class Ply:
    """A move of the player and its effect.

    Attributes:
        before: the board before the move.
        direction: the direction in which the tiles slide.
        slide: the slide by the rules of 2048, before the spawn.
    """

    before: Board
    direction: Direction
    slide: Slide

    @classmethod
    def of(cls, before: Board, direction: Direction) -> Self:
        """Make the ply for a direction on a board."""
        return cls(before, direction, before.slide(direction))

    def __str__(self) -> str:
        return f"{self.direction} on {self.before}"


@dataclass(frozen=True)
class Reading:
    """What a page showed at one moment.

    Attributes:
        board: the board at rest.
        score: the score that the page shows; ``None`` if it shows no readable score.
        best: the best score that the page shows; ``None`` if it shows no readable one.
        status: over if the board has no moves; otherwise what the page's messages say.
        reader: the name of the reader that saw the board.
        traits: how reliable that reader is.
    """

    board: Board
    score: int | None
    best: int | None
    status: Status
    reader: str
    traits: ReaderTraits = dataclasses.field(default=ReaderTraits(), compare=False, repr=False)

    @cached_property
    def slides(self) -> Mapping[Direction, Slide]:
        """The slide of each direction, computed once."""
        return self.board.slides()

    @property
    def legal(self) -> tuple[Direction, ...]:
        """The directions that change the board."""
        return tuple(direction for direction, slide in self.slides.items() if slide.moved)

    def ply(self, direction: Direction) -> Ply:
        """Return the move in a direction from this board."""
        return Ply(self.board, direction, self.slides[direction])

    def changed(self, **changes: Any) -> Reading:
        """Return this reading with some fields replaced; keep the slides if the board is the same."""
        other = dataclasses.replace(self, **changes)
        if other.board is self.board and "slides" in self.__dict__:
            other.__dict__["slides"] = self.slides
        return other
