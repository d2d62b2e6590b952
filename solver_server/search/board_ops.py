"""What the search asks of a board, for both kinds of board: uint64 nibbles (4×4) and uint8 grids (any size).

Each function dispatches on the type of its board when a kernel is compiled, so that one search serves both
at no cost at run time. Boards live in arrays ``uint64 [n]`` or ``uint8 [n, rows, columns]``, of which an
entry is a number or a view.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from game2048.kernels import bitboard, grid
from game2048.kernels.jit import kernel, overload


def make_boards(count: int, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """An array of boards: of uint64 for the empty shape, else of grids of a shape (rows, columns)."""
    return np.zeros((count, *shape), dtype=np.uint8 if shape else np.uint64)


def slide(boards: Any, index: int, direction: int, afters: Any, level: int, rows: bitboard.RowTables) -> Any:
    """Write the afterstate of ``boards[index]`` to ``afters[level]``; the merge reward, and if it moved."""
    raise NotImplementedError("kernels only")


def put(boards: Any, index: int, cell: int, exponent: int, states: Any, level: int) -> None:
    """Write ``boards[index]`` with a tile put into an empty cell into ``states[level]``."""
    raise NotImplementedError("kernels only")


def is_empty(board: Any, cell: int) -> Any:
    """Whether a cell is empty."""
    raise NotImplementedError("kernels only")


def count_cells(board: Any) -> Any:
    """Rows times columns."""
    raise NotImplementedError("kernels only")


def key_of(board: Any) -> Any:
    """A uint64 that stands for the board in a transposition table."""
    raise NotImplementedError("kernels only")


def is_grid(board: Any) -> bool:
    """Whether a numba type is that of a grid, or of an array of grids."""
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
    return bool((board >> np.uint64(4 * cell)) & np.uint64(15) == np.uint64(0))


@kernel
def _is_empty_grid(board: grid.Grid, cell: int) -> bool:
    columns = board.shape[1]
    return bool(board[cell // columns, cell % columns] == 0)


@kernel
def _key_of_grid(board: grid.Grid) -> np.uint64:
    # FNV-1a over the cells; the table mixes it once more.
    key = np.uint64(0xCBF29CE484222325)
    rows, columns = board.shape
    for r in range(rows):
        for c in range(columns):
            key = (key ^ np.uint64(board[r, c])) * np.uint64(0x100000001B3)
    return key


@overload(slide)
def _(boards: Any, index: Any, direction: Any, afters: Any, level: Any, rows: Any) -> Any:
    if is_grid(boards):
        return lambda boards, index, direction, afters, level, rows: _slide_grid(
            boards, index, direction, afters, level, rows
        )
    return lambda boards, index, direction, afters, level, rows: _slide_bitboard(
        boards, index, direction, afters, level, rows
    )


@overload(put)
def _(boards: Any, index: Any, cell: Any, exponent: Any, states: Any, level: Any) -> Any:
    if is_grid(boards):
        return lambda boards, index, cell, exponent, states, level: _put_grid(
            boards, index, cell, exponent, states, level
        )
    return lambda boards, index, cell, exponent, states, level: _put_bitboard(
        boards, index, cell, exponent, states, level
    )


@overload(is_empty)
def _(board: Any, cell: Any) -> Any:
    if is_grid(board):
        return lambda board, cell: _is_empty_grid(board, cell)
    return lambda board, cell: _is_empty_bitboard(board, cell)


@overload(count_cells)
def _(board: Any) -> Any:
    if is_grid(board):
        return lambda board: board.size
    return lambda board: 16


@overload(key_of)
def _(board: Any) -> Any:
    if is_grid(board):
        return lambda board: _key_of_grid(board)
    return lambda board: board
