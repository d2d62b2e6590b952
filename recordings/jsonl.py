"""Files of game records, one line of JSON a game: appended whole, read one at a time."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from logging import getLogger
from pathlib import Path
from typing import IO

from game2048.errors import RecordError
from recordings.locks import lock
from recordings.record import GameRecord, decode_record, encode_record

GAMES_FILE = "games.jsonl"
"""The file of a run folder that its games are appended to."""

LINES_SUFFIX = ".jsonl"

MAX_LINE_BYTES = 256 << 20
"""The longest line written or read: more than two million moves on 4×4."""

_BLOCK = 1 << 20
UTF8_MARK = b"\xef\xbb\xbf"
"""The byte order mark that some editors put before a text."""

logger = getLogger(__name__)


def prepare_folder(folder: str | os.PathLike[str]) -> Path:
    """Make a folder for games, with its parents, and make sure that files can be written there.

    Raises:
        RecordError: it cannot be made or written to. So this is known before a game and not after it.
    """
    path = Path(folder)
    probe = path / f".bot2048-{uuid.uuid4().hex}.tmp"
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise RecordError(
            f"games cannot be written to {str(path)!r}: {error.strerror or error}; "
            "choose another folder or give yourself the right to write there",
            path=path,
        ) from error
    return path


# -- reading -------------------------------------------------------------------------------------------------


def read_records(
    path: str | os.PathLike[str], *, skip_torn: bool = False, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[GameRecord]:
    """Read the games of a file, one after the other; at most one line is held in memory.

    Args:
        path: a file of one JSON object a line; empty lines are passed over.
        skip_torn: end with a warning instead of an error at a last line that was cut off while it was
            being written; every finished game comes before it.
        max_line_bytes: a longer line is refused.

    Raises:
        RecordError: the file cannot be read, or a line is not a game record; names file, line and field.
    """
    try:
        with Path(path).open("rb") as file:
            number = 0
            while line := file.readline(max_line_bytes + 1):
                number += 1
                if len(line) > max_line_bytes:
                    raise RecordError(
                        f"{path}, line {number}: over {max_line_bytes} bytes long; expected one game a line",
                        path=Path(path),
                        line=number,
                    )
                if number == 1:
                    line = line.removeprefix(UTF8_MARK)
                if not line.strip():
                    continue
                try:
                    record = decode_record(line)
                except RecordError as error:
                    if line.endswith(b"\n"):
                        raise RecordError(
                            f"{path}, line {number}: {error}", path=Path(path), line=number
                        ) from error
                    _report_torn(Path(path), number, error, skip_torn)
                    return
                yield record
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror or error}", path=Path(path)) from error


def _report_torn(path: Path, line: int, error: RecordError, skip: bool) -> None:
    message = (
        f"{path}, line {line}: the last line is cut off, probably by a kill ({error}); the games before it "
        "are whole; try `bot2048 records recover` on the folder, which recovers a game whose journal is there"
    )
    if not skip:
        raise RecordError(message, path=path, line=line) from error
    logger.warning("%s", message)


# -- appending -----------------------------------------------------------------------------------------------


def append_record(path: str | os.PathLike[str], record: GameRecord, *, once: bool = False) -> bool:
    """Append a game to a file and force it to the disk.

    Several processes may append to one file at once. A last line that a killed program left unfinished is
    set aside in ``<name>.torn`` first, so that nothing is ever glued to it; a write that fails is undone.

    Args:
        path: the file; made when missing.
        record: the game.
        once: write nothing if a game of the same ``id`` is already there.

    Returns:
        Whether it was written.

    Raises:
        RecordError: the file cannot be written, or the line would be longer than `MAX_LINE_BYTES`.
    """
    line = encode_record(record)
    if len(line) > MAX_LINE_BYTES:
        raise RecordError(f"a game of {len(line)} bytes is too long; expected at most {MAX_LINE_BYTES}")
    path = Path(path)
    try:
        with path.open("a+b", buffering=0) as file:
            lock(file, wait=True)
            mend_tail(file, path)
            if once and record.id is not None and _holds_id(file, record.id):
                return False
            write_whole(file, line)
            os.fsync(file.fileno())
    except OSError as error:
        raise RecordError(
            f"the game cannot be written to {path}: {error.strerror or error}", path=path
        ) from error
    return True


def write_whole(file: IO[bytes], line: bytes) -> None:
    """Write all of ``line`` at the end of an unbuffered file, or nothing of it.

    Raises:
        OSError: it cannot be written, for instance because the disk is full.
    """
    start = file.seek(0, os.SEEK_END)
    whole = False
    try:
        rest = memoryview(line)
        while rest:
            rest = rest[file.write(rest) :]
        whole = True
    finally:
        if not whole:
            file.truncate(start)


def mend_tail(file: IO[bytes], path: Path) -> None:
    """Make an unbuffered file of games, open for reading and appending, end with a line end.

    A last line without one is either whole (another program wrote it) and is ended, or was cut off by a
    kill and is moved to ``<name>.torn``: nothing that was in the file is thrown away.
    """
    size = file.seek(0, os.SEEK_END)
    start = _start_of_last_line(file, size)
    if start == size:
        return
    if size - start <= MAX_LINE_BYTES and _is_record(_read_at(file, start, size - start)):
        file.write(b"\n")
        return
    aside = path.with_name(path.name + ".torn")
    with aside.open("ab") as torn:
        for place in range(start, size, _BLOCK):
            torn.write(_read_at(file, place, min(_BLOCK, size - place)))
        torn.write(b"\n")
    file.truncate(start)
    logger.warning("%s ended in a line that was cut off: moved to %s", path, aside)


def _start_of_last_line(file: IO[bytes], size: int) -> int:
    """Return the offset after the last line end; ``size`` if the file is empty or ends with one."""
    end = size
    while end > 0:
        begin = max(0, end - _BLOCK)
        found = _read_at(file, begin, end - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0


def _is_record(line: bytes) -> bool:
    try:
        decode_record(line)
    except RecordError:
        return False
    return True


def _holds_id(file: IO[bytes], game_id: str) -> bool:
    """Whether a game of that id is in the file, whose every line is whole."""
    needle = b'"%s"' % game_id.encode()
    file.seek(0)
    kept = b""
    while block := file.read(_BLOCK):
        kept += block
        if needle in kept:
            return True
        kept = kept[-len(needle) :]
    return False


def _read_at(file: IO[bytes], offset: int, length: int) -> bytes:
    """Return exactly ``length`` bytes from ``offset`` of an unbuffered file (single reads may be short)."""
    file.seek(offset)
    parts = []
    while length > 0 and (part := file.read(length)):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
