"""When a game is to stop, and how it stands."""

from __future__ import annotations

from dataclasses import dataclass

from game2048.board import Board
from game2048.wire import DecisionMessage


@dataclass(frozen=True, slots=True)
class Goal:
    """When a game is stopped before it is over.

    Attributes:
        until_tile: as soon as this tile is on the board.
        max_moves: after so many moves.
        moves_per_second: no faster than this; ``None`` for as fast as it goes.
    """

    until_tile: int | None = None
    max_moves: int | None = None
    moves_per_second: float | None = None

    def reached(self, board: Board, moves: int) -> bool:
        """Return whether the game is to be stopped now."""
        if self.until_tile is not None and board.max_tile >= self.until_tile:
            return True
        return self.max_moves is not None and moves >= self.max_moves


@dataclass(frozen=True, slots=True)
class Progress:
    """How a game stands after a move.

    Attributes:
        moves: made in this game.
        score: the page's, else counted.
        board: as it stands.
        decision: the solver's answer that led to the move; ``None`` where the move was searched by the page's
            own rules (`variant_search`).
    """

    moves: int
    score: int
    board: Board
    decision: DecisionMessage | None = None
