"""Boards of up to 5×5 in two uint64, for speed: kernels over row tables, like `game2048.kernels.bitboard`.

Nibbles hold exponents 0 to 15, row by row; a row never straddles the two words, so that the first word holds
``16 // columns`` rows. As on a bitboard, two 32768 do not merge here: see `is_wide`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from game2048.kernels.bitboard import lowered, ranks_left_out
from game2048.kernels.intrinsics import pext
from game2048.kernels.jit import allocating_kernel, count_ones, count_trailing_zeros, inlined_kernel, kernel
from game2048.line import slide_line
from game2048.spawn import next_random, pick

_slide_line = numba.njit(nogil=True)(slide_line)
_next_random = numba.njit(nogil=True)(next_random)
_pick = numba.njit(nogil=True)(pick)

_U0, _U1, _U2, _U4, _U15 = (np.uint64(n) for n in (0, 1, 2, 4, 15))


class Turn(NamedTuple):
    """How to transpose: line ``i`` of the result is what two masks gather.

    Attributes:
        low: uint64 [lines], of the first word.
        high: uint64 [lines], of the second.
        shift: where the bits of the second go.
        bits: the length of a line of the result.
        lines_a_word: how many lines the first word of the result takes.
    """

    low: npt.NDArray[np.uint64]
    high: npt.NDArray[np.uint64]
    shift: np.uint64
    bits: np.uint64
    lines_a_word: int


class Geometry(NamedTuple):
    """The shape of a board.

    Attributes:
        rows: 2 to 5.
        columns: 2 to 5.
        bits: the length of a row.
        rows_a_word: how many rows the first word takes.
        cells_low: the lowest bit of each cell in the first word.
        cells_high: the lowest bit of each cell in the second.
        outer: the nibbles of column 0 in either word, ``outer_shift`` from the last column.
        outer_shift: see there.
        inner: the nibbles of column 1, ``inner_shift`` from the last but one; 0 below four columns.
        inner_shift: see there.
        middle: the nibbles of the middle column; 0 for an even number of columns.
        turn: to the transposed board.
        back: from it.
    """

    rows: int
    columns: int
    bits: np.uint64
    rows_a_word: int
    cells_low: np.uint64
    cells_high: np.uint64
    outer: np.uint64
    outer_shift: np.uint64
    inner: np.uint64
    inner_shift: np.uint64
    middle: np.uint64
    turn: Turn
    back: Turn


class WordRules(NamedTuple):
    """What a move makes of a board in two words.

    Attributes:
        geometry: of the board.
        along_rows: uint64 [16**columns], each row slid left, slid right and half the reward, in bits 0–19,
            20–39 and 40 up.
        along_columns: uint64 [16**rows], the same for columns.
    """

    geometry: Geometry
    along_rows: npt.NDArray[np.uint64]
    along_columns: npt.NDArray[np.uint64]


def word_and_shift(cell: int, columns: int) -> tuple[int, int]:
    """In which word, and how far up in it, the nibble of a cell is."""
    lines_a_word = 16 // columns
    row, column = divmod(cell, columns)
    return row // lines_a_word, 4 * (row % lines_a_word * columns + column)


def masks_of(cells: list[int], columns: int) -> tuple[int, int]:
    """The nibbles of some cells, as a mask for each word."""
    masks = [0, 0]
    for cell in cells:
        word, shift = word_and_shift(cell, columns)
        masks[word] |= 15 << shift
    return masks[0], masks[1]


def _make_turn(rows: int, columns: int) -> Turn:
    masks = [masks_of([row * columns + column for row in range(rows)], columns) for column in range(columns)]
    return Turn(
        np.array([low for low, _ in masks], dtype=np.uint64),
        np.array([high for _, high in masks], dtype=np.uint64),
        np.uint64(4 * min(rows, 16 // columns)),
        np.uint64(4 * rows),
        16 // rows,
    )


def make_geometry(rows: int, columns: int) -> Geometry:
    """The shape of a board of 2 to 5 rows and columns."""
    every_row = range(16 // columns)

    def column_mask(column: int) -> np.uint64:
        return np.uint64(sum(15 << (4 * (row * columns + column)) for row in every_row))

    cells = masks_of(list(range(rows * columns)), columns)
    lowest = 0x1111111111111111
    return Geometry(
        rows,
        columns,
        np.uint64(4 * columns),
        16 // columns,
        np.uint64(cells[0] & lowest),
        np.uint64(cells[1] & lowest),
        column_mask(0),
        np.uint64(4 * (columns - 1)),
        column_mask(1) if columns > 3 else _U0,
        np.uint64(4 * (columns - 3)) if columns > 3 else _U0,
        column_mask(columns // 2) if columns % 2 else _U0,
        _make_turn(rows, columns),
        _make_turn(columns, rows),
    )


@allocating_kernel
def _fill_lines(table: Any, length: int) -> None:
    line = np.zeros(8, dtype=np.int64)
    for index in range(table.size):
        entry = _U0
        for backwards in range(2):
            for i in range(length):
                exponent = (index >> (4 * (length - 1 - i if backwards else i))) & 15
                # Distinct stand-ins keep 32768 + 32768 from merging into what no nibble holds.
                line[i] = 100 + i if exponent == 15 else exponent
            reward = _slide_line(line, length)
            for i in range(length):
                exponent = 15 if line[i] >= 100 else line[i]
                place = 4 * (length - 1 - i if backwards else i)
                entry |= np.uint64(exponent) << np.uint64(place + 20 * backwards)
            if backwards == 0:
                entry |= np.uint64(reward >> 1) << np.uint64(40)
        table[index] = entry


def make_word_rules(rows: int, columns: int) -> WordRules:
    """The rules for a board of 2 to 5 rows and columns (8 MB of tables for 5)."""
    along_rows = np.empty(16**columns, dtype=np.uint64)
    _fill_lines(along_rows, columns)
    along_columns = along_rows
    if rows != columns:
        along_columns = np.empty(16**rows, dtype=np.uint64)
        _fill_lines(along_columns, rows)
    return WordRules(make_geometry(rows, columns), along_rows, along_columns)


@inlined_kernel
def transpose_words(low: np.uint64, high: np.uint64, turn: Turn) -> Any:
    """Mirror a board on its main diagonal."""
    new_low = _U0
    new_high = _U0
    at = _U0
    for i in range(turn.low.size):
        line = pext(low, turn.low[i]) | (pext(high, turn.high[i]) << turn.shift)
        if i == turn.lines_a_word:
            at = _U0
        if i < turn.lines_a_word:
            new_low |= line << at
        else:
            new_high |= line << at
        at += turn.bits
    return new_low, new_high


@inlined_kernel
def mirror_word(word: np.uint64, geometry: Geometry) -> np.uint64:
    """Swap left and right in one of the words."""
    g = geometry
    return (
        ((word & g.outer) << g.outer_shift)
        | ((word >> g.outer_shift) & g.outer)
        | ((word & g.inner) << g.inner_shift)
        | ((word >> g.inner_shift) & g.inner)
        | (word & g.middle)
    )


@inlined_kernel
def flip_words(low: np.uint64, high: np.uint64, geometry: Geometry) -> Any:
    """Swap top and bottom."""
    mask = (_U1 << geometry.bits) - _U1
    if geometry.rows == 5 and geometry.columns == 5:
        middle = low & (mask << np.uint64(40))
        new_low = ((high >> geometry.bits) & mask) | ((high & mask) << geometry.bits) | middle
        return new_low, ((low >> geometry.bits) & mask) | ((low & mask) << geometry.bits)
    new_low = _U0
    new_high = _U0
    for row in range(geometry.rows - 1, -1, -1):
        # The last row is taken first and moves up as others follow.
        if row < geometry.rows_a_word:
            line = (low >> (geometry.bits * np.uint64(row))) & mask
        else:
            line = (high >> (geometry.bits * np.uint64(row - geometry.rows_a_word))) & mask
        to = geometry.rows - 1 - row
        if to < geometry.rows_a_word:
            new_low |= line << (geometry.bits * np.uint64(to))
        else:
            new_high |= line << (geometry.bits * np.uint64(to - geometry.rows_a_word))
    return new_low, new_high


@inlined_kernel
def _slide_lines(
    low: np.uint64, high: np.uint64, table: Any, lines: int, lines_a_word: int, bits: np.uint64
) -> Any:
    mask = (_U1 << bits) - _U1
    left_low, left_high, right_low, right_high, reward = _U0, _U0, _U0, _U0, _U0
    at = _U0
    for i in range(lines):
        if i == lines_a_word:
            at = _U0
        word = low if i < lines_a_word else high
        entry = table[(word >> at) & mask]
        left = (entry & mask) << at
        right = ((entry >> np.uint64(20)) & mask) << at
        if i < lines_a_word:
            left_low |= left
            right_low |= right
        else:
            left_high |= left
            right_high |= right
        reward += entry >> np.uint64(40)
        at += bits
    return left_low, left_high, right_low, right_high, np.int64(reward << _U1)


@inlined_kernel
def slide_all_words(low: np.uint64, high: np.uint64, rules: WordRules, after: Any, reward: Any) -> None:
    """Write the afterstates and rewards of all directions; an afterstate equal to the board is illegal.

    Args:
        low: the first word of a board with at most one 32768.
        high: the second.
        rules: of its size.
        after: uint64 [4, 2], overwritten, in the order up, right, down, left.
        reward: int64 [4], overwritten.
    """
    g = rules.geometry
    a, b, c, d, gained = _slide_lines(low, high, rules.along_rows, g.rows, g.rows_a_word, g.bits)
    after[3, 0] = a
    after[3, 1] = b
    after[1, 0] = c
    after[1, 1] = d
    reward[3] = gained
    reward[1] = gained
    low, high = transpose_words(low, high, g.turn)
    a, b, c, d, gained = _slide_lines(
        low, high, rules.along_columns, g.columns, g.turn.lines_a_word, g.turn.bits
    )
    after[0, 0], after[0, 1] = transpose_words(a, b, g.back)
    after[2, 0], after[2, 1] = transpose_words(c, d, g.back)
    reward[0] = gained
    reward[2] = gained


@kernel
def _empty(word: np.uint64, cells: np.uint64) -> np.uint64:
    filled = word | (word >> _U2)
    filled |= filled >> _U1
    return ~filled & cells


@inlined_kernel
def spawn_words(low: np.uint64, high: np.uint64, state: np.uint64, geometry: Geometry) -> Any:
    """Draw a spawn (`game2048.spawn.pick`) on a board with an empty cell; both words and the next state."""
    below = _empty(low, geometry.cells_low)
    above = _empty(high, geometry.cells_high)
    first = count_ones(below)
    state, number = _next_random(state)
    which, exponent = _pick(number, first + count_ones(above))
    tile = np.uint64(exponent)
    if which < first:
        for _ in range(which):
            below &= below - _U1
        return low | (tile << count_trailing_zeros(below)), high, state
    for _ in range(which - first):
        above &= above - _U1
    return low, high | (tile << count_trailing_zeros(above)), state


@inlined_kernel
def is_wide_words(low: np.uint64, high: np.uint64, ranks: int) -> Any:
    """Whether a board is beyond what `slide_all_words` and tables of ``ranks`` (15 or 16) take as it is."""
    a = low & (low >> _U1)
    a &= a >> _U2
    b = high & (high >> _U1)
    b &= b >> _U2
    nibbles = np.uint64(0x1111111111111111)
    found = count_ones(a & nibbles) + count_ones(b & nibbles)
    return found > (_U1 if ranks == 16 else _U0)


@kernel
def split_words(cells: Any) -> Any:
    """Exponents up to 31, uint8 [rows, columns], as both words and the bits above the nibbles (by cell)."""
    rows, columns = cells.shape
    lines_a_word = 16 // columns
    low, high, extra = _U0, _U0, _U0
    at = _U0
    cell = _U0
    for r in range(rows):
        if r == lines_a_word:
            at = _U0
        for c in range(columns):
            exponent = np.uint64(cells[r, c])
            if r < lines_a_word:
                low |= (exponent & _U15) << at
            else:
                high |= (exponent & _U15) << at
            extra |= (exponent >> _U4) << cell
            at += _U4
            cell += _U1
    return low, high, extra


@kernel
def join_words(low: np.uint64, high: np.uint64, extra: np.uint64, cells: Any) -> None:
    """The inverse of `split_words`: write uint8 [rows, columns]."""
    rows, columns = cells.shape
    lines_a_word = 16 // columns
    at = _U0
    for r in range(rows):
        if r == lines_a_word:
            at = _U0
        for c in range(columns):
            word = low if r < lines_a_word else high
            cells[r, c] = ((word >> at) & _U15) | ((extra & _U1) << _U4)
            extra >>= _U1
            at += _U4


@kernel
def _exponent_at(
    low: np.uint64, high: np.uint64, extra: np.uint64, cell: int, geometry: Geometry
) -> np.uint64:
    first = geometry.rows_a_word * geometry.columns
    word = low if cell < first else high
    at = np.uint64(4 * cell if cell < first else 4 * (cell - first))
    return (word >> at) & _U15 | (((extra >> np.uint64(cell)) & _U1) << _U4)


@kernel
def seen_words(low: np.uint64, high: np.uint64, extra: np.uint64, ranks: int, geometry: Geometry) -> Any:
    """Both words of the board that tables of ``ranks`` see for a board `split_words` into three."""
    cells = geometry.rows * geometry.columns
    first = geometry.rows_a_word * geometry.columns
    present = _U0
    for cell in range(cells):
        present |= _U1 << _exponent_at(low, high, extra, cell, geometry)
    left_out = ranks_left_out(present, ranks)
    seen_low, seen_high = _U0, _U0
    for cell in range(cells):
        rank = lowered(_exponent_at(low, high, extra, cell, geometry), left_out, ranks)
        if cell < first:
            seen_low |= rank << np.uint64(4 * cell)
        else:
            seen_high |= rank << np.uint64(4 * (cell - first))
    return seen_low, seen_high
