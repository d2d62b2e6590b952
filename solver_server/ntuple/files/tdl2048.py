"""TDL2048+ network files (``.w``), the format in which most networks of others come.

All numbers are little-endian. A file is u8 0; u32 number of tables; then the tables. A table is:

* u8 4;
* its name in 8 bytes: u32 number (the name's hexadecimal digits), u16 count of digits (0 in older files),
  u16 0; or, where the name is not such a number, its characters, filled up with spaces;
* u16 bytes a weight (2, 4 or 8: a float of that size), u64 number of weights, the weights;
* any number of further fields, each u16 bytes a number, u64 count, the numbers. Training by TC writes one,
  the sums of all weights; this reader skips what it does not need;
* u16 0.

The name of a plain tuple is its cells, as hexadecimal digits. In a network of several stages it has eight
digits, the stage's number in front, backwards. The first cell of a name is the lowest nibble
of an index, all eight images share the tuple's table, and a value is a sum. Files may be compressed by xz or
gzip.

Source: github.com/moporgic/TDL2048 (2048.cpp, class ``weight``).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError
from recordings.atomic import atomic
from solver_server.expansion import Codec, expand, most_expanded
from solver_server.ntuple.files import native
from solver_server.ntuple.network import Network
from solver_server.ntuple.patterns import MAX_CELLS, PATTERNS, Pattern
from solver_server.ntuple.weight_order import order_in_memory, reordered

_HEAD = struct.Struct("<BI")
_NAME = struct.Struct("<IHH")
_FIELD_SIZE = struct.Struct("<H")
_FIELD_COUNT = struct.Struct("<Q")
_SERIAL = 4
_MOST_TABLES = 1000
_STAGED_DIGITS = 8  # a name of so many digits and fewer cells begins with the number of its stage
_SOURCE = "a TDL2048+ file"
_MAGIC: dict[Codec, bytes] = {"xz": b"\xfd7zXZ\0", "gzip": b"\x1f\x8b"}
_FLOATS = {2: "<f2", 4: "<f4", 8: "<f8"}

_Table = npt.NDArray[np.float32]


@dataclass
class _Reader:
    """A file's bytes and a place in them, which all reading moves on."""

    path: Path
    data: bytes
    at: int = 0

    def take(self, layout: struct.Struct, where: str) -> tuple[int, ...]:
        self._need(layout.size, where)
        self.at += layout.size
        return layout.unpack_from(self.data, self.at - layout.size)

    def skip(self, count: int, where: str) -> int:
        """Pass over the next ``count`` bytes; return where they start."""
        self._need(count, where)
        self.at += count
        return self.at - count

    def _need(self, count: int, where: str) -> None:
        if self.at + count > len(self.data):
            raise SolverError(f"{self.path} is cut short in {where}; copy it again")


def looks_like_tdl(path: Path) -> bool:
    """Tell whether a file begins as TDL2048+ writes it, or is compressed by xz or gzip.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD.size + 1)
    if _codec_of(head) is not None:
        return True
    if len(head) < _HEAD.size + 1:
        return False
    first, count = _HEAD.unpack_from(head)
    return first == 0 and 0 < count <= _MOST_TABLES and head[_HEAD.size] == _SERIAL


def load_tdl(path: Path) -> Network:
    """Read a network of plain tuples, compressed or not. Sums of TC are skipped.

    Raises:
        SolverError: the file is missing, cut short or damaged, or holds a network of another kind.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SolverError(f"cannot open weights {path}: {error.strerror}") from error
    codec = _codec_of(data)
    if codec is not None:
        data = expand(path, data, most_expanded(len(data)), codec)
    reader = _Reader(path, data)
    first, count = reader.take(_HEAD, "its head")
    if first != 0 or not 0 < count <= _MOST_TABLES:
        raise SolverError(f"{path} is not a TDL2048+ network: it starts with {data[:8].hex(' ')}")
    tuples: list[tuple[int, ...]] = []
    tables: list[_Table] = []
    for number in range(1, count + 1):
        cells, table = _read_table(reader, number)
        tuples.append(tuple(sorted(cells)))
        tables.append(_reordered(table, cells, tuple(sorted(cells))))
    if reader.at != len(data):
        raise SolverError(
            f"{path} has {len(data) - reader.at} bytes after its last table: it is of an unknown version"
        )
    shape = tuple(tuples)
    name = next(
        (known.name for known in PATTERNS.values() if _is_plain(known) and known.tuples == shape), "custom"
    )
    pattern = Pattern(name, 4, 4, shape, source=_SOURCE)
    return Network(pattern, reordered(pattern, np.concatenate(tables), "cells", order_in_memory(pattern)))


def save_tdl(path: Path, network: Network) -> None:
    """Write a 4×4 network as TDL2048+ reads it; complete or not at all.

    Raises:
        SolverError: the format has no way to say what this network is.
        OSError: the file cannot be written.
    """
    pattern = network.pattern
    if not _is_plain(pattern):
        raise SolverError(
            f"network {pattern.name} cannot be written for TDL2048+: expected a 4×4 network with symmetries, "
            "a plain sum, 16 ranks and one stage"
        )
    weights = network.weights_in("cells")
    with atomic(path) as file:
        file.write(_HEAD.pack(0, len(pattern.tuples)))
        offset = 0
        for cells in pattern.tuples:
            entries = 16 ** len(cells)
            sign = int("".join(f"{cell:x}" for cell in cells), 16)
            file.write(bytes([_SERIAL]) + _NAME.pack(sign, len(cells), 0))
            file.write(_FIELD_SIZE.pack(4) + _FIELD_COUNT.pack(entries))
            file.write((weights[offset : offset + entries] * np.float32(network.step)).tobytes())
            file.write(_FIELD_SIZE.pack(0))
            offset += entries


def _codec_of(head: bytes) -> Codec | None:
    return next((codec for codec, magic in _MAGIC.items() if head.startswith(magic)), None)


def _is_plain(pattern: Pattern) -> bool:
    return (
        (pattern.rows, pattern.columns) == (4, 4)
        and pattern.symmetric
        and not pattern.averaged
        and pattern.ranks == 16
        and not pattern.stages
    )


def _read_table(reader: _Reader, number: int) -> tuple[tuple[int, ...], _Table]:
    """Read the cells of a table in the order of its name, and its weights."""
    path, head = reader.path, f"the head of table {number}"
    (serial,) = reader.take(struct.Struct("<B"), head)
    if serial != _SERIAL:
        raise SolverError(f"table {number} of {path} is of serial {serial}; expected 4")
    name_at = reader.at
    sign, width, is_text = reader.take(_NAME, head)
    (size,) = reader.take(_FIELD_SIZE, head)
    (entries,) = reader.take(_FIELD_COUNT, head)
    if is_text:
        name = reader.data[name_at : name_at + _NAME.size].decode("ascii", "replace").strip()
    else:
        width = width or (entries.bit_length() - 1) // 4
        name = f"{sign:x}".rjust(min(width, 16), "0")
    cells = _cells_of(path, number, name, entries)
    if size not in _FLOATS:
        raise SolverError(f"table {number} of {path} has weights of {size} bytes; expected 2, 4 or 8")
    start = reader.skip(size * entries, f"table {number}")
    table = np.frombuffer(reader.data, dtype=_FLOATS[size], offset=start, count=entries)
    with np.errstate(over="ignore"):
        weights = table.astype(np.float32)
    if not native.are_weights(weights):
        raise SolverError(f"table {number} of {path} {native.NOT_FINITE}")
    while True:
        (size,) = reader.take(_FIELD_SIZE, f"table {number}")
        if size == 0:
            return cells, weights
        (count,) = reader.take(_FIELD_COUNT, f"table {number}")
        reader.skip(size * count, f"table {number}")


def _cells_of(path: Path, number: int, name: str, entries: int) -> tuple[int, ...]:
    """Read the cells in a table's name.

    Raises:
        SolverError: the table is not one of a plain tuple.
    """
    shown = "".join(sign if sign.isprintable() else "?" for sign in name)
    if name.startswith("m@"):
        raise SolverError(
            f"{path} is a network of monotonicity features (table {number} is {shown!r}), which bot2048 does "
            "not play; use one of tuples, such as 4x6patt"
        )
    try:
        cells = tuple(int(digit, 16) for digit in name)
    except ValueError:
        raise SolverError(
            f"{path} is a network of other features (table {number} is {shown!r}); expected tuples of cells"
        ) from None
    length = (entries.bit_length() - 1) // 4
    if len(cells) == _STAGED_DIGITS > length > 0:
        stage, cells = name[:-length], cells[-length:]
        if stage.strip("0"):
            raise SolverError(
                f"{path} is a network of several stages (table {number} is {shown}), and does not say where "
                "they begin; use one of a single stage"
            )
    if len(cells) <= MAX_CELLS and entries == 16 ** len(cells) and len(set(cells)) == len(cells) > 0:
        return cells
    raise SolverError(
        f"table {number} of {path} has pattern {shown} and {entries} weights; expected up to {MAX_CELLS} "
        "different cells and 16**cells weights"
    )


def _reordered(table: _Table, cells: tuple[int, ...], wanted: tuple[int, ...]) -> _Table:
    """Turn a table whose lowest nibble is the first of ``cells`` into one with the first of ``wanted``."""
    axes = [len(cells) - 1 - cells.index(cell) for cell in reversed(wanted)]
    return np.ascontiguousarray(table.reshape((16,) * len(cells)).transpose(axes)).reshape(-1)
