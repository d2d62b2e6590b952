"""Endgame values by full enumeration, from the rules alone: no index, no layers, no nibbles."""

from __future__ import annotations

from functools import cache

from game2048.board import Board, highest_exponent
from game2048.direction import DIRECTIONS, Direction
from game2048.spawn import chance_outcomes
from solver_server.tables.formations import ANCHOR, HALVES, LOCKED, TableSpec

CERTAIN = 65535
OPPOSITE = {direction: DIRECTIONS[(i + 2) % 4] for i, direction in enumerate(DIRECTIONS)}


class BruteForce:
    """All values of a table, and of those above it, in the table's own unit and rounding.

    The board holds real tiles: the anchor its exponent, the other locked cells the largest tiles there can
    be.
    """

    def __init__(self, spec: TableSpec, top: int) -> None:
        self.spec = spec
        self.top = top
        self.cells = spec.formation.cells
        self.value = cache(self._value)

    def board(self, moving: dict[int, int]) -> Board:
        formation = self.spec.formation
        large = iter(range(highest_exponent(formation.rows, formation.columns), 0, -1))
        exponents = [
            self.spec.goal if sign == ANCHOR else next(large) if sign == LOCKED else moving.get(cell, 0)
            for cell, sign in enumerate(self.cells)
        ]
        return Board(formation.rows, formation.columns, bytes(exponents))

    def moving(self, board: Board) -> list[int]:
        return [board.cells[cell] for cell, sign in enumerate(self.cells) if sign in HALVES]

    def is_kept(self, board: Board) -> bool:
        goal = board.cells[self.spec.formation.anchor]
        tiles = [exponent for exponent in self.moving(board) if exponent]
        large = [exponent for exponent in tiles if exponent >= self.spec.large]
        total = sum(1 << exponent for exponent in tiles)
        return (
            total <= (1 << goal) + self.spec.slack
            and len(large) - len(set(large)) <= self.spec.spare
            and all(exponent <= goal for exponent in tiles)
            and tiles.count(goal) <= 1
        )

    def _value(self, after: Board) -> int:
        """Of an afterstate."""
        if not self.is_kept(after):
            return 0
        outcomes = chance_outcomes(after)
        if not outcomes:
            return 0
        tenths = sum(
            round(10 * probability * len(outcomes) / 2) * self.best(board) for probability, board in outcomes
        )
        empties = len(outcomes) // 2
        return (tenths + 5 * empties) // (10 * empties)

    def best(self, board: Board) -> int:
        if not self.is_kept(board):
            return 0
        best = 0
        for direction in DIRECTIONS:
            slide = board.slide(direction)
            if not slide.moved:
                continue
            after = slide.afterstate
            anchor = self.spec.formation.anchor
            others = [cell for cell in self.spec.formation.locked if cell != anchor]
            if any(after.cells[cell] != board.cells[cell] for cell in others):
                continue
            if after.cells[anchor] == board.cells[anchor]:
                best = max(best, self.value(after))
            elif after.cells[anchor] == board.cells[anchor] + 1:
                best = max(best, CERTAIN if board.cells[anchor] == self.top else self.value(after))
        if best == 0:
            best = max(self.aside(board, direction) for direction in DIRECTIONS)
        return best

    def aside(self, board: Board, direction: Direction) -> int:
        """A slide that moves locked tiles, and the opposite one once a tile has spawned."""
        aside = board.slide(direction)
        anchor, locked = self.spec.formation.anchor, self.spec.formation.locked
        if not aside.moved or aside.afterstate.cells.count(board.cells[anchor]) != 1:
            return 0
        tenths = 0
        outcomes = chance_outcomes(aside.afterstate)
        for probability, spawned in outcomes:
            back = spawned.slide(OPPOSITE[direction]).afterstate
            if all(back.cells[cell] == board.cells[cell] for cell in locked):
                tenths += round(5 * probability * len(outcomes)) * self.value(back)
        empties = len(outcomes) // 2
        return (tenths + 5 * empties) // (10 * empties) if empties else 0
