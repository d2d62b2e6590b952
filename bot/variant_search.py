"""Choose moves on a page whose merges or spawns differ a little from the rules of 2048.

The solver only knows the rules of 2048. If the page's slides of a board follow these rules, the solver's
answer counts. If they differ, this module searches one ply by the page's rules. The value of a direction is
the page's merge reward plus the mean value of the boards after some spawns on the page's afterstate; the
solver gives the value of each board. So one decision and one chance node stand above the solver's tree, in
the same unit (docs/solver.md: merge reward plus value of the afterstate). Below this ply the solver still
searches by the rules of 2048.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from game2048.board import MAX_EXPONENT, Board, Slide
from game2048.direction import Direction
from game2048.wire.messages import DecisionMessage, GameOver
from scraper.page import Ply

PROVING_SPAWNS = 12
"""After this many spawned tiles, the smallest of them counts as the page's 2."""
SPAWNS = 4
"""The most spawn cells that are searched for each direction; each costs one request to the solver."""


class Solver(Protocol):
    """Chooses the moves: a `bot.client.SolverClient` with one engine and one limit."""

    async def __call__(self, board: Board) -> DecisionMessage | GameOver:
        """Return the move for a board."""
        ...


class PageSlides(Protocol):
    """The part of `scraper.page.GamePage` that this module needs."""

    def afterstate(self, ply: Ply) -> Board:
        """Return the board after the slide of a move, by the page's rules."""
        ...


class SpawnedTiles:
    """The smallest tile that spawns on a page, learned from its moves."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin to learn again: the boards so far were read wrongly."""
        self._count = 0
        self._least = MAX_EXPONENT

    def note(self, afterstate: Board, board: Board) -> None:
        """Learn from a move by the rules: its afterstate, and the board with the spawned tile."""
        for before, tile in zip(afterstate.cells, board.cells, strict=True):
            if tile and not before:
                self._count += 1
                self._least = min(self._least, tile)

    def as_if_of_2(self, board: Board) -> Board:
        """Return the board to show to the solver: with the smallest tile that spawns as the 2."""
        excess = self._least - 1
        if self._count < PROVING_SPAWNS or any(0 < tile <= excess for tile in board.cells):
            return board
        return Board(board.rows, board.columns, bytes(max(tile - excess, 0) for tile in board.cells))


class Ranking(NamedTuple):
    """The directions to try on a board.

    Attributes:
        directions: the best first; empty if the game is over.
        decision: the solver's answer that gave the first one; ``None`` after a search by the page's rules.
    """

    directions: list[Direction]
    decision: DecisionMessage | None


async def ranked_directions(
    solver: Solver, page: PageSlides, board: Board, slides: Mapping[Direction, Slide]
) -> Ranking:
    """Rank the directions of a board.

    Args:
        solver: gives the values of boards.
        page: the page whose rules count.
        board: the current board, as the solver sees it.
        slides: the slide of each direction by the rules of 2048.

    Raises:
        SolverError: the solver does not answer any more.
    """
    plies = [Ply(board, direction, slide) for direction, slide in slides.items() if slide.moved]
    afters = {ply.direction: page.afterstate(ply) for ply in plies}
    legal = list(afters)
    if all(afters[direction] == slides[direction].afterstate for direction in legal):
        answer = await solver(board)
        if isinstance(answer, GameOver):
            return Ranking([], None)
        decision, first = answer, answer.chosen
        values = answer.by_direction
    else:
        decision, first = None, None
        values = {direction: await _value(solver, board, after) for direction, after in afters.items()}
    lowest = float("-inf")
    return Ranking(sorted(legal, key=lambda d: (d is not first, -values.get(d, lowest))), decision)


async def _value(solver: Solver, board: Board, after: Board) -> float:
    """Return the merge reward plus the mean value of the boards with a 2 added to the afterstate."""
    total = 0.0
    cells = _some(after.empty_cells())
    for cell in cells:
        answer = await solver(after.with_tile(cell, 1))
        if isinstance(answer, DecisionMessage):  # a board without moves has the value 0
            total += max(answer.values.values())
    return _reward(board, after) + total / max(len(cells), 1)


def _some(cells: Sequence[int]) -> list[int]:
    """Return at most `SPAWNS` of the cells, evenly spread."""
    count = min(len(cells), SPAWNS)
    return [cells[index * len(cells) // count] for index in range(count)]


def _reward(board: Board, after: Board) -> int:
    """Return the merge reward between two boards; it does not depend on the way the tiles merged.

    Merging 2s into one tile of 2**n earns (n - 1) * 2**n points, and a slide spawns nothing.
    """

    def merged(one: Board) -> int:
        return sum((exponent - 1) << exponent for exponent in one.cells if exponent)

    return merged(after) - merged(board)
