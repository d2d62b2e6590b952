"""A board of up to 5×5 cells as three numbers, and the constants that kernels compute with.

Everything is uint64: mixing it with int64 would silently make float64.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from game2048.kernels.jit import inlined_kernel

U0, U1, U2, U3, U4, U8, U10, U12, U15, U16, U20, U24, U29, U32, U40, U48 = (
    np.uint64(n) for n in (0, 1, 2, 3, 4, 8, 10, 12, 15, 16, 20, 24, 29, 32, 40, 48)
)
LOWEST_BITS = np.uint64(0x1111111111111111)
"""The lowest bit of every nibble."""


class Words(NamedTuple):
    """A board as kernels pass it on: a nibble for each cell, row by row.

    Attributes:
        low: uint64, the first ``16 // columns`` rows; a whole 4×4 board.
        high: uint64, the other rows; 0 on 4×4.
        extra: uint64, bit i is set when the exponent of cell i is 16 or more (its nibble is then 16 less).
            A board with extra bits is *wide*: most kernels take only boards that are not.
    """

    low: np.uint64
    high: np.uint64
    extra: np.uint64


EMPTY = Words(U0, U0, U0)
"""A board without tiles, of any size."""


def as_words(numbers: Iterable[Any]) -> Words:
    """Make a board of three numbers that a kernel returned as Python ints."""
    low, high, extra = (np.uint64(number) for number in numbers)
    return Words(low, high, extra)


@inlined_kernel
def read_words(rows: Any, index: int) -> Words:
    """Read a board out of uint64 [n, 3]."""
    return Words(rows[index, 0], rows[index, 1], rows[index, 2])


@inlined_kernel
def write_words(words: Words, rows: Any, index: int) -> None:
    """Write a board into uint64 [n, 3]."""
    rows[index, 0] = words.low
    rows[index, 1] = words.high
    rows[index, 2] = words.extra


@inlined_kernel
def read_after(after: Any, direction: int) -> Words:
    """Read an afterstate out of uint64 [4, 2]; it has no extra bits."""
    return Words(after[direction, 0], after[direction, 1], U0)


@inlined_kernel
def is_move(words: Words, after: Any, direction: int) -> bool:
    """Tell whether a direction is legal: whether its afterstate in uint64 [4, 2] differs from the board."""
    return bool(after[direction, 0] != words.low or after[direction, 1] != words.high)
