"""The index of a table: the place of each position.

The moving cells are divided into two halves. A half is a multiset of ranks and one of its arrangements; both
have a number. A pair of multisets is a *block* of positions: all arrangements of the one with all of the
other. The table is the blocks of all pairs that it keeps, one after another, in layers of equal sum, the
largest sum first. So the place of a position takes one look-up for each half and one for the block, any set
of pairs is kept without gaps, and a spawn changes only one half, so the positions that it leads to lie close
together.

A full board is not an afterstate, so the table has no value for it. Only a build needs its best move.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError
from game2048.kernels.jit import allocating_kernel, count_ones, kernel
from solver_server.tables.build.sliding import LOCKED_RANK
from solver_server.tables.formations import Formation, TableSpec

_ARRANGEMENT_BITS = 10  # 6! = 720 arrangements at most
_ARRANGEMENT = (1 << _ARRANGEMENT_BITS) - 1
_NONE = np.uint32(0xFFFFFFFF)
_LARGEST_TABLE = 0xFFFFFFFE


class Half(NamedTuple):
    """The arrangements of one half's tiles.

    Attributes:
        shifts: uint64 [segments]; with ``masks`` and ``lefts`` it gathers the half's nibbles from a board.
        masks: uint64 [segments].
        lefts: uint64 [segments].
        numbers: uint32 [16**cells], for the gathered nibbles: multiset · 1024 + arrangement, or `_NONE`.
        starts: int64 [multisets + 1], start of the arrangements of each multiset in ``boards``.
        boards: uint64 [arrangements], each arrangement in its place on the board.
        sums: int64 [multisets], Σ tile / 2.
        tiles: int64 [multisets], number of cells with a tile.
        large: int64 [multisets], number of large tiles (`TableSpec.large`).
        large_ranks: uint64 [multisets], a bit for each exponent of the large tiles.
    """

    shifts: npt.NDArray[np.uint64]
    masks: npt.NDArray[np.uint64]
    lefts: npt.NDArray[np.uint64]
    numbers: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.int64]
    boards: npt.NDArray[np.uint64]
    sums: npt.NDArray[np.int64]
    tiles: npt.NDArray[np.int64]
    large: npt.NDArray[np.int64]
    large_ranks: npt.NDArray[np.uint64]


class Index(NamedTuple):
    """The place of each position.

    Attributes:
        first: the first half.
        second: the second half.
        offsets: uint32 [multisets of the first half, of the second], 1 + start of the block; 0 if the table
            does not keep it.
    """

    first: Half
    second: Half
    offsets: npt.NDArray[np.uint32]


class Layers(NamedTuple):
    """The blocks in the order of the table; after those of each layer come the blocks of its full boards.

    Attributes:
        blocks: uint32 [blocks, 2], multisets of both halves.
        block_starts: int64 [layers + 1], start of each layer in ``blocks``.
        full_starts: int64 [layers], start of its full boards in ``blocks``.
        places: uint32, shape of `Index.offsets`: 1 + start of the block in its layer, full or not; or 0.
        sizes: int64 [layers], number of positions of each layer, full boards included.
        starts: int64 [layers + 1], start of each layer in the table.

    Layer i has sum 2 · (layers − 1 − i).
    """

    blocks: npt.NDArray[np.uint32]
    block_starts: npt.NDArray[np.int64]
    full_starts: npt.NDArray[np.int64]
    places: npt.NDArray[np.uint32]
    sizes: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]


@kernel
def _gather(board: np.uint64, half: Half) -> np.uint64:
    closed = np.uint64(0)
    for i in range(half.shifts.size):
        closed |= ((board >> half.shifts[i]) & half.masks[i]) << half.lefts[i]
    return closed


@kernel
def number_of(board: np.uint64, half: Half) -> np.uint32:
    """Return multiset and arrangement of one half of a board, in one number."""
    return np.uint32(half.numbers[_gather(board, half)])


@kernel
def multiset_of(number: np.uint32) -> int:
    """Return the multiset of a `number_of`."""
    return int(number >> np.uint32(_ARRANGEMENT_BITS))


@kernel
def arrangement_of(number: np.uint32) -> int:
    """Return the arrangement of a `number_of`."""
    return int(number & np.uint32(_ARRANGEMENT))


@kernel
def size_of(multiset: Any, half: Half) -> int:
    """Count the arrangements of a multiset."""
    return int(half.starts[multiset + 1] - half.starts[multiset])


@kernel
def index_of(board: np.uint64, index: Index) -> int:
    """Find the place of a position; −1 if the table does not keep it. Locked cells do not matter."""
    first, second = number_of(board, index.first), number_of(board, index.second)
    if first == _NONE or second == _NONE:
        return -1
    a, b = multiset_of(first), multiset_of(second)
    offset: Any = np.int64(index.offsets[a, b])
    if offset == 0:
        return -1
    return int(offset - 1 + arrangement_of(first) * size_of(b, index.second) + arrangement_of(second))


@allocating_kernel
def _number_arrangements(bounds: Any, numbers: Any) -> Any:
    """Fill ``numbers``; return the codes by multiset and arrangement, and the start of each multiset."""
    cells = bounds.size
    codes = multisets = 0
    digits = np.empty(cells, dtype=np.int64)
    # Number of each multiset, by the smallest code of its digits. That code itself may be out of bounds.
    known = np.full(numbers.size, _NONE, dtype=np.uint32)
    for code in range(numbers.size):
        valid = True
        for i in range(cells):
            digits[i] = (code >> (4 * i)) & 15
            valid = valid and digits[i] <= bounds[i]
        if not valid:
            numbers[code] = _NONE
            continue
        for i in range(
            1, cells
        ):  # the smallest code of the same digits has them fall from the lowest nibble on
            digit, j = digits[i], i
            while j > 0 and digits[j - 1] < digit:
                digits[j] = digits[j - 1]
                j -= 1
            digits[j] = digit
        least = 0
        for i in range(cells):
            least |= digits[i] << (4 * i)
        if known[least] == _NONE:
            known[least] = multisets
            multisets += 1
        codes += 1
        numbers[code] = known[least]
    starts = np.zeros(multisets + 1, dtype=np.int64)
    for code in range(numbers.size):
        if numbers[code] != _NONE:
            starts[numbers[code] + 1] += 1
    for multiset in range(multisets):
        starts[multiset + 1] += starts[multiset]
    seen = np.zeros(multisets, dtype=np.int64)
    in_order = np.empty(codes, dtype=np.uint64)
    for code in range(numbers.size):
        if numbers[code] != _NONE:
            kind = np.int64(numbers[code])
            in_order[starts[kind] + seen[kind]] = code
            numbers[code] = (kind << _ARRANGEMENT_BITS) | seen[kind]
            seen[kind] += 1
    return in_order, starts


@allocating_kernel
def _order_blocks(first: Half, second: Half, offsets: Any, cells: int, largest: int, spare: int) -> Any:
    """Fill ``offsets`` and return the arrays of `Layers`. Sums are halved here."""
    # Counting sort by layer, full boards last: layer i has the keys 2 · i and 2 · i + 1.
    counts = np.zeros(2 * largest + 3, dtype=np.int64)
    for a in range(first.sums.size):
        for b in range(second.sums.size):
            if _is_kept(a, b, first, second, largest, spare):
                counts[_sort_key(a, b, first, second, cells, largest) + 1] += 1
    edges = np.cumsum(counts)
    blocks = np.empty((edges[-1], 2), dtype=np.uint32)
    next_free = edges.copy()
    for a in range(first.sums.size):
        for b in range(second.sums.size):
            if _is_kept(a, b, first, second, largest, spare):
                key = _sort_key(a, b, first, second, cells, largest)
                blocks[next_free[key], 0] = a
                blocks[next_free[key], 1] = b
                next_free[key] += 1
    places = np.zeros(offsets.shape, dtype=np.uint32)
    sizes = np.zeros(largest + 1, dtype=np.int64)
    starts = np.zeros(largest + 2, dtype=np.int64)
    for layer in range(largest + 1):
        starts[layer + 1] = starts[layer]
        for i in range(edges[2 * layer], edges[2 * layer + 2]):
            i_first, i_second = np.int64(blocks[i, 0]), np.int64(blocks[i, 1])
            size = size_of(i_first, first) * size_of(i_second, second)
            places[i_first, i_second] = sizes[layer] + 1
            sizes[layer] += size
            if i < edges[2 * layer + 1]:
                offsets[i_first, i_second] = min(starts[layer + 1] + 1, _LARGEST_TABLE)
                starts[layer + 1] += size
    return blocks, edges[::2].copy(), edges[1::2].copy(), places, sizes, starts


@kernel
def _sort_key(a: int, b: int, first: Half, second: Half, cells: int, largest: int) -> int:
    is_full = first.tiles[a] + second.tiles[b] == cells
    return int(2 * (largest - first.sums[a] - second.sums[b]) + is_full)


@kernel
def _is_kept(a: int, b: int, first: Half, second: Half, largest: int, spare: int) -> bool:
    if first.sums[a] + second.sums[b] > largest:
        return False
    different = np.int64(count_ones(first.large_ranks[a] | second.large_ranks[b]))
    return bool(first.large[a] + second.large[b] - different <= spare)


def make_index(spec: TableSpec) -> tuple[Index, Layers]:
    """Make the index of a table, and the order in which it is built.

    Raises:
        SolverError: the table would have 2**32 positions or more.
    """
    first, second = (_make_half(cells, spec) for cells in spec.formation.halves)
    offsets = np.zeros((first.sums.size, second.sums.size), dtype=np.uint32)
    cells = sum(len(half) for half in spec.formation.halves)
    layers = Layers(*_order_blocks(first, second, offsets, cells, spec.largest_sum // 2, spec.spare))
    if layers.starts[-1] > _LARGEST_TABLE:
        raise SolverError(
            f"table {spec.name} would have {layers.starts[-1]:,} positions; expected less than 2**32; "
            "lower its slack or its spare tiles"
        )
    return Index(first, second, offsets), layers


def index_memory(spec: TableSpec) -> int:
    """Bound the bytes that `make_index` allocates for a table, without allocating them."""
    total, pairs = 0, 1
    for cells in spec.formation.halves:
        ranks = [spec.top - spec.formation.below_top(cell) + 1 for cell in cells]
        arrangements = math.prod(ranks)
        multisets = min(arrangements, math.comb(len(cells) + max(ranks) - 1, len(cells)))
        # `_number_arrangements` has two uint32 a code; an arrangement takes its code, digits and board.
        total += 8 * 16 ** len(cells) + 8 * (2 + len(cells)) * arrangements + 8 * (len(cells) + 8) * multisets
        pairs *= multisets
    return total + (4 + 4 + 8) * pairs + 8 * 5 * (spec.largest_sum // 2 + 2)


def locked_mask(formation: Formation) -> np.uint64:
    """Return a board on which only the locked cells are filled."""
    return np.uint64(sum(LOCKED_RANK << (4 * cell) for cell in formation.locked))


def _make_half(cells: tuple[int, ...], spec: TableSpec) -> Half:
    segments: list[list[int]] = []  # runs of neighbouring cells: first cell, place when closed up, length
    for place, cell in enumerate(cells):
        if segments and cell == segments[-1][0] + segments[-1][2]:
            segments[-1][2] += 1
        else:
            segments.append([cell, place, 1])
    numbers = np.empty(16 ** len(cells), dtype=np.uint32)
    bounds = np.array([spec.top - spec.formation.below_top(cell) for cell in cells], dtype=np.int64)
    codes, starts = _number_arrangements(bounds, numbers)
    digits = np.stack([(codes >> np.uint64(4 * i)) & np.uint64(15) for i in range(len(cells))])
    boards = np.zeros(codes.size, dtype=np.uint64)
    for digit, cell in zip(digits, cells, strict=True):
        boards |= digit << np.uint64(4 * cell)
    one_each = digits[:, starts[:-1]].astype(np.int64)
    is_large = one_each >= spec.large
    return Half(
        shifts=np.array([4 * cell for cell, _, _ in segments], dtype=np.uint64),
        masks=np.array([(1 << (4 * length)) - 1 for _, _, length in segments], dtype=np.uint64),
        lefts=np.array([4 * place for _, place, _ in segments], dtype=np.uint64),
        numbers=numbers,
        starts=starts,
        boards=boards,
        sums=np.where(one_each > 0, 1 << np.maximum(one_each - 1, 0), 0).sum(axis=0),
        tiles=(one_each > 0).sum(axis=0),
        large=is_large.sum(axis=0),
        large_ranks=np.bitwise_or.reduce(np.where(is_large, 1 << one_each, 0), axis=0).astype(np.uint64),
    )
