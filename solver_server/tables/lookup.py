"""Find a board in the tables: the kernels that play asks.

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

from game2048.bitboard import RowTables, flip, mirror, slide, transpose
from game2048.jit import kernel
from solver_server.tables.building import Table
from solver_server.tables.formations import Formation
from solver_server.tables.induction import CERTAIN

_U0, _U4, _U15 = np.uint64(0), np.uint64(4), np.uint64(15)
_NONE = np.uint64(0xFFFFFFFF)
_GOALS = 16
_SEGMENTS = 6  # of two halves
_NUMBERS, _ARRANGEMENTS, _OFFSETS, _WIDTH, _VALUES, _FIELDS = 0, 2, 3, 4, 5, 6


class TableSet(NamedTuple):
    """Tables as kernels take them. Empty (`no_tables`), it costs next to nothing.

    Attributes:
        locked: int64 [formations, 6], bit position of the anchor, then of the other locked cells; then −1.
        segments: uint64 [formations, 2, 6, 3], shift, mask and left shift that gather the nibbles of each
            half.
        rows: int64 [formations, 16], the row in ``tables`` for each exponent of the anchor, or −1.
        tables: int64 [n, 6], of each table: addresses of the numbers of its halves, of the starts of the
            second half's multisets and of the offsets, how many offsets a row has, address of the values.
    """

    locked: npt.NDArray[np.int64]
    segments: npt.NDArray[np.uint64]
    rows: npt.NDArray[np.int64]
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
def _row_for(board: np.uint64, formation: int, tables: TableSet) -> int:
    """The table for the locked tiles of an image of a board; −1 if they do not fit."""
    locked = tables.locked[formation]
    anchor = (board >> np.uint64(locked[0])) & _U15
    row = tables.rows[formation, anchor]
    if row < 0:
        return -1
    seen = _U0
    for i in range(1, locked.size):
        if locked[i] < 0:
            break
        rank = (board >> np.uint64(locked[i])) & _U15
        bit = np.uint64(1) << rank
        if rank <= anchor or seen & bit != _U0:
            return -1
        seen |= bit
    return int(row)


@kernel
def _turned(image: np.uint64, turn: int) -> np.uint64:
    """The next image: mirrors and flips by turns, with a transposition half-way, visit all eight."""
    return np.uint64(transpose(image) if turn == 3 else mirror(image) if turn % 2 == 0 else flip(image))


@kernel
def table_value(board: np.uint64, tables: TableSet) -> int:
    """The largest value that any table has for an afterstate, in any of its eight images; −1 if none has.

    In units of 1/65,535: see `solver_server.tables.induction`.
    """
    best = -1
    for formation in range(tables.rows.shape[0]):
        image = board
        for turn in range(8):
            row = _row_for(image, formation, tables)
            if row >= 0:
                best = max(best, _value_of(image, formation, row, tables))
            image = _turned(image, turn)
    return best


@kernel
def _aside_value(board: np.uint64, direction: int, rows: RowTables, tables: TableSet) -> int:
    """The value of stepping aside (`induction`): a slide that moves locked tiles, then the opposite one."""
    aside, _ = slide(board, direction, rows)
    if aside == board:
        return 0
    total = empties = 0
    for cell in range(16):
        shift = np.uint64(4 * cell)
        if (aside >> shift) & _U15 != _U0:
            continue
        empties += 1
        for rank in range(1, 3):
            back, _ = slide(aside | (np.uint64(rank) << shift), (direction + 2) % 4, rows)
            total += (9 if rank == 1 else 1) * max(table_value(back, tables), 0)
    return (total + 5 * empties) // (10 * empties) if empties > 0 else 0


@kernel
def _merges_into_anchor(board: np.uint64, after: np.uint64, tables: TableSet) -> bool:
    """Whether a board fits, and the slide to ``after`` has merged a tile into the anchor and no more."""
    for formation in range(tables.rows.shape[0]):
        locked = tables.locked[formation]
        image, after_image = board, after
        for turn in range(8):
            if _row_for(image, formation, tables) >= 0:
                anchor = np.uint64(locked[0])
                same = ((after_image >> anchor) & _U15) == ((image >> anchor) & _U15) + np.uint64(1)
                for i in range(1, locked.size):
                    if locked[i] >= 0:
                        shift = np.uint64(locked[i])
                        same = same and (image >> shift) & _U15 == (after_image >> shift) & _U15
                if same:
                    return True
            image, after_image = _turned(image, turn), _turned(after_image, turn)
    return False


@kernel
def table_moves(board: np.uint64, rows: RowTables, tables: TableSet, values: Any) -> int:
    """The values of the directions of a board that fits: the probabilities of reaching the goal.

    Args:
        board: the player is to move.
        rows: the row tables.
        tables: see `TableSet`.
        values: int64 [4], overwritten: the value, or −1 where no table knows any.

    Returns:
        The best direction, or −1 if no table knows any.
    """
    best = -1
    for direction in range(4):
        after, _ = slide(board, direction, rows)
        values[direction] = table_value(after, tables) if after != board else -1
        if values[direction] < 0 and _merges_into_anchor(board, after, tables):
            values[direction] = CERTAIN  # the chain ends here, or the next merge is already waiting
        if values[direction] >= 0 and (best < 0 or values[direction] > values[best]):
            best = direction
    if (best < 0 or values[best] == 0) and table_value(board, tables) >= 0:
        for direction in range(4):
            aside = _aside_value(board, direction, rows, tables)
            if aside > 0:
                values[direction] = max(values[direction], aside)
                if best < 0 or values[direction] > values[best]:
                    best = direction
    return best


def no_tables() -> TableSet:
    """A set without tables."""
    return TableSet(
        np.zeros((0, 6), dtype=np.int64),
        np.zeros((0, 2, _SEGMENTS, 3), dtype=np.uint64),
        np.zeros((0, _GOALS), dtype=np.int64),
        np.zeros((0, _FIELDS), dtype=np.int64),
    )


def make_table_set(tables: Sequence[Table]) -> TableSet:
    """The tables as kernels take them; the caller keeps ``tables`` alive. All of them on 4×4 boards."""
    formations: list[Formation] = []
    for table in tables:
        if table.spec.formation not in formations:
            formations.append(table.spec.formation)
    made = no_tables()
    count = len(formations)
    made = TableSet(
        np.full((count, 16), -1, dtype=np.int64),
        np.zeros((count, 2, _SEGMENTS, 3), dtype=np.uint64),
        np.full((count, _GOALS), -1, dtype=np.int64),
        np.zeros((len(tables), _FIELDS), dtype=np.int64),
    )
    for i, formation in enumerate(formations):
        cells = (formation.anchor, *(cell for cell in formation.locked if cell != formation.anchor))
        made.locked[i, : len(cells)] = 4 * np.array(cells)
    for row, table in enumerate(tables):
        i = formations.index(table.spec.formation)
        made.rows[i, table.spec.goal] = row
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
