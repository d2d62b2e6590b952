"""4×4 boards in words: all four slides at once, and what happens past 32768.

A 4×4 board is one uint64 (`game2048.kernels.bitboard`), so the functions here read and write ``Words.low``
and leave ``Words.high`` at 0. `game2048.kernels.word_ops` chooses between them and `two_word_board`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.kernels.bitboard import ROW_MASK, lowered, make_row_tables, ranks_left_out, spawn, transpose
from game2048.kernels.jit import inlined_kernel, kernel
from game2048.kernels.words import LOWEST_BITS, U0, U1, U2, U4, U15, U16, U32, U48, Words

PackedRows = npt.NDArray[np.uint64]

_SECOND = np.uint64(0xFFFF0000)


class OneWordRules(NamedTuple):
    """The slides of a 4×4 board, as kernels take them.

    Attributes:
        along: uint64 [65536], for each row: the row slid left in bits 0–15, slid right in bits 16–31, the
            reward in bits 32 and up.
    """

    along: PackedRows


def make_one_word_rules() -> OneWordRules:
    """Make the slides of a 4×4 board."""
    tables = make_row_tables()
    return OneWordRules(
        tables.left.astype(np.uint64)
        | (tables.right.astype(np.uint64) << U16)
        | (tables.reward.astype(np.uint64) << U32)
    )


@inlined_kernel
def _slide_left_and_right(board: np.uint64, rows: PackedRows) -> Any:
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
def slide_one_word(words: Words, rules: OneWordRules, after: Any, reward: Any) -> None:
    """Write the afterstates and rewards of all directions; see `word_ops.slide_words`."""
    left, right, gained = _slide_left_and_right(words.low, rules.along)
    after[3, 0] = left
    after[1, 0] = right
    reward[3] = gained
    reward[1] = gained
    left, right, gained = _slide_left_and_right(transpose(words.low), rules.along)
    after[0, 0] = transpose(left)
    after[2, 0] = transpose(right)
    reward[0] = gained
    reward[2] = gained


@inlined_kernel
def spawn_one_word(words: Words, state: np.uint64, rules: OneWordRules) -> Any:
    """Draw a spawn; see `word_ops.spawn_words`."""
    low, state = spawn(words.low, state)
    return Words(low, U0, U0), state


@kernel
def _exponent(words: Words, cell: int) -> np.uint64:
    return (words.low >> np.uint64(4 * cell)) & U15 | (((words.extra >> np.uint64(cell)) & U1) << U4)


@kernel
def pack_one_word(cells: Any, rules: OneWordRules) -> Words:
    """Make words of uint8 [4, 4]; see `word_ops.pack_words`."""
    low = U0
    extra = U0
    for i in range(16):
        exponent = np.uint64(cells[i >> 2, i & 3])
        low |= (exponent & U15) << np.uint64(4 * i)
        extra |= (exponent >> U4) << np.uint64(i)
    return Words(low, U0, extra)


@kernel
def unpack_one_word(words: Words, cells: Any, rules: OneWordRules) -> None:
    """Write uint8 [4, 4]; see `word_ops.unpack_words`."""
    for i in range(16):
        cells[i >> 2, i & 3] = _exponent(words, i)


@kernel
def lower_bitboard(board: np.uint64, extra: np.uint64, ranks: int) -> np.uint64:
    """Downgrade a 4×4 board so that tables of ``ranks`` can read it.

    Args:
        board: a nibble for each cell.
        extra: see `Words`.
        ranks: exponents must be below this, 15 or 16.
    """
    words = Words(board, U0, extra)
    present = U0
    for i in range(16):
        present |= U1 << _exponent(words, i)
    left_out = ranks_left_out(present, ranks)
    seen = U0
    for i in range(16):
        seen |= lowered(_exponent(words, i), left_out, ranks) << np.uint64(4 * i)
    return seen


@kernel
def lower_one_word(words: Words, ranks: int, rules: OneWordRules) -> Words:
    """Downgrade a board; see `word_ops.lower_words`."""
    return Words(lower_bitboard(words.low, words.extra, ranks), U0, U0)


@kernel
def has_high_ranks(board: np.uint64, ranks: int) -> Any:
    """Tell whether tables of ``ranks`` (15 or 16) cannot read a 4×4 board as it is."""
    full = board & (board >> U1)
    full &= (full >> U2) & LOWEST_BITS
    if ranks < 16:
        return full != U0
    return (full & (full - U1)) != U0


@kernel
def is_high_one_word(words: Words, ranks: int, rules: OneWordRules) -> Any:
    """Tell whether a board must be lowered; see `word_ops.is_high`."""
    return has_high_ranks(words.low, ranks)
