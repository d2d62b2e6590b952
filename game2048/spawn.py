"""The spawn rule: a 2 with probability 0.9, a 4 with 0.1, on an empty cell drawn uniformly.

The spawns of a seed are the same on every machine, in Python and in kernels. The generator is SplitMix64
(Steele, Lea & Flood, OOPSLA 2014, doi:10.1145/2660193.2660195). Each spawn takes one 64-bit number: its upper
half chooses the cell, its lower half the tile. numba can compile `next_random` and `pick` as they are.
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
    """Return the next state of the generator and the number drawn, 64 bits each."""
    state = (state + 0x9E3779B97F4A7C15) & _MASK
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return state, z ^ (z >> 31)


def pick(number: Any, empties: Any) -> Any:
    """Return the spawn that a random number selects.

    Args:
        number: 64 bits from `next_random`.
        empties: number of empty cells, at least 1 (in kernels a uint64).

    Returns:
        The number of the empty cell, counted row by row from 0; and the exponent, 1 or 2.
    """
    which = ((number >> 32) * empties) >> 32
    exponent = 2 if (number & 0xFFFFFFFF) < _FOUR_BELOW else 1
    return which, exponent


def game_state(seed: int, game: int = 0) -> int:
    """Return the generator's first state for one game of a run.

    The games of a run do not depend on each other, so any worker can play any of them.

    Args:
        seed: of the run, 0 to 2**64 − 1.
        game: number of the game, from 0.

    Raises:
        RulesError: the seed or the game number is out of range.
    """
    if not 0 <= seed <= _MASK:
        raise RulesError(f"seed {seed} is out of range; expected 0 to 2**64 - 1")
    if game < 0:
        raise RulesError(f"game number {game} is negative; expected 0 or more")
    _, a = next_random(seed)
    state: int
    _, state = next_random(a ^ (game & _MASK))
    return state


class Spawner:
    """Draws the spawns of one game.

    Args:
        seed: of the run, 0 to 2**64 − 1.
        game: number of the game in the run, from 0.

    Attributes:
        state: 64-bit state of the generator. Nothing else decides the next spawn.
    """

    def __init__(self, seed: int, game: int = 0) -> None:
        self.state = game_state(seed, game)

    def spawn(self, board: Board) -> Board:
        """Return the board with one more tile.

        Raises:
            RulesError: no cell is empty.
        """
        empty = board.empty_cells()
        if not empty:
            raise RulesError(f"board {board.text()!r} is full; expected an empty cell for a spawn")
        self.state, number = next_random(self.state)
        which, exponent = pick(number, len(empty))
        return board.with_tile(empty[which], exponent)

    def start(self, rows: int = 4, columns: int = 4) -> Board:
        """Return a first board of that size: two tiles."""
        return self.spawn(self.spawn(Board(rows, columns)))


def chance_outcomes(board: Board) -> list[tuple[float, Board]]:
    """Return every board that one spawn can make, with its probability; empty for a full board."""
    empty = board.empty_cells()
    return [
        (probability / len(empty), board.with_tile(cell, exponent))
        for cell in empty
        for exponent, probability in ((1, P_TWO), (2, P_FOUR))
    ]
