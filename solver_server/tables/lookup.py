"""Look up boards in tables: which tables a board fits, and the value of each direction there.

A set of tables is rows of numbers, with addresses among them. So one compiled kernel serves any number of
tables, and the mapped files are never copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from game2048.kernels.bitboard import IMAGE_DIRECTIONS, IMAGES, RowTables, next_image, slide
from game2048.kernels.jit import kernel
from solver_server.tables.build.builder import EndgameTable
from solver_server.tables.build.induction import CERTAIN
from solver_server.tables.goals import is_goal
from solver_server.tables.matching import Fits, keeps, make_fits, order_of, top_of

_U0 = np.uint64(0)
_NONE = np.uint64(0xFFFFFFFF)
_SEGMENTS = 6  # of one half, at most
_NUMBERS, _ARRANGEMENTS, _OFFSETS, _WIDTH, _VALUES, _FIELDS = 0, 2, 3, 4, 5, 6


class TableSet(NamedTuple):
    """Tables as kernels take them. An empty set costs next to nothing.

    Attributes:
        fits: the formations.
        segments: uint64 [formations, 2, 6, 3], shift, mask and left shift that gather the nibbles of each
            half.
        tables: int64 [n, 6], for each table: addresses of the numbers of its two halves, of the starts of the
            second half's multisets and of the offsets; length of a row of offsets; address of the values.
    """

    fits: Fits
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
    """Return the value of an afterstate whose locked tiles fit; −1 if the table does not have it."""
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
def image_moves(
    image: np.uint64, formation: int, top: int, rows: RowTables, tables: TableSet, found: Any
) -> int:
    """Write the values of an image's directions in a formation it fits; return the largest, at least 0."""
    largest = 0
    row = tables.fits.tables[formation, top]
    for direction in range(4):
        found[direction] = -1
        after, _ = slide(image, direction, rows)
        if not keeps(image, after, formation, tables.fits):
            continue
        if is_goal(after, top, tables.fits.patterns[formation]):
            found[direction] = CERTAIN
        else:
            found[direction] = max(_value_of(after, formation, row, tables), 0)
        largest = max(largest, found[direction])
    return int(largest)


@kernel
def best_direction(found: Any) -> int:
    """Return the direction of the largest of four values; of equal ones the first."""
    best = 0
    for direction in range(4):
        if found[direction] > found[best]:
            best = direction
    return best


@kernel
def best_image(board: np.uint64, rows: RowTables, tables: TableSet, found: Any) -> Any:
    """Find the image of a board with the largest value, in the first formation with a sufficient value.

    Args:
        board: the board; the player is to move.
        rows: the row tables.
        tables: the tables; formations are asked in their order.
        found: int64 [4], scratch.

    Returns:
        The formation, −1 if play should follow no table; the image, its number (`next_image`) and its top.
    """
    for formation in range(tables.fits.masks.size):
        largest: Any = max(tables.fits.trusted[formation], 1) - 1
        number = reached = -1
        chosen = image = board
        for turn in range(IMAGES):
            top = top_of(image, formation, tables.fits)
            if top >= 0:
                promised = image_moves(image, formation, top, rows, tables, found)
                if promised > largest:
                    largest, chosen, number, reached = promised, image, turn, top
            image = next_image(image, turn)
        if number >= 0:
            return formation, chosen, number, reached
    return -1, board, -1, -1


@kernel
def table_moves(board: np.uint64, rows: RowTables, tables: TableSet, found: Any, values: Any) -> int:
    """Write the values of a board's directions by the tables.

    Args:
        board: see `best_image`.
        rows: see `best_image`.
        tables: see `best_image`.
        found: see `best_image`.
        values: int64 [4], overwritten: probability of reaching the goal in units of 1/65,535; −1 where a
            direction moves nothing or moves a locked tile.

    Returns:
        The best direction, or −1 if play should follow no table.
    """
    formation, image, number, top = best_image(board, rows, tables, found)
    if formation < 0:
        return -1
    image_moves(image, formation, top, rows, tables, found)
    for direction in range(4):
        values[IMAGE_DIRECTIONS[number, direction]] = found[direction]
    return int(IMAGE_DIRECTIONS[number, best_direction(found)])


@kernel
def table_moves_of_many(
    boards: Any, rows: RowTables, tables: TableSet, found: Any, values: Any, directions: Any
) -> None:
    """Write the direction of `table_moves` for each board.

    Args:
        boards: uint64 [n].
        rows: see `best_image`.
        tables: see `best_image`.
        found: see `best_image`.
        values: int64 [4], scratch.
        directions: int8 [n], overwritten.
    """
    for i in range(directions.size):
        directions[i] = table_moves(boards[i], rows, tables, found, values)


def make_table_set(tables: Sequence[EndgameTable]) -> TableSet:
    """Describe tables of 4×4 boards for kernels. The caller keeps ``tables`` alive."""
    specs = [table.spec for table in tables]
    formations = order_of(specs)
    made = TableSet(
        fits=make_fits(specs),
        segments=np.zeros((len(formations), 2, _SEGMENTS, 3), dtype=np.uint64),
        tables=np.zeros((len(tables), _FIELDS), dtype=np.int64),
    )
    for row, table in enumerate(tables):
        i = formations.index(table.spec.formation)
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
