from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from PIL import Image
from support.recorded import random_game, worked_game, worked_moves
from support.records_command import run, told

from game2048 import Board, Direction
from recordings import GAMES_FILE, GameJournal, GameRecord, append_record, read_records
from recordings.datasets.dataset_file import write_games
from recordings.datasets.formats.chunks import PartWriter
from recordings.game_arrays import arrays_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / GAMES_FILE
    for game in (worked_game(), random_game(3, 3, 5)):
        append_record(path, game)
    return path


def broken(game: GameRecord) -> GameRecord:
    moves = list(game.moves)
    moves[2] = msgspec.structs.replace(moves[2], board=[[4, 8], [2, 0]])
    return msgspec.structs.replace(game, moves=moves)


def test_show_prints_how_each_game_went(file: Path) -> None:
    result = run("show", file)
    assert result.exit_code == 0
    first = result.output.split("\n\n")[0]
    assert first.splitlines() == [
        f"{file}, game 1: game over",
        "  score 16, max tile 8, 5 moves",
        "  solver hand, source self-play, seed 7, 2025-03-01T12:00:00+00:00",
        "     2    8",
        "     4    2",
    ]
    assert f"{file}, game 2: game over" in result.output


def test_show_json_is_one_object_a_game_without_its_moves(file: Path) -> None:
    lines = run("show", "--json", file).output.splitlines()
    assert len(lines) == 2
    assert json.loads(lines[0]) == {
        "file": str(file),
        "game": 1,
        "totalMoves": 5,
        "finalScore": 16,
        "maxTile": 8,
        "won": False,
        "finalBoard": [[2, 8], [4, 2]],
        "timestamp": "2025-03-01T12:00:00+00:00",
        "source": "self-play",
        "solver": "hand",
        "seed": 7,
        "outcome": "game_over",
        "schemaVersion": 1,
    }


def test_show_keeps_control_characters_from_the_terminal(file: Path) -> None:
    append_record(file, msgspec.structs.replace(worked_game(), source="\x1b[2J"))
    assert "\x1b" not in run("show", file).output
    assert "source \ufffd[2J" in run("show", file).output


def test_show_names_a_final_board_that_is_none(file: Path) -> None:
    append_record(file, msgspec.structs.replace(worked_game(), final_board=[[3, 2], [2, 2]]))
    message = told(run("show", file))
    assert message.startswith(f"{file}, game 3: the final board is invalid: 3 in row 1, column 1")


def test_verify_sums_up_games_by_the_rules(file: Path, tmp_path: Path) -> None:
    moves = 5 + random_game(3, 3, 5).total_moves
    result = run("verify", file)
    assert (result.exit_code, result.stdout) == (0, f"2 games, {moves} moves: every ply by the rules\n")
    result = run("verify", tmp_path, file)  # a run folder stands for its games
    assert result.stdout == f"4 games, {2 * moves} moves: every ply by the rules\n"


def test_verify_names_file_game_and_the_first_ply_at_fault(file: Path) -> None:
    append_record(file, broken(worked_game()))
    append_record(file, msgspec.structs.replace(worked_game(), won=True))
    result = run("verify", file)
    assert result.stdout.splitlines() == [
        f"{file}, game 3, ply 2: left on '4 0 / 0 2' expects '4 0 / 2 0' and one spawned 2 or 4 more, "
        "but the board before ply 3 is '4 8 / 2 0'",
        f"{file}, game 4, won is True; expected False by the moves and the final board",
    ]
    assert told(result) == f"2 of 4 games broke the rules, first {file}, game 3, ply 2"


def test_verify_names_the_line_and_field_of_what_is_no_record(file: Path) -> None:
    with file.open("ab") as games:
        games.write(b'{"totalMoves":"5"}\n')
    assert told(run("verify", file)) == (
        f"{file}, line 3: not a game record: Expected `int`, got `str` - at `$.totalMoves`"
    )


def test_a_torn_last_line_fails_verify_but_not_show(file: Path) -> None:
    with file.open("ab") as games:
        games.write(b'{"totalMoves":5,')
    assert "line 3: the last line is cut off" in told(run("verify", file))
    result = run("show", file)
    assert result.exit_code == 0
    assert "game 2: game over" in result.output


def test_gif_draws_the_game_asked_for_beside_its_file(file: Path) -> None:
    result = run("gif", file, "--game", 2, "--gif-frames", 7, "--gif-ms", 50, "--gif-size", 200)
    target = file.with_name("games-game-2.gif")
    assert (result.exit_code, result.stdout) == (0, f"{target}\n")
    with Image.open(target) as gif:
        assert (gif.width, getattr(gif, "n_frames", 0), gif.info["duration"]) == (200, 7, 50)


def test_gif_goes_where_it_is_told(file: Path, tmp_path: Path) -> None:
    result = run("gif", tmp_path, "-o", tmp_path / "my.gif")
    assert result.exit_code == 0
    with Image.open(tmp_path / "my.gif") as gif:
        assert (gif.width, getattr(gif, "n_frames", 0)) == (400, 6)


def test_a_game_that_is_not_there_is_told(file: Path) -> None:
    assert told(run("gif", file, "--game", 3)) == f"{file} has no game 3; expected 1 to 2"


def test_recover_brings_back_the_game_of_a_journal(tmp_path: Path) -> None:
    with GameJournal.create(tmp_path, source="x", solver="y") as journal:
        for move in worked_moves()[:4]:
            journal.append(Board.from_tiles(move.board), Direction(move.direction), move.score)
    result = run("recover", tmp_path)
    assert result.stdout.splitlines() == [
        "recovered: 4 moves, score 16, max tile 8",
        f"1 game appended to {tmp_path / GAMES_FILE}",
    ]
    assert [game.moves for game in read_records(tmp_path / GAMES_FILE)] == [worked_moves()[:4]]
    assert run("verify", tmp_path).exit_code == 0
    assert run("recover", tmp_path).stdout == f"nothing to recover in {tmp_path}\n"


def test_a_folder_without_games_says_how_to_get_them(tmp_path: Path) -> None:
    assert "`bot2048 records recover" in told(run("show", tmp_path))


@pytest.mark.parametrize(
    "arguments",
    [("show",), ("verify", "missing.jsonl"), ("gif", "missing.jsonl"), ("recover", "missing"), ("paint",)],
)
def test_bad_usage_is_exit_code_2(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


def test_working_files_and_other_extensions_are_shown_and_verified(tmp_path: Path) -> None:
    writer = PartWriter(tmp_path / "games.h5.part")
    writer.write([arrays_of(worked_game())])
    writer.close()
    write_games(tmp_path / "games.h5", [arrays_of(worked_game())])
    (tmp_path / "games.h5").rename(tmp_path / "GAMES.HDF5")
    for name in ("games.h5.part", "GAMES.HDF5"):
        assert run("verify", tmp_path / name).stdout == "1 game, 5 moves: every ply by the rules\n"
        assert "game 1: game over" in run("show", tmp_path / name).output


def test_gif_options_out_of_their_bounds_are_bad_usage(file: Path) -> None:
    for option, value in (("--gif-frames", 0), ("--gif-ms", 5), ("--gif-size", 10), ("--game", 0)):
        assert run("gif", file, option, value).exit_code == 2


@pytest.mark.parametrize("command", [(), ("show",), ("verify",), ("gif",), ("recover",)])
def test_every_command_explains_itself(command: tuple[str, ...]) -> None:
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Usage:" in result.output
