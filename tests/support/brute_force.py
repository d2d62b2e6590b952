"""Endgame values by full enumeration, from the rules alone: no index, no layers, no nibbles."""

from __future__ import annotations

from functools import cache

from game2048.board import Board, highest_exponent
from game2048.direction import DIRECTIONS
from game2048.spawn import chance_outcomes
from solver_server.tables.formations import ANYTHING, LOCKED, TableSpec

CERTAIN = 65535


class BruteForce:
    """All values of a table, in the table's own unit and rounding.

    The board holds real tiles: the locked cells the largest tiles there can be.
    """

    def __init__(self, spec: TableSpec) -> None:
        self.spec = spec
        self.cells = spec.formation.cells
        self.value = cache(self._value)

    def board(self, moving: dict[int, int]) -> Board:
        formation = self.spec.formation
        large = iter(range(highest_exponent(formation.rows, formation.columns), 0, -1))
        exponents = [
            next(large) if sign == LOCKED else moving.get(cell, 0) for cell, sign in enumerate(self.cells)
        ]
        return Board(formation.rows, formation.columns, bytes(exponents))

    def is_kept(self, board: Board) -> bool:
        moving = [
            (exponent, int(sign))
            for exponent, sign in zip(board.cells, self.cells, strict=True)
            if sign != LOCKED and exponent
        ]
        large = [exponent for exponent, _ in moving if exponent >= self.spec.large]
        return (
            all(exponent <= self.spec.top - below for exponent, below in moving)
            and sum(1 << exponent for exponent, _ in moving) <= (2 << self.spec.top) + self.spec.slack
            and len(large) - len(set(large)) <= self.spec.spare
        )

    def is_goal(self, board: Board) -> bool:
        return any(
            all(
                sign == ANYTHING or exponent == self.spec.top - int(sign)
                for exponent, sign in zip(board.cells, goal.replace("/", ""), strict=True)
            )
            for goal in self.spec.formation.goals
        )

    def _value(self, after: Board) -> int:
        """Of an afterstate."""
        outcomes = chance_outcomes(after) if self.is_kept(after) else []
        if not outcomes:
            return 0
        tenths = sum(
            round(10 * probability * len(outcomes) / 2) * self.best(board) for probability, board in outcomes
        )
        empties = len(outcomes) // 2
        return (tenths + 5 * empties) // (10 * empties)

    def best(self, board: Board) -> int:
        best = 0
        for direction in DIRECTIONS:
            slide = board.slide(direction)
            after = slide.afterstate
            keeps = all(after.cells[cell] == board.cells[cell] for cell in self.spec.formation.locked)
            if slide.moved and keeps and self.is_kept(board) and self.is_kept(after):
                best = max(best, CERTAIN if self.is_goal(after) else self.value(after))
        return best
