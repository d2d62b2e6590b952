"""Boards of up to nine cells as numbers: slides, images, and one key for all images of a position.

A small board stands in the first corner of a 4×4 board of nibbles (`game2048.kernels.bitboard`), the other
cells empty. A slide away from that corner is a slide of the 4×4 board, moved back. A key is the digits of the
cells to a base that holds every tile which the board can show; of all images the smallest board counts.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.board import Board
from game2048.errors import SolverError
from game2048.kernels.bitboard import RowTables, flip, make_row_tables, mirror, slide, transpose
from game2048.kernels.jit import kernel
from game2048.size import Size

MOST_CELLS = 9
"""Largest number of cells of a board that is solved: its keys still fit 32 bits, its solution fits memory."""
_LONGEST_SIDE = 4
_U0, _U15 = np.uint64(0), np.uint64(15)


class SmallRules(NamedTuple):
    """The shape of a small board, as kernels take it. It has no more rows than columns.

    Attributes:
        rows: the row tables.
        height: rows of the board.
        width: columns of the board.
        base: base of the keys, two more than the cells: no tile is above 2 ** (cells + 1).
        shifts: uint64 [cells], the lowest bit of each cell, row by row.
    """

    rows: RowTables
    height: int
    width: int
    base: int
    shifts: npt.NDArray[np.uint64]


def is_solvable(size: Size) -> bool:
    """Return whether boards of a size have few enough positions for a full solution."""
    return size.cells <= MOST_CELLS and max(size) <= _LONGEST_SIDE


def upright(size: Size) -> Size:
    """Return the size with its shorter side as the rows: both have the same solution."""
    return Size(min(size), max(size))


@functools.cache
def make_small_rules(size: Size) -> SmallRules:
    """Describe a shape for kernels.

    Raises:
        SolverError: such boards have too many positions.
    """
    if not is_solvable(size):
        raise SolverError(
            f"a board of {size} is too large to be solved; expected at most {MOST_CELLS} cells and sides of "
            f"at most {_LONGEST_SIDE}; try 3x3"
        )
    height, width = upright(size)
    shifts = [16 * row + 4 * column for row in range(height) for column in range(width)]
    return SmallRules(make_row_tables(), height, width, size.cells + 2, np.array(shifts, dtype=np.uint64))


@kernel
def slide_small(board: np.uint64, direction: int, rules: SmallRules) -> Any:
    """Return the afterstate and merge reward of a direction (0 up, 1 right, 2 down, 3 left)."""
    after, reward = slide(board, direction, rules.rows)
    if direction == 1:
        after >>= np.uint64(4 * (4 - rules.width))
    elif direction == 2:
        after >>= np.uint64(16 * (4 - rules.height))
    return after, reward


@kernel
def smallest_image(board: np.uint64, rules: SmallRules) -> np.uint64:
    """Return the smallest of all images of a board that have its shape."""
    across, down = np.uint64(4 * (4 - rules.width)), np.uint64(16 * (4 - rules.height))
    smallest = board
    image = board
    for turn in range(8):
        smallest = min(smallest, image)
        image = mirror(image) >> across if turn % 2 == 0 else flip(image) >> down
        if turn == 3:
            if rules.height != rules.width:
                break
            image = transpose(image)
    return smallest


@kernel
def small_key_of(board: np.uint64, rules: SmallRules) -> np.uint32:
    """Return the key of a board, the same for all its images."""
    image = smallest_image(board, rules)
    key = _U0
    for shift in rules.shifts:
        key = key * np.uint64(rules.base) + ((image >> shift) & _U15)
    return np.uint32(key)


@kernel
def small_board_of(key: np.uint32, rules: SmallRules) -> np.uint64:
    """Return the board of a key: the smallest of its images."""
    board, rest, base = _U0, np.uint64(key), np.uint64(rules.base)
    for shift in rules.shifts[::-1]:
        board |= (rest % base) << shift
        rest //= base
    return board


def pack_small(board: Board) -> np.uint64:
    """Pack a board of sides of at most four into nibbles; one with more rows than columns is transposed."""
    value = 0
    for i, exponent in enumerate(board.cells):
        row, column = divmod(i, board.columns)
        if board.rows > board.columns:
            row, column = column, row
        value |= exponent << (16 * row + 4 * column)
    return np.uint64(value)


def unpack_small(board: np.uint64, size: Size) -> Board:
    """Return the board of a size that `pack_small` packs; ``size`` has no more rows than columns."""
    value = int(board)
    return Board(
        *size,
        bytes(
            (value >> (16 * row + 4 * column)) & 15
            for row in range(size.rows)
            for column in range(size.columns)
        ),
    )
