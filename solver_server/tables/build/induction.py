"""Backward induction over the layers of a table.

A value is the probability, in units of 1/65,535, of reaching a goal from an *afterstate*, a board on which a
spawn is due. A spawn adds 2 or 4 to the sum of the tiles and a slide keeps it. So a layer needs only the two
layers above it:

* value(afterstate) = mean over empty cells of 0.9 · best(with a 2) + 0.1 · best(with a 4);
* best(board) = maximum of value(afterstate) over the slides that move no locked tile; 1 if an afterstate is a
  goal; 0 if there is no such slide.

All sums are of integers, so every machine and every number of threads computes the same table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.kernels.bitboard import RowTables
from game2048.kernels.jit import kernel
from solver_server.tables.build.indexing import (
    Index,
    Layers,
    arrangement_of,
    index_of,
    multiset_of,
    number_of,
    size_of,
)
from solver_server.tables.build.sliding import slide_locked
from solver_server.tables.goals import is_goal

CERTAIN = 65535

Values = npt.NDArray[np.uint16]
_U0, _U4, _U15 = np.uint64(0), np.uint64(4), np.uint64(15)


class Rules(NamedTuple):
    """The slides that are allowed, and the goals.

    Attributes:
        rows: the row tables.
        height: rows of the board.
        width: columns of the board.
        locked: locked cells, as nibbles of 15.
        top: largest exponent of a moving tile.
        patterns: int64 [goals, 16, 2], goals (`goals.make_patterns`).
    """

    rows: RowTables
    height: int
    width: int
    locked: np.uint64
    top: int
    patterns: npt.NDArray[np.int64]


class LayerTask(NamedTuple):
    """A layer to compute.

    Attributes:
        places: index of the table.
        layers: layers of the table.
        values: uint16 [positions of the layer], values of its afterstates.
        origin: position of the layer's first value in the table.
    """

    places: Index
    layers: Layers
    values: Values
    origin: int


@kernel
def best_of(board: np.uint64, index: Index, rules: Rules, values: Values, origin: int) -> int:
    """Return the best value over the slides of a board; see the module's equations.

    Args:
        board: board whose locked cells are filled.
        index: index of the table.
        rules: slides and goals.
        values: values of the board's layer.
        origin: position of the first of them in the table.
    """
    best = 0
    for direction in range(4):
        after = slide_locked(board, direction, rules.height, rules.width, rules.rows)
        if after == board or after & rules.locked != rules.locked:
            continue
        i = index_of(after, index)
        if i < 0:
            continue
        if is_goal(after, rules.top, rules.patterns):
            return CERTAIN
        value: Any = np.int64(values[i - origin])
        best = max(best, value)
    return best


@kernel
def fill_best(
    begin: int,
    end: int,
    layer: LayerTask,
    rules: Rules,
    best: Values,
) -> None:
    """Write `best_of` for the positions of the blocks ``begin`` … ``end`` − 1, full boards included.

    Args:
        begin: first block.
        end: one more than the last block.
        layer: the layer; its values are read.
        rules: slides and goals.
        best: uint16 [positions of the layer, full boards included], overwritten.
    """
    index, layers = layer.places, layer.layers
    for block in range(begin, end):
        a: Any = np.int64(layers.blocks[block, 0])
        b: Any = np.int64(layers.blocks[block, 1])
        place = np.int64(layers.places[a, b]) - 1
        for i in range(index.first.starts[a], index.first.starts[a + 1]):
            half = rules.locked | index.first.boards[i]
            for j in range(index.second.starts[b], index.second.starts[b + 1]):
                best[place] = best_of(half | index.second.boards[j], index, rules, layer.values, layer.origin)
                place += 1


class InductionScratch(NamedTuple):
    """Working memory of one thread: the spawns in the second half, for all arrangements of a multiset.

    Attributes:
        sums: int64 [720], weighted sums over the spawns in the first half.
        ends: int64 [721], end of each arrangement's spawns.
        places: int64 [8640], place that a spawn leads to, for arrangement 0 of the first half.
        strides: int64 [8640], what each further arrangement of the first half adds to it.
        ranks: int64 [8640], exponent that spawns.
    """

    sums: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]
    strides: npt.NDArray[np.int64]
    ranks: npt.NDArray[np.int64]


def make_induction_scratch() -> InductionScratch:
    """Make the working memory of one thread."""
    arrangements, spawns = 720, 720 * 12
    return InductionScratch(
        np.zeros(arrangements, dtype=np.int64),
        np.zeros(arrangements + 1, dtype=np.int64),
        *(np.zeros(spawns, dtype=np.int64) for _ in range(3)),
    )


@kernel
def _note_spawns(a: int, b: int, index: Index, layers: Layers, scratch: InductionScratch) -> None:
    """Note where each spawn on each arrangement of multiset ``b`` leads to, beside multiset ``a``."""
    half = index.second
    noted = 0
    for j in range(size_of(b, half)):
        board = half.boards[half.starts[b] + j]
        for segment in range(half.shifts.size):
            shift, mask = half.shifts[segment], half.masks[segment]
            while mask != _U0:
                if (board >> shift) & _U15 == _U0:
                    for rank in range(1, 3):
                        number = number_of(board | (np.uint64(rank) << shift), half)
                        to = multiset_of(number)
                        place = np.int64(layers.places[a, to])
                        if place > 0:
                            scratch.places[noted] = place - 1 + arrangement_of(number)
                            scratch.strides[noted] = size_of(to, half)
                            scratch.ranks[noted] = rank
                            noted += 1
                shift += _U4
                mask >>= _U4
        scratch.ends[j + 1] = noted


@kernel
def _sum_spawns(
    board: np.uint64,
    b: int,
    index: Index,
    layers: Layers,
    with_two: Values,
    with_four: Values,
    scratch: InductionScratch,
) -> None:
    """Sum up the spawns on one arrangement of the first half, for all arrangements of multiset ``b``."""
    half = index.first
    size = size_of(b, index.second)
    for j in range(size):
        scratch.sums[j] = 0
    for segment in range(half.shifts.size):
        shift, mask = half.shifts[segment], half.masks[segment]
        while mask != _U0:
            if (board >> shift) & _U15 == _U0:
                for rank in range(1, 3):
                    number = number_of(board | (np.uint64(rank) << shift), half)
                    place = np.int64(layers.places[multiset_of(number), b])
                    if place == 0:
                        continue
                    place += arrangement_of(number) * size - 1
                    if rank == 1:
                        for j in range(size):
                            scratch.sums[j] += 9 * np.int64(with_two[place + j])
                    else:
                        for j in range(size):
                            scratch.sums[j] += np.int64(with_four[place + j])
            shift += _U4
            mask >>= _U4


@kernel
def fill_values(
    begin: int,
    end: int,
    layer: LayerTask,
    with_two: Values,
    with_four: Values,
    cells: int,
    scratch: InductionScratch,
) -> None:
    """Write the values of all positions of the blocks ``begin`` … ``end`` − 1 of a layer.

    Args:
        begin: first block.
        end: one more than the last block.
        layer: the layer; its values are overwritten.
        with_two: best values of the layer that a 2 leads to.
        with_four: best values of the layer that a 4 leads to.
        cells: number of moving cells.
        scratch: working memory of this thread.
    """
    index, layers = layer.places, layer.layers
    for block in range(begin, end):
        a: Any = np.int64(layers.blocks[block, 0])
        b: Any = np.int64(layers.blocks[block, 1])
        empties = cells - index.first.tiles[a] - index.second.tiles[b]
        place = np.int64(index.offsets[a, b]) - 1 - layer.origin
        _note_spawns(a, b, index, layers, scratch)
        for i in range(size_of(a, index.first)):
            board = index.first.boards[index.first.starts[a] + i]
            _sum_spawns(board, b, index, layers, with_two, with_four, scratch)
            for j in range(size_of(b, index.second)):
                total = scratch.sums[j]
                for k in range(scratch.ends[j], scratch.ends[j + 1]):
                    to = scratch.places[k] + i * scratch.strides[k]
                    total += 9 * np.int64(with_two[to]) if scratch.ranks[k] == 1 else np.int64(with_four[to])
                layer.values[place] = (total + 5 * empties) // (10 * empties)
                place += 1
