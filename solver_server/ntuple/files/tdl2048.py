"""TDL2048+ network files (``.w``), the format in which networks of others come.

All numbers little-endian: u8 0; u32 number of tables; then for each table u8 4, u32 pattern (its cells as
hexadecimal digits), u16 number of cells, u16 0, u16 bytes a weight, u64 number of weights, the weights, u16
0. The first cell of a pattern is the lowest nibble of an index, all eight images share its table, and a value
is a sum.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError
from solver_server.ntuple.network import Network
from solver_server.ntuple.patterns import PATTERNS, Pattern

_HEAD = struct.Struct("<BI")
_TABLE = struct.Struct("<BIHHHQ")
_END = b"\0\0"
_SERIAL = 4
_MOST_TABLES = 1000
_SOURCE = "a TDL2048+ file"

_Table = npt.NDArray[np.float32]


def looks_like(path: Path) -> bool:
    """Whether a file begins as TDL2048+ writes it."""
    with path.open("rb") as file:
        head = file.read(_HEAD.size + 1)
    if len(head) < _HEAD.size + 1:
        return False
    first, count = _HEAD.unpack_from(head)
    return first == 0 and 0 < count <= _MOST_TABLES and head[_HEAD.size] == _SERIAL


def load_tdl(path: Path) -> Network:
    """Read a file of plain (one-stage, float32) tables.

    Raises:
        SolverError: it is cut short, or holds what this reader does not know.
    """
    data = path.read_bytes()
    if len(data) < _HEAD.size:
        raise SolverError(f"{path} is cut short: it has {len(data)} bytes; copy it again")
    _, count = _HEAD.unpack_from(data)
    at = _HEAD.size
    tuples: list[tuple[int, ...]] = []
    tables: list[_Table] = []
    for number in range(1, count + 1):
        cells, table, at = _read_table(path, data, at, number)
        tuples.append(tuple(sorted(cells)))
        tables.append(_reordered(table, cells, tuple(sorted(cells))))
    if at != len(data):
        raise SolverError(
            f"{path} has {len(data) - at} bytes after its last table: it is of an unknown version"
        )
    shape = tuple(tuples)
    name = next(
        (known.name for known in PATTERNS.values() if _is_plain(known) and known.tuples == shape), "custom"
    )
    return Network(Pattern(name, 4, 4, shape, source=_SOURCE), np.concatenate(tables))


def save_tdl(path: Path, network: Network) -> None:
    """Write a 4×4 network as TDL2048+ reads it; complete or not at all.

    Raises:
        SolverError: the format has no way to say what this network is.
    """
    pattern = network.pattern
    if not _is_plain(pattern):
        raise SolverError(
            f"network {pattern.name} cannot be written for TDL2048+: expected a 4×4 network with symmetries, "
            "a plain sum, 16 ranks and one stage"
        )
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with draft.open("wb") as file:
            file.write(_HEAD.pack(0, len(pattern.tuples)))
            offset = 0
            for cells in pattern.tuples:
                entries = 16 ** len(cells)
                sign = int("".join(f"{cell:x}" for cell in cells), 16)
                file.write(_TABLE.pack(_SERIAL, sign, len(cells), 0, 4, entries))
                file.write(_points(network, offset, entries).tobytes())
                file.write(_END)
                offset += entries
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _points(network: Network, offset: int, entries: int) -> _Table:
    points: _Table = network.weights[offset : offset + entries] * np.float32(network.step)
    return points


def _is_plain(pattern: Pattern) -> bool:
    return (
        (pattern.rows, pattern.columns) == (4, 4)
        and pattern.symmetric
        and not pattern.averaged
        and pattern.ranks == 16
        and not pattern.stages
    )


def _read_table(path: Path, data: bytes, at: int, number: int) -> tuple[tuple[int, ...], _Table, int]:
    if at + _TABLE.size > len(data):
        raise SolverError(f"{path} is cut short in the head of table {number}; copy it again")
    serial, sign, length, unit, size, entries = _TABLE.unpack_from(data, at)
    at += _TABLE.size
    if (serial, unit, size) != (_SERIAL, 0, 4):
        raise SolverError(
            f"table {number} of {path} is of serial {serial}, unit {unit}, {size} bytes a weight: "
            "expected 4, 0, 4 (float32 without coherence sums)"
        )
    digits = f"{sign:0{length}x}"
    cells = tuple(int(digit, 16) for digit in digits)
    if len(digits) != length or len(set(cells)) != length or entries != 16**length:
        raise SolverError(
            f"table {number} of {path} has pattern {digits} and {entries} weights: expected 16**cells"
        )
    end = at + 4 * entries
    if end + len(_END) > len(data):
        raise SolverError(f"{path} is cut short in table {number}; copy it again")
    if data[end : end + len(_END)] != _END:
        raise SolverError(f"table {number} of {path} is followed by a unit that this reader does not know")
    return cells, np.frombuffer(data, dtype="<f4", offset=at, count=entries), end + len(_END)


def _reordered(table: _Table, cells: tuple[int, ...], wanted: tuple[int, ...]) -> _Table:
    """A table with the first of ``cells`` as its lowest nibble, as one with the first of ``wanted`` there."""
    axes = [len(cells) - 1 - cells.index(cell) for cell in reversed(wanted)]
    return np.ascontiguousarray(table.reshape((16,) * len(cells)).transpose(axes)).reshape(-1)
