"""A game of 2048 with undo: board, score and past moves. Independent of windows and engines."""

from __future__ import annotations

from dataclasses import dataclass

from game2048.board import Board
from game2048.direction import Direction
from game2048.size import Size
from game2048.spawn import Spawner


@dataclass(frozen=True, slots=True)
class WindowTurn:
    """A move that was made.

    Attributes:
        before: the board before it.
        direction: where the tiles slid.
        afterstate: the board after the slide, before the spawn.
        after: the board after the spawn.
        score: points before the move.
        reward: points that it made.
        by_engine: whether the engine chose it; else a person did.
    """

    before: Board
    direction: Direction
    afterstate: Board
    after: Board
    score: int
    reward: int
    by_engine: bool

    @property
    def spawned_cell(self) -> int:
        """Index of the cell that the spawn filled."""
        return next(
            cell
            for cell, (old, new) in enumerate(zip(self.afterstate.cells, self.after.cells, strict=True))
            if old != new
        )


class DesktopGame:
    """One game after another on a board of one size.

    Args:
        size: of the board.
        seed: of all spawns, 0 to 2**64 − 1.

    Attributes:
        board: as it stands.
        score: points so far.
        turns: the moves that led here; undone ones are gone.
        number: which game it is, from 0; each game has other spawns.
        undos: how often a move was taken back in this game.
    """

    def __init__(self, size: Size, seed: int) -> None:
        self._size = size
        self.seed = seed
        self.number = 0
        self._begin()

    def _begin(self) -> None:
        self._spawner = Spawner(self.seed, self.number)
        self.board = self._spawner.start(*self._size)
        self.score = 0
        self.turns: list[WindowTurn] = []
        self.undos = 0

    @property
    def moves(self) -> int:
        """How many moves led here."""
        return len(self.turns)

    def move(self, direction: Direction, *, by_engine: bool) -> WindowTurn | None:
        """Slide the tiles and let one spawn; return ``None`` if no tile can move."""
        slide = self.board.slide(direction)
        if not slide.moved:
            return None
        after = self._spawner.spawn(slide.afterstate)
        turn = WindowTurn(self.board, direction, slide.afterstate, after, self.score, slide.reward, by_engine)
        self.turns.append(turn)
        self.board = after
        self.score += slide.reward
        return turn

    def undo(self) -> bool:
        """Take the last move back; return whether there was one. The next move draws a new spawn."""
        if not self.turns:
            return False
        turn = self.turns.pop()
        self.undos += 1
        self.board, self.score = turn.before, turn.score
        return True

    def restart(self) -> None:
        """Begin the next game."""
        self.number += 1
        self._begin()
