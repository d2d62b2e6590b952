"""4×4 boards in one uint64: kernels over row tables.

Cell ``i`` (row · 4 + column) is the nibble at bit ``4 · i``; a nibble holds exponents 0 to 15 (tile 32768).
Two 32768 cannot merge here, since a nibble cannot hold the 65536: they only slide. So boards with a 65536,
or with more than one 32768, are either played exactly on a `grid`, or searched in the form that `downgrade`
makes, in which each step of the game is again within the nibbles.

Everything is uint64: mixing it with int64 would silently make float64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.board import Board
from game2048.errors import RulesError
from game2048.kernels.jit import allocating_kernel, count_ones, count_trailing_zeros, kernel
from game2048.kernels.rules import compiled_next_random, compiled_pick, compiled_slide_line
from game2048.kernels.words import LOWEST_BITS, U0, U1, U2, U4, U8, U12, U15, U16, U24, U32, U48

MAX_NIBBLE = 15
"""The largest exponent that a nibble holds."""


ROW_MASK = np.uint64(0xFFFF)


class RowTables(NamedTuple):
    """What each of the 65,536 rows becomes; passed to kernels, since a cached kernel freezes globals.

    Attributes:
        left: uint16 [65536], the row slid towards column 0 (the lowest nibble).
        right: uint16 [65536], the row slid towards column 3.
        reward: int32 [65536], the merge reward, the same either way.
    """

    left: npt.NDArray[np.uint16]
    right: npt.NDArray[np.uint16]
    reward: npt.NDArray[np.int32]


@allocating_kernel
def _fill_row_tables(left: Any, right: Any, reward: Any) -> None:
    line = np.zeros(4, dtype=np.int64)
    for row in range(65536):
        for backwards in range(2):
            for i in range(4):
                exponent = (row >> (4 * (3 - i if backwards else i))) & 15
                # Distinct stand-ins keep 32768 + 32768 from merging into what no nibble holds.
                line[i] = 100 + i if exponent == 15 else exponent
            reward[row] = compiled_slide_line(line, 4)
            slid = 0
            for i in range(4):
                exponent = 15 if line[i] >= 100 else line[i]
                slid |= exponent << (4 * (3 - i if backwards else i))
            if backwards:
                right[row] = slid
            else:
                left[row] = slid


def make_row_tables() -> RowTables:
    """The row tables, computed from the rules in a few milliseconds."""
    tables = RowTables(
        np.empty(65536, dtype=np.uint16), np.empty(65536, dtype=np.uint16), np.empty(65536, dtype=np.int32)
    )
    _fill_row_tables(*tables)
    return tables


@kernel
def transpose(board: np.uint64) -> np.uint64:
    """Mirror a board on its main diagonal."""
    a = board & np.uint64(0xF0F00F0FF0F00F0F)
    b = board & np.uint64(0x0000F0F00000F0F0)
    c = board & np.uint64(0x0F0F00000F0F0000)
    board = a | (b << U12) | (c >> U12)
    a = board & np.uint64(0xFF00FF0000FF00FF)
    b = board & np.uint64(0x00FF00FF00000000)
    c = board & np.uint64(0x00000000FF00FF00)
    return a | (b >> U24) | (c << U24)


@kernel
def mirror(board: np.uint64) -> np.uint64:
    """Swap left and right."""
    board = ((board & np.uint64(0x00FF00FF00FF00FF)) << U8) | ((board >> U8) & np.uint64(0x00FF00FF00FF00FF))
    return ((board & np.uint64(0x0F0F0F0F0F0F0F0F)) << U4) | ((board >> U4) & np.uint64(0x0F0F0F0F0F0F0F0F))


@kernel
def flip(board: np.uint64) -> np.uint64:
    """Swap top and bottom."""
    board = (board << U32) | (board >> U32)
    return ((board & np.uint64(0x0000FFFF0000FFFF)) << U16) | ((board >> U16) & np.uint64(0x0000FFFF0000FFFF))


IMAGES = 8
"""How many images rotations and mirrors make of a board, itself among them."""


@kernel
def next_image(image: np.uint64, turn: int) -> np.uint64:
    """The image after the one with number ``turn``: mirrors and flips by turns, transposed half-way.

    Applied to a board with 0, to the result with 1 and so on up to 6 it visits all images.
    """
    return np.uint64(transpose(image) if turn == 3 else mirror(image) if turn % 2 == 0 else flip(image))


def _image_directions() -> npt.NDArray[np.int64]:
    mirrored, flipped, transposed = (0, 3, 2, 1), (2, 1, 0, 3), (3, 2, 1, 0)
    image_of = [0, 1, 2, 3]  # the direction on the image for each on the board
    found = []
    for turn in range(IMAGES):
        found.append([image_of.index(direction) for direction in range(4)])
        step = transposed if turn == 3 else mirrored if turn % 2 == 0 else flipped
        image_of = [step[direction] for direction in image_of]
    return np.array(found, dtype=np.int64)


IMAGE_DIRECTIONS = _image_directions()
"""int64 [8, 4]: the direction on the board for each on the image of that number (`next_image`)."""


@kernel
def slid_rows(board: np.uint64, table: Any) -> np.uint64:
    """All rows slid as `RowTables.left` or `RowTables.right` says, where no reward is asked for."""
    return (
        np.uint64(table[board & ROW_MASK])
        | (np.uint64(table[(board >> U16) & ROW_MASK]) << U16)
        | (np.uint64(table[(board >> U32) & ROW_MASK]) << U32)
        | (np.uint64(table[board >> U48]) << U48)
    )


@kernel
def _slide_rows(board: np.uint64, table: Any, reward: Any) -> Any:
    a = board & ROW_MASK
    b = (board >> U16) & ROW_MASK
    c = (board >> U32) & ROW_MASK
    d = board >> U48
    slid = (
        np.uint64(table[a])
        | (np.uint64(table[b]) << U16)
        | (np.uint64(table[c]) << U32)
        | (np.uint64(table[d]) << U48)
    )
    return slid, np.int64(reward[a]) + reward[b] + reward[c] + reward[d]


@kernel
def slide(board: np.uint64, direction: int, tables: RowTables) -> Any:
    """The afterstate and merge reward of a direction (0 up, 1 right, 2 down, 3 left).

    A move is illegal when the afterstate equals the board.
    """
    if direction == 3:
        return _slide_rows(board, tables.left, tables.reward)
    if direction == 1:
        return _slide_rows(board, tables.right, tables.reward)
    if direction == 0:
        slid, reward = _slide_rows(transpose(board), tables.left, tables.reward)
    else:
        slid, reward = _slide_rows(transpose(board), tables.right, tables.reward)
    return transpose(slid), reward


@kernel
def empty_mask(board: np.uint64) -> np.uint64:
    """The lowest bit of every empty nibble."""
    filled = board | (board >> U2)
    filled |= filled >> U1
    return ~filled & LOWEST_BITS


@kernel
def count_empty(board: np.uint64) -> int:
    """How many cells are empty."""
    return int(count_ones(empty_mask(board)))


@kernel
def max_exponent(board: np.uint64) -> int:
    """The largest exponent on the board."""
    top = U0
    while board:
        top = max(top, board & U15)
        board >>= U4
    return int(top)


@kernel
def is_over(board: np.uint64, tables: RowTables) -> bool:
    """Whether no direction changes the board."""
    for direction in range(4):
        after, _ = slide(board, direction, tables)
        if after != board:
            return False
    return True


@kernel
def spawn(board: np.uint64, state: np.uint64) -> Any:
    """Draw a spawn (`spawn.pick`) on a board with an empty cell; the board and the generator's next state."""
    mask = empty_mask(board)
    state, number = compiled_next_random(state)
    which, exponent = compiled_pick(number, count_ones(mask))
    for _ in range(which):
        mask &= mask - U1
    return board | (np.uint64(exponent) << count_trailing_zeros(mask)), state


@kernel
def start(state: np.uint64) -> Any:
    """A first board with two tiles, and the generator's next state."""
    board, state = spawn(U0, state)
    return spawn(board, state)


@kernel
def ranks_left_out(present: np.uint64, ranks: int) -> np.uint64:
    """Which ranks to leave out: the largest missing ones below the largest tile, as many as needed.

    Leaving one out lowers every tile above it by one. Where too few are missing, all of them are left out.

    Args:
        present: bit e is set when exponent e stands on the board.
        ranks: exponents must be below this.

    Source: Jaśkowski, IEEE Transactions on Games 2018, doi:10.1109/TCIAIG.2017.2651887 (tile downgrading).
    """
    top = np.uint64(63)
    while top and not (present >> top) & U1:
        top -= U1
    if top < np.uint64(ranks):
        return U0
    needed = top - np.uint64(ranks - 1)
    missing = ~present & ((U1 << top) - U1) & ~U1
    while count_ones(missing) > needed:
        missing &= missing - U1
    return missing


@kernel
def lowered(exponent: np.uint64, left_out: np.uint64, ranks: int) -> np.uint64:
    """A tile of a downgraded board; what is still too large becomes the largest rank."""
    exponent -= count_ones(left_out & ((U1 << exponent) - U1))
    return min(exponent, np.uint64(ranks - 1))


@kernel
def downgrade(cells: Any) -> np.uint64:
    """A board of any exponents as nibbles, for search: exact with one 32768 at most, else downgraded.

    One tile of 32768 or more can merge with no other, so it stands as a 32768. Where there are more of them,
    ranks are left out until all but the largest are below 32768. What merges with what stays the same, but
    only until a missing tile is made, which then looks like the next larger one: so this is done as seldom
    as can be. Where too few are missing (a board that no game shows), exponents above 15 become 15.

    Args:
        cells: uint8 [16] or [4, 4].
    """
    largest = U0
    others = U0  # but the largest tile: a bit for each exponent
    for cell in cells.flat:
        exponent = np.uint64(cell)
        others |= U1 << min(exponent, largest)
        largest = max(exponent, largest)
    left_out = ranks_left_out(others, MAX_NIBBLE)
    board = U0
    shift = U0
    for cell in cells.flat:
        board |= lowered(np.uint64(cell), left_out, MAX_NIBBLE + 1) << shift
        shift += U4
    return board


@kernel
def pack_cells(cells: Any) -> np.uint64:
    """Exponents 0 to 15, uint8 [16], as nibbles."""
    board = U0
    for i in range(16):
        board |= np.uint64(cells[i]) << np.uint64(4 * i)
    return board


@kernel
def unpack_cells(board: np.uint64, cells: Any) -> None:
    """Write the 16 exponents of a board into uint8 [16]."""
    for i in range(16):
        cells[i] = (board >> np.uint64(4 * i)) & U15


def from_board(board: Board) -> np.uint64:
    """A board as nibbles, exactly.

    Raises:
        RulesError: the board is not 4×4, or has a tile above 32768.
    """
    if (board.rows, board.columns) != (4, 4):
        raise RulesError(f"a board of {board.rows}×{board.columns} is no bitboard: expected 4×4")
    if max(board.cells) > MAX_NIBBLE:
        raise RulesError(f"tile {board.max_tile} does not fit a bitboard: expected at most 32768")
    return np.uint64(sum(exponent << (4 * i) for i, exponent in enumerate(board.cells)))


def to_board(board: np.uint64) -> Board:
    """The inverse of `from_board`."""
    value = int(board)
    return Board(4, 4, bytes((value >> (4 * i)) & 15 for i in range(16)))
