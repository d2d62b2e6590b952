"""Table files: a header of one page, then the values, layer by layer from the largest sum down.

    0     8   magic: 89 'T' '2' '0' '4' '8' 0d 0a
    8     4   length of the header's JSON
    12    …   the JSON; then zeros up to 4096
    4096  …   uint16 values, little-endian

A table in the making has the suffix ``.part`` and no digest. After a kill its whole layers are still good.

This is not an array file (`solver_server.array_file`): that one is written at once and begins with a digest
of all it holds. A table grows for minutes, resumes after a kill, and an extract names it by the digest of its
values alone. People have built gigabytes of these files, so the layout stays.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import filelock
import msgspec
import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError
from game2048.kernels.user_cache import user_cache
from solver_server.array_file import decode_header
from solver_server.tables.formations import Formation, TableSpec

SUFFIX, PART, LOCK = ".t2048", ".part", ".lock"
PAGE = 4096
_MAGIC = b"\x89T2048\r\n"
_PREAMBLE = struct.Struct("<8sI")
_PIECE = 1 << 24


class TableHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The header of a table file: the fields of `Formation` and `TableSpec`, and the values.

    Attributes:
        name: see `Formation`.
        picture: see `Formation`.
        goals: see `Formation`.
        trusted: see `Formation`.
        tight: see `Formation`.
        top: see `TableSpec`.
        slack: see `TableSpec`.
        large: see `TableSpec`.
        spare: see `TableSpec`.
        positions: number of values.
        sha256: digest of the values; empty while the table is being built.
        seconds: time to build it, on the wall clock.
    """

    name: str
    picture: str
    goals: tuple[str, ...]
    trusted: float
    tight: bool
    top: int
    slack: int
    large: int
    spare: int
    positions: int
    sha256: str = ""
    seconds: float = 0.0

    @property
    def spec(self) -> TableSpec:
        """The table.

        Raises:
            SolverError: no such table is possible.
        """
        formation = Formation(self.name, self.picture, self.goals, self.trusted, self.tight)
        return TableSpec(formation, self.top, self.slack, self.large, self.spare)


def table_header(spec: TableSpec, positions: int) -> TableHeader:
    """Make the header of a table to build."""
    formation = spec.formation
    return TableHeader(
        name=formation.name,
        picture=formation.picture,
        goals=formation.goals,
        trusted=formation.trusted,
        tight=formation.tight,
        top=spec.top,
        slack=spec.slack,
        large=spec.large,
        spare=spec.spare,
        positions=positions,
    )


def tables_folder() -> Path:
    """Where built tables are kept: ``BOT2048_TABLES``, or the user's cache folder."""
    chosen = os.environ.get("BOT2048_TABLES")
    return Path(chosen) if chosen else user_cache() / "tables"


def table_path(folder: Path, name: str) -> Path:
    """The file of a table."""
    return folder / (name + SUFFIX)


def finished_tables(folder: Path) -> list[Path]:
    """List the finished tables of a folder, by name."""
    return sorted(folder.glob("*" + SUFFIX)) if folder.is_dir() else []


def read_table_header(path: Path) -> TableHeader:
    """Read the header of a table file, finished or not.

    Raises:
        SolverError: the file cannot be read, or is not a table.
    """
    try:
        with path.open("rb") as file:
            text = _header_text(file)
    except OSError as error:
        raise SolverError(f"cannot open table {path}: {error.strerror or error}") from error
    if text is None:
        raise SolverError(f"{path} is not an endgame table; remove it and build it again")
    return decode_header(path, text, TableHeader, "an endgame table")


def begins_with(file: BinaryIO, header: TableHeader) -> bool:
    """Tell whether an open table file begins with a header."""
    text = _header_text(file)
    return text is not None and text == msgspec.json.encode(header)


def write_table_header(file: BinaryIO, header: TableHeader) -> None:
    """Write the first page of a table file.

    Raises:
        SolverError: the header is longer than a page.
        OSError: the file cannot be written.
    """
    text = msgspec.json.encode(header)
    if len(text) > PAGE - _PREAMBLE.size:
        raise SolverError(
            f"the header of table {header.name} has {len(text)} bytes; expected one page at most"
        )
    file.seek(0)
    file.write((_PREAMBLE.pack(_MAGIC, len(text)) + text).ljust(PAGE, b"\0"))


@contextmanager
def only_builder(path: Path) -> Iterator[None]:
    """Hold a table's lock, so that no other process builds it at the same time.

    Raises:
        SolverError: another process builds it.
    """
    lock = filelock.FileLock(path.with_name(path.name + LOCK), timeout=0)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise SolverError(
            f"table {path} is being built by another process; wait for it, or stop it"
        ) from None
    try:
        yield
    finally:
        lock.release()


def check_size(path: Path, header: TableHeader) -> None:
    """Compare the size of a finished table's file with its header.

    Raises:
        SolverError: the file is too short or too long.
    """
    expected = PAGE + 2 * header.positions
    if path.stat().st_size != expected:
        raise SolverError(
            f"table {path} is damaged: it has {path.stat().st_size:,} bytes; expected {expected:,}; "
            "remove it and build it again"
        )


def map_values(path: Path, header: TableHeader) -> npt.NDArray[np.uint16]:
    """Map the values of a finished table, uint16 [positions]; all processes share them.

    Raises:
        SolverError: the file is too short or too long.
    """
    check_size(path, header)
    # Copy-on-write, though nobody writes: a kernel takes writable arrays.
    return np.memmap(path, dtype="<u2", mode="c", offset=PAGE, shape=(header.positions,))


def digest_of_values(path: Path, advance: Callable[[int], None] = lambda count: None) -> str:
    """Compute the SHA-256 of a table's values, hexadecimal.

    Args:
        path: the file.
        advance: called with the number of bytes after each piece.
    """
    sha = hashlib.sha256()
    with path.open("rb") as file:
        file.seek(PAGE)
        while piece := file.read(_PIECE):
            sha.update(piece)
            advance(len(piece))
    return sha.hexdigest()


def _header_text(file: BinaryIO) -> bytes | None:
    """Read the JSON of an open table file's header; ``None`` if the file does not begin like a table."""
    file.seek(0)
    page = file.read(PAGE)
    if len(page) < PAGE:
        return None
    magic, length = _PREAMBLE.unpack_from(page)
    if magic != _MAGIC or length > PAGE - _PREAMBLE.size:
        return None
    return page[_PREAMBLE.size : _PREAMBLE.size + length]
