from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from game2048.errors import SolverError
from solver_server.tables import storage
from solver_server.tables.build.builder import Induction, build_table, load_table, solve_table
from solver_server.tables.formations import BLOCK, Formation, TableSpec
from solver_server.tables.verification import check_equation, check_table

SMALL = Formation("small", "##0/011/111", ("..0/.11/...", ".../01./.1."), trusted=0.25)
SPEC = TableSpec(SMALL, 5, slack=8, large=3, spare=2)


class Killed(Exception):
    pass


@pytest.fixture
def built(tmp_path: Path) -> Path:
    return build_table(SPEC, tmp_path)


def test_a_file_holds_what_is_computed_in_memory(built: Path) -> None:
    assert (load_table(built).values == solve_table(SPEC).values).all()
    assert load_table(built).sha256 == solve_table(SPEC).sha256
    assert load_table(built).spec == SPEC


def test_a_file_is_the_same_for_any_number_of_threads(built: Path, tmp_path: Path) -> None:
    other = build_table(SPEC, tmp_path / "other", threads=3)
    assert load_table(other).sha256 == load_table(built).sha256


@pytest.mark.parametrize("layers", [1, 5, 11])
def test_a_killed_build_goes_on_where_it_was(built: Path, tmp_path: Path, layers: int) -> None:
    where = tmp_path / "killed"
    seen = []

    def die(count: int) -> None:
        seen.append(count)
        if len(seen) == layers:
            raise Killed

    with pytest.raises(Killed):
        build_table(SPEC, where, advance=die)
    part = where / "small-32.t2048.part"
    with part.open("ab") as file:
        file.write(b"\0")  # half a value, as a kill leaves it
    assert storage.finished_tables(where) == []
    again: list[int] = []
    path = build_table(SPEC, where, advance=again.append)
    assert path.read_bytes()[storage.PAGE :] == built.read_bytes()[storage.PAGE :]
    assert sum(again) == load_table(built).values.size
    assert not part.exists()


def test_a_build_with_other_bounds_starts_afresh(built: Path, tmp_path: Path) -> None:
    where = tmp_path / "other"
    where.mkdir()
    other = TableSpec(SMALL, 5, slack=4, large=3, spare=2)
    (where / "small-32.t2048.part").write_bytes(built.read_bytes())
    assert load_table(build_table(other, where)).sha256 == solve_table(other).sha256


def test_a_flipped_bit_is_found(built: Path) -> None:
    check_table(built)
    contents = bytearray(built.read_bytes())
    contents[storage.PAGE + 1001] ^= 1
    built.write_bytes(contents)
    with pytest.raises(SolverError, match="damaged"):
        check_table(built)


def test_a_wrong_value_breaks_its_equation(built: Path) -> None:
    table = solve_table(SPEC)
    check_equation(table)
    table.values[np.argmax(table.values)] -= 1
    with pytest.raises(SolverError, match="wrong at position"):
        check_equation(table, sample=300_000)


def test_a_short_file_and_a_foreign_one_are_refused(built: Path) -> None:
    built.write_bytes(built.read_bytes()[:-1])
    with pytest.raises(SolverError, match="damaged"):
        load_table(built)
    built.write_bytes(b"x" * 5000)
    with pytest.raises(SolverError, match="not an endgame table"):
        load_table(built)


def test_a_table_is_built_by_one_process_at_a_time(tmp_path: Path) -> None:
    with (
        storage.only_builder(tmp_path / "small-32.t2048"),
        pytest.raises(SolverError, match="another process"),
    ):
        build_table(SPEC, tmp_path)


def test_a_build_takes_no_more_memory_than_it_says(tmp_path: Path) -> None:
    spec = TableSpec(BLOCK, 6, slack=32, large=4, spare=2)
    build_table(SPEC, tmp_path)  # what is compiled and loaded once
    tracemalloc.start()
    try:
        build_table(spec, tmp_path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    said = Induction(spec, 1).memory
    scratch = 2_000_000
    assert said / 2 < peak < said + scratch


def test_a_build_that_may_not_take_its_memory_is_not_begun(tmp_path: Path) -> None:
    with pytest.raises(SolverError, match=r"takes 0\.\d\d GB of memory; 1e-06 GB are allowed"):
        build_table(SPEC, tmp_path / "tables", memory=1000)
    assert not (tmp_path / "tables").exists()
    needed = Induction(SPEC, 1).memory
    assert build_table(SPEC, tmp_path, memory=needed).exists()
    with pytest.raises(SolverError, match="allow more"):
        build_table(SPEC, tmp_path / "tables", memory=needed - 1)
