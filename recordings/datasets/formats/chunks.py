"""The working file of a dataset in the making (``NAME.part``): games in frames, each whole or not there.

Formats that only a finished file makes readable (Parquet, HDF5, CSV, a JSON array) are written from it at the
end. A frame is a length, a checksum and a MessagePack message; it also carries games from worker to writer.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from logging import getLogger
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np

from game2048.errors import RecordError
from recordings.datasets.formats import writing
from recordings.game_arrays import GameArrays, check_arrays
from recordings.jsonl import write_whole
from recordings.record import GameInfo, info_from

PART_SUFFIX = ".part"

_MAGIC = b"bot2048 games 1\n"
_HEAD = struct.Struct("<II")  # length and CRC-32 of the message
_DTYPES = (np.uint8, np.uint8, np.int64, np.float64, np.int64, np.int16)  # as `GameArrays.arrays`
_MAX_FRAME = (1 << 32) - 1

logger = getLogger(__name__)


class _Game(msgspec.Struct, frozen=True, array_like=True):
    info: dict[str, Any]  # by the names of `GameInfo`, without what is missing
    rows: int
    columns: int
    arrays: list[bytes | None]


class _Message(msgspec.Struct, frozen=True, array_like=True):
    first: int
    played: int
    seconds: float
    games: list[_Game]


class Chunk(msgspec.Struct, frozen=True):
    """Some consecutive games of a run.

    Attributes:
        first: the number of the first game played.
        played: how many were played.
        games: those of them that are kept.
        seconds: that playing them took.
    """

    first: int
    played: int
    games: list[GameArrays]
    seconds: float = 0.0


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Message).decode


def encode_chunk(chunk: Chunk) -> bytes:
    """Encode a chunk as a message."""
    return _encode(
        _Message(
            chunk.first,
            chunk.played,
            chunk.seconds,
            [
                _Game(
                    _given(game.info), *game.size, [None if a is None else a.tobytes() for a in game.arrays()]
                )
                for game in chunk.games
            ],
        )
    )


def _given(info: GameInfo) -> dict[str, Any]:
    fields = msgspec.structs.asdict(info)
    return {name: value for name, value in fields.items() if value is not None}


def decode_chunk(message: bytes) -> Chunk:
    """Decode a message of `encode_chunk`; the arrays are views of the message.

    Raises:
        RecordError: the message is damaged.
    """
    try:
        decoded = _decode(message)
        return Chunk(decoded.first, decoded.played, list(map(_game, decoded.games)), decoded.seconds)
    except (msgspec.DecodeError, ValueError, TypeError, AttributeError, OverflowError, RecordError) as error:
        raise RecordError(f"not a message of games: {error}") from error


def _game(game: _Game) -> GameArrays:
    arrays: list[Any] = [
        None if data is None else np.frombuffer(data, dtype=dtype)
        for data, dtype in zip(game.arrays, _DTYPES, strict=True)
    ]
    arrays[0] = arrays[0].reshape(-1, game.rows, game.columns)
    if arrays[3] is not None:
        arrays[3] = arrays[3].reshape(-1, 4)
    decoded = GameArrays(info_from(game.info), *arrays)
    check_arrays(decoded)
    return decoded


class SpoolWriter:
    """Appends chunks to a file.

    Args:
        path: the file, for errors.
        file: open at the end of its last whole chunk; empty for a new one.

    Raises:
        RecordError: it cannot be written.
    """

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path = path
        self._file = file
        try:
            if not file.tell():
                file.write(_MAGIC)
        except OSError as error:
            raise writing.unwritable(path, error) from error

    @classmethod
    def at(cls, path: Path, keep: int = 0) -> SpoolWriter:
        """Open a working file for appending.

        Args:
            path: made when missing.
            keep: how many bytes of what is there to keep; `scan_chunks` tells them.

        Raises:
            RecordError: it cannot be written.
        """
        try:
            file: IO[bytes] = path.open("r+b" if keep else "w+b", buffering=0)
            file.truncate(keep)
            file.seek(keep)
        except OSError as error:
            raise writing.unwritable(path, error) from error
        return cls(path, file)

    def append(self, message: bytes) -> None:
        """Add a chunk (`encode_chunk`); it survives a kill from now on."""
        if len(message) > _MAX_FRAME:
            raise RecordError(
                f"{self._path} cannot hold {len(message)} bytes in one piece; expected less than 4 GiB",
                path=self._path,
            )
        try:
            write_whole(self._file, _HEAD.pack(len(message), zlib.crc32(message)) + message)
        except OSError as error:
            raise writing.unwritable(self._path, error) from error

    def clear(self) -> None:
        """Drop all chunks."""
        self._file.truncate(len(_MAGIC))
        self._file.seek(len(_MAGIC))

    def close(self) -> None:
        """Close the file, which stays."""
        self._file.close()


def has_no_chunks(path: Path) -> bool:
    """Whether a file has no chunk, not even a part of one."""
    return path.stat().st_size <= len(_MAGIC)


def scan_chunks(path: Path) -> Iterator[tuple[bytes, int]]:
    """Yield the messages of a file, each with the offset behind it; one that was cut off is left out.

    Raises:
        RecordError: the file is not a working file, or is damaged before its end.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            begin = file.read(len(_MAGIC))
            if begin != _MAGIC and size >= len(_MAGIC):
                raise RecordError(
                    f"{path} is not a working file of a dataset; expected one that bot2048 left behind",
                    path=path,
                )
            while head := file.read(_HEAD.size):
                length, checksum = _HEAD.unpack(head) if len(head) == _HEAD.size else (size, 0)
                end = file.tell() + length
                message = file.read(length) if end <= size else b""
                if end > size or zlib.crc32(message) != checksum:
                    if end < size:
                        raise RecordError(
                            f"{path} is damaged at byte {end - length}: the games behind it are lost",
                            path=path,
                        )
                    logger.warning("%s: the last piece was cut off by a kill; its games are not there", path)
                    return
                yield message, end
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror or error}", path=path) from error


def read_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the chunks of a file."""
    for message, end in scan_chunks(path):
        try:
            yield decode_chunk(message)
        except RecordError as error:
            raise RecordError(f"{path}, before byte {end}: {error}", path=path) from error


def read_chunk_places(path: Path) -> Iterator[tuple[int, Chunk]]:
    """Yield the chunks of a file, each with the offset that `read_chunk_at` takes."""
    begin = len(_MAGIC)
    for message, end in scan_chunks(path):
        yield begin, decode_chunk(message)
        begin = end


def read_chunk_at(path: Path, begin: int) -> Chunk:
    """Read one chunk.

    Args:
        path: the file.
        begin: the offset of the chunk.
    """
    with path.open("rb") as file:
        file.seek(begin)
        length, checksum = _HEAD.unpack(file.read(_HEAD.size))
        message = file.read(length)
    if zlib.crc32(message) != checksum:
        raise RecordError(f"{path} is damaged at byte {begin}", path=path)
    return decode_chunk(message)


def read_part(path: Path) -> Iterator[GameArrays]:
    """Read the games of a file, one at a time."""
    for chunk in read_chunks(path):
        yield from chunk.games


class PartWriter:
    """Writes games as a working file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = writing.DraftFile(path)
        self._spool = SpoolWriter(path, self._draft.file)
        self._count = 0

    def write(self, games: Sequence[GameArrays]) -> None:
        """Add games."""
        self._spool.append(encode_chunk(Chunk(self._count, len(games), list(games))))
        self._count += len(games)

    def close(self) -> None:
        """Finish the file and let it appear."""
        self._draft.publish()

    def discard(self) -> None:
        """Drop what was written."""
        self._draft.discard()
