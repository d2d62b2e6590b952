"""The value of a 4×4 afterstate: a sum of table entries, as kernels.

A tuple's index has the order ``halves`` (`weight_order`). It is gathered (`pext`) under the tuple's mask from
a board whose lower and upper halves of nibbles lie apart (`halves`). The eight images of a tuple are the
eight images of the board under one mask.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.kernels.bitboard import transpose
from game2048.kernels.intrinsics import cpu_has_pext, pext, prefetch_item
from game2048.kernels.jit import inlined_kernel, kernel
from game2048.kernels.one_word_board import has_high_ranks, lower_bitboard
from game2048.kernels.words import U0, U1, U2, U4, U8, U16, U32, Words

_EVEN = np.uint64(0x0F0F0F0F0F0F0F0F)
_LOWER = np.uint64(0x3333333333333333)
_ONE_EACH = 0x0101010101010101
_CARRIES = np.uint64(0x1010101010101010)

Weights = npt.NDArray[np.float32] | npt.NDArray[np.int16]


class OneWordTables(NamedTuple):
    """A 4×4 network, as kernels take it.

    Attributes:
        weights: float32 or int16 [entries], all tables, one behind the other, in the order ``halves``.
        masks: uint64 [tables], `weight_order.halves_mask` of each table that serves all eight images.
        offsets: uint64 [tables], index of the first weight of each of these tables.
        single_masks: uint64 [singles], the same of each image that is read on its own (of tuples with fewer
            than eight images).
        single_offsets: uint64 [singles], index of the first weight of its table.
        single_images: int64 [singles], number of the image of the board to read (`patterns.distinct_images`).
        scale: factor of the sum of the weights, in points.
        ranks: exponents must be below this, 15 or 16; boards with larger ones are downgraded first.
        stages: uint64 [stages - 1], for each stage after the first: a number that, added to a board, makes
            the exponents that the stage begins with carry out of their nibbles.
        stage_entries: number of weights of one stage.
    """

    weights: Weights
    masks: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.uint64]
    single_masks: npt.NDArray[np.uint64]
    single_offsets: npt.NDArray[np.uint64]
    single_images: npt.NDArray[np.int64]
    scale: np.float32
    ranks: int
    stages: npt.NDArray[np.uint64]
    stage_entries: np.uint64


def stage_lift(stage: int) -> int:
    """Make the number of `OneWordTables.stages` for the stage that begins with an exponent."""
    return (16 - stage) * _ONE_EACH


@kernel
def halves_portable(board: np.uint64) -> np.uint64:
    """Move the lower halves of all nibbles into the lower 32 bits, the upper halves into the others."""
    swapped = (board ^ (board >> U2)) & np.uint64(0x0C0C0C0C0C0C0C0C)
    board ^= swapped ^ (swapped << U2)
    swapped = (board ^ (board >> U4)) & np.uint64(0x00F000F000F000F0)
    board ^= swapped ^ (swapped << U4)
    swapped = (board ^ (board >> U8)) & np.uint64(0x0000FF000000FF00)
    board ^= swapped ^ (swapped << U8)
    swapped = (board ^ (board >> U16)) & np.uint64(0x00000000FFFF0000)
    return np.uint64(board ^ swapped ^ (swapped << U16))


if cpu_has_pext():

    @kernel
    def halves(board: np.uint64) -> Any:
        """Move the lower halves of all nibbles into the lower 32 bits, the upper halves into the others."""
        return pext(board, _LOWER) | (pext(board, ~_LOWER) << U32)

else:
    halves = halves_portable


@kernel
def _mirrored(pairs: np.uint64) -> np.uint64:
    """Swap left and right in both halves of a board."""
    pairs = ((pairs & _LOWER) << U2) | ((pairs >> U2) & _LOWER)
    return ((pairs & _EVEN) << U4) | ((pairs >> U4) & _EVEN)


@kernel
def _flipped(pairs: np.uint64) -> np.uint64:
    """Swap top and bottom in both halves of a board."""
    even = np.uint64(0x00FF00FF00FF00FF)
    pairs = ((pairs & even) << U8) | ((pairs >> U8) & even)
    even = np.uint64(0x0000FFFF0000FFFF)
    return ((pairs & even) << U16) | ((pairs >> U16) & even)


@inlined_kernel
def board_images(board: np.uint64) -> Any:
    """Make the halves of the eight images of a 4×4 board, in the order of `patterns.distinct_images`.

    Each is turned by half a circle, so that the last cell is the lowest.
    """
    a = halves(board)
    m = _mirrored(a)
    t = halves(transpose(board))
    u = _mirrored(t)
    return _flipped(m), _flipped(a), m, a, _flipped(u), _flipped(t), u, t


@inlined_kernel
def stage_offset(board: np.uint64, tables: OneWordTables) -> Any:
    """Find where the tables of a board's stage start: an offset from those of the first stage."""
    offset = U0
    for i in range(tables.stages.size):
        lift = tables.stages[i]
        if (((board & _EVEN) + lift) | (((board >> U4) & _EVEN) + lift)) & _CARRIES:
            offset += tables.stage_entries
    return offset


@inlined_kernel
def value_of_bitboard(board: np.uint64, tables: OneWordTables) -> Any:
    """Compute the value of a 4×4 afterstate, in score points."""
    if tables.ranks < 16 and has_high_ranks(board, tables.ranks):
        board = lower_bitboard(board, U0, tables.ranks)
    stage = stage_offset(board, tables)
    views = board_images(board)
    a, b, c, d, e, f, g, h = views
    w = tables.weights
    total = np.float32(0)
    for i in range(tables.masks.size):
        k = tables.masks[i]
        o = tables.offsets[i] + stage
        total += np.float32(
            ((w[o + pext(a, k)] + w[o + pext(b, k)]) + (w[o + pext(c, k)] + w[o + pext(d, k)]))
            + ((w[o + pext(e, k)] + w[o + pext(f, k)]) + (w[o + pext(g, k)] + w[o + pext(h, k)]))
        )
    for i in range(tables.single_masks.size):
        view = views[tables.single_images[i]]
        total += np.float32(w[tables.single_offsets[i] + stage + pext(view, tables.single_masks[i])])
    return total * tables.scale


@inlined_kernel
def prefetch_one_word(words: Words, tables: OneWordTables) -> None:
    """Ask for the cache lines that the value will be read from."""
    board = words.low
    stage = stage_offset(board, tables)
    views = board_images(board)
    for i in range(tables.masks.size):
        k = tables.masks[i]
        o = tables.offsets[i] + stage
        for view in views:
            prefetch_item(tables.weights, o + pext(view, k))


@inlined_kernel
def list_entries_one_word(words: Words, tables: OneWordTables, entries: Any) -> None:
    """Write the indices of all active weights; see `network_ops.list_entries`."""
    board = words.low
    stage = stage_offset(board, tables)
    views = board_images(board)
    j = U0
    for i in range(tables.masks.size):
        k = tables.masks[i]
        o = tables.offsets[i] + stage
        for view in views:
            entries[j] = o + pext(view, k)
            j += U1
    for i in range(tables.single_masks.size):
        view = views[tables.single_images[i]]
        entries[j] = tables.single_offsets[i] + stage + pext(view, tables.single_masks[i])
        j += U1


@inlined_kernel
def value_one_word(words: Words, tables: OneWordTables) -> Any:
    """Compute the value of an afterstate; see `network_ops.value_of_words`."""
    return value_of_bitboard(words.low, tables)
