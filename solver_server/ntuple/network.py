"""The value of an afterstate: sums of table entries, as kernels.

A tuple's index has the exponent of its first cell in the lowest nibble. With cells in ascending order that
is just the board's bits under the tuple's mask, closed up (`pext`), and the eight images of a tuple are the
eight images of the board under one mask. 4×4 boards are one word, others two
(`game2048.kernels.two_word_board`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.kernels.bitboard import flip, mirror, transpose
from game2048.kernels.intrinsics import pext, prefetch
from game2048.kernels.jit import inlined_kernel, kernel
from game2048.kernels.two_word_board import (
    Geometry,
    flip_words,
    is_wide_words,
    make_geometry,
    masks_of,
    mirror_word,
    seen_words,
    split_words,
    transpose_words,
)
from game2048.kernels.wide_bitboard import is_wide, seen_as
from solver_server.ntuple.patterns import Pattern

Weights = npt.NDArray[np.float32] | npt.NDArray[np.int16]

_U0, _U4 = np.uint64(0), np.uint64(4)
_EVEN = np.uint64(0x0F0F0F0F0F0F0F0F)
_ONE_EACH = 0x0101010101010101
_CARRIES = np.uint64(0x1010101010101010)


class NetworkTables(NamedTuple):
    """A 4×4 network as kernels take it.

    Attributes:
        weights: float32 or int16 [entries], the tables one behind the other.
        masks: uint64 [tables], the cells of each table that serves all eight images.
        offsets: uint64 [tables], where each of these tables starts.
        single_masks: uint64 [singles], the cells of each single image of a table.
        single_offsets: uint64 [singles].
        single_images: int64 [singles], which image of the board to look at (order of `images`).
        scale: what the sum of the weights is multiplied by.
        ranks: boards with exponents from this one on are downgraded first; 15 or 16.
        stages: uint64 [stages], for each stage after the first, what makes the exponents that it begins with
            carry out of their nibbles.
        stage_entries: how far apart the tables of two stages are.
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


class GridTables(NamedTuple):
    """A network of any other size as kernels take it; as `NetworkTables`, with masks for two words.

    Attributes:
        weights: float32 or int16 [entries].
        masks: uint64 [tables, 2].
        shifts: uint64 [tables], where the bits of the second word go.
        offsets: uint64 [tables].
        single_masks: uint64 [singles, 2].
        single_shifts: uint64 [singles].
        single_offsets: uint64 [singles].
        single_images: int64 [singles].
        scale: see `NetworkTables`.
        ranks: see `NetworkTables`.
        geometry: the shape of the board.
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
def images(board: np.uint64) -> Any:
    """The eight images of a 4×4 board."""
    m = mirror(board)
    t = transpose(board)
    u = mirror(t)
    return board, m, flip(board), flip(m), t, u, flip(t), flip(u)


@kernel
def _single(board: np.uint64, image: int) -> np.uint64:
    if image & 4:
        board = transpose(board)
    if image & 1:
        board = mirror(board)
    if image & 2:
        board = flip(board)
    return board


@inlined_kernel
def stage_offset(board: np.uint64, tables: NetworkTables) -> Any:
    """Where the tables of a board's stage start, counted from those of the first."""
    offset = _U0
    for i in range(tables.stages.size):
        lift = tables.stages[i]
        if (((board & _EVEN) + lift) | (((board >> _U4) & _EVEN) + lift)) & _CARRIES:
            offset += tables.stage_entries
    return offset


@inlined_kernel
def value4x4(board: np.uint64, tables: NetworkTables) -> Any:
    """The value of a 4×4 afterstate, in score points."""
    if tables.ranks < 16 and is_wide(board, tables.ranks):
        board = seen_as(board, _U0, tables.ranks)
    stage = stage_offset(board, tables)
    a, b, c, d, e, f, g, h = images(board)
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
        view = _single(board, tables.single_images[i])
        total += np.float32(w[tables.single_offsets[i] + stage + pext(view, tables.single_masks[i])])
    return total * tables.scale


@inlined_kernel
def prefetch4x4(board: np.uint64, tables: NetworkTables) -> None:
    """Ask for the cache lines that `value4x4` will read."""
    size = np.uint64(tables.weights.itemsize)
    base = np.uint64(tables.weights.ctypes.data) + stage_offset(board, tables) * size
    a, b, c, d, e, f, g, h = images(board)
    for i in range(tables.masks.size):
        k = tables.masks[i]
        o = tables.offsets[i]
        prefetch(base + (o + pext(a, k)) * size)
        prefetch(base + (o + pext(b, k)) * size)
        prefetch(base + (o + pext(c, k)) * size)
        prefetch(base + (o + pext(d, k)) * size)
        prefetch(base + (o + pext(e, k)) * size)
        prefetch(base + (o + pext(f, k)) * size)
        prefetch(base + (o + pext(g, k)) * size)
        prefetch(base + (o + pext(h, k)) * size)


@inlined_kernel
def active_entries(board: np.uint64, tables: NetworkTables, entries: Any) -> None:
    """Write the indices of all weights that make up a board's value.

    Args:
        board: a 4×4 board.
        tables: the network.
        entries: uint64 [8 · tables + singles], overwritten.
    """
    stage = stage_offset(board, tables)
    a, b, c, d, e, f, g, h = images(board)
    j = np.uint64(0)
    one = np.uint64(1)
    for i in range(tables.masks.size):
        k = tables.masks[i]
        o = tables.offsets[i] + stage
        for view in (a, b, c, d, e, f, g, h):
            entries[j] = o + pext(view, k)
            j += one
    for i in range(tables.single_masks.size):
        view = _single(board, tables.single_images[i])
        entries[j] = tables.single_offsets[i] + stage + pext(view, tables.single_masks[i])
        j += one


@inlined_kernel
def images_words(low: np.uint64, high: np.uint64, geometry: Geometry) -> Any:
    """The eight images of a square board in two words, in the order of `images`; of others the first four."""
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
def active_entries_words(low: np.uint64, high: np.uint64, tables: GridTables, entries: Any) -> None:
    """As `active_entries`, for a board in two words."""
    lows, highs = images_words(low, high, tables.geometry)
    j = np.uint64(0)
    one = np.uint64(1)
    for i in range(tables.offsets.size):
        o = tables.offsets[i]
        k = tables.masks[i, 0]
        above = tables.masks[i, 1]
        for view in range(8):
            entries[j] = o + pext(lows[view], k)
            j += one
        if above:
            j -= np.uint64(8)
            for view in range(8):
                entries[j] += pext(highs[view], above) << tables.shifts[i]
                j += one
    for i in range(tables.single_offsets.size):
        view = tables.single_images[i]
        entries[j] = tables.single_offsets[i] + (
            pext(lows[view], tables.single_masks[i, 0])
            | (pext(highs[view], tables.single_masks[i, 1]) << tables.single_shifts[i])
        )
        j += one


@inlined_kernel
def _sum_both(lows: Any, highs: Any, tables: GridTables, i: int) -> Any:
    """The sum over all images of a tuple with cells in both words."""
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
def value_words(low: np.uint64, high: np.uint64, tables: GridTables) -> Any:
    """The value of an afterstate in two words whose exponents are all below ``tables.ranks``."""
    lows, highs = images_words(low, high, tables.geometry)
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
def value_grid(cells: Any, tables: GridTables) -> Any:
    """The value of an afterstate, in score points.

    Args:
        cells: uint8 [rows, columns], exponents; those from ``tables.ranks`` on are downgraded.
        tables: of a network for that size, which is not 4×4.
    """
    low, high, extra = split_words(cells)
    if extra != _U0 or is_wide_words(low, high, tables.ranks):
        low, high = seen_words(low, high, extra, tables.ranks, tables.geometry)
    return value_words(low, high, tables)


def new_weights(pattern: Pattern, initial_value: float = 0.0) -> Weights:
    """Fresh tables.

    Args:
        pattern: the network's shape.
        initial_value: the value every board starts with (optimistic initialisation).
    """
    weights = np.zeros(pattern.entries, dtype=np.float32)
    if initial_value:
        weights[:] = initial_value / (active_weights(pattern) * scale_of(pattern))
    return weights


def distinct_images(pattern: Pattern, cells: tuple[int, ...]) -> list[int]:
    """The isomorphisms that show a tuple different cells; those that repeat an image are left out.

    The numbers are those of `images`: bit 2 transposes, then bit 0 mirrors, then bit 1 flips.
    """
    if not pattern.symmetric:
        return [0]
    square = pattern.rows == pattern.columns
    grid = np.arange(pattern.rows * pattern.columns).reshape(pattern.rows, pattern.columns)
    seen: set[tuple[int, ...]] = set()
    distinct = []
    for image in range(8 if square else 4):
        view = grid.T if image & 4 else grid
        view = view[:, ::-1] if image & 1 else view
        view = view[::-1] if image & 2 else view
        looked_at = tuple(int(view.reshape(-1)[cell]) for cell in cells)
        if looked_at not in seen:
            seen.add(looked_at)
            distinct.append(image)
    return distinct


def active_weights(pattern: Pattern) -> int:
    """How many weights make up one value."""
    return sum(len(distinct_images(pattern, cells)) for cells in pattern.tuples)


def scale_of(pattern: Pattern) -> float:
    """What the sum of the active weights is multiplied by."""
    return 1 / active_weights(pattern) if pattern.averaged else 1.0


def make_tables(pattern: Pattern, weights: Weights, step: float = 1.0) -> NetworkTables | GridTables:
    """A network for kernels.

    Args:
        pattern: its shape.
        weights: shared, not copied.
        step: score points that 1 in a weight stands for.
    """
    full: list[tuple[tuple[int, int], int]] = []
    single: list[tuple[tuple[int, int], int, int]] = []
    offset = 0
    for cells in pattern.tuples:
        mask = masks_of(list(cells), pattern.columns)
        distinct = distinct_images(pattern, cells)
        if len(distinct) == 8:
            full.append((mask, offset))
        else:
            single += [(mask, offset, image) for image in distinct]
        offset += 16 ** len(cells)
    masks = _unsigned([mask for mask, _ in full]).reshape(-1, 2)
    offsets = _unsigned([offset for _, offset in full])
    single_masks = _unsigned([mask for mask, _, _ in single]).reshape(-1, 2)
    single_offsets = _unsigned([offset for _, offset, _ in single])
    single_images = np.array([image for _, _, image in single], dtype=np.int64)
    scale = np.float32(scale_of(pattern) * step)
    if (pattern.rows, pattern.columns) == (4, 4):
        return NetworkTables(
            weights,
            np.ascontiguousarray(masks[:, 0]),
            offsets,
            np.ascontiguousarray(single_masks[:, 0]),
            single_offsets,
            single_images,
            scale,
            pattern.ranks,
            _unsigned([(16 - stage) * _ONE_EACH for stage in pattern.stages]),
            np.uint64(pattern.stage_entries),
        )
    return GridTables(
        weights,
        masks,
        _shifts(masks),
        offsets,
        single_masks,
        _shifts(single_masks),
        single_offsets,
        single_images,
        scale,
        pattern.ranks,
        make_geometry(pattern.rows, pattern.columns),
    )


def _unsigned(numbers: Any) -> npt.NDArray[np.uint64]:
    return np.array(numbers, dtype=np.uint64)


def _shifts(masks: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    return _unsigned([int(low).bit_count() for low, _ in masks])
