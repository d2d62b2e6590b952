from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.recorded import random_game, worked_game

from game2048 import Board, Direction
from recordings import Fault, GameRecord, Move, build_record, new_info, verify
from recordings.record import Outcome

change = msgspec.structs.replace


def with_move(record: GameRecord, number: int, **fields: object) -> GameRecord:
    moves = list(record.moves)
    moves[number - 1] = change(moves[number - 1], **fields)
    return change(record, moves=moves)


def one_move(before: str, direction: str, after: str, score: int, outcome: Outcome = "stopped") -> GameRecord:
    move = Move.of(Board.from_text(before), Direction(direction), 0)
    return build_record(
        [move], Board.from_text(after), score, new_info(source="x", solver="y", outcome=outcome)
    )


def test_a_game_by_the_rules_has_no_fault() -> None:
    assert verify(worked_game()) is None


def test_a_wrong_spawn_names_the_ply_the_boards_and_what_was_expected() -> None:
    record = with_move(worked_game(), 3, board=[[4, 8], [2, 0]])
    assert str(verify(record)) == (
        "ply 2: left on '4 0 / 0 2' expects '4 0 / 2 0' and one spawned 2 or 4 more, "
        "but the board before ply 3 is '4 8 / 2 0'"
    )


def test_a_wrong_final_board_is_the_last_ply_s() -> None:
    record = change(worked_game(), final_board=[[2, 8], [4, 16]])
    assert str(verify(record)) == (
        "ply 5: left on '2 8 / 0 4' expects '2 8 / 4 0' and one spawned 2 or 4 more, "
        "but the final board is '2 8 / 4 16'"
    )


def test_a_wrong_score_names_the_ply_that_made_it() -> None:
    assert str(verify(with_move(worked_game(), 5, score=12))) == (
        "ply 4: right on '4 4 / 2 2' expects the score 4 + 12 = 16, but the score before ply 5 is 12"
    )
    assert str(verify(change(worked_game(), final_score=20))) == (
        "ply 5: left on '2 8 / 0 4' expects the score 16 + 0 = 16, but the final score is 20"
    )


def test_an_illegal_move_is_named() -> None:
    record = with_move(worked_game(), 5, direction="right")
    assert str(verify(record)) == "ply 5: right on '2 8 / 0 4' is illegal: it changes nothing"


@pytest.mark.parametrize(
    ("tiles", "told"), [([[3, 0], [2, 0]], "3 in row 1, column 1 is not a tile"), ([[4, 0], [0]], "ragged")]
)
def test_an_invalid_board_is_named(tiles: list[list[int]], told: str) -> None:
    fault = verify(with_move(worked_game(), 2, board=tiles))
    assert fault is not None
    assert fault.ply == 2
    assert fault.message.startswith("the board before ply 2 is invalid: ")
    assert told in fault.message


def test_a_board_of_another_size_is_named() -> None:
    fault = verify(with_move(worked_game(), 2, board=[[4, 0, 0], [0, 2, 0]]))
    assert fault is not None
    assert fault.ply == 1


@pytest.mark.parametrize(
    ("after", "fine"),
    [
        ("4 0 2 / 0 0 0", True),
        ("4 0 0 / 0 4 0", True),
        ("4 0 0 / 0 0 0", False),  # no spawn
        ("4 2 0 / 0 0 2", False),  # two spawns
        ("4 8 0 / 0 0 0", False),  # 8 is never spawned
        ("2 0 0 / 0 2 0", False),  # the merged tile is missing
    ],
)
def test_exactly_one_2_or_4_is_spawned_in_an_empty_cell(after: str, fine: bool) -> None:
    assert (verify(one_move("2 2 0 / 0 0 0", "left", after, 4)) is None) is fine


def test_only_an_interrupted_game_may_lack_its_last_spawn() -> None:
    for outcome, fine in (("interrupted", True), ("stopped", False), ("game_over", False)):
        record = one_move("2 2 0 / 0 0 0", "left", "4 0 0 / 0 0 0", 4, outcome)
        assert (verify(record) is None) is fine
    record = change(with_move(worked_game(), 3, board=[[4, 0], [2, 0]]), outcome="interrupted")
    fault = verify(record)
    assert fault is not None
    assert fault.ply == 2


def test_a_game_may_begin_with_a_score() -> None:
    record = worked_game()
    moves = [change(move, score=move.score + 500) for move in record.moves]
    assert verify(change(record, moves=moves, final_score=516)) is None


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("total_moves", 6, "totalMoves is 6; expected 5"),
        ("max_tile", 16, "maxTile is 16; expected 8"),
        ("won", True, "won is True; expected False"),
        ("timestamp", "yesterday", "timestamp 'yesterday' is not a date and time"),
    ],
)
def test_totals_that_do_not_agree_are_named(field: str, value: object, told: str) -> None:
    fault = verify(change(worked_game(), **{field: value}))
    assert fault is not None
    assert fault.ply is None
    assert str(fault).startswith(told)


def test_game_over_is_believed_only_of_a_board_without_moves() -> None:
    fault = verify(one_move("2 2 0 / 0 0 0", "left", "4 0 2 / 0 0 0", 4, "game_over"))
    assert fault is not None
    assert fault.ply == 1
    assert "still has legal moves: right, down, left" in fault.message


def test_a_game_without_moves_is_its_final_board() -> None:
    over = build_record(
        [], Board.from_text("2 4/4 2"), 0, new_info(source="x", solver="y", outcome="game_over")
    )
    assert verify(over) is None
    assert verify(change(over, final_board=[[2, 4], [4, 3]])) == Fault(
        None,
        "the final board is invalid: 3 in row 2, column 2 is not a tile; "
        "expected 0 or a power of two from 2 to 131072",
    )


def test_65536_and_65536_score_131072() -> None:
    before = "65536 65536 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"
    after = "131072 0 0 4 / 0 0 0 0 / 0 0 0 0 / 2 0 0 0"
    assert verify(one_move(before, "left", after, 131072)) is None
    assert verify(one_move(before, "left", after, 65536)) is not None
    clamped = "65536 0 0 4 / 0 0 0 0 / 0 0 0 0 / 2 0 0 0"
    assert verify(one_move(before, "left", clamped, 131072)) is not None


games = st.builds(
    random_game,
    rows=st.integers(2, 5),
    columns=st.integers(2, 5),
    seed=st.integers(0, 1 << 32),
    max_moves=st.integers(1, 60),
)


@settings(deadline=None)
@given(games)
def test_random_games_by_the_rules_have_no_fault(record: GameRecord) -> None:
    assert verify(record) is None


@settings(deadline=None)
@given(games, st.data())
def test_any_single_corrupted_cell_is_found_at_its_place(record: GameRecord, data: st.DataObject) -> None:
    # The sum of the tiles grows by the spawn alone, so a changed cell shows in the move made from that board
    # even where (a spawned 2 for a 4) the move before could have led to it.
    number = data.draw(st.integers(1, record.total_moves))
    board = [list(row) for row in record.moves[number - 1].board]
    row = data.draw(st.integers(0, len(board) - 1))
    column = data.draw(st.integers(0, len(board[0]) - 1))
    others = st.sampled_from([0, 2, 4, 8, 16, 32, 64, 128]).filter(lambda tile: tile != board[row][column])
    board[row][column] = data.draw(others)
    fault = verify(with_move(record, number, board=board))
    assert fault is not None
    assert fault.ply in {number - 1, number}


@settings(deadline=None)
@given(games, st.data())
def test_any_corrupted_score_is_found_at_its_place(record: GameRecord, data: st.DataObject) -> None:
    number = data.draw(st.integers(1, record.total_moves))
    wrong = record.moves[number - 1].score + data.draw(st.integers(1, 4096))
    fault = verify(with_move(record, number, score=wrong))
    assert fault is not None
    assert fault.ply == max(number - 1, 1)
