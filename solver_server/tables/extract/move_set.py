"""A small set of what tables know: the best moves of the boards that play meets most.

Each board is a number, of its formation and its moving tiles. The set is these numbers, sorted, and two bits
for each, the direction; of what is not in it, it says nothing. So a few megabytes do for most of the boards
that tables of gigabytes are asked for.

A file is a container (`solver_server.array_file`) with the header below. Its payload is the gaps between the
numbers, in planes of their bytes, the lowest first, and the directions, four a byte from the low bits on,
each of these a zlib stream.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError
from game2048.kernels.bitboard import IMAGE_DIRECTIONS, IMAGES, RowTables, next_image, slide
from game2048.kernels.jit import kernel
from solver_server import array_file
from solver_server.tables.formations import TableSpec
from solver_server.tables.matching import Fits, goal_at_hand, keeps, make_fits, top_of
from solver_server.tables.storage import Header

SHIPPED = Path(__file__).parent / "4x4.extract"
"""The set that comes with the project."""

_BUCKET_BITS = np.uint64(10)
_PLANES = 4
_U0, _U15 = np.uint64(0), np.uint64(15)

Numbers = npt.NDArray[np.uint32]
Bytes = npt.NDArray[np.uint8]


class DistilledHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The header of a file.

    Attributes:
        kind: what the container holds.
        tables: that it was made of.
        count: how many boards it has.
        games: played for the boards that tables are entered by.
        visits: boards met in playing on from these.
        seed: of games and visits.
        lengths: of each stream, in bytes.
    """

    kind: Literal["distilled"] = "distilled"
    tables: list[Header]
    count: int = 0
    games: int
    visits: int
    seed: int
    lengths: list[int] = []


class Numbering(NamedTuple):
    """How boards that fit formations are numbered: first + Σ rank · stride.

    Attributes:
        strides: uint64 [formations, 16], 0 where locked.
        firsts: uint64 [formations], the number of a board without a moving tile.
    """

    strides: npt.NDArray[np.uint64]
    firsts: npt.NDArray[np.uint64]


class DistilledSet(NamedTuple):
    """A set as kernels take it.

    Attributes:
        fits: the formations.
        numbering: of the boards.
        numbers: uint32 [count], sorted.
        buckets: int64 [n + 1], where the numbers of each 1024 begin.
        moves: uint8 [count / 4], the directions, those of the boards as the formation's picture shows them.
    """

    fits: Fits
    numbering: Numbering
    numbers: Numbers
    buckets: npt.NDArray[np.int64]
    moves: Bytes


def make_numbering(fits: Fits) -> Numbering:
    """How the boards of some formations are numbered; strides grow from cell to cell.

    Raises:
        SolverError: there are too many for 32 bits.
    """
    count = fits.masks.size
    made = Numbering(np.zeros((count, 16), dtype=np.uint64), np.zeros(count, dtype=np.uint64))
    following = 0
    for formation in range(count):
        made.firsts[formation] = following
        stride = 1
        for cell, below in enumerate(fits.below[formation]):
            if below >= 0:
                made.strides[formation, cell] = stride
                stride *= int(fits.tops[formation] - below) + 1
        following += stride
    if following >= 1 << 32:
        raise SolverError(f"{following:,} boards are too many for a distilled set: expected less than 2^32")
    return made


@kernel
def number_of(board: np.uint64, formation: int, numbering: Numbering) -> np.uint64:
    """The number of a board that fits a formation as it lies."""
    number = numbering.firsts[formation]
    for cell in range(16):
        number += ((board >> np.uint64(4 * cell)) & _U15) * numbering.strides[formation, cell]
    return np.uint64(number)


@kernel
def fit_of(number: np.uint64, locked: npt.NDArray[np.uint64], numbering: Numbering) -> Any:
    """What a number stands for, the inverse of `number_of`.

    Args:
        number: of a board that fits a formation.
        locked: uint64 [formations], a board of each that has the locked tiles alone.
        numbering: see `Numbering`.

    Returns:
        The board, with those locked tiles, and its formation.
    """
    formation = 0
    while formation + 1 < numbering.firsts.size and numbering.firsts[formation + 1] <= number:
        formation += 1
    rest = number - numbering.firsts[formation]
    board = locked[formation]
    for cell in range(15, -1, -1):
        stride = numbering.strides[formation, cell]
        if stride > _U0:
            board |= (rest // stride) << np.uint64(4 * cell)
            rest %= stride
    return board, formation


def make_set(specs: Sequence[TableSpec], numbers: Numbers, moves: Bytes) -> DistilledSet:
    """A set ready for play.

    Args:
        specs: of the tables it was made of.
        numbers: sorted, each once.
        moves: of each, four a byte.
    """
    last = int(numbers[-1]) if numbers.size else 0
    edges = np.arange((last >> int(_BUCKET_BITS)) + 2, dtype=np.uint64) << _BUCKET_BITS
    buckets = np.searchsorted(numbers, edges).astype(np.int64)
    fits = make_fits(specs)
    return DistilledSet(fits, make_numbering(fits), numbers, buckets, moves)


@kernel
def move_at(place: int, known: DistilledSet) -> int:
    """The direction for the board at a place of the set."""
    return int(np.int64(known.moves[place >> 2] >> (2 * (place & 3))) & 3)


@kernel
def _known_move(number: np.uint64, known: DistilledSet) -> int:
    """The direction for a board by its number; −1 if the set has none."""
    bucket = np.int64(number >> _BUCKET_BITS)
    if bucket + 1 >= known.buckets.size:
        return -1
    low, high = known.buckets[bucket], known.buckets[bucket + 1]
    while low < high:
        middle = (low + high) >> 1
        if known.numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    if low == known.buckets[bucket + 1] or known.numbers[low] != number:
        return -1
    return int(move_at(low, known))


@kernel
def distilled_move(board: np.uint64, rows: RowTables, known: DistilledSet) -> int:
    """The best move by the first formation in which a board can reach a goal at once, or is in the set.

    Args:
        board: the player is to move.
        rows: the row tables.
        known: the set.

    Returns:
        The direction, or −1 if the set does not know.
    """
    fits = known.fits
    for formation in range(fits.masks.size):
        image = board
        for turn in range(IMAGES):
            top = top_of(image, formation, fits)
            if top >= 0:
                direction = goal_at_hand(image, formation, top, rows, fits)
                if direction < 0:
                    direction = _known_move(number_of(image, formation, known.numbering), known)
                # What a file says is no more trusted than to be a move.
                if direction >= 0 and keeps(image, slide(image, direction, rows)[0], formation, fits):
                    return int(IMAGE_DIRECTIONS[turn, direction])
            image = next_image(image, turn)
    return -1


@kernel
def distilled_moves_of_many(boards: Any, rows: RowTables, known: DistilledSet, directions: Any) -> None:
    """Write what `distilled_move` says of each board.

    Args:
        boards: uint64 [n].
        rows: the row tables.
        known: the set.
        directions: int8 [n], overwritten.
    """
    for i in range(directions.size):
        directions[i] = distilled_move(boards[i], rows, known)


def save(path: Path, header: DistilledHeader, numbers: Numbers, moves: Bytes) -> None:
    """Write a set; complete or not at all.

    Args:
        path: the file.
        header: all but ``count`` and ``lengths``, which are filled in.
        numbers: see `make_set`.
        moves: see `make_set`.
    """
    gaps = np.diff(numbers, prepend=np.uint32(0)).astype("<u4").view(np.uint8).reshape(-1, _PLANES)
    streams = [zlib.compress(np.ascontiguousarray(plane).data, 9) for plane in (*gaps.T, moves)]
    full = msgspec.structs.replace(
        header, count=int(numbers.size), lengths=[len(stream) for stream in streams]
    )
    array_file.write_array(path, msgspec.json.encode(full), np.frombuffer(b"".join(streams), dtype=np.uint8))


def read_header(path: Path) -> DistilledHeader:
    """The header of a file.

    Raises:
        SolverError: it is missing, or another kind of file.
    """
    return _decoded(path, array_file.read_array_header(path)[0])


def load(path: Path = SHIPPED) -> DistilledSet:
    """A set from its file.

    Raises:
        SolverError: it is missing, damaged, or no such file.
    """
    contents = array_file.read_array(path, in_memory=True)
    header = _decoded(path, contents.header)
    if len(header.lengths) != _PLANES + 1 or sum(header.lengths) != contents.payload.size:
        raise SolverError(f"{path} is damaged: its streams do not add up to {contents.payload.size} bytes")
    ends = np.cumsum(header.lengths)
    sizes = [header.count] * _PLANES + [-(-header.count // 4)]
    planes = [
        _expanded(path, contents.payload[end - length : end].tobytes(), size)
        for end, length, size in zip(ends, header.lengths, sizes, strict=True)
    ]
    gaps = np.stack(planes[:_PLANES], axis=1).view("<u4").reshape(-1)
    return make_set([table.spec for table in header.tables], np.cumsum(gaps, dtype=np.uint32), planes[-1])


def _decoded(path: Path, header: bytes) -> DistilledHeader:
    try:
        return msgspec.json.decode(header, type=DistilledHeader)
    except msgspec.DecodeError as error:
        raise SolverError(f"{path} is no distilled set: its header does not fit ({error})") from error


def _expanded(path: Path, stream: bytes, size: int) -> Bytes:
    """A plane, which must be of exactly that size."""
    decoder = zlib.decompressobj()
    try:
        plane = decoder.decompress(stream, max(size, 1))
    except zlib.error as error:
        raise SolverError(f"{path} is damaged: a stream cannot be expanded ({error})") from error
    if len(plane) != size or decoder.unconsumed_tail:
        raise SolverError(f"{path} is damaged: a stream has not the size of {size} bytes")
    return np.frombuffer(bytearray(plane), dtype=np.uint8)  # writable, as kernels are compiled for
