from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from game2048.errors import SolverError
from solver_server.cli.tables import tables
from solver_server.tables import default_formations, storage
from solver_server.tables.build.builder import build_table
from solver_server.tables.extract import extract_file
from solver_server.tables.formations import BLOCK, Formation, TableSpec

SMALL = Formation("small", "##0/011/111", ("..0/.11/...", ".../01./.1."))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build_table(TableSpec(SMALL, 4, slack=8), tmp_path)
    return tmp_path


def run(*arguments: str) -> str:
    result = CliRunner().invoke(tables, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_list_names_each_table(folder: Path) -> None:
    assert "small-16" in run("list", "--folder", str(folder))
    (line,) = run("list", "--folder", str(folder / "nothing-here")).splitlines()
    assert line.startswith("4x4.extract")
    assert line.endswith("bundled")


def test_verify_says_good_and_finds_a_flipped_bit(folder: Path) -> None:
    assert "small-16: good" in run("verify", "--folder", str(folder))
    path = folder / "small-16.t2048"
    contents = bytearray(path.read_bytes())
    contents[-1] ^= 64
    path.write_bytes(contents)
    with pytest.raises(SolverError, match="damaged"):
        run("verify", "--folder", str(folder))


def test_remove_takes_finished_and_unfinished_tables(folder: Path) -> None:
    (folder / "small-32.t2048.part").write_bytes(b"\0" * storage.PAGE)
    run("remove", "small", "--folder", str(folder))
    assert [path for path in folder.iterdir() if path.suffix != storage.LOCK] == []


def test_remove_needs_names_or_all(folder: Path) -> None:
    assert CliRunner().invoke(tables, ["remove", "--folder", str(folder)]).exit_code == 2


def test_an_unknown_table_is_told(folder: Path) -> None:
    with pytest.raises(SolverError, match="is not in"):
        run("verify", "other", "--folder", str(folder))
    with pytest.raises(SolverError, match="unknown"):
        run("build", "other", "--folder", str(folder))


def test_all_tables_are_planned_or_those_named() -> None:
    names = [spec.name for spec in default_formations.plan([])]
    assert len(names) == 2
    assert [spec.name for spec in default_formations.plan([names[1]])] == [names[1]]
    assert [spec.formation.name for spec in default_formations.plan(["hook"])] == ["hook"]


def test_build_makes_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        default_formations, "DEFAULT_SET", (TableSpec(SMALL, 4, slack=8), TableSpec(SMALL, 3, slack=8))
    )
    assert run("build", "small-8", "--folder", str(tmp_path)).count(str(tmp_path)) == 1
    assert run("build", "--folder", str(tmp_path)).count(str(tmp_path)) == 2
    made = {path.name: path.stat().st_mtime_ns for path in storage.finished_tables(tmp_path)}
    assert list(made) == ["small-16.t2048", "small-8.t2048"]
    run("build", "--folder", str(tmp_path))
    assert {path.name: path.stat().st_mtime_ns for path in storage.finished_tables(tmp_path)} == made
    assert "small-8: good" in run("verify", "small", "--folder", str(tmp_path))
    with pytest.raises(SolverError, match="allow more"):
        run("build", "--memory", "0.000001", "--folder", str(tmp_path / "other"))


def test_extract_writes_an_extract_of_the_tables_that_are_built(tmp_path: Path) -> None:
    file = tmp_path / "mine.extract"
    with pytest.raises(SolverError, match="holds no endgame tables"):
        run("extract", str(file), "--folder", str(tmp_path))
    build_table(TableSpec(BLOCK, 5, slack=8, large=3, spare=2), tmp_path)
    arguments = ("--games", "2", "--visits", "3000", "--count", "50")
    assert "50 boards" in run("extract", str(file), "--folder", str(tmp_path), *arguments)
    assert extract_file.read_extract(file).numbers.size == 50


def test_verify_compares_the_set_that_comes_along_with_the_tables_it_is_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_table(TableSpec(BLOCK, 5, slack=8, large=3, spare=2), tmp_path)
    assert "extract" not in run("verify", "--folder", str(tmp_path))  # it is of other tables
    file = tmp_path / "mine.extract"
    run("extract", str(file), "--folder", str(tmp_path), "--games", "2", "--visits", "3000", "--count", "50")
    monkeypatch.setattr(extract_file, "BUNDLED_EXTRACT", file)
    assert "mine.extract: good" in run("verify", "--folder", str(tmp_path))
    known, header = extract_file.read_extract(file), extract_file.read_extract_header(file)
    extract_file.write_extract(file, header, known.numbers, known.moves ^ np.uint8(3))
    with pytest.raises(SolverError, match="move 0 of the extract is not the best"):
        run("verify", "--folder", str(tmp_path))
