"""Extracts of tables: the best moves of the boards that play meets most.

Each board is a number, made of its formation and its moving tiles. An extract is these numbers, sorted, with
two bits for each, the direction. It says nothing of other boards. So a few megabytes serve for most of the
boards on which play would ask tables of gigabytes.

A file is an array file (`solver_server.array_file`) with the header below. Its payload is five zlib streams:
the gaps between the numbers, in planes of their bytes, the lowest first; and the directions, four a byte from
the low bits on.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError
from game2048.kernels.bitboard import IMAGE_DIRECTIONS, IMAGES, RowTables, next_image, slide
from game2048.kernels.jit import kernel
from solver_server import array_file
from solver_server.expansion import expand_exactly, most_expanded
from solver_server.tables.formations import TableSpec
from solver_server.tables.matching import Fits, goal_at_hand, keeps, make_fits, top_of
from solver_server.tables.storage import TableHeader

BUNDLED_EXTRACT = Path(__file__).parent / "4x4.extract"
"""The extract that is bundled with the project."""
MOST_BOARDS = 1 << 24
"""Most boards of an extract."""

_BUCKET_BITS = np.uint64(10)
_PLANES = 4
_U0, _U15 = np.uint64(0), np.uint64(15)

Numbers = npt.NDArray[np.uint32]
Bytes = npt.NDArray[np.uint8]


class ExtractHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The header of an extract.

    Attributes:
        kind: what the array file holds; files keep the older word.
        tables: headers of the tables that it was made of.
        count: number of boards.
        games: games played to find the boards on which play enters the tables.
        visits: boards met in play by the tables from there.
        seed: seed of games and visits.
        lengths: length of each stream, in bytes.
    """

    kind: Literal["distilled"] = "distilled"
    tables: list[TableHeader]
    count: int = 0
    games: int
    visits: int
    seed: int
    lengths: list[int] = []


class Numbering(NamedTuple):
    """The numbers of boards that fit formations: first + Σ rank · stride.

    Attributes:
        strides: uint64 [formations, 16], 0 where locked.
        firsts: uint64 [formations], number of the board without moving tiles.
    """

    strides: npt.NDArray[np.uint64]
    firsts: npt.NDArray[np.uint64]


class Extract(NamedTuple):
    """An extract as kernels take it.

    Attributes:
        fits: the formations.
        numbering: numbers of the boards.
        numbers: uint32 [count], sorted.
        buckets: int64 [n + 1], start of each 1024 numbers.
        moves: uint8 [count / 4], directions on the boards in the position of the formation's picture.
    """

    fits: Fits
    numbering: Numbering
    numbers: Numbers
    buckets: npt.NDArray[np.int64]
    moves: Bytes


def make_numbering(fits: Fits) -> Numbering:
    """Number the boards of some formations; strides grow from cell to cell.

    Raises:
        SolverError: there are too many boards for 32 bits.
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
        raise SolverError(f"{following:,} boards are too many for an extract; expected less than 2^32")
    return made


@kernel
def number_in_extract(board: np.uint64, formation: int, numbering: Numbering) -> np.uint64:
    """Return the number of a board that fits a formation in this position."""
    number = numbering.firsts[formation]
    for cell in range(16):
        number += ((board >> np.uint64(4 * cell)) & _U15) * numbering.strides[formation, cell]
    return np.uint64(number)


@kernel
def fit_of(number: np.uint64, locked: npt.NDArray[np.uint64], numbering: Numbering) -> Any:
    """Return the board of a number, the inverse of `number_in_extract`.

    Args:
        number: number of a board that fits a formation.
        locked: uint64 [formations], boards that have only the locked tiles.
        numbering: strides of the numbers.

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


def make_extract(specs: Sequence[TableSpec], numbers: Numbers, moves: Bytes) -> Extract:
    """Make an extract ready for play.

    Args:
        specs: the tables that it was made of.
        numbers: uint32 [count], sorted, each once.
        moves: uint8 [count / 4], the direction of each, four a byte.
    """
    last = int(numbers[-1]) if numbers.size else 0
    edges = np.arange((last >> int(_BUCKET_BITS)) + 2, dtype=np.uint64) << _BUCKET_BITS
    buckets = np.searchsorted(numbers, edges).astype(np.int64)
    fits = make_fits(specs)
    return Extract(fits, make_numbering(fits), numbers, buckets, moves)


@kernel
def move_at(place: int, known: Extract) -> int:
    """Return the direction for the board at a place of the extract."""
    return int(np.int64(known.moves[place >> 2] >> (2 * (place & 3))) & 3)


@kernel
def _known_move(number: np.uint64, known: Extract) -> int:
    """Find the direction for a board by its number; −1 if the extract does not have it."""
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
def extract_move(board: np.uint64, rows: RowTables, known: Extract) -> int:
    """Find the best move by the first formation in which a board can reach a goal at once, or is known.

    Args:
        board: the board; the player is to move.
        rows: the row tables.
        known: the extract.

    Returns:
        The direction, or −1 if the extract does not know the board.
    """
    fits = known.fits
    for formation in range(fits.masks.size):
        image = board
        for turn in range(IMAGES):
            top = top_of(image, formation, fits)
            if top >= 0:
                direction = goal_at_hand(image, formation, top, rows, fits)
                if direction < 0:
                    direction = _known_move(number_in_extract(image, formation, known.numbering), known)
                # A damaged file must not make an illegal move.
                if direction >= 0 and keeps(image, slide(image, direction, rows)[0], formation, fits):
                    return int(IMAGE_DIRECTIONS[turn, direction])
            image = next_image(image, turn)
    return -1


@kernel
def extract_moves_of_many(boards: Any, rows: RowTables, known: Extract, directions: Any) -> None:
    """Write the `extract_move` of each board.

    Args:
        boards: uint64 [n].
        rows: the row tables.
        known: the extract.
        directions: int8 [n], overwritten.
    """
    for i in range(directions.size):
        directions[i] = extract_move(boards[i], rows, known)


def write_extract(path: Path, header: ExtractHeader, numbers: Numbers, moves: Bytes) -> None:
    """Write an extract; complete or not at all.

    Args:
        path: the file.
        header: the header; ``count`` and ``lengths`` are filled in.
        numbers: see `make_extract`.
        moves: see `make_extract`.

    Raises:
        SolverError: there are more boards than a file may hold.
        OSError: the file cannot be written.
    """
    gaps = np.diff(numbers, prepend=np.uint32(0)).astype("<u4").view(np.uint8).reshape(-1, _PLANES)
    streams = [zlib.compress(np.ascontiguousarray(plane).data, 9) for plane in (*gaps.T, moves)]
    full = msgspec.structs.replace(
        header, count=int(numbers.size), lengths=[len(stream) for stream in streams]
    )
    payload = np.frombuffer(b"".join(streams), dtype=np.uint8)
    _check_count(path, full.count, payload.size)
    array_file.write_array(path, msgspec.json.encode(full), payload)


def read_extract_header(path: Path) -> ExtractHeader:
    """Read the header of an extract.

    Raises:
        SolverError: the file is missing, or is not an extract.
    """
    return _decoded(path, array_file.read_array_header(path)[0])


def read_extract(path: Path = BUNDLED_EXTRACT) -> Extract:
    """Read an extract. It is verified before it is expanded, and its size is checked before both.

    Raises:
        SolverError: the file is missing, damaged, or not an extract.
    """
    header = read_extract_header(path)
    _check_count(path, header.count, path.stat().st_size)
    specs = [table.spec for table in header.tables]
    if not specs or any((spec.formation.rows, spec.formation.columns) != (4, 4) for spec in specs):
        raise SolverError(f"{path} is not an extract of tables of 4×4 boards")
    contents = array_file.read_array(path, in_memory=True)
    lengths = header.lengths
    if len(lengths) != _PLANES + 1 or min(lengths) < 0 or sum(lengths) != contents.payload.size:
        raise SolverError(f"{path} is damaged: its streams do not add up to {contents.payload.size} bytes")
    streams = [
        contents.payload[end - length : end].tobytes()
        for end, length in zip(accumulate(lengths), lengths, strict=True)
    ]
    gaps = np.empty((header.count, _PLANES), dtype=np.uint8)
    for plane in range(_PLANES):
        gaps[:, plane] = expand_exactly(path, streams[plane], header.count, "zlib")
    numbers = gaps.view("<u4").reshape(-1)
    np.cumsum(numbers, dtype=np.uint32, out=numbers)
    return make_extract(specs, numbers, expand_exactly(path, streams[-1], -(-header.count // 4), "zlib"))


def _check_count(path: Path, count: int, stored: int) -> None:
    """Raise `SolverError` if a file of ``stored`` bytes cannot hold ``count`` boards."""
    if not 0 <= count <= MOST_BOARDS or (_PLANES + 1) * count > most_expanded(stored):
        raise SolverError(
            f"{path} claims {count:,} boards; expected {MOST_BOARDS:,} at most, fewer in a small file"
        )


def _decoded(path: Path, header: bytes) -> ExtractHeader:
    return array_file.decode_header(path, header, ExtractHeader, "an extract of endgame tables")
