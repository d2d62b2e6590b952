"""What a player needs of a page: open, read, move, keep going, start a new game.

`GamePage` is all that the player knows; `scraper.live_page.LivePage` is the one over a real browser.
"""

from __future__ import annotations

from typing import Protocol

from game2048.board import Board
from game2048.direction import Direction
from scraper.moves.outcome import Cause, MoveOutcome, Slid, Unchanged, Unexplained
from scraper.moves.rule_variants import Deviation
from scraper.reading import Ply, Reading, Status

__all__ = [
    "Cause",
    "Deviation",
    "GamePage",
    "MoveOutcome",
    "Ply",
    "Reading",
    "Slid",
    "Status",
    "Unchanged",
    "Unexplained",
]


class GamePage(Protocol):
    """A page with a game of 2048. It never decides a move.

    Every method raises `PageError` when the page or its browser has gone or does not answer.
    """

    @property
    def url(self) -> str:
        """Where the game is played."""
        ...

    @property
    def rules(self) -> tuple[Deviation, ...]:
        """In what the page's rules were seen to differ from those of 2048."""
        ...

    def afterstate(self, ply: Ply) -> Board:
        """Return what a move slides to on this page, by its own rules where they are known to differ."""
        ...

    async def open(self, url: str) -> Reading:
        """Load a page, find its board and read it.

        Raises:
            PageError: the page does not load, or shows no board that any reader knows.
        """
        ...

    async def read(self) -> Reading:
        """Return the board, once it is at rest."""
        ...

    async def press(self, direction: Direction) -> None:
        """Press the arrow key of that direction, without looking at its effect."""
        ...

    async def move(self, before: Reading, direction: Direction) -> MoveOutcome:
        """Press the arrow key of that direction and wait until the page has answered.

        Args:
            before: the last reading.
            direction: a legal direction of its board.

        Raises:
            RulesError: the direction does not change the board.
        """
        ...

    async def keep_going(self) -> Reading | None:
        """Let the game continue after a win; return ``None`` if the page offers no way that works."""
        ...

    async def new_game(self, *, anew: bool = False) -> Reading:
        """Start a new game.

        Args:
            anew: by loading the page anew, also where it has a button for that.

        Raises:
            PageError: the page offers no way to start one.
        """
        ...
