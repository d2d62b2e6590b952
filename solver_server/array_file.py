"""One array in one file: a fixed preamble, a JSON header, the raw numbers, and a SHA-256 over both.

    0    8   magic: 89 'N' '2' '0' '4' '8' 0d 0a
    8    4   version of this layout, 1
    12   4   length of the header in bytes
    16   8   where the payload starts (a multiple of 4096, so that it can be mapped)
    24   8   length of the payload in bytes
    32   32  SHA-256 of the header followed by the payload
    64   …   header, UTF-8 JSON; then zeros up to the payload
    …    …   payload: numbers, of a type that the header tells

All numbers are little-endian.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import struct
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError

MAGIC = b"\x89N2048\r\n"
VERSION = 1

_PREAMBLE = struct.Struct("<8sIIQQ32s")
_ALIGNMENT = 4096
_LONGEST_HEADER = 1 << 20
_PIECE = 1 << 24


H = TypeVar("H", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a container file holds.

    Attributes:
        header: JSON.
        payload: uint8 [n]; in memory, or mapped privately, so that writing to it never reaches the file.
        sha256: the file's digest, hexadecimal.
    """

    header: bytes
    payload: npt.NDArray[np.uint8]
    sha256: str


def starts_with_magic(path: Path) -> bool:
    """Whether a file begins like a container, whole or not."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def write(path: Path, header: bytes, array: npt.NDArray[Any]) -> str:
    """Write a container file: complete or, if the process dies meanwhile, not at all.

    Args:
        path: where to.
        header: JSON; what the array's type is, it has to tell.
        array: [n], of numbers.

    Returns:
        The digest, hexadecimal.
    """
    array = np.ascontiguousarray(array)
    digest = _digest(header, _bytes_of(array))
    start = -(-(_PREAMBLE.size + len(header)) // _ALIGNMENT) * _ALIGNMENT
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_PREAMBLE.pack(MAGIC, VERSION, len(header), start, array.nbytes, digest))
            file.write(header.ljust(start - _PREAMBLE.size, b"\0"))
            file.write(_bytes_of(array))
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return digest.hex()


def read_header(path: Path) -> tuple[bytes, str]:
    """The header of a container file and the digest it gives, hexadecimal; nothing else is looked at.

    Raises:
        SolverError: see `read`.
    """
    with _opened(path) as file:
        header, _, _, digest = _read_preamble(path, file.read(_PREAMBLE.size + _LONGEST_HEADER))
    return header, digest.hex()


def read(path: Path, *, verify: bool = True, in_memory: bool = False) -> Contents:
    """Map or read a container file.

    Args:
        path: the file.
        verify: whether to check the digest (about half a second a gigabyte).
        in_memory: read the payload rather than map it.

    Raises:
        SolverError: the file is missing, no container, of another version, cut short or altered.
    """
    with _opened(path) as file:
        header, start, length, digest = _read_preamble(path, file.read(_PREAMBLE.size + _LONGEST_HEADER))
        size = os.fstat(file.fileno()).st_size
        if size < start + length:
            raise SolverError(
                f"{path} is cut short: it has {size} of {start + length} bytes; copy or download it again"
            )
        if size > start + length:
            raise SolverError(
                f"{path} has {size - start - length} bytes too many: it is not as it was written"
            )
        file.seek(start)
        if in_memory:
            payload = np.empty(length, dtype=np.uint8)
            complete = file.readinto(payload.data) == length  # type: ignore[attr-defined]
            sound = complete and (not verify or _digest(header, payload.data) == digest)
        else:
            # Taken of what is read, since pages of a mapping would count as memory of this process.
            sound = not verify or _digest_of_rest(header, file) == digest
            mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            payload = np.frombuffer(mapping, dtype=np.uint8, offset=start, count=length)
    if not sound:
        raise SolverError(f"{path} is damaged: its SHA-256 is not the one it was written with; copy it again")
    return Contents(header, payload, digest.hex())


def decode_header(path: Path, header: bytes, struct: type[H], what: str) -> H:
    """Decode the JSON header of a file.

    Args:
        path: the file, for messages.
        header: its header.
        struct: what the header should be.
        what: what the file should be, for messages.

    Raises:
        SolverError: the header is another one, or damaged.
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
            f"{path} is no file that bot2048 wrote: it starts with {head[:8].hex(' ') or 'nothing'}"
        )
    if len(head) < _PREAMBLE.size:
        raise SolverError(f"{path} is cut short: it has {len(head)} bytes; copy or download it again")
    _, version, header_length, start, length, digest = _PREAMBLE.unpack_from(head)
    if version != VERSION:
        raise SolverError(f"{path} has layout version {version}: this release reads version {VERSION}")
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


def _bytes_of(array: npt.NDArray[Any]) -> memoryview:
    return array.view(np.uint8).data


def _digest(header: bytes, payload: memoryview) -> bytes:
    digest = hashlib.sha256(header)
    for start in range(0, len(payload), _PIECE):
        digest.update(payload[start : start + _PIECE])
    return digest.digest()


def _digest_of_rest(header: bytes, file: BinaryIO) -> bytes:
    digest = hashlib.sha256(header)
    while piece := file.read(_PIECE):
        digest.update(piece)
    return digest.digest()


if sys.byteorder != "little":  # pragma: no cover - numba supports no such machine this project could test on
    raise ImportError("solver_server needs a little-endian machine")
