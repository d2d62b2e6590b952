"""The folder of runs, training logs, journals and replays, without a browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from support.dashboard_process import TRAINING_ROWS, constant_network, fill_runs, write_training_log
from support.dataset_games import played, with_search
from support.recorded import worked_game

from bot.dashboard.faults import DashboardError
from bot.dashboard.sources import uploads
from bot.dashboard.sources.live_games import LiveGames
from bot.dashboard.sources.replays import PIECE_PLIES, Replays, piece, recorded_curve, spread, summary
from bot.dashboard.sources.run_folders import RunFolders
from bot.dashboard.sources.training_log import TrainingLog, series
from game2048 import Board, Direction
from recordings.game_arrays import arrays_of
from recordings.journal import GameJournal
from recordings.jsonl import append_record


@pytest.fixture
def runs(tmp_path: Path) -> RunFolders:
    fill_runs(tmp_path / "runs")
    return RunFolders(tmp_path / "runs")


# -- the folder of runs ----------------------------------------------------------------------------------


def test_files_are_listed_by_what_they_are_and_links_are_not(runs: RunFolders) -> None:
    assert {file.name for file in runs.files("games")} == {
        "hand/games.jsonl",
        "played/five.jsonl",
        "played/four.jsonl",
    }
    assert [file.name for file in runs.files("weights")] == ["nets/ones.n2048"]
    assert [file.name for file in runs.files("picture")] == ["hand/game-001.gif"]
    assert {file.name for file in runs.files("log")} == {"first/training.jsonl", "second/training.jsonl"}


@pytest.mark.parametrize(
    "name",
    [
        "../outside.jsonl",
        "hand/../../outside.jsonl",
        "/etc/passwd",
        "link.jsonl",
        "linked/outside.jsonl",
        "linked/runs/hand/games.jsonl",
        "hand\\games.jsonl",
        "hand/games.jsonl\0.gif",
        "",
        ".",
        ".hidden/games.jsonl",
        "notes.txt",
        "hand/none.jsonl",
        "a/" * 300 + "games.jsonl",
    ],
)
def test_no_name_leads_out_of_the_folder_or_to_other_files(runs: RunFolders, name: str) -> None:
    with pytest.raises(DashboardError) as caught:
        runs.file(name, "games", "weights", "picture", "log")
    assert caught.value.status == 404


@pytest.mark.parametrize("name", ["../new", "a/b", "", "-x", ".x", "x" * 65, "hand"])
def test_names_of_new_runs_are_plain_and_new(runs: RunFolders, name: str) -> None:
    with pytest.raises(DashboardError, match=r"usable as the name of a run|exists; expected a new name"):
        runs.new_run(name)


# -- training logs -----------------------------------------------------------------------------------------


def test_series_are_the_rows_and_the_speed_is_between_two_rows(tmp_path: Path) -> None:
    write_training_log(tmp_path / "training.jsonl")
    rows = TrainingLog(tmp_path / "training.jsonl").rows()
    assert series(rows, "mean") == [(100, 1000.0), (200, 3000.0), (300, 9000.0)]
    assert series(rows, "2048") == [(100, 0.0), (200, 0.25), (300, 0.5)]
    assert series(rows, "speed") == [(100, 50.0), (200, 200.0), (300, 200.0)]


def test_a_log_is_followed_while_it_grows_and_when_it_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "training.jsonl"
    write_training_log(path, 1)
    log = TrainingLog(path)
    assert [row.episode for row in log.rows()] == [100]
    whole = tmp_path / "whole.jsonl"
    write_training_log(whole)
    text = whole.read_bytes()
    with path.open("ab") as file:
        file.write(text[path.stat().st_size :][:-5])  # the last row is still being written
    assert [row.episode for row in log.rows()] == [100, 200]
    path.write_bytes(text)
    assert [row.episode for row in log.rows()] == [100, 200, 300]
    write_training_log(path, 1)  # a run that continues from a checkpoint
    assert [row.episode for row in log.rows()] == [100]


def test_a_damaged_row_ends_a_log(tmp_path: Path) -> None:
    path = tmp_path / "training.jsonl"
    write_training_log(path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + "{}\n" + lines[2])
    assert [row.episode for row in TrainingLog(path).rows()] == [TRAINING_ROWS[0][0]]


# -- replays -----------------------------------------------------------------------------------------------


def test_a_piece_holds_boards_scores_moves_and_motions_worked_out_by_hand() -> None:
    found = piece(arrays_of(worked_game()), 3, 2)
    # 4 4 / 2 2 right: 8 and 4 made, 12 points; then 2 8 / 0 4 left.
    assert found["boards"] == [[2, 2, 1, 1], [1, 3, 0, 2]]
    assert found["scores"] == [4, 16]
    assert found["directions"] == [1, 3]
    # From cell, to cell, exponent, merges; each row begins at the edge that tiles slide to.
    assert found["motions"][0] == [1, 1, 2, 1, 0, 1, 2, 1, 3, 3, 1, 1, 2, 3, 1, 1]
    assert found["motions"][1] == [0, 0, 1, 0, 1, 1, 3, 0, 3, 2, 2, 0]


def test_the_last_piece_ends_with_the_final_board_which_no_move_follows() -> None:
    found = piece(arrays_of(worked_game()), 4, PIECE_PLIES)
    assert (len(found["boards"]), len(found["directions"])) == (2, 1)
    assert found["boards"][-1] == [1, 3, 2, 1]


@pytest.mark.parametrize(("begin", "count"), [(-1, 1), (6, 1), (0, 0), (0, PIECE_PLIES + 1)])
def test_plies_that_are_not_there_are_refused(begin: int, count: int) -> None:
    with pytest.raises(DashboardError, match="expected 0 to 5"):
        piece(arrays_of(worked_game()), begin, count)


def test_curves_are_thinned_out_and_keep_both_ends() -> None:
    assert spread(4, 1000).tolist() == [0, 1, 2, 3, 4]
    assert spread(0, 1000).tolist() == [0]
    many = spread(30_000, 1000)
    assert (many[0], many[-1], many.size) == (0, 30_000, 1000)
    game = played(4, 4, 1)
    assert summary(game)["curve"]["scores"][-1] == game.final_score


def test_recorded_values_are_those_of_the_moves_made() -> None:
    game = with_search(played(4, 4, 1))
    curve = recorded_curve(game)
    assert curve is not None
    assert curve["plies"][:3] == [0, 2, 3]  # nothing was recorded at ply 1
    assert game.values is not None
    assert curve["values"][0] == pytest.approx(game.values[0, game.directions[0]], abs=0.01)
    assert recorded_curve(played(4, 4, 1)) is None


async def test_games_are_read_by_their_number_and_grow_with_their_file(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    append_record(path, worked_game())
    replays = Replays()
    assert (await replays.game(path, 0)).plies == 5
    with pytest.raises(DashboardError, match="has no game 2; expected 1 to 1"):
        await replays.game(path, 1)
    append_record(path, worked_game())
    games = await asyncio.gather(*(replays.game(path, number) for number in (0, 1, 0, 1)))
    assert all(np.array_equal(game.cells, games[0].cells) for game in games)


# -- running games -----------------------------------------------------------------------------------------


def test_a_running_game_is_followed_move_by_move_until_its_journal_is_gone(tmp_path: Path) -> None:
    games = LiveGames()
    journal = GameJournal.create(tmp_path, source="https://page.example", solver="order")
    files = {"here": journal.path}
    assert games.look(files) == []
    first, second = Board.from_text("2 2 / 0 0"), Board.from_text("4 0 / 0 2")
    journal.append(first, Direction.LEFT, 0)
    (game,) = games.look(files)
    assert (game.board, game.direction, game.moves, game.source) == (
        first,
        Direction.LEFT,
        1,
        "https://page.example",
    )
    journal.append(second, Direction.DOWN, 4)
    (game,) = games.look(files)
    assert (game.board, game.score, game.moves, game.is_quiet) == (second, 4, 2, False)
    journal.finish(Board.from_text("0 2 / 4 2"), 4, "stopped")
    assert games.look(files) == []


def test_a_journal_that_is_damaged_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "x.journal"
    path.write_bytes(b"\xff\xfe\n{}\n")
    assert LiveGames().look({"x": path}) == []


# -- uploads -----------------------------------------------------------------------------------------------


async def sent(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def test_games_that_obey_the_rules_are_kept_and_others_leave_nothing(runs: RunFolders) -> None:
    good = (runs.root / "hand" / "games.jsonl").read_bytes()
    assert (
        await uploads.receive(runs, "good.jsonl", sent(good[:100], good[100:]), None) == "uploads/good.jsonl"
    )
    assert runs.file("uploads/good.jsonl", "games").read_bytes() == good
    bad = good.replace(b'"right"', b'"left"')
    with pytest.raises(DashboardError, match=r"bad.jsonl was refused: 1 of 1 game broke the rules"):
        await uploads.receive(runs, "bad.jsonl", sent(bad), None)
    with pytest.raises(DashboardError, match="exists; give the file another name"):
        await uploads.receive(runs, "good.jsonl", sent(good), None)
    assert [path.name for path in (runs.root / "uploads").iterdir()] == ["good.jsonl"]


async def test_uploads_end_at_their_bound(runs: RunFolders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(uploads.UPLOAD_BYTES, "games", 1000)
    with pytest.raises(DashboardError, match="too long") as caught:
        await uploads.receive(runs, "x.jsonl", sent(b"a" * 600, b"b" * 600), None)
    assert caught.value.status == 413
    with pytest.raises(DashboardError, match="too long"):
        await uploads.receive(runs, "x.jsonl", sent(), 1001)
    assert list((runs.root / "uploads").iterdir()) == []


@pytest.mark.parametrize("name", ["../x.jsonl", "x.exe", "x.parquet", ".jsonl", "a b.jsonl"])
async def test_names_of_uploads_are_checked(runs: RunFolders, name: str) -> None:
    with pytest.raises(DashboardError, match=r"file name|neither weights nor games"):
        await uploads.receive(runs, name, sent(b"{}"), None)


def test_a_network_of_equal_weights_is_a_weights_file(tmp_path: Path) -> None:
    constant_network(tmp_path / "x.n2048", 0.5)
    assert RunFolders(tmp_path).files("weights")[0].size > 1024
