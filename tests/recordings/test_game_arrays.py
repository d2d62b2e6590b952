from __future__ import annotations

import msgspec
import numpy as np
import pytest
from support.dataset_games import hard_games, late_game, played, with_search
from support.recorded import random_game, worked_game

from game2048 import Board
from game2048.errors import RecordError
from recordings import GameRecord, Move
from recordings.datasets.formats.json_text import line_of
from recordings.game_arrays import arrays_of, record_of
from recordings.record import GameInfo, decode_record, encode_record


def test_the_worked_game_in_arrays() -> None:
    game = arrays_of(worked_game())
    assert game.size == (2, 2)
    assert game.plies == 5
    assert game.cells[0].tolist() == [[1, 0], [1, 0]]
    assert game.cells[-1].tolist() == [[1, 3], [2, 1]]
    assert game.directions.tolist() == [0, 3, 2, 1, 3]
    assert game.scores.tolist() == [0, 4, 4, 4, 16, 16]
    assert (game.info.max_tile, game.info.won, game.info.seed) == (8, False, 7)


def test_every_field_of_a_record_is_in_its_columns() -> None:
    in_arrays = {"final_score", "final_board", "moves"}
    assert {*GameInfo.__struct_fields__} | in_arrays == {*GameRecord.__struct_fields__}


@pytest.mark.parametrize("size", [(2, 2), (4, 4), (5, 5), (3, 8)])
def test_a_record_comes_back_from_its_arrays(size: tuple[int, int]) -> None:
    record = random_game(*size, seed=11, max_moves=200)
    assert record_of(arrays_of(record)) == record


@pytest.mark.parametrize("number", range(len(hard_games())))
def test_the_quick_line_of_json_is_the_record_s(number: int) -> None:
    game = hard_games()[number]
    assert line_of(game) == encode_record(record_of(game))
    assert arrays_of(decode_record(line_of(game))).equals(game)


def test_what_the_engine_knew_is_in_the_move_and_comes_back() -> None:
    move = Move.of_search(Move([[2, 0], [2, 0]], "up", 4), {"up": 3.5, "right": 1.0, "down": 2.25}, 17, 3)
    assert msgspec.to_builtins(move) == {
        "board": [[2, 0], [2, 0]],
        "direction": "up",
        "score": 4,
        "values": {"up": 3.5, "right": 1.0, "down": 2.25},
        "evaluation_score": 3.5,
        "alternative_moves": ["down", "right"],
        "nodes_evaluated": 17,
        "depth": 3,
    }
    game = with_search(played(4, 4, 9))
    assert arrays_of(record_of(game)).equals(game)


def test_an_evaluation_alone_as_other_programs_write_it_is_kept_as_the_chosen_direction_s() -> None:
    record = worked_game()
    moves = [msgspec.structs.replace(move, evaluation_score=2.5) for move in record.moves]
    game = arrays_of(msgspec.structs.replace(record, moves=moves))
    assert game.values is not None
    assert game.values[0].tolist()[0] == 2.5
    assert np.isnan(game.values[0][1:]).all()


def test_a_board_that_is_none_is_named_with_its_ply() -> None:
    record = worked_game()
    moves = list(record.moves)
    moves[2] = msgspec.structs.replace(moves[2], board=[[4, 3], [2, 0]])
    with pytest.raises(RecordError, match=r"the board before ply 3 is invalid: 3 in row 1, column 2 is not"):
        arrays_of(msgspec.structs.replace(record, moves=moves))


def test_a_board_of_another_size_is_named_with_its_ply() -> None:
    record = msgspec.structs.replace(worked_game(), final_board=Board(3, 3).tiles())
    with pytest.raises(RecordError, match=r"the final board is 3×3, the first 2×2"):
        arrays_of(record)


@pytest.mark.parametrize("tile", [1, 3, 6, 262144, 2**52])
def test_what_is_no_tile_of_4x4_is_refused(tile: int) -> None:
    game = record_of(late_game())
    board = [[tile, 0, 0, 0], [0] * 4, [0] * 4, [0] * 4]
    with pytest.raises(RecordError, match=f"{tile} in row 1, column 1 is not"):
        arrays_of(msgspec.structs.replace(game, final_board=board))
