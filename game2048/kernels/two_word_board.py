"""Boards of up to 5×5 in two words: kernels over line tables, as `game2048.kernels.bitboard` has for one.

Nibbles hold exponents 0 to 15, row by row. A row never straddles the two words, so the low word holds
``16 // columns`` rows. As on a bitboard, two 32768 do not merge here: see `word_ops.is_high`.
`game2048.kernels.word_ops` chooses between the functions here and those of `one_word_board`. Where ``rules``
is typed ``Any``, whatever holds the ``geometry`` of the board will do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.kernels.bitboard import lowered, ranks_left_out
from game2048.kernels.intrinsics import pext
from game2048.kernels.jit import allocating_kernel, count_ones, count_trailing_zeros, inlined_kernel, kernel
from game2048.kernels.rules import compiled_next_random, compiled_pick, compiled_slide_line
from game2048.kernels.words import LOWEST_BITS, U0, U1, U2, U4, U15, U20, U40, Words


class Turn(NamedTuple):
    """How to transpose a board: two masks gather line ``i`` of the result.

    Attributes:
        low: uint64 [lines], the bits of the low word that make each line.
        high: uint64 [lines], the bits of the high word that make it.
        shift: how far left the gathered bits of the high word go.
        bits: length of a line of the result, in bits.
        lines_a_word: how many lines the low word of the result takes.
    """

    low: npt.NDArray[np.uint64]
    high: npt.NDArray[np.uint64]
    shift: np.uint64
    bits: np.uint64
    lines_a_word: int


class Geometry(NamedTuple):
    """The shape of a board.

    Attributes:
        rows: number of rows, 2 to 5.
        columns: number of columns, 2 to 5.
        bits: length of a row, in bits.
        rows_a_word: how many rows the low word takes.
        cells_low: lowest bit of each cell in the low word.
        cells_high: lowest bit of each cell in the high word.
        outer: nibbles of column 0 in either word.
        outer_shift: distance from column 0 to the last column, in bits.
        inner: nibbles of column 1; 0 below four columns.
        inner_shift: distance from column 1 to the last but one, in bits.
        middle: nibbles of the middle column; 0 for an even number of columns.
        turn: how to transpose the board.
        back: how to transpose it back.
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


class TwoWordRules(NamedTuple):
    """The slides of a board in two words, as kernels take them.

    Attributes:
        geometry: shape of the board.
        along_rows: uint64 [16**columns], for each row: the row slid left in bits 0–19, slid right in bits
            20–39, half the reward in bits 40 and up.
        along_columns: uint64 [16**rows], the same for columns.
    """

    geometry: Geometry
    along_rows: npt.NDArray[np.uint64]
    along_columns: npt.NDArray[np.uint64]


def word_and_shift(cell: int, columns: int) -> tuple[int, int]:
    """Find the nibble of a cell: the number of its word, and its lowest bit there."""
    lines_a_word = 16 // columns
    row, column = divmod(cell, columns)
    return row // lines_a_word, 4 * (row % lines_a_word * columns + column)


def masks_of(cells: list[int], columns: int) -> tuple[int, int]:
    """Make the masks, for the low and the high word, of the nibbles of some cells."""
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
    """Describe a board of 2 to 5 rows and columns."""
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
        column_mask(1) if columns > 3 else U0,
        np.uint64(4 * (columns - 3)) if columns > 3 else U0,
        column_mask(columns // 2) if columns % 2 else U0,
        _make_turn(rows, columns),
        _make_turn(columns, rows),
    )


@allocating_kernel
def _fill_lines(table: Any, length: int) -> None:
    line = np.zeros(8, dtype=np.int64)
    for index in range(table.size):
        entry = U0
        for backwards in range(2):
            for i in range(length):
                exponent = (index >> (4 * (length - 1 - i if backwards else i))) & 15
                # Distinct stand-ins keep 32768 + 32768 from merging into what no nibble holds.
                line[i] = 100 + i if exponent == 15 else exponent
            reward = compiled_slide_line(line, length)
            for i in range(length):
                exponent = 15 if line[i] >= 100 else line[i]
                place = 4 * (length - 1 - i if backwards else i)
                entry |= np.uint64(exponent) << np.uint64(place + 20 * backwards)
            if backwards == 0:
                entry |= np.uint64(reward >> 1) << U40
        table[index] = entry


def make_two_word_rules(rows: int, columns: int) -> TwoWordRules:
    """Make the slides of a board of 2 to 5 rows and columns (8 MB of tables for 5)."""
    along_rows = np.empty(16**columns, dtype=np.uint64)
    _fill_lines(along_rows, columns)
    along_columns = along_rows
    if rows != columns:
        along_columns = np.empty(16**rows, dtype=np.uint64)
        _fill_lines(along_columns, rows)
    return TwoWordRules(make_geometry(rows, columns), along_rows, along_columns)


@inlined_kernel
def transpose_words(low: np.uint64, high: np.uint64, turn: Turn) -> Any:
    """Mirror a board on its main diagonal."""
    new_low = U0
    new_high = U0
    at = U0
    for i in range(turn.low.size):
        line = pext(low, turn.low[i]) | (pext(high, turn.high[i]) << turn.shift)
        if i == turn.lines_a_word:
            at = U0
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
    mask = (U1 << geometry.bits) - U1
    if geometry.rows == 5 and geometry.columns == 5:
        middle = low & (mask << U40)
        new_low = ((high >> geometry.bits) & mask) | ((high & mask) << geometry.bits) | middle
        return new_low, ((low >> geometry.bits) & mask) | ((low & mask) << geometry.bits)
    new_low = U0
    new_high = U0
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
    mask = (U1 << bits) - U1
    left_low, left_high, right_low, right_high, reward = U0, U0, U0, U0, U0
    at = U0
    for i in range(lines):
        if i == lines_a_word:
            at = U0
        word = low if i < lines_a_word else high
        entry = table[(word >> at) & mask]
        left = (entry & mask) << at
        right = ((entry >> U20) & mask) << at
        if i < lines_a_word:
            left_low |= left
            right_low |= right
        else:
            left_high |= left
            right_high |= right
        reward += entry >> U40
        at += bits
    return left_low, left_high, right_low, right_high, np.int64(reward << U1)


@inlined_kernel
def slide_two_words(words: Words, rules: TwoWordRules, after: Any, reward: Any) -> None:
    """Write the afterstates and rewards of all directions; see `word_ops.slide_words`."""
    g = rules.geometry
    low, high = words.low, words.high
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
    filled = word | (word >> U2)
    filled |= filled >> U1
    return ~filled & cells


@inlined_kernel
def spawn_two_words(words: Words, state: np.uint64, rules: TwoWordRules) -> Any:
    """Draw a spawn; see `word_ops.spawn_words`."""
    low, high = words.low, words.high
    below = _empty(low, rules.geometry.cells_low)
    above = _empty(high, rules.geometry.cells_high)
    first = count_ones(below)
    state, number = compiled_next_random(state)
    which, exponent = compiled_pick(number, first + count_ones(above))
    tile = np.uint64(exponent)
    if which < first:
        for _ in range(which):
            below &= below - U1
        return Words(low | (tile << count_trailing_zeros(below)), high, U0), state
    for _ in range(which - first):
        above &= above - U1
    return Words(low, high | (tile << count_trailing_zeros(above)), U0), state


@inlined_kernel
def is_high_two_words(words: Words, ranks: int, rules: Any) -> Any:
    """Tell whether a board must be lowered; see `word_ops.is_high`."""
    a = words.low & (words.low >> U1)
    a &= a >> U2
    b = words.high & (words.high >> U1)
    b &= b >> U2
    found = count_ones(a & LOWEST_BITS) + count_ones(b & LOWEST_BITS)
    return found > (U1 if ranks == 16 else U0)


@kernel
def pack_two_words(cells: Any, rules: Any) -> Words:
    """Make words of uint8 [rows, columns]; see `word_ops.pack_words`."""
    rows, columns = cells.shape
    lines_a_word = 16 // columns
    low, high, extra = U0, U0, U0
    at = U0
    cell = U0
    for r in range(rows):
        if r == lines_a_word:
            at = U0
        for c in range(columns):
            exponent = np.uint64(cells[r, c])
            if r < lines_a_word:
                low |= (exponent & U15) << at
            else:
                high |= (exponent & U15) << at
            extra |= (exponent >> U4) << cell
            at += U4
            cell += U1
    return Words(low, high, extra)


@kernel
def unpack_two_words(words: Words, cells: Any, rules: TwoWordRules) -> None:
    """Write uint8 [rows, columns]; see `word_ops.unpack_words`."""
    rows, columns = cells.shape
    lines_a_word = 16 // columns
    extra = words.extra
    at = U0
    for r in range(rows):
        if r == lines_a_word:
            at = U0
        for c in range(columns):
            word = words.low if r < lines_a_word else words.high
            cells[r, c] = ((word >> at) & U15) | ((extra & U1) << U4)
            extra >>= U1
            at += U4


@kernel
def _exponent_at(words: Words, cell: int, geometry: Geometry) -> np.uint64:
    first = geometry.rows_a_word * geometry.columns
    word = words.low if cell < first else words.high
    at = np.uint64(4 * cell if cell < first else 4 * (cell - first))
    return (word >> at) & U15 | (((words.extra >> np.uint64(cell)) & U1) << U4)


@kernel
def lower_two_words(words: Words, ranks: int, rules: Any) -> Words:
    """Downgrade a board; see `word_ops.lower_words`."""
    geometry = rules.geometry
    cells = geometry.rows * geometry.columns
    first = geometry.rows_a_word * geometry.columns
    present = U0
    for cell in range(cells):
        present |= U1 << _exponent_at(words, cell, geometry)
    left_out = ranks_left_out(present, ranks)
    low, high = U0, U0
    for cell in range(cells):
        rank = lowered(_exponent_at(words, cell, geometry), left_out, ranks)
        if cell < first:
            low |= rank << np.uint64(4 * cell)
        else:
            high |= rank << np.uint64(4 * (cell - first))
    return Words(low, high, U0)
