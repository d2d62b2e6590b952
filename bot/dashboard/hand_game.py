"""A game that a person plays in the dashboard, with undo; an engine may take over."""

from __future__ import annotations

import secrets
from collections import deque
from dataclasses import dataclass

from game2048.board import Board
from game2048.direction import Direction
from game2048.motion import tile_motions
from game2048.size import Size
from game2048.spawn import Spawner

MAX_UNDO = 1000


@dataclass(frozen=True, slots=True)
class Standing:
    """How a game stands.

    Attributes:
        board: the board.
        score: the points so far.
        moves: made so far.
        spawner_state: what decides the next spawns; an undone move spawns the same tile again.
    """

    board: Board
    score: int
    moves: int
    spawner_state: int


class HandGame:
    """One game.

    Args:
        size: of the board.
        seed: of its spawns; ``None`` for a new one.
    """

    def __init__(self, size: Size, seed: int | None = None) -> None:
        self.size = size
        self._spawner = Spawner(secrets.randbits(64) if seed is None else seed)
        self._before: deque[Standing] = deque(maxlen=MAX_UNDO)
        board = self._spawner.start(size.rows, size.columns)
        self.standing = Standing(board, 0, 0, self._spawner.state)

    @property
    def board(self) -> Board:
        """The board as it stands."""
        return self.standing.board

    def move(self, direction: Direction) -> list[int] | None:
        """Make a move.

        Returns:
            How the tiles moved: from cell, to cell, exponent, 1 if it merges, for each tile; ``None`` where
            the move changes nothing.
        """
        before = self.standing
        slide = before.board.slide(direction)
        if not slide.moved:
            return None
        motions = [int(number) for motion in tile_motions(before.board, direction) for number in motion]
        self._before.append(before)
        self._spawner.state = before.spawner_state
        board = self._spawner.spawn(slide.afterstate)
        self.standing = Standing(board, before.score + slide.reward, before.moves + 1, self._spawner.state)
        return motions

    def undo(self) -> bool:
        """Take the last move back; whether there was one."""
        if not self._before:
            return False
        self.standing = self._before.pop()
        return True
