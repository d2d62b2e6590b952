"""The interface between player and page: open, read, move, continue after a win, start a new game.

The player only knows `GamePage`; `scraper.live_page.LivePage` implements it with a real browser.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from game2048.board import Board
from game2048.direction import Direction
from scraper.moves.outcome import Cause, MoveOutcome, Slid, Unchanged, Unexplained
from scraper.moves.rule_variants import Deviation
from scraper.reading import MisreadError, NoBoardError, Ply, Reading, Status, UnreadableError

__all__ = [
    "Cause",
    "Deviation",
    "GamePage",
    "MisreadError",
    "MoveOutcome",
    "NoBoardError",
    "Ply",
    "Reading",
    "Slid",
    "Status",
    "Unchanged",
    "Unexplained",
    "UnreadableError",
]


class GamePage(Protocol):
    """A page with a game of 2048. It never chooses a move.

    Every method raises `PageError` if the page or its browser has gone, or does not answer.
    """

    @property
    def url(self) -> str:
        """The address of the page."""
        ...

    @property
    def rules(self) -> tuple[Deviation, ...]:
        """The observed differences between the page's rules and the rules of 2048."""
        ...

    def afterstate(self, ply: Ply) -> Board:
        """Return the afterstate of a move by the page's rules, as far as they are known."""
        ...

    async def open(self, url: str) -> Reading:
        """Load a page, find its board and read it.

        Raises:
            PageError: the page does not load, or no reader finds a board of 2048 on it.
        """
        ...

    async def read(self) -> Reading:
        """Return the board, once it is at rest."""
        ...

    async def press(self, direction: Direction) -> None:
        """Make a move; do not wait for its effect."""
        ...

    async def move(self, before: Reading, direction: Direction) -> MoveOutcome:
        """Make a move and wait for its effect.

        Args:
            before: the last reading.
            direction: a legal direction of its board.

        Raises:
            RulesError: the direction does not change the board.
            MisreadError: what was read until now was no board of 2048.
        """
        ...

    def foresee(self, note: Callable[[Board], None] | None) -> None:
        """Call a function with the likely board of each move, as soon as the page shows enough of it.

        The move is not confirmed yet, and may turn out otherwise.

        Args:
            note: the function; ``None`` to stop that.
        """
        ...

    async def keep_going(self) -> Reading | None:
        """Continue the game after a win; return ``None`` if the page does not continue it."""
        ...

    async def new_game(self, *, anew: bool = False) -> Reading:
        """Start a new game.

        Args:
            anew: load the page again, even if it has a button for a new game.

        Raises:
            PageError: the page does not start a new game.
        """
        ...
