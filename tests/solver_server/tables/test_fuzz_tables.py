"""Damaged and hostile table files and extracts: read, or refused with one sentence (`support.mutants`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest
from support.array_mutants import all_kinds
from support.mutants import check_loader, mutants

from game2048.errors import SolverError
from game2048.kernels.bitboard import make_row_tables
from solver_server import array_file
from solver_server.tables import storage
from solver_server.tables.build.builder import build_table, load_table
from solver_server.tables.extract import extract_file
from solver_server.tables.extract.extract_file import ExtractHeader, extract_move
from solver_server.tables.formations import BLOCK, HOOK, Formation, TableSpec
from solver_server.tables.lookup import make_table_set, table_moves

SMALL = Formation("small", "##0/011/111", ("..0/.11/...", ".../01./.1."), trusted=0.25)
COUNTS = pytest.mark.parametrize("count", [40, pytest.param(500, marks=pytest.mark.slow)])
BOARD = np.uint64(0x0000_0012_0789_DCBA)


def header_page(header: bytes) -> bytes:
    """The first page of a table file with that header."""
    return (b"\x89T2048\r\n" + len(header).to_bytes(4, "little") + header).ljust(storage.PAGE, b"\0")


def table_mutants(data: bytes, count: int) -> Iterator[bytes]:
    """Mutants of a table file as it is, and files that are whole but for their headers' JSON."""
    yield from mutants(data, count // 2, 1)
    length = int.from_bytes(data[8:12], "little")
    for header in mutants(data[12 : 12 + length], count // 2, 2):
        yield header_page(header) + data[storage.PAGE :]


@COUNTS
@pytest.mark.parametrize(
    "spec", [TableSpec(SMALL, 5, slack=8, large=3, spare=2), TableSpec(BLOCK, 4, 8, 2, 1)]
)
def test_mutants_of_tables(spec: TableSpec, count: int, tmp_path: Path) -> None:
    data = build_table(spec, tmp_path / "whole").read_bytes()
    rows, found, values = make_row_tables(), np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)

    def load(path: Path) -> None:
        table = load_table(path)
        if (table.spec.formation.rows, table.spec.formation.columns) == (4, 4):
            assert -1 <= table_moves(BOARD, rows, make_table_set([table]), found, values) < 4

    outcomes = check_loader(load, tmp_path / "mutant", table_mutants(data, count), SolverError)
    assert sum(outcomes.refused.values()) > count // 4


@COUNTS
def test_mutants_of_extracts(count: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    numbers = np.unique(rng.integers(0, 1 << 27, 3000, dtype=np.uint32))
    specs = (TableSpec(HOOK, 7), TableSpec(BLOCK, 8))
    header = ExtractHeader(
        tables=[storage.table_header(spec, 1) for spec in specs], games=1, visits=1, seed=0
    )
    path = tmp_path / "whole"
    extract_file.write_extract(
        path, header, numbers, rng.integers(0, 256, -(-numbers.size // 4), dtype=np.uint8)
    )
    rows = make_row_tables()

    def load(path: Path) -> None:
        extract_file.read_extract_header(path)
        assert -1 <= extract_move(BOARD, rows, extract_file.read_extract(path)) < 4

    outcomes = check_loader(load, tmp_path / "mutant", all_kinds(path.read_bytes(), count), SolverError)
    assert sum(outcomes.refused.values()) > count // 4


@pytest.mark.parametrize(
    "changes",
    [
        {"slack": 1 << 40},
        {"slack": -1},
        {"top": 13, "picture": "0000/0000/0000/####", "goals": ("0.../..../..../....",)},
        {"top": 12, "picture": "0000/0000/00##/####", "goals": ("0.../..../..../....",)},
        {"picture": "²²²²/0000/####/####"},
        {"picture": "0123"},
        {"goals": ("..../..../..../....",)},
        {"trusted": 2.0},
        {"positions": 1 << 62},
    ],
)
def test_a_header_of_a_few_bytes_cannot_ask_for_much(changes: dict[str, object], tmp_path: Path) -> None:
    header = msgspec.structs.replace(storage.table_header(TableSpec(BLOCK, 5), 100), **changes)
    contents = header_page(msgspec.json.encode(header)) + bytes(200)
    outcomes = check_loader(load_table, tmp_path / "mutant", iter([contents]), SolverError)
    assert outcomes.read == 0
    assert outcomes.largest < 2_000_000


def test_an_extract_of_a_few_bytes_cannot_claim_many_boards(tmp_path: Path) -> None:
    path = tmp_path / "mutant"
    table = storage.table_header(TableSpec(BLOCK, 8), 1)
    header = ExtractHeader(tables=[table], count=1 << 24, games=1, visits=1, seed=0, lengths=[0] * 5)
    array_file.write_array(path, msgspec.json.encode(header), np.zeros(0, dtype=np.uint8))
    outcomes = check_loader(extract_file.read_extract, path, iter([path.read_bytes()]), SolverError)
    assert outcomes.refused == {"FILE claims 16,777,216 boards; expected 16,777,216": 1}
    assert outcomes.largest < 2_000_000  # a header of 1 MiB is read
