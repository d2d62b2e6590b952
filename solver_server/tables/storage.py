"""Table files: a header of one page, then the values, layer by layer from the largest sum down.

    0     8   magic: 89 'T' '2' '0' '4' '8' 0d 0a
    8     4   length of the header's JSON
    12    …   the JSON; then zeros up to 4096
    4096  …   uint16 values, little-endian

A table in the making has the suffix ``.part`` and no digest; what layers it holds in full stay good after a
kill.
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
from solver_server.tables.formations import Formation, TableSpec

SUFFIX, PART, LOCK = ".t2048", ".part", ".lock"
PAGE = 4096
_MAGIC = b"\x89T2048\r\n"
_PREAMBLE = struct.Struct("<8sI")
_PIECE = 1 << 24


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What a table file says of itself.

    Attributes:
        name: of the formation.
        picture: of the formation.
        goals: of the formation.
        trusted: of the formation.
        tight: of the formation.
        top: see `TableSpec`.
        slack: see `TableSpec`.
        large: see `TableSpec`.
        spare: see `TableSpec`.
        positions: how many values there are.
        sha256: of the values; empty while the table is being built.
        seconds: what it took to build, on the wall clock.
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
        """The table."""
        formation = Formation(self.name, self.picture, self.goals, self.trusted, self.tight)
        return TableSpec(formation, self.top, self.slack, self.large, self.spare)


def header_of(spec: TableSpec, positions: int) -> Header:
    """The header of a table to build."""
    formation = spec.formation
    return Header(
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


def folder() -> Path:
    """Where built tables are kept: ``BOT2048_TABLES``, or the user's cache directory."""
    chosen = os.environ.get("BOT2048_TABLES")
    return Path(chosen) if chosen else user_cache() / "tables"


def path_of(where: Path, name: str) -> Path:
    """The file of a table."""
    return where / (name + SUFFIX)


def list_files(where: Path) -> list[Path]:
    """The finished tables of a folder, by name."""
    return sorted(where.glob("*" + SUFFIX)) if where.is_dir() else []


def read_header(path: Path) -> Header:
    """The header of a table file, finished or not.

    Raises:
        SolverError: it cannot be read, or is no table.
    """
    try:
        with path.open("rb") as file:
            header = header_in(file)
    except OSError as error:
        raise SolverError(f"table {path} cannot be read: {error.strerror or error}") from error
    if header is None:
        raise SolverError(f"{path} is no endgame table: remove it and build it again")
    return header


def header_in(file: BinaryIO) -> Header | None:
    """The header of an open table file; ``None`` if it has none."""
    file.seek(0)
    page = file.read(PAGE)
    if len(page) < PAGE:
        return None
    magic, length = _PREAMBLE.unpack_from(page)
    if magic != _MAGIC:
        return None
    try:
        return msgspec.json.decode(page[_PREAMBLE.size : _PREAMBLE.size + length], type=Header)
    except msgspec.MsgspecError:
        return None


@contextmanager
def only_builder(path: Path) -> Iterator[None]:
    """Hold a table's lock, so that no other process builds it at the same time.

    Raises:
        SolverError: another one does.
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


def write_header(file: BinaryIO, header: Header) -> None:
    """Write the first page of a table file."""
    text = msgspec.json.encode(header)
    file.seek(0)
    file.write((_PREAMBLE.pack(_MAGIC, len(text)) + text).ljust(PAGE, b"\0"))


def map_values(path: Path, header: Header) -> npt.NDArray[np.uint16]:
    """The values of a finished table, mapped: all processes share them.

    Raises:
        SolverError: the file is too short or too long.
    """
    expected = PAGE + 2 * header.positions
    if path.stat().st_size != expected:
        raise SolverError(
            f"table {path} is damaged: {path.stat().st_size} bytes, expected {expected}; "
            "remove it and build it again"
        )
    # Copy-on-write, though nobody writes: a kernel takes writable arrays.
    return np.memmap(path, dtype="<u2", mode="c", offset=PAGE, shape=(header.positions,))


def digest(path: Path, advance: Callable[[int], None] = lambda count: None) -> str:
    """SHA-256 of a table's values, hexadecimal; ``advance`` is told of the bytes read."""
    sha = hashlib.sha256()
    with path.open("rb") as file:
        file.seek(PAGE)
        while piece := file.read(_PIECE):
            sha.update(piece)
            advance(len(piece))
    return sha.hexdigest()
