"""Read and write array files: a preamble, a JSON header, the numbers of one array, and a SHA-256 of both.

    0    8   magic: 89 'N' '2' '0' '4' '8' 0d 0a
    8    4   version of this layout: 1, or 2 if the header names an order of the numbers that earlier programs
             do not know
    12   4   length of the header in bytes
    16   8   where the payload starts (a multiple of 4096, so that it can be mapped)
    24   8   length of the payload in bytes
    32   32  SHA-256 of the header followed by the payload
    64   …   header, UTF-8 JSON; then zeros up to the payload
    …    …   payload: numbers, of the type that the header names

All numbers are little-endian.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError
from recordings.atomic import atomic
from solver_server.aligned import aligned_empty

MAGIC = b"\x89N2048\r\n"
VERSION = 1
VERSION_OF_ORDERS = 2

_PREAMBLE = struct.Struct("<8sIIQQ32s")
_ALIGNMENT = 4096
_LONGEST_HEADER = 1 << 20
_PIECE = 1 << 24


H = TypeVar("H", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a file.

    Attributes:
        header: header, JSON.
        payload: uint8 [n], in memory or mapped privately; a write to it never reaches the file.
        sha256: digest in the preamble, hexadecimal.
    """

    header: bytes
    payload: npt.NDArray[np.uint8]
    sha256: str


def starts_with_magic(path: Path) -> bool:
    """Return whether a file begins like an array file; it may still be incomplete.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def write_array(path: Path, header: bytes, array: npt.NDArray[Any], version: int = VERSION) -> str:
    """Write a file. If the process dies, no part of the file is left.

    Args:
        path: the file; its folder is made if it is missing.
        header: JSON that names the type of the numbers and more.
        array: numbers, [n].
        version: version of the layout.

    Returns:
        The digest, hexadecimal.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic(path) as file:
        return write_array_to(file, header, array, version)


def write_array_to(file: IO[bytes], header: bytes, array: npt.NDArray[Any], version: int = VERSION) -> str:
    """Write an array file into an open file; arguments, result and errors are those of `write_array`."""
    array = np.ascontiguousarray(array)
    digest = _digest(header, array.view(np.uint8))
    start = -(-(_PREAMBLE.size + len(header)) // _ALIGNMENT) * _ALIGNMENT
    file.write(_PREAMBLE.pack(MAGIC, version, len(header), start, array.nbytes, digest))
    file.write(header.ljust(start - _PREAMBLE.size, b"\0"))
    file.write(array.view(np.uint8).data)
    return digest.hex()


def read_array_header(path: Path) -> tuple[bytes, str]:
    """Read the header of a file, and the digest in its preamble as hexadecimal; verify neither.

    Raises:
        SolverError: see `read_array`.
    """
    with _opened(path) as file:
        header, _, _, digest = _read_preamble(path, file.read(_PREAMBLE.size + _LONGEST_HEADER))
    return header, digest.hex()


def read_array(
    path: Path,
    *,
    verify: bool = True,
    in_memory: bool = False,
    look: Callable[[npt.NDArray[np.uint8]], None] = lambda piece: None,
) -> Contents:
    """Map or read a file.

    Args:
        path: the file.
        verify: whether to check the digest (takes about half a second a gigabyte).
        in_memory: whether to read the payload instead of mapping it.
        look: called with each piece of the payload during the check of the digest, uint8 [16 MiB or less].

    Raises:
        SolverError: the file is missing, of another kind or version, cut short or altered.
    """
    with _opened(path) as file:
        header, start, length, digest = _read_preamble(path, file.read(_PREAMBLE.size + _LONGEST_HEADER))
        size = os.fstat(file.fileno()).st_size
        if size < start + length:
            raise SolverError(
                f"{path} is cut short: it has {size} of {start + length} bytes; copy or download it again"
            )
        if size > start + length:
            raise SolverError(f"{path} has {size - start - length} bytes too many; copy or download it again")
        file.seek(start)
        if in_memory:
            payload = aligned_empty(length, np.uint8)
            complete = file.readinto(payload.data) == length  # type: ignore[attr-defined]
            sound = complete and (not verify or _digest(header, payload, look) == digest)
        else:
            # Read the file for the digest, because pages of a mapping would count as memory of this process.
            sound = not verify or _digest_of_rest(header, file, look) == digest
            mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            payload = np.frombuffer(mapping, dtype=np.uint8, offset=start, count=length)
    if not sound:
        raise SolverError(f"{path} is damaged: its SHA-256 is not the one it was written with; copy it again")
    return Contents(header, payload, digest.hex())


def decode_header(path: Path, header: bytes, struct: type[H], what: str) -> H:
    """Decode the JSON header of a file.

    Args:
        path: the file, for messages.
        header: the header of the file.
        struct: the expected type of the header.
        what: the expected kind of file, for messages.

    Raises:
        SolverError: the header has another type, or is damaged.
    """
    try:
        return msgspec.json.decode(header, type=struct)
    except (msgspec.MsgspecError, ValueError, RecursionError, OverflowError) as error:
        raise SolverError(f"{path} is not {what}: its header does not fit ({error})") from error


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise SolverError(f"cannot open {path}: {error.strerror}") from error


def _read_preamble(path: Path, head: bytes) -> tuple[bytes, int, int, bytes]:
    if head[: len(MAGIC)] != MAGIC[: len(head)] or not head:
        raise SolverError(
            f"{path} is not a file that bot2048 wrote: it starts with {head[:8].hex(' ') or 'nothing'}"
        )
    if len(head) < _PREAMBLE.size:
        raise SolverError(f"{path} is cut short: it has {len(head)} bytes; copy or download it again")
    _, version, header_length, start, length, digest = _PREAMBLE.unpack_from(head)
    if version not in (VERSION, VERSION_OF_ORDERS):
        raise SolverError(
            f"{path} has layout version {version}; expected version {VERSION} or {VERSION_OF_ORDERS}: use a "
            "newer bot2048"
        )
    header = head[_PREAMBLE.size : _PREAMBLE.size + header_length]
    sound = (
        header_length <= _LONGEST_HEADER
        and start % _ALIGNMENT == 0
        and start >= _PREAMBLE.size + header_length
    )
    if not sound:
        raise SolverError(f"{path} is damaged: the lengths in its first bytes contradict each other")
    if len(header) < header_length:
        raise SolverError(f"{path} is cut short: its header is incomplete; copy or download it again")
    return header, start, length, digest


def _digest(
    header: bytes,
    payload: npt.NDArray[np.uint8],
    look: Callable[[npt.NDArray[np.uint8]], None] = lambda piece: None,
) -> bytes:
    digest = hashlib.sha256(header)
    for start in range(0, payload.size, _PIECE):
        piece = payload[start : start + _PIECE]
        digest.update(piece.data)
        look(piece)
    return digest.digest()


def _digest_of_rest(header: bytes, file: BinaryIO, look: Callable[[npt.NDArray[np.uint8]], None]) -> bytes:
    digest = hashlib.sha256(header)
    while piece := file.read(_PIECE):
        digest.update(piece)
        look(np.frombuffer(piece, dtype=np.uint8))
    return digest.digest()


if sys.byteorder != "little":  # pragma: no cover - numba supports no such machine this project could test on
    raise ImportError("solver_server needs a little-endian machine")
