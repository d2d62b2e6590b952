"""The value of an afterstate on a board in two words (`game2048.kernels.two_word_board`), as kernels.

The tables are those of `one_word_network`, but the cells of a tuple may lie in both words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.kernels.intrinsics import pext
from game2048.kernels.jit import inlined_kernel, kernel
from game2048.kernels.two_word_board import (
    Geometry,
    flip_words,
    is_high_two_words,
    lower_two_words,
    mirror_word,
    pack_two_words,
    transpose_words,
)
from game2048.kernels.words import U0, U1, U8, Words
from solver_server.ntuple.one_word_network import Weights


class TwoWordTables(NamedTuple):
    """A network for a board of any other size, as kernels take it; `OneWordTables` says more.

    Attributes:
        weights: float32 or int16 [entries], all tables, one behind the other.
        masks: uint64 [tables, 2], cells of each table in the low word and in the high word.
        shifts: uint64 [tables], how far left the bits gathered from the high word go.
        offsets: uint64 [tables], index of the first weight of each table.
        single_masks: uint64 [singles, 2], the same of images that are read on their own.
        single_shifts: uint64 [singles], as ``shifts``.
        single_offsets: uint64 [singles], as ``offsets``.
        single_images: int64 [singles], number of the image of the board to read.
        scale: factor of the sum of the weights, in points.
        ranks: exponents must be below this, 15 or 16.
        geometry: shape of the board.
    """

    weights: Weights
    masks: npt.NDArray[np.uint64]
    shifts: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.uint64]
    single_masks: npt.NDArray[np.uint64]
    single_shifts: npt.NDArray[np.uint64]
    single_offsets: npt.NDArray[np.uint64]
    single_images: npt.NDArray[np.int64]
    scale: np.float32
    ranks: int
    geometry: Geometry


@inlined_kernel
def images_of_words(words: Words, geometry: Geometry) -> Any:
    """Make the eight images of a square board, in the order of `patterns.distinct_images`.

    Of another board the first four are images; the others mean nothing and are not read.

    Returns:
        The low words of the images, and the high words.
    """
    low, high = words.low, words.high
    g = geometry
    low1, high1 = mirror_word(low, g), mirror_word(high, g)
    low2, high2 = flip_words(low, high, g)
    low3, high3 = mirror_word(low2, g), mirror_word(high2, g)
    low4, high4 = transpose_words(low, high, g.turn)
    low5, high5 = mirror_word(low4, g), mirror_word(high4, g)
    low6, high6 = flip_words(low4, high4, g)
    low7, high7 = mirror_word(low6, g), mirror_word(high6, g)
    return (
        (low, low1, low2, low3, low4, low5, low6, low7),
        (high, high1, high2, high3, high4, high5, high6, high7),
    )


@inlined_kernel
def list_entries_two_words(words: Words, tables: TwoWordTables, entries: Any) -> None:
    """Write the indices of all active weights; see `network_ops.list_entries`."""
    lows, highs = images_of_words(words, tables.geometry)
    j = U0
    for i in range(tables.offsets.size):
        o = tables.offsets[i]
        k = tables.masks[i, 0]
        above = tables.masks[i, 1]
        for view in range(8):
            entries[j] = o + pext(lows[view], k)
            j += U1
        if above:
            j -= U8
            for view in range(8):
                entries[j] += pext(highs[view], above) << tables.shifts[i]
                j += U1
    for i in range(tables.single_offsets.size):
        view = tables.single_images[i]
        entries[j] = tables.single_offsets[i] + (
            pext(lows[view], tables.single_masks[i, 0])
            | (pext(highs[view], tables.single_masks[i, 1]) << tables.single_shifts[i])
        )
        j += U1


@inlined_kernel
def _sum_both(lows: Any, highs: Any, tables: TwoWordTables, i: int) -> Any:
    """Sum up all images of a tuple with cells in both words."""
    o = tables.offsets[i]
    k = tables.masks[i, 0]
    m = tables.masks[i, 1]
    s = tables.shifts[i]
    w = tables.weights
    a, b, c, d, e, f, g, h = lows
    p, q, r, t, u, v, x, y = highs
    return (
        (w[o + pext(a, k) + (pext(p, m) << s)] + w[o + pext(b, k) + (pext(q, m) << s)])
        + (w[o + pext(c, k) + (pext(r, m) << s)] + w[o + pext(d, k) + (pext(t, m) << s)])
    ) + (
        (w[o + pext(e, k) + (pext(u, m) << s)] + w[o + pext(f, k) + (pext(v, m) << s)])
        + (w[o + pext(g, k) + (pext(x, m) << s)] + w[o + pext(h, k) + (pext(y, m) << s)])
    )


@inlined_kernel
def value_two_words(words: Words, tables: TwoWordTables) -> Any:
    """Compute the value of an afterstate; see `network_ops.value_of_words`."""
    lows, highs = images_of_words(words, tables.geometry)
    a, b, c, d, e, f, g, h = lows
    w = tables.weights
    total = np.float32(0)
    for i in range(tables.offsets.size):
        o = tables.offsets[i]
        k = tables.masks[i, 0]
        if tables.masks[i, 1]:
            total += np.float32(_sum_both(lows, highs, tables, i))
        else:
            total += np.float32(
                ((w[o + pext(a, k)] + w[o + pext(b, k)]) + (w[o + pext(c, k)] + w[o + pext(d, k)]))
                + ((w[o + pext(e, k)] + w[o + pext(f, k)]) + (w[o + pext(g, k)] + w[o + pext(h, k)]))
            )
    for i in range(tables.single_offsets.size):
        view = tables.single_images[i]
        total += np.float32(
            w[
                tables.single_offsets[i]
                + (
                    pext(lows[view], tables.single_masks[i, 0])
                    | (pext(highs[view], tables.single_masks[i, 1]) << tables.single_shifts[i])
                )
            ]
        )
    return total * tables.scale


@kernel
def value_of_grid(cells: Any, tables: TwoWordTables) -> Any:
    """Compute the value of an afterstate of exponents up to 31, uint8 [rows, columns], in score points."""
    words = pack_two_words(cells, tables)
    if words.extra != U0 or is_high_two_words(words, tables.ranks, tables):
        words = lower_two_words(words, tables.ranks, tables)
    return value_two_words(words, tables)
