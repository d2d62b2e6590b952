"""Backward induction over the layers of a table.

A value is the probability, in units of 1/65,535, of merging a goal tile into the anchor (and so on up the
chain of tables) from an *afterstate*, a board on which a spawn is due. A spawn raises the sum by 2 or 4 and a
slide leaves it, so a layer needs only the two layers of larger sum:

* value(afterstate) = mean over empty cells of 0.9 · best(with a 2) + 0.1 · best(with a 4);
* best(board) = maximum over slides that leave the locked tiles alone of value(afterstate); and if that is 0,
  of stepping aside: a slide that moves them, and the opposite one as soon as a tile has spawned, which counts
  0 where that tile stands in the way. On open boards this is often the only way, and a safe one.

All sums are of integers, so every machine and every number of threads computes the same table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.bitboard import RowTables
from game2048.jit import kernel
from solver_server.tables.indexing import (
    Index,
    Layers,
    arrangement_of,
    index_of,
    multiset_of,
    number_of,
    size_of,
)
from solver_server.tables.sliding import slide

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
        goal: exponent of the anchor.
        approach_lines: int64 [n, 4], the moving cells in line with the anchor, from it outwards; then −1.
        approach_directions: int64 [n], the slide from each line to the anchor.
        is_top: whether no table stands above.
        above: the index of the table above (this table's own if there is none).
        above_values: its values.
    """

    rows: RowTables
    height: int
    width: int
    locked: np.uint64
    goal: np.uint64
    approach_lines: npt.NDArray[np.int64]
    approach_directions: npt.NDArray[np.int64]
    is_top: bool
    above: Index
    above_values: Values


@kernel
def _goal_facing_anchor(board: np.uint64, direction: int, rules: Rules) -> int:
    """The cell of the goal tile that a slide would merge into the anchor; −1 if there is none."""
    for i in range(rules.approach_directions.size):
        if rules.approach_directions[i] != direction:
            continue
        for cell in rules.approach_lines[i]:
            if cell < 0:
                break
            rank = (board >> np.uint64(4 * cell)) & _U15
            if rank == rules.goal:
                return int(cell)
            if rank != _U0:
                break
    return -1


@kernel
def slide_locked(board: np.uint64, direction: int, rules: Rules) -> Any:
    """A slide: whether it is allowed, whether it merges the goal tile into the anchor, and the afterstate."""
    cell = _goal_facing_anchor(board, direction, rules)
    # Without the goal tile the rest of its line slides just as it does when the anchor swallows it.
    rest = board if cell < 0 else board & ~(_U15 << np.uint64(4 * cell))
    after = slide(rest, direction, rules.height, rules.width, rules.rows)
    return after & rules.locked == rules.locked and after != board, cell >= 0, after


@kernel
def _above_value(after: np.uint64, rules: Rules) -> int:
    if rules.is_top:
        return CERTAIN
    i = index_of(after, rules.above)
    return int(rules.above_values[i]) if i >= 0 else 0


class Known(NamedTuple):
    """The values that the best moves of a layer are found by: its own, and those a spawn further.

    Attributes:
        values: uint16, of the layer.
        origin: where in the table these start.
        with_two: of the layer that a 2 leads to.
        two_origin: where in the table these start.
        with_four: of the layer that a 4 leads to.
        four_origin: where in the table these start.
    """

    values: Values
    origin: int
    with_two: Values
    two_origin: int
    with_four: Values
    four_origin: int


@kernel
def _aside_value(board: np.uint64, direction: int, index: Index, rules: Rules, known: Known) -> int:
    """The value of a slide that moves locked tiles, followed by the opposite one."""
    aside = slide(board, direction, rules.height, rules.width, rules.rows)
    if aside == board or _has_goal(aside, rules):  # a goal tile might merge into the anchor on either way
        return 0
    total = empties = 0
    for cell in range(rules.height * rules.width):
        shift = np.uint64(4 * cell)
        if (aside >> shift) & _U15 != _U0:
            continue
        empties += 1
        for rank in range(1, 3):
            board = aside | (np.uint64(rank) << shift)
            back = slide(board, (direction + 2) % 4, rules.height, rules.width, rules.rows)
            if back & rules.locked != rules.locked:
                continue
            i = index_of(back, index)
            if i < 0:
                continue
            value: Any = (
                9 * np.int64(known.with_two[i - known.two_origin])
                if rank == 1
                else np.int64(known.with_four[i - known.four_origin])
            )
            total += value
    return (total + 5 * empties) // (10 * empties) if empties > 0 else 0


@kernel
def _has_goal(board: np.uint64, rules: Rules) -> bool:
    for cell in range(rules.height * rules.width):
        if (board >> np.uint64(4 * cell)) & _U15 == rules.goal:
            return True
    return False


@kernel
def best_of(board: np.uint64, index: Index, rules: Rules, known: Known) -> int:
    """The best value over the slides of a board; see the module's equations.

    Args:
        board: with its locked cells filled.
        index: of the table.
        rules: see `Rules`.
        known: the values of the board's layer, and of those that a spawn leads to.
    """
    best = 0
    for direction in range(4):
        allowed, merged, after = slide_locked(board, direction, rules)
        if not allowed:
            continue
        if merged:
            best = max(best, _above_value(after, rules))
        else:
            i = index_of(after, index)
            if i >= 0:
                value: Any = np.int64(known.values[i - known.origin])
                best = max(best, value)
    if best == 0:
        for direction in range(4):
            best = max(best, _aside_value(board, direction, index, rules, known))
    return best


@kernel
def fill_best(
    begin: int,
    end: int,
    index: Index,
    layers: Layers,
    rules: Rules,
    known: Known,
    best: Values,
) -> None:
    """Write `best_of` for the positions of the blocks ``begin`` … ``end`` − 1, full boards included.

    Args:
        begin: first block.
        end: behind the last one.
        index: of the table.
        layers: of the table.
        rules: see `Rules`.
        known: see `Known`.
        best: of the layer, overwritten.
    """
    for block in range(begin, end):
        a: Any = np.int64(layers.blocks[block, 0])
        b: Any = np.int64(layers.blocks[block, 1])
        place = np.int64(layers.places[a, b]) - 1
        for i in range(index.first.starts[a], index.first.starts[a + 1]):
            half = rules.locked | index.first.boards[i]
            for j in range(index.second.starts[b], index.second.starts[b + 1]):
                best[place] = best_of(half | index.second.boards[j], index, rules, known)
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
