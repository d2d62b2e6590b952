"""The spawn rule: a 2 with probability 0.9, a 4 with 0.1, on a cell drawn uniformly from the empty ones.

The draw is seeded and the same on every machine, in Python and in kernels: SplitMix64 (Steele, Lea & Flood,
OOPSLA 2014, doi:10.1145/2660193.2660195), one 64-bit number a spawn, its upper half for the cell, its lower
half for the tile. `next_random` and `pick` are plain Python within the subset that numba compiles.
"""

from __future__ import annotations

from typing import Any

from game2048.board import Board
from game2048.errors import RulesError

P_TWO = 0.9
P_FOUR = 0.1

_MASK = 0xFFFFFFFFFFFFFFFF
_FOUR_BELOW = 429496730  # 0.1 · 2**32, rounded up


def next_random(state: Any) -> Any:
    """The next state of the generator and the number drawn, both of 64 bits."""
    state = (state + 0x9E3779B97F4A7C15) & _MASK
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return state, z ^ (z >> 31)


def pick(number: Any, empties: Any) -> Any:
    """The spawn that a 64-bit number stands for.

    Args:
        number: as drawn by `next_random`.
        empties: how many cells are empty, at least 1 (in kernels a uint64).

    Returns:
        Which of the empty cells, counted row by row from 0, and the exponent, 1 or 2.
    """
    which = ((number >> 32) * empties) >> 32
    exponent = 2 if (number & 0xFFFFFFFF) < _FOUR_BELOW else 1
    return which, exponent


def game_state(seed: int, game: int = 0) -> int:
    """The generator's first state in game number ``game`` of a run with that seed.

    Games are drawn independently of each other, so that any of them can be played by any worker.

    Raises:
        RulesError: the seed is not in 0 … 2**64 − 1, or the game number is negative.
    """
    if not 0 <= seed <= _MASK:
        raise RulesError(f"seed {seed} is out of range: expected 0 to 2**64 - 1")
    if game < 0:
        raise RulesError(f"game number {game} is negative: expected 0 or more")
    _, a = next_random(seed)
    state: int
    _, state = next_random(a ^ (game & _MASK))
    return state


class Spawner:
    """Draws the spawns of one game.

    Attributes:
        state: the generator's 64-bit state; the whole memory of the draw.
    """

    def __init__(self, seed: int, game: int = 0) -> None:
        self.state = game_state(seed, game)

    def spawn(self, board: Board) -> Board:
        """The board with one tile more.

        Raises:
            RulesError: no cell is empty.
        """
        empty = board.empty_cells()
        if not empty:
            raise RulesError(f"no tile can spawn on the full board {board.text()!r}")
        self.state, number = next_random(self.state)
        which, exponent = pick(number, len(empty))
        return board.with_tile(empty[which], exponent)

    def start(self, rows: int = 4, columns: int = 4) -> Board:
        """A first board: two tiles."""
        return self.spawn(self.spawn(Board.empty(rows, columns)))


def chance_outcomes(board: Board) -> list[tuple[float, Board]]:
    """Every board a spawn can make, with its probability; empty for a full board."""
    empty = board.empty_cells()
    return [
        (probability / len(empty), board.with_tile(cell, exponent))
        for cell in empty
        for exponent, probability in ((1, P_TWO), (2, P_FOUR))
    ]
