"""What the rules say of every ply of a game in arrays: legal directions, reward, afterstate, spawn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.kernels.grid import slide_into
from game2048.kernels.jit import kernel

Cells = npt.NDArray[np.uint8]


class PlyFacts(NamedTuple):
    """What follows from the boards and the directions of n plies.

    Attributes:
        legal: uint8 [n], bit i set when direction i (up, right, down, left) changes the board.
        reward: int64 [n], the merge reward; −1 where the direction changes nothing.
        after: uint8 [n, rows, columns], the afterstates.
        spawn_cell: int8 [n], the cell that the next board has a tile more in; −1 where the next board is not
            the afterstate with one spawned 2 or 4.
        spawn_exponent: uint8 [n], that tile, 1 or 2; 0 where there is none.
    """

    legal: npt.NDArray[np.uint8]
    reward: npt.NDArray[np.int64]
    after: Cells
    spawn_cell: npt.NDArray[np.int8]
    spawn_exponent: npt.NDArray[np.uint8]


@kernel
def _find_spawn(after: Any, board: Any) -> Any:
    """The cell and the exponent of the one spawn that makes ``board`` of ``after``; −1 and 0 if none does."""
    rows, columns = after.shape
    cell = -1
    for r in range(rows):
        for c in range(columns):
            if board[r, c] != after[r, c]:
                if cell >= 0 or after[r, c] != 0 or board[r, c] > 2:
                    return -1, 0
                cell = r * columns + c
    if cell < 0:
        return -1, 0
    return cell, np.int64(board[cell // columns, cell % columns])


@kernel
def legal_mask(board: Any) -> int:
    """The legal directions as bits, by neighbours: a tile moves into an empty cell or onto its equal."""
    rows, columns = board.shape
    legal = 0
    for r in range(rows):
        for c in range(columns):
            here = board[r, c]
            if c + 1 < columns:
                right = board[r, c + 1]
                if here != right:
                    legal |= 2 if right == 0 else 8 if here == 0 else 0
                elif here != 0:
                    legal |= 10
            if r + 1 < rows:
                below = board[r + 1, c]
                if here != below:
                    legal |= 4 if below == 0 else 1 if here == 0 else 0
                elif here != 0:
                    legal |= 5
    return legal


@kernel
def _find_facts(cells: Any, directions: Any, facts: PlyFacts) -> None:
    for ply in range(directions.size):
        facts.legal[ply] = legal_mask(cells[ply])
        facts.reward[ply] = slide_into(cells[ply], directions[ply], facts.after[ply])
        cell, exponent = _find_spawn(facts.after[ply], cells[ply + 1])
        facts.spawn_cell[ply] = cell
        facts.spawn_exponent[ply] = exponent


def find_facts(cells: Cells, directions: npt.NDArray[np.uint8]) -> PlyFacts:
    """What the rules say of the plies of one game.

    Args:
        cells: uint8 [n + 1, rows, columns], the exponents before each move and after the last one.
        directions: uint8 [n], indices of directions.
    """
    plies = directions.size
    # Whatever the arrays are views of, the kernel is compiled for one kind only.
    cells, directions = (np.require(array, np.uint8, ["C", "W"]) for array in (cells, directions))
    facts = PlyFacts(
        np.empty(plies, dtype=np.uint8),
        np.empty(plies, dtype=np.int64),
        np.empty((plies, *cells.shape[1:]), dtype=np.uint8),
        np.empty(plies, dtype=np.int8),
        np.empty(plies, dtype=np.uint8),
    )
    _find_facts(cells, directions, facts)
    return facts
