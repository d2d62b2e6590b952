"""All four slides of a 4×4 board at once, and boards beyond the nibbles."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.kernels.bitboard import (
    ROW_MASK,
    U0,
    U1,
    U2,
    U4,
    U16,
    U32,
    U48,
    lowered,
    make_row_tables,
    ranks_left_out,
    transpose,
)
from game2048.kernels.jit import inlined_kernel, kernel

PackedRows = npt.NDArray[np.uint64]


class BoardRules(NamedTuple):
    """What a move makes of a 4×4 board.

    Attributes:
        along: uint64 [65536], each row slid left, slid right, and the reward, in bits 0–15, 16–31 and 32 up.
    """

    along: PackedRows


_LAST = np.uint64(15)
_SECOND = np.uint64(0xFFFF0000)
_NIBBLES = np.uint64(0x1111111111111111)


def make_board_rules() -> BoardRules:
    """The rules of a 4×4 board."""
    tables = make_row_tables()
    return BoardRules(
        tables.left.astype(np.uint64)
        | (tables.right.astype(np.uint64) << U16)
        | (tables.reward.astype(np.uint64) << U32)
    )


@inlined_kernel
def _slide_both(board: np.uint64, rows: PackedRows) -> Any:
    a = rows[board & ROW_MASK]
    b = rows[(board >> U16) & ROW_MASK]
    c = rows[(board >> U32) & ROW_MASK]
    d = rows[board >> U48]
    left = (a & ROW_MASK) | ((b & ROW_MASK) << U16) | ((c & ROW_MASK) << U32) | (d << U48)
    right = (
        ((a >> U16) & ROW_MASK)
        | (b & _SECOND)
        | (((c >> U16) & ROW_MASK) << U32)
        | (((d >> U16) & ROW_MASK) << U48)
    )
    return left, right, np.int64((a >> U32) + (b >> U32) + (c >> U32) + (d >> U32))


@inlined_kernel
def slide_all(board: np.uint64, rules: BoardRules, after: Any, reward: Any) -> None:
    """Write the afterstates and rewards of all directions; an afterstate equal to the board is illegal.

    Args:
        board: with at most one 32768.
        rules: from `make_board_rules`.
        after: uint64 [4, n], of which the first column is overwritten, in the order up, right, down, left.
        reward: int64 [4], overwritten.
    """
    left, right, gained = _slide_both(board, rules.along)
    after[3, 0] = left
    after[1, 0] = right
    reward[3] = gained
    reward[1] = gained
    left, right, gained = _slide_both(transpose(board), rules.along)
    after[0, 0] = transpose(left)
    after[2, 0] = transpose(right)
    reward[0] = gained
    reward[2] = gained


@kernel
def split(cells: Any) -> Any:
    """Exponents up to 31, uint8 [4, 4], as nibbles and the bits above them (bit i for cell i)."""
    low = U0
    extra = U0
    for i in range(16):
        exponent = np.uint64(cells[i >> 2, i & 3])
        low |= (exponent & _LAST) << np.uint64(4 * i)
        extra |= (exponent >> U4) << np.uint64(i)
    return low, extra


@kernel
def join(low: np.uint64, extra: np.uint64, cells: Any) -> None:
    """The inverse of `split`: write uint8 [4, 4]."""
    for i in range(16):
        exponent = (low >> np.uint64(4 * i)) & _LAST | (((extra >> np.uint64(i)) & U1) << U4)
        cells[i >> 2, i & 3] = exponent


@kernel
def seen_as(low: np.uint64, extra: np.uint64, ranks: int) -> np.uint64:
    """The board that tables of ``ranks`` see for the 4×4 board `split` into ``low`` and ``extra``."""
    present = U0
    for i in range(16):
        exponent = (low >> np.uint64(4 * i)) & _LAST | (((extra >> np.uint64(i)) & U1) << U4)
        present |= U1 << exponent
    left_out = ranks_left_out(present, ranks)
    seen = U0
    for i in range(16):
        exponent = (low >> np.uint64(4 * i)) & _LAST | (((extra >> np.uint64(i)) & U1) << U4)
        seen |= lowered(exponent, left_out, ranks) << np.uint64(4 * i)
    return seen


@kernel
def is_wide(board: np.uint64, ranks: int) -> Any:
    """Whether a board is beyond what `slide_all` and tables of ``ranks`` (15 or 16) take as it is."""
    full = board & (board >> U1)
    full &= (full >> U2) & _NIBBLES
    if ranks < 16:
        return full != U0
    return (full & (full - U1)) != U0
