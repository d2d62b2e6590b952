"""Boards of any size from 2×2 to 8×8 as uint8 arrays of exponents: kernels without tables or limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from game2048.board import Board
from game2048.kernels.jit import kernel
from game2048.kernels.rules import compiled_next_random, compiled_pick, compiled_slide_line

Grid = npt.NDArray[np.uint8]


@kernel
def copy_into(cells: Grid, target: Grid) -> None:
    """Copy a board; element by element, since slice assignment would allocate."""
    rows, columns = cells.shape
    for r in range(rows):
        for c in range(columns):
            target[r, c] = cells[r, c]


@kernel
def slide_into(cells: Grid, direction: int, after: Grid) -> int:
    """Write the afterstate of a direction (0 up, 1 right, 2 down, 3 left) into ``after``.

    Args:
        cells: uint8 [rows, columns], exponents.
        direction: index of the direction.
        after: uint8 [rows, columns], overwritten; not the same array as ``cells``.

    Returns:
        The merge reward, or −1 when nothing moves (then ``after`` equals ``cells``).
    """
    rows, columns = cells.shape
    copy_into(cells, after)
    reward = 0
    if direction == 0:
        for c in range(columns):
            reward += compiled_slide_line(after[:, c], rows)
    elif direction == 1:
        for r in range(rows):
            reward += compiled_slide_line(after[r, ::-1], columns)
    elif direction == 2:
        for c in range(columns):
            reward += compiled_slide_line(after[::-1, c], rows)
    else:
        for r in range(rows):
            reward += compiled_slide_line(after[r, :], columns)
    for r in range(rows):
        for c in range(columns):
            if after[r, c] != cells[r, c]:
                return reward
    return -1


@kernel
def count_empty_cells(cells: Grid) -> int:
    """How many cells are empty."""
    empties = 0
    for exponent in cells.flat:
        if exponent == 0:
            empties += 1
    return empties


@kernel
def is_grid_over(cells: Grid) -> bool:
    """Whether no direction changes a board with tiles: no empty cell and no equal neighbours."""
    rows, columns = cells.shape
    for r in range(rows):
        for c in range(columns):
            exponent = cells[r, c]
            if exponent == 0:
                return False
            if c + 1 < columns and cells[r, c + 1] == exponent:
                return False
            if r + 1 < rows and cells[r + 1, c] == exponent:
                return False
    return True


@kernel
def spawn_into(cells: Grid, state: np.uint64) -> np.uint64:
    """Put a drawn tile (`spawn.pick`) on a board with an empty cell, in place; the generator's next state."""
    state, number = compiled_next_random(state)
    which, exponent = compiled_pick(number, np.uint64(count_empty_cells(cells)))
    columns = cells.shape[1]
    seen = np.uint64(0)
    for i in range(cells.size):
        if cells[i // columns, i % columns] == 0:
            if seen == which:
                cells[i // columns, i % columns] = exponent
                break
            seen += np.uint64(1)
    return state


@kernel
def start_into(cells: Grid, state: np.uint64) -> np.uint64:
    """Make an array a first board with two tiles; the generator's next state."""
    cells[:, :] = 0
    return spawn_into(cells, spawn_into(cells, state))


def to_grid(board: Board) -> Grid:
    """A board as a fresh uint8 [rows, columns] array."""
    return np.frombuffer(board.cells, dtype=np.uint8).reshape(board.rows, board.columns).copy()


def from_grid(cells: Any) -> Board:
    """The inverse of `from_board`."""
    array = np.asarray(cells, dtype=np.uint8)
    return Board(array.shape[0], array.shape[1], array.tobytes())
