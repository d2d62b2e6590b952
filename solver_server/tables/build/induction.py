"""Backward induction over the layers of a table.

A value is the probability, in units of 1/65,535, of reaching a goal from an *afterstate*, a board on which a
spawn is due. A spawn raises the sum by 2 or 4 and a slide leaves it, so a layer needs only the two layers of
larger sum:

* value(afterstate) = mean over empty cells of 0.9 · best(with a 2) + 0.1 · best(with a 4);
* best(board) = maximum over slides that leave the locked tiles alone of value(afterstate), which is 1 where
  the afterstate is a goal; 0 if there is no such slide.

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
from solver_server.tables.build.sliding import slide
from solver_server.tables.goals import is_goal

CERTAIN = 65535

Values = npt.NDArray[np.uint16]
_U0, _U4, _U15 = np.uint64(0), np.uint64(4), np.uint64(15)


class Rules(NamedTuple):
    """What slides are allowed and where they lead.

    Attributes:
        rows: the row tables.
        height: rows of the board.
        width: columns of the board.
        locked: the locked cells, as nibbles of 15.
        top: the largest exponent of a moving tile.
        patterns: int64 [goals, 16, 2], the goals (`patterns`).
    """

    rows: RowTables
    height: int
    width: int
    locked: np.uint64
    top: int
    patterns: npt.NDArray[np.int64]


@kernel
def best_of(board: np.uint64, index: Index, rules: Rules, values: Values, origin: int) -> int:
    """The best value over the slides of a board; see the module's equations.

    Args:
        board: with its locked cells filled.
        index: of the table.
        rules: see `Rules`.
        values: of the board's layer, from position ``origin`` of the table on.
        origin: see ``values``.
    """
    best = 0
    for direction in range(4):
        after = slide(board, direction, rules.height, rules.width, rules.rows)
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
    index: Index,
    layers: Layers,
    rules: Rules,
    values: Values,
    origin: int,
    best: Values,
) -> None:
    """Write `best_of` for the positions of the blocks ``begin`` … ``end`` − 1, full boards included.

    Args:
        begin: first block.
        end: behind the last one.
        index: of the table.
        layers: of the table.
        rules: see `Rules`.
        values: see `best_of`.
        origin: see `best_of`.
        best: of the layer, overwritten.
    """
    for block in range(begin, end):
        a: Any = np.int64(layers.blocks[block, 0])
        b: Any = np.int64(layers.blocks[block, 1])
        place = np.int64(layers.places[a, b]) - 1
        for i in range(index.first.starts[a], index.first.starts[a + 1]):
            half = rules.locked | index.first.boards[i]
            for j in range(index.second.starts[b], index.second.starts[b + 1]):
                best[place] = best_of(half | index.second.boards[j], index, rules, values, origin)
                place += 1


class Scratch(NamedTuple):
    """Where one thread notes the spawns in the second half, for all arrangements of a multiset.

    Attributes:
        sums: int64 [720], weighted sums over the spawns in the first half.
        ends: int64 [721], where each arrangement's spawns end.
        places: int64 [8,640], where a spawn leads to, for arrangement 0 of the first half.
        strides: int64 [8,640], what each further arrangement of the first half adds.
        ranks: int64 [8,640], the exponent that spawns.
    """

    sums: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]
    strides: npt.NDArray[np.int64]
    ranks: npt.NDArray[np.int64]


def make_scratch() -> Scratch:
    """Scratch for one thread."""
    arrangements, spawns = 720, 720 * 12
    return Scratch(
        np.zeros(arrangements, dtype=np.int64),
        np.zeros(arrangements + 1, dtype=np.int64),
        *(np.zeros(spawns, dtype=np.int64) for _ in range(3)),
    )


@kernel
def _note_spawns(a: int, b: int, index: Index, layers: Layers, scratch: Scratch) -> None:
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
    scratch: Scratch,
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
    index: Index,
    layers: Layers,
    with_two: Values,
    with_four: Values,
    cells: int,
    values: Values,
    origin: int,
    scratch: Scratch,
) -> None:
    """Write the values of all positions of the blocks ``begin`` … ``end`` − 1 of a layer.

    Args:
        begin: first block.
        end: behind the last one.
        index: of the table.
        layers: of the table.
        with_two: the best values of the layer that a 2 leads to.
        with_four: those of the layer that a 4 leads to.
        cells: how many move.
        values: of the layer, from position ``origin`` of the table on.
        origin: see ``values``.
        scratch: of this thread.
    """
    for block in range(begin, end):
        a: Any = np.int64(layers.blocks[block, 0])
        b: Any = np.int64(layers.blocks[block, 1])
        empties = cells - index.first.tiles[a] - index.second.tiles[b]
        place = np.int64(index.offsets[a, b]) - 1 - origin
        _note_spawns(a, b, index, layers, scratch)
        for i in range(size_of(a, index.first)):
            board = index.first.boards[index.first.starts[a] + i]
            _sum_spawns(board, b, index, layers, with_two, with_four, scratch)
            for j in range(size_of(b, index.second)):
                total = scratch.sums[j]
                for k in range(scratch.ends[j], scratch.ends[j + 1]):
                    to = scratch.places[k] + i * scratch.strides[k]
                    total += 9 * np.int64(with_two[to]) if scratch.ranks[k] == 1 else np.int64(with_four[to])
                values[place] = (total + 5 * empties) // (10 * empties)
                place += 1
