"""Slides of boards with locked tiles: one uint64, a nibble a cell, on boards of up to 16 cells.

A locked tile is a nibble 15. Two of them do not merge, like two tiles of 32768 in
`game2048.kernels.bitboard`.
"""

from __future__ import annotations

import numpy as np

from game2048.kernels.bitboard import RowTables, slid_rows, transpose
from game2048.kernels.jit import kernel

_U0, _U1, _U15 = np.uint64(0), np.uint64(1), np.uint64(15)
LOCKED_RANK = 15


@kernel
def slide_locked(board: np.uint64, direction: int, height: int, width: int, rows: RowTables) -> np.uint64:
    """Return the board after a slide (0 up, 1 right, 2 down, 3 left)."""
    if height != 4 or width != 4:
        return _slide_any(board, direction, height, width)
    if direction == 3:
        return slid_rows(board, rows.left)
    if direction == 1:
        return slid_rows(board, rows.right)
    if direction == 0:
        return transpose(slid_rows(transpose(board), rows.left))
    return transpose(slid_rows(transpose(board), rows.right))


@kernel
def _slide_any(board: np.uint64, direction: int, height: int, width: int) -> np.uint64:
    vertical = direction % 2 == 0
    lines, length = (width, height) if vertical else (height, width)
    step = width if vertical else 1
    backwards = direction == 1 or direction == 2
    after = _U0
    for line in range(lines):
        first = line if vertical else line * width
        if backwards:
            first += (length - 1) * step
        towards = -step if backwards else step
        filled = 0
        waiting = _U0
        for i in range(length):
            rank = (board >> np.uint64(4 * (first + i * towards))) & _U15
            if rank == _U0:
                continue
            if rank == waiting and rank != _U15:
                after += _U1 << np.uint64(4 * (first + (filled - 1) * towards))
                waiting = _U0
            else:
                after |= rank << np.uint64(4 * (first + filled * towards))
                filled += 1
                waiting = rank
    return after
