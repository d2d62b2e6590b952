"""Choosing moves on a page whose rules are a little its own: its merges, and the tiles that spawn.

The solver knows the rules of 2048 alone. Where the page's slides are those, its answer stands. Where they
differ on this very board, the ply that differs is searched here: each direction is worth the page's reward
plus the mean, over some spawns on the page's afterstate, of what the solver finds the board after it to be
worth. That is one decision and one chance node above the solver's own tree, in its own unit (docs/solver.md:
merge reward plus value of the afterstate); what lies below that ply is still judged by the rules of 2048.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from game2048.board import MAX_EXPONENT, Board, Slide
from game2048.direction import Direction
from game2048.wire import DecisionMessage, GameOver
from scraper.page import Ply

PROVING_SPAWNS = 12
"""After so many spawned tiles the smallest one is taken for the page's 2."""
SPAWNS = 4
"""So many cells for the spawn are looked at for each direction: a request to the solver each."""


class Solver(Protocol):
    """What chooses the moves: `bot.client.SolverClient`, asked with one engine and one limit."""

    async def __call__(self, board: Board) -> DecisionMessage | GameOver:
        """The move for a board."""
        ...


class PageSlides(Protocol):
    """What moves lead to on a page: the part of `scraper.page.GamePage` that is needed here."""

    def afterstate(self, ply: Ply) -> Board:
        """Return what a move slides to on this page."""
        ...


class SpawnedTiles:
    """What spawns on a page, as its moves tell."""

    def __init__(self) -> None:
        self._count = 0
        self._least = MAX_EXPONENT

    def note(self, afterstate: Board, board: Board) -> None:
        """Take in a move by the rules: what it slid to, and the board with the spawned tile."""
        for before, tile in zip(afterstate.cells, board.cells, strict=True):
            if tile and not before:
                self._count += 1
                self._least = min(self._least, tile)

    def as_if_of_2(self, board: Board) -> Board:
        """Return the board as the solver is shown it: with the smallest tile that spawns as its 2."""
        excess = self._least - 1
        if self._count < PROVING_SPAWNS or any(0 < tile <= excess for tile in board.cells):
            return board
        return Board(board.rows, board.columns, bytes(max(tile - excess, 0) for tile in board.cells))


class Ranking(NamedTuple):
    """The directions to try on a board.

    Attributes:
        directions: the best first; none if the game is over.
        decision: the solver's answer that begins them; ``None`` where the page's own rules were searched.
    """

    directions: list[Direction]
    decision: DecisionMessage | None


async def ranked_directions(
    solver: Solver, page: PageSlides, board: Board, slides: Mapping[Direction, Slide]
) -> Ranking:
    """Rank the directions of a board.

    Args:
        solver: what chooses.
        page: what is played by its rules.
        board: as it stands, in the solver's terms.
        slides: what each direction does to it by the rules of 2048.

    Raises:
        SolverError: the solver cannot be reached any more.
    """
    plies = [Ply(board, direction, slide) for direction, slide in slides.items() if slide.moved]
    afters = {ply.direction: page.afterstate(ply) for ply in plies}
    legal = list(afters)
    if all(afters[direction] == slides[direction].afterstate for direction in legal):
        answer = await solver(board)
        if isinstance(answer, GameOver):
            return Ranking([], None)
        decision, first = answer, Direction.parse(answer.direction)
        values = {Direction.parse(name): value for name, value in answer.values.items()}
    else:
        decision, first = None, None
        values = {direction: await _value(solver, board, after) for direction, after in afters.items()}
    lowest = float("-inf")
    return Ranking(sorted(legal, key=lambda d: (d is not first, -values.get(d, lowest))), decision)


async def _value(solver: Solver, board: Board, after: Board) -> float:
    """Merge reward plus the mean value of the boards that 2s make of an afterstate."""
    total = 0.0
    cells = _some(after.empty_cells())
    for cell in cells:
        answer = await solver(after.with_tile(cell, 1))
        if isinstance(answer, DecisionMessage):  # a dead board is worth nothing
            total += max(answer.values.values())
    return _reward(board, after) + total / max(len(cells), 1)


def _some(cells: Sequence[int]) -> list[int]:
    """At most `SPAWNS` of them, evenly spread."""
    count = min(len(cells), SPAWNS)
    return [cells[index * len(cells) // count] for index in range(count)]


def _reward(board: Board, after: Board) -> int:
    """The merge reward between two boards, whatever way the tiles merged.

    A tile of 2**n stands for (n - 1) * 2**n points of merges since its 2s; slides spawn nothing.
    """

    def merged(one: Board) -> int:
        return sum((exponent - 1) << exponent for exponent in one.cells if exponent)

    return merged(after) - merged(board)
