"""When to stop a game, and the state of a game after a move."""

from __future__ import annotations

from dataclasses import dataclass

from game2048.board import Board
from game2048.wire.messages import DecisionMessage


@dataclass(frozen=True, slots=True)
class Goal:
    """When to stop a game before it is over, and how fast to play.

    Attributes:
        until_tile: stop when the board shows this tile or a larger one; a face value.
        max_moves: stop after this many moves.
        moves_per_second: the highest rate; ``None`` for no limit.
    """

    until_tile: int | None = None
    max_moves: int | None = None
    moves_per_second: float | None = None

    def reached(self, board: Board, moves: int) -> bool:
        """Return whether to stop the game now."""
        if self.until_tile is not None and board.max_tile >= self.until_tile:
            return True
        return self.max_moves is not None and moves >= self.max_moves


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a game after a move.

    Attributes:
        moves: how many moves the game has had.
        score: the score that the page shows; if it shows none, the sum of the merges.
        board: the current board.
        decision: the solver's answer that led to the move; ``None`` if `variant_search` chose the move by
            the page's own rules.
    """

    moves: int
    score: int
    board: Board
    decision: DecisionMessage | None = None
