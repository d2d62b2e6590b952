from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import msgspec
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from support.dataset_games import TIMESTAMP, hard_games, late_game, moveless, played, with_search

from game2048.errors import RecordError
from recordings.datasets import dataset_file
from recordings.datasets.dataset_file import FORMATS, read_games, write_games
from recordings.datasets.formats import writing
from recordings.datasets.formats.chunks import PartWriter
from recordings.game_arrays import GameArrays, record_of

CHAIN = ["a.jsonl", "b.parquet", "c.h5", "d.csv", "e.json", "f.jsonl"]
EXTENSIONS = [*FORMATS, ".part"]


def write(path: Path, games: list[GameArrays]) -> Path:
    if path.suffix == ".part":
        writer = PartWriter(path)
        writer.write(games)
        writer.close()
    else:
        write_games(path, games)
    return path


def assert_same(found: list[GameArrays], expected: list[GameArrays]) -> None:
    assert len(found) == len(expected)
    for number, (mine, theirs) in enumerate(zip(found, expected, strict=True)):
        assert mine.info == theirs.info, number
        assert mine.equals(theirs), number


def test_a_round_trip_through_all_formats_gives_the_same_bytes(tmp_path: Path) -> None:
    write_games(tmp_path / CHAIN[0], hard_games())
    for source, target in itertools.pairwise(CHAIN):
        write_games(tmp_path / target, read_games(tmp_path / source))
    assert (tmp_path / CHAIN[-1]).read_bytes() == (tmp_path / CHAIN[0]).read_bytes()


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_every_format_holds_every_bit(tmp_path: Path, extension: str) -> None:
    games = hard_games()
    assert_same(list(read_games(write(tmp_path / f"games{extension}", games))), games)


@pytest.mark.parametrize("extension", FORMATS)
def test_the_same_games_give_the_same_bytes_however_they_come(
    tmp_path: Path, extension: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "BATCH_PLIES", 500)
    games = hard_games()
    for name, pieces in (
        ("one", [games]),
        ("each", [[game] for game in games]),
        ("two", [games[:4], games[4:]]),
    ):
        with dataset_file.Creation(tmp_path / f"{name}{extension}") as writer:
            for piece in pieces:
                writer.write(piece)
    for infix in ("", ".games") if FORMATS[extension].paired else ("",):
        contents = {(tmp_path / f"{name}{infix}{extension}").read_bytes() for name in ("one", "each", "two")}
        assert len(contents) == 1
    assert_same(list(read_games(tmp_path / f"each{extension}")), games)


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_datasets_without_games_and_without_moves(tmp_path: Path, extension: str) -> None:
    assert list(read_games(write(tmp_path / f"none{extension}", []))) == []
    games = [moveless(played(4, 4, seed)) for seed in range(3)]
    assert_same(list(read_games(write(tmp_path / f"moveless{extension}", games))), games)


# -- what others read -----------------------------------------------------------------------------------


def test_the_columns_of_parquet_by_hand(tmp_path: Path) -> None:
    write_games(tmp_path / "late.parquet", [late_game()])
    table = pd.read_parquet(tmp_path / "late.parquet")
    assert len(table) == 3
    assert table["game"].tolist() == [0, 0, 0]
    assert table["ply"].tolist() == [1, 2, 3]
    assert table["board"].tolist() == [0, 0, 0]  # tiles past 32768 fit no nibble
    assert table["cells"][1].tolist() == [16, 16, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert table["direction"].tolist() == ["left", "left", "up"]
    assert table["legal"].tolist() == [0b1110, 0b1111, 0b0111]  # not up; all four; not left
    assert table["reward"].tolist() == [65536, 131072, 0]
    assert table["score"].tolist() == [3_000_000, 3_065_536, 3_196_608]
    assert table["afterstate_cells"][0].tolist() == [16, 16, 1] + [0] * 13
    assert table["spawn_cell"].tolist() == [15, 13, 14]
    assert table["spawn_exponent"].tolist() == [1, 2, 2]
    assert table["return_to_go"].tolist() == [196_608, 131_072, 0]
    assert table["final_score"].tolist() == [3_196_608] * 3
    assert table["max_tile"].tolist() == [131072] * 3
    assert table["outcome"].tolist() == ["stopped"] * 3
    assert all(np.isnan(values).all() for values in table["values"])
    assert table["depth"].tolist() == [-1, -1, -1]


def test_boards_of_4x4_are_nibbles_too(tmp_path: Path) -> None:
    game = played(4, 4, 1)
    write_games(tmp_path / "games.parquet", [game])
    table = pd.read_parquet(tmp_path / "games.parquet")
    assert table["board"].dtype == np.uint64
    expected = [sum(int(e) << 4 * i for i, e in enumerate(cells.flat)) for cells in game.cells[:-1]]
    assert table["board"].tolist() == expected


def test_parquet_as_pyarrow_reads_it(tmp_path: Path) -> None:
    games = hard_games()
    write_games(tmp_path / "games.parquet", games)
    moves = pq.read_table(tmp_path / "games.parquet")
    table = pq.read_table(tmp_path / "games.games.parquet")
    assert moves.num_rows == sum(game.plies for game in games)
    assert table["plies"].to_pylist() == [game.plies for game in games]
    assert table["seed"].to_pylist()[6] == 2**64 - 1
    assert table["weights"].to_pylist()[7] == "0" * 64
    assert pq.ParquetFile(tmp_path / "games.parquet").metadata.row_group(0).column(0).compression == "ZSTD"
    # Every column is of a plain type: other readers stumble over dictionaries and nulls.
    assert {str(field.type) for field in moves.schema} == {
        "int64", "int32", "int16", "int8", "uint8", "uint64", "string",
        "list<element: uint8 not null>", "fixed_size_list<element: double not null>[4]",
    }  # fmt: skip
    assert [name for name in moves.column_names if moves[name].null_count] == ["outcome"]


def test_hdf5_as_h5py_reads_it(tmp_path: Path) -> None:
    game = with_search(played(4, 4, 3))
    write_games(tmp_path / "games.h5", [game])
    with h5py.File(tmp_path / "games.h5") as file:
        assert file["moves/cells"].shape == (game.plies, 16)
        assert h5py.check_enum_dtype(file["moves/direction"].dtype) == {
            "up": 0,
            "right": 1,
            "down": 2,
            "left": 3,
        }
        np.testing.assert_array_equal(file["moves/values"][:], game.values)
        assert file["games/timestamp"].asstr()[0] == TIMESTAMP


def test_csv_as_a_spreadsheet_reads_it(tmp_path: Path) -> None:
    write_games(tmp_path / "late.csv", [late_game()])
    table = pd.read_csv(tmp_path / "late.csv")
    assert table["board"][2] == "131072 2 0 0 / 0 0 0 0 / 0 0 0 0 / 2 4 0 0"
    assert table["afterstate"][2] == "131072 2 0 0 / 2 4 0 0 / 0 0 0 0 / 0 0 0 0"
    assert table["legal"].tolist() == ["right down left", "up right down left", "up right down"]
    assert table["spawn_tile"].tolist() == [2, 4, 4]
    assert table["value_up"].isna().all()


def test_json_is_one_array(tmp_path: Path) -> None:
    write_games(tmp_path / "games.json", [late_game(), played(2, 2, 1)])
    games = json.loads((tmp_path / "games.json").read_text())
    assert [game["maxTile"] for game in games] == [131072, max(map(max, games[1]["finalBoard"]))]


def test_a_json_array_in_any_layout_is_read(tmp_path: Path) -> None:
    games = hard_games()[:3]
    values = [msgspec.to_builtins(record_of(game)) for game in games]
    for name, text in (
        ("wide", json.dumps(values, indent=2)),
        ("flat", json.dumps(values)),
        ("broken", "[\n" + json.dumps(values)[1:-1] + "\n]"),
    ):
        (tmp_path / f"{name}.json").write_text(text)
        assert_same(list(read_games(tmp_path / f"{name}.json")), games)


# -- what goes wrong ------------------------------------------------------------------------------------


@pytest.mark.parametrize("extension", FORMATS)
def test_nothing_is_overwritten_in_silence(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"games{extension}"
    write_games(path, [late_game()])
    with pytest.raises(RecordError, match=r"exists; expected a new name, or --force"):
        write_games(path, [])
    assert len(list(read_games(path))) == 1
    write_games(path, [], force=True)
    assert list(read_games(path)) == []


@pytest.mark.parametrize("extension", FORMATS)
def test_a_writing_that_fails_leaves_nothing(tmp_path: Path, extension: str) -> None:
    def broken():
        yield late_game()
        raise RecordError("the source is damaged")

    with pytest.raises(RecordError, match="the source is damaged"):
        write_games(tmp_path / f"games{extension}", broken())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("extension", FORMATS)
def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path, extension: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot be written"):
        write_games(tmp_path / "file" / f"games{extension}", [late_game()])


def halved(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def replaced(path: Path) -> None:
    path.write_bytes(b"\x00\xffthis is no file of games" * 50)


@pytest.mark.parametrize("harm", [halved, replaced, emptied])
@pytest.mark.parametrize("extension", [".json", ".csv", ".parquet", ".h5"])
def test_a_damaged_file_is_told(tmp_path: Path, extension: str, harm: Callable[[Path], None]) -> None:
    path = tmp_path / f"games{extension}"
    write_games(path, hard_games())
    harm(path)
    with pytest.raises(RecordError, match=f"games{extension}"):
        list(read_games(path))


def test_a_table_without_its_other_half_is_told(tmp_path: Path) -> None:
    for extension in (".csv", ".parquet"):
        write_games(tmp_path / f"games{extension}", [late_game()])
        (tmp_path / f"games.games{extension}").unlink()
        with pytest.raises(RecordError, match=r"no table of games beside it; expected games\.games"):
            list(read_games(tmp_path / f"games{extension}"))


@pytest.mark.parametrize("extension", [".csv", ".parquet"])
def test_tables_of_different_datasets_are_told(tmp_path: Path, extension: str) -> None:
    for name, games in (("short", [played(4, 4, 1)]), ("long", [played(4, 4, 1), played(4, 4, 2)])):
        write_games(tmp_path / f"{name}{extension}", games)
    short, long = (tmp_path / f"{name}.games{extension}" for name in ("short", "long"))
    kept = short.read_bytes()
    long.rename(short)
    with pytest.raises(RecordError, match=r"game 2: its \d+ moves are not all there"):
        list(read_games(tmp_path / f"short{extension}"))
    short.rename(long)
    long.write_bytes(kept)
    with pytest.raises(RecordError, match=r"has moves of games that its table of games does not know"):
        list(read_games(tmp_path / f"long{extension}"))


def test_columns_that_are_missing_or_wrong_in_csv_are_told(tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    write_games(path, [late_game()])
    whole = path.read_text()
    for old, new, message in (
        ("direction", "heading", r"has no column 'direction'"),
        ("0,3,131072 2", "0,3,131072 3", r"lines 2 to 4: 3 in row 1, column 2 is not a tile"),
        ("0,1,", "0,7,", r"its moves are not in order"),
        (",up,", ",north,", r"direction 'north' is unknown"),
        ("0,2,", "0,2,,", r"line 3: 21 fields; expected 20"),
        ("0,3,131072 2 0 0 / 0 0 0 0 / 0 0 0 0 / 2 4 0 0", "0,3,2 0 / 0 0", r"does not have 16 cells"),
    ):
        assert old in whole, old
        path.write_text(whole.replace(old, new, 1))
        with pytest.raises(RecordError, match=message):
            list(read_games(path))


def test_files_of_a_version_with_fewer_optional_columns_are_read(tmp_path: Path) -> None:
    game = late_game().with_info(rules=["spawns 8 too"])
    for extension in (".parquet", ".csv", ".h5"):
        write_games(tmp_path / f"late{extension}", [game])
    table = pq.read_table(tmp_path / "late.games.parquet").drop_columns(["rules", "symmetry"])
    pq.write_table(table, tmp_path / "late.games.parquet")
    csv = pd.read_csv(tmp_path / "late.games.csv").drop(columns=["rules", "symmetry"])
    csv.to_csv(tmp_path / "late.games.csv", index=False)
    with h5py.File(tmp_path / "late.h5", "a") as file:
        del file["games/rules"], file["games/symmetry"]
    for extension in (".parquet", ".csv", ".h5"):
        assert_same(list(read_games(tmp_path / f"late{extension}")), [late_game()])


def test_an_unknown_extension_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"'\.xml' is not known; expected one of \.jsonl, \.json, \.csv"):
        write_games(tmp_path / "games.xml", [])
    (tmp_path / "games").write_text("")
    with pytest.raises(RecordError, match="is not known"):
        list(read_games(tmp_path / "games"))
    with pytest.raises(RecordError, match=r"missing\.jsonl does not exist"):
        list(read_games(tmp_path / "missing.jsonl"))


@pytest.mark.parametrize(("extension", "package"), [(".parquet", "pyarrow"), (".h5", "h5py")])
def test_a_missing_package_names_the_extra(
    tmp_path: Path, extension: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        RecordError, match=rf"{package}, which is not installed; try `pip install 'bot2048\[data\]'`"
    ):
        write_games(tmp_path / f"games{extension}", [late_game()])
    assert list(tmp_path.iterdir()) == []


def test_reading_and_writing_json_loads_none_of_the_heavy_packages(tmp_path: Path) -> None:
    code = (
        "import sys; from recordings.datasets.dataset_file import read_games, write_games\n"
        "write_games('a.jsonl', []); list(read_games('a.jsonl'))\n"
        "import recordings.cli.records\n"
        "print([name for name in ('numba', 'pyarrow', 'h5py', 'pandas', 'PIL') if name in sys.modules])"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
