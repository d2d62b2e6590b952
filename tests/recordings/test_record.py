from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.recorded import TIMESTAMP, WORKED_FINAL, random_game, worked_game, worked_moves

from game2048 import Board, Direction
from game2048.errors import RecordError
from recordings import Move, build_record, new_info, verify
from recordings.record import decode_record, encode_record


def test_a_record_has_the_schema_s_names_and_values() -> None:
    value = json.loads(encode_record(worked_game()))
    moves = value.pop("moves")
    assert value == {
        "totalMoves": 5,
        "finalScore": 16,
        "maxTile": 8,
        "won": False,
        "finalBoard": [[2, 8], [4, 2]],
        "timestamp": TIMESTAMP,
        "source": "self-play",
        "solver": "hand",
        "seed": 7,
        "outcome": "game_over",
        "schemaVersion": 1,
    }
    assert moves[0] == {"board": [[2, 0], [2, 0]], "direction": "up", "score": 0}
    assert moves[4] == {"board": [[2, 8], [0, 4]], "direction": "left", "score": 16}


def test_a_record_is_one_line_and_leaves_out_a_seed_it_does_not_have() -> None:
    record = build_record(
        [], Board.from_text("2 0/0 2"), 0, new_info(source="x", solver="y", outcome="stopped")
    )
    line = encode_record(record)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert "seed" not in json.loads(line)
    assert "id" not in json.loads(line)


def test_2048_is_won_and_1024_is_not() -> None:
    for text, tile, won in (
        ("1024 2/4 8", 1024, False),
        ("2048 2/4 8", 2048, True),
        ("4096 2/4 8", 4096, True),
    ):
        record = build_record(
            [], Board.from_text(text), 0, new_info(source="x", solver="y", outcome="stopped")
        )
        assert (record.max_tile, record.won) == (tile, won)


def test_the_largest_tile_of_4x4_is_recorded_exactly() -> None:
    move = Move.of(
        Board.from_text("65536 65536 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"), Direction.LEFT, 3_801_088
    )
    final = Board.from_text("131072 0 0 0 / 0 0 0 0 / 0 0 0 0 / 2 0 0 2")
    record = build_record([move], final, 3_932_160, new_info(source="x", solver="y", outcome="stopped"))
    read = decode_record(encode_record(record))
    assert read.max_tile == 131072
    assert read.final_score == 3_932_160
    assert read.moves[0].board[0] == [65536, 65536, 0, 0]


def test_a_line_of_the_plain_schema_is_read_and_written_back_with_the_same_fields() -> None:
    line = (
        b'{"totalMoves":1,"finalScore":4,"maxTile":4,"won":false,"finalBoard":[[4,0],[0,2]],'
        b'"timestamp":"2025-03-01T12:00:00","moves":[{"board":[[2,0],[2,0]],"direction":"up","score":0}]}\n'
    )
    record = decode_record(line)
    assert (record.outcome, record.source, record.seed, record.schema_version) == (None, None, None, 0)
    written = encode_record(record)
    assert json.loads(written) == json.loads(line)
    assert list(json.loads(written))[-1] == "moves"


def test_unknown_fields_are_ignored() -> None:
    value = json.loads(encode_record(worked_game()))
    value["weather"] = {"spawns": [1]}
    value["moves"][0]["nodes"] = 17
    assert decode_record(json.dumps(value).encode()) == worked_game()


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (("moves", 1, "board", 0, 1), "2", "$.moves[1].board[0][1]"),
        (("moves", 1, "board", 0, 1), -2, "$.moves[1].board[0][1]"),
        (("moves", 2, "direction"), "UP", "$.moves[2].direction"),
        (("moves", 2, "score"), 1.5, "$.moves[2].score"),
        (("moves", 0, "board"), [[2, 0]], "$.moves[0].board"),
        (("moves", 0, "board"), [[2] * 9] * 9, "$.moves[0].board"),
        (("finalScore",), 1 << 53, "$.finalScore"),
        (("won",), 1, "$.won"),
        (("outcome",), "lost", "$.outcome"),
        (("moves",), None, "$.moves"),
        (("schemaVersion",), 2, "schemaVersion 2 is newer"),
    ],
)
def test_a_wrong_field_is_named(place: tuple[str | int, ...], value: object, told: str) -> None:
    record = json.loads(encode_record(worked_game()))
    target = record
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = value
    with pytest.raises(RecordError) as caught:
        decode_record(json.dumps(record).encode())
    assert told in str(caught.value)


def test_a_missing_field_is_named() -> None:
    with pytest.raises(RecordError, match="maxTile"):
        decode_record(b'{"totalMoves":1}')


@pytest.mark.parametrize("line", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":"\xff"}', b"null", b"[]"])
def test_what_is_no_record_is_refused(line: bytes) -> None:
    with pytest.raises(RecordError):
        decode_record(line)


def test_what_json_cannot_hold_is_refused() -> None:
    board = Board.from_text(WORKED_FINAL)
    record = build_record(
        worked_moves(), board, 16, new_info(source="\ud800", solver="y", outcome="game_over")
    )
    with pytest.raises(RecordError, match="cannot be written as JSON"):
        encode_record(record)


@settings(deadline=None)
@given(
    rows=st.integers(2, 8), columns=st.integers(2, 8), seed=st.integers(0, 1 << 63), limit=st.integers(0, 40)
)
def test_random_games_come_back_equal(rows: int, columns: int, seed: int, limit: int) -> None:
    record = random_game(rows, columns, seed, limit)
    assert decode_record(encode_record(record)) == record


def test_the_game_shown_in_the_docs_is_one() -> None:
    text = (Path(__file__).parents[2] / "docs" / "records.md").read_text(encoding="utf-8")
    example = text.split("```json\n")[1].split("```")[0]
    record = decode_record(example.encode())
    assert verify(record) is None
    assert json.loads(encode_record(record)) == json.loads(example)


def test_importing_the_package_loads_neither_numba_nor_pillow() -> None:
    script = (
        "import sys, recordings, recordings.cli.records\n"
        "print(sorted({'numba', 'PIL', 'numpy', 'playwright'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
