"""What play asks of tables: which of them a board fits, and what its directions are worth there.

All tables of a set are described by rows of numbers, addresses among them, so that one compiled kernel serves
any number of tables, and the mapped files are never copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from game2048.bitboard import IMAGE_DIRECTIONS, IMAGES, RowTables, next_image, slide
from game2048.jit import kernel
from solver_server.tables.building import Table
from solver_server.tables.formations import Formation
from solver_server.tables.indexing import locked_mask
from solver_server.tables.induction import CERTAIN
from solver_server.tables.patterns import is_goal, make_patterns

_U0, _U15 = np.uint64(0), np.uint64(15)
_NONE = np.uint64(0xFFFFFFFF)
_SEGMENTS = 6  # of two halves
_NUMBERS, _ARRANGEMENTS, _OFFSETS, _WIDTH, _VALUES, _FIELDS = 0, 2, 3, 4, 5, 6


class TableSet(NamedTuple):
    """Tables as kernels take them. Empty, it costs next to nothing.

    Attributes:
        masks: uint64 [formations], the locked cells, as nibbles of 15.
        pairs: int64 [formations, 9, 2], bit positions of locked cells side by side; then −1.
        below: int64 [formations, 16], how far below the top the tiles of each cell stay; −1 where locked.
        patterns: int64 [formations, goals, 16, 2], see `patterns`.
        lowest: int64 [formations], the lowest top whose goals can be told.
        rows: int64 [formations, 16], the row in ``tables`` for each top: of the lowest table that reaches it.
        reaches: int64 [formations, 16], the top of that table.
        tight: bool [formations], see `Formation`.
        tops: int64 [formations], of the highest table.
        trusted: int64 [formations], the least value at which a table is followed.
        segments: uint64 [formations, 2, 6, 3], shift, mask and left shift that gather the nibbles of each
            half.
        tables: int64 [n, 6], of each table: addresses of the numbers of its halves, of the starts of the
            second half's multisets and of the offsets, how many offsets a row has, address of the values.
    """

    masks: npt.NDArray[np.uint64]
    pairs: npt.NDArray[np.int64]
    below: npt.NDArray[np.int64]
    patterns: npt.NDArray[np.int64]
    lowest: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    reaches: npt.NDArray[np.int64]
    tight: npt.NDArray[np.bool_]
    tops: npt.NDArray[np.int64]
    trusted: npt.NDArray[np.int64]
    segments: npt.NDArray[np.uint64]
    tables: npt.NDArray[np.int64]


@intrinsic  # type: ignore[untyped-decorator]
def _load16(typing_context: Any, address: Any) -> Any:
    return types.uint64(types.int64), _loader(16)


@intrinsic  # type: ignore[untyped-decorator]
def _load32(typing_context: Any, address: Any) -> Any:
    return types.uint64(types.int64), _loader(32)


@intrinsic  # type: ignore[untyped-decorator]
def _load64(typing_context: Any, address: Any) -> Any:
    return types.uint64(types.int64), _loader(64)


def _loader(bits: int) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.PointerType(ir.IntType(bits)))
        value = builder.load(pointer)
        return value if bits == 64 else builder.zext(value, ir.IntType(64))

    return generate


@kernel
def _number(board: np.uint64, formation: int, half: int, address: int, tables: TableSet) -> np.uint64:
    closed = _U0
    for i in range(_SEGMENTS):
        mask = tables.segments[formation, half, i, 1]
        if mask == _U0:
            break
        closed |= ((board >> tables.segments[formation, half, i, 0]) & mask) << tables.segments[
            formation, half, i, 2
        ]
    return np.uint64(_load32(address + 4 * np.int64(closed)))


@kernel
def _value_of(board: np.uint64, formation: int, row: int, tables: TableSet) -> int:
    """The value of an afterstate whose locked tiles fit; −1 if the table has none."""
    table = tables.tables[row]
    first = _number(board, formation, 0, table[_NUMBERS], tables)
    if first == _NONE:
        return -1
    second = _number(board, formation, 1, table[_NUMBERS + 1], tables)
    if second == _NONE:
        return -1
    a, b = np.int64(first >> np.uint64(10)), np.int64(second >> np.uint64(10))
    offset = np.int64(_load32(table[_OFFSETS] + 4 * (a * table[_WIDTH] + b)))
    if offset == 0:
        return -1
    starts = table[_ARRANGEMENTS] + 8 * b
    size = np.int64(_load64(starts + 8)) - np.int64(_load64(starts))
    place = offset - 1 + np.int64(first & np.uint64(1023)) * size + np.int64(second & np.uint64(1023))
    return int(_load16(table[_VALUES] + 2 * place))


@kernel
def _top_of(board: np.uint64, formation: int, tables: TableSet) -> int:
    """The top by which a board fits a formation as it lies; −1 if it does not, or has reached a goal."""
    smallest: Any = 15
    for cell in range(16):
        if tables.below[formation, cell] < 0:
            smallest = min(smallest, np.int64((board >> np.uint64(4 * cell)) & _U15))
    top = min(smallest - 1, tables.tops[formation])
    if top < tables.lowest[formation]:
        return -1
    reach = top if tables.tight[formation] else tables.reaches[formation, top]
    for cell in range(16):
        below = tables.below[formation, cell]
        if below >= 0:
            rank = np.int64((board >> np.uint64(4 * cell)) & _U15)
            if rank >= smallest or rank > reach - below:
                return -1
    for i in range(tables.pairs.shape[1]):
        if tables.pairs[formation, i, 0] < 0:
            break
        one, other = np.uint64(tables.pairs[formation, i, 0]), np.uint64(tables.pairs[formation, i, 1])
        if (board >> one) & _U15 == (board >> other) & _U15:
            return -1
    return -1 if is_goal(board, top, tables.patterns[formation]) else int(top)


@kernel
def _image_moves(
    image: np.uint64, formation: int, top: int, rows: RowTables, tables: TableSet, found: Any
) -> int:
    """The values of the directions of an image that fits a formation; the largest, 0 if none is of worth."""
    largest = 0
    row = tables.rows[formation, top]
    for direction in range(4):
        found[direction] = -1
        after, _ = slide(image, direction, rows)
        if after == image or (after ^ image) & tables.masks[formation] != _U0:
            continue
        if is_goal(after, top, tables.patterns[formation]):
            found[direction] = CERTAIN
        else:
            found[direction] = max(_value_of(after, formation, row, tables), 0)
        largest = max(largest, found[direction])
    return int(largest)


@kernel
def table_moves(board: np.uint64, rows: RowTables, tables: TableSet, found: Any, values: Any) -> int:
    """What the first formation that a board fits, and that promises enough, says of its directions.

    Args:
        board: the player is to move.
        rows: the row tables.
        tables: see `TableSet`; the formation that comes first is asked first.
        found: int64 [4], scratch.
        values: int64 [4], overwritten: the probability of reaching the goal in units of 1/65,535, and −1
            where a direction moves nothing or a locked tile.

    Returns:
        The best direction, or −1 if no table is to be followed.
    """
    for formation in range(tables.rows.shape[0]):
        largest, best = max(tables.trusted[formation], 1) - 1, -1
        image = board
        for turn in range(IMAGES):
            top = _top_of(image, formation, tables)
            if top >= 0 and _image_moves(image, formation, top, rows, tables, found) > largest:
                for direction in range(4):
                    values[IMAGE_DIRECTIONS[turn, direction]] = found[direction]
                    if found[direction] > largest:
                        largest, best = found[direction], IMAGE_DIRECTIONS[turn, direction]
            image = next_image(image, turn)
        if best >= 0:
            return int(best)
    return -1


def make_table_set(tables: Sequence[Table]) -> TableSet:
    """The tables as kernels take them; the caller keeps ``tables`` alive. All of them on 4×4 boards."""
    formations: list[Formation] = []
    for table in tables:
        if table.spec.formation not in formations:
            formations.append(table.spec.formation)
    formations.sort(key=lambda formation: -formation.trusted)
    count = len(formations)
    made = TableSet(
        masks=np.array([locked_mask(formation) for formation in formations], dtype=np.uint64),
        pairs=np.full((count, 9, 2), -1, dtype=np.int64),
        below=np.full((count, 16), -1, dtype=np.int64),
        patterns=make_patterns(formations),
        lowest=np.array([formation.lowest_top for formation in formations], dtype=np.int64),
        rows=np.full((count, 16), -1, dtype=np.int64),
        reaches=np.full((count, 16), -1, dtype=np.int64),
        tight=np.array([formation.tight for formation in formations], dtype=np.bool_),
        tops=np.full(count, -1, dtype=np.int64),
        trusted=np.array([round(formation.trusted * CERTAIN) for formation in formations], dtype=np.int64),
        segments=np.zeros((count, 2, _SEGMENTS, 3), dtype=np.uint64),
        tables=np.zeros((len(tables), _FIELDS), dtype=np.int64),
    )
    for i, formation in enumerate(formations):
        pairs = formation.neighbours
        made.pairs[i, : len(pairs)] = 4 * np.array(pairs)
        made.below[i, formation.moving] = [formation.below_top(cell) for cell in formation.moving]
    for row, table in sorted(enumerate(tables), key=lambda numbered: -numbered[1].spec.top):
        i, top = formations.index(table.spec.formation), table.spec.top
        made.tops[i] = max(made.tops[i], top)
        made.rows[i, : top + 1] = row
        made.reaches[i, : top + 1] = top
        for half, arrays in enumerate((table.index.first, table.index.second)):
            made.segments[i, half, : arrays.shifts.size] = np.stack(
                (arrays.shifts, arrays.masks, arrays.lefts), axis=1
            )
        made.tables[row] = (
            table.index.first.numbers.ctypes.data,
            table.index.second.numbers.ctypes.data,
            table.index.second.starts.ctypes.data,
            table.index.offsets.ctypes.data,
            table.index.offsets.shape[1],
            table.values.ctypes.data,
        )
    return made
