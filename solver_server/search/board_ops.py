"""What the search asks of a board, for both kinds: uint64 nibbles (4×4) and uint8 grids (any size).

Boards live in arrays ``uint64 [n]`` or ``uint8 [n, rows, columns]``; an entry is a number or a view. The
functions dispatch on that type when a kernel is compiled (`game2048.kernels.jit.dispatched`), so one search
serves both. Learning and greedy play have boards in words: `game2048.kernels.word_ops`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from game2048.kernels import bitboard, grid
from game2048.kernels.jit import dispatched, kernel
from game2048.kernels.words import U0, U15


def make_boards(count: int, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Make an array of boards: uint64 for the empty shape, else grids of the shape (rows, columns)."""
    return np.zeros((count, *shape), dtype=np.uint8 if shape else np.uint64)


def is_grid(board: Any) -> bool:
    """Tell whether a numba type is that of a grid, or of an array of grids."""
    return isinstance(board, types.Array) and board.dtype == types.uint8


@kernel
def _slide_bitboard(
    boards: Any, index: int, direction: int, afters: Any, level: int, rows: bitboard.RowTables
) -> Any:
    after, reward = bitboard.slide(boards[index], direction, rows)
    afters[level] = after
    return reward, after != boards[index]


@kernel
def _slide_grid(
    boards: Any, index: int, direction: int, afters: Any, level: int, rows: bitboard.RowTables
) -> Any:
    reward = grid.slide_into(boards[index], direction, afters[level])
    return max(reward, 0), reward >= 0


@kernel
def _put_bitboard(boards: Any, index: int, cell: int, exponent: int, states: Any, level: int) -> None:
    states[level] = boards[index] | (np.uint64(exponent) << np.uint64(4 * cell))


@kernel
def _put_grid(boards: Any, index: int, cell: int, exponent: int, states: Any, level: int) -> None:
    state = states[level]
    grid.copy_into(boards[index], state)
    columns = state.shape[1]
    state[cell // columns, cell % columns] = exponent


@kernel
def _is_empty_bitboard(board: np.uint64, cell: int) -> bool:
    return bool((board >> np.uint64(4 * cell)) & U15 == U0)


@kernel
def _is_empty_grid(board: grid.Grid, cell: int) -> bool:
    columns = board.shape[1]
    return bool(board[cell // columns, cell % columns] == 0)


@kernel
def _count_cells_bitboard(board: np.uint64) -> int:
    return 16


@kernel
def _count_cells_grid(board: grid.Grid) -> int:
    return int(board.size)


@kernel
def _key_of_bitboard(board: np.uint64) -> np.uint64:
    return board


@kernel
def _key_of_grid(board: grid.Grid) -> np.uint64:
    # FNV-1a over the cells; the table mixes it once more.
    key = np.uint64(0xCBF29CE484222325)
    rows, columns = board.shape
    for r in range(rows):
        for c in range(columns):
            key = (key ^ np.uint64(board[r, c])) * np.uint64(0x100000001B3)
    return key


@dispatched("boards", {np.uint64: _slide_bitboard, np.uint8: _slide_grid})
def slide_at(boards: Any, index: int, direction: int, afters: Any, level: int, rows: Any) -> Any:
    """Write the afterstate of ``boards[index]`` to ``afters[level]``.

    Args:
        boards: the boards.
        index: which of them slides.
        direction: index of the direction.
        afters: boards; one is overwritten.
        level: which of them.
        rows: row tables (`bitboard.RowTables`); grids do not read them.

    Returns:
        The merge reward, and whether the board moved.
    """
    raise NotImplementedError


@dispatched("boards", {np.uint64: _put_bitboard, np.uint8: _put_grid})
def put_tile(boards: Any, index: int, cell: int, exponent: int, states: Any, level: int) -> None:
    """Write ``boards[index]`` with a tile put into an empty cell to ``states[level]``."""
    raise NotImplementedError


@dispatched("board", {np.uint64: _is_empty_bitboard, np.uint8: _is_empty_grid})
def is_cell_empty(board: Any, cell: int) -> Any:
    """Tell whether a cell is empty."""
    raise NotImplementedError


@dispatched("board", {np.uint64: _count_cells_bitboard, np.uint8: _count_cells_grid})
def count_cells(board: Any) -> Any:
    """Count the cells of a board: rows times columns."""
    raise NotImplementedError


@dispatched("board", {np.uint64: _key_of_bitboard, np.uint8: _key_of_grid})
def key_of(board: Any) -> Any:
    """Make a uint64 that stands for the board in a transposition table."""
    raise NotImplementedError
