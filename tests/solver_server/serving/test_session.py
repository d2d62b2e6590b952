from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import WireError
from game2048.wire.frames import GAME_OVER, PackedRequest, decode_directions, encode_boards
from game2048.wire.messages import Cancel, Directions, EngineInfo, ErrorMessage, GameOver, encode
from solver_server.engine import Decision, Limit
from solver_server.limits import LimitError
from solver_server.serving.session import (
    BatchRequest,
    Catalogue,
    SearchRequest,
    Session,
    answered,
    answered_many,
    capped,
)

FAST = EngineInfo("fast", "any board", ("any",), max_depth=10)
SQUARE = EngineInfo("square", "4x4 alone", ("4x4",), max_depth=6, default_depth=4, min_depth=2)
CATALOGUE = Catalogue({"fast": FAST, "square": SQUARE}, "fast", Limit(time_ms=5.0))

TINY = [[2, 2], [0, 4]]


@pytest.fixture
def session() -> Session:
    return Session(CATALOGUE)


def request(**fields: object) -> str:
    return json.dumps({"type": "choose", "id": 1, "board": TINY} | fields)


def code_of(outcome: object) -> str:
    assert isinstance(outcome, ErrorMessage)
    return outcome.code


def test_the_greeting_names_version_engines_and_limits(session: Session) -> None:
    hello = json.loads(encode(session.hello()))
    assert hello["type"] == "hello"
    assert hello["protocol"] == 1
    assert [engine["name"] for engine in hello["engines"]] == ["fast", "square"]
    assert hello["engines"][1]["boards"] == ["4x4"]
    assert (hello["engines"][1]["min_depth"], hello["engines"][1]["max_depth"]) == (2, 6)
    assert hello["default_engine"] == "fast"
    assert (hello["min_side"], hello["max_side"]) == (2, 8)
    assert hello["max_time_ms"] == 60_000
    assert hello["max_message_bytes"] == 65_536


def test_a_request_becomes_a_search(session: Session) -> None:
    outcome = session.handle(request(id="q", engine="fast", depth=3, time_ms=20))
    assert outcome == SearchRequest("q", "fast", Board.from_tiles(TINY), Limit(3, 20.0))


def test_the_servers_limit_holds_for_requests_without_one(session: Session) -> None:
    assert session.handle(request()) == SearchRequest(1, "fast", Board.from_tiles(TINY), Limit(None, 5.0))
    assert session.handle(request(depth=2)) == SearchRequest(
        1, "fast", Board.from_tiles(TINY), Limit(2, None)
    )
    board = [[2, 2, 0, 0]] * 4
    other = session.handle(request(engine="square", board=board))
    assert other == SearchRequest(1, "square", Board.from_tiles(board), Limit(None, None))


def test_boards_that_the_default_engine_does_not_play_go_to_one_that_does() -> None:
    session = Session(replace(CATALOGUE, default_engine="square", default_limit=Limit(4, None)))
    four = [[2, 2, 0, 0]] * 4
    assert session.handle(request(board=four)) == SearchRequest(
        1, "square", Board.from_tiles(four), Limit(4, None)
    )
    # The server's limit is for its default engine.
    assert session.handle(request()) == SearchRequest(1, "fast", Board.from_tiles(TINY), Limit(None, None))
    assert session.hello().engine_for(4, 4) == "square"
    assert session.hello().engine_for(2, 2) == "fast"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"board": [[3, 2], [0, 4]]}, "bad_board"),
        ({"board": [[-2, 2], [0, 4]]}, "bad_board"),
        ({"board": [[1, 2], [0, 4]]}, "bad_board"),
        ({"board": [[2, 2], [0]]}, "bad_board"),
        ({"board": [[2, 2]]}, "bad_board"),
        ({"board": [[0] * 9] * 9}, "bad_board"),
        ({"board": [[2 * 131072, 0, 0, 0]] + [[0] * 4] * 3}, "bad_board"),
        ({"board": [[10**4000, 2], [0, 4]]}, "bad_board"),
        ({"board": [[True, 2], [0, 4]]}, "bad_request"),
        ({"board": [[2.0, 2], [0, 4]]}, "bad_request"),
        ({"board": {"0": 2}}, "bad_request"),
        ({"engine": "stockfish"}, "unknown_engine"),
        ({"engine": ""}, "unknown_engine"),
        ({"engine": "square"}, "unsupported_board"),
        ({"depth": 0}, "bad_limit"),
        ({"depth": -1}, "bad_limit"),
        ({"depth": 99}, "bad_limit"),
        ({"depth": 10**4000}, "bad_limit"),
        ({"engine": "square", "depth": 1, "board": [[2, 2, 0, 0]] * 4}, "bad_limit"),
        ({"depth": True}, "bad_request"),
        ({"time_ms": 0}, "bad_limit"),
        ({"time_ms": -5}, "bad_limit"),
        ({"time_ms": 60_000.5}, "bad_limit"),
        ({"time_ms": 1e300}, "bad_limit"),
        ({"time_ms": math.nan}, "bad_json"),
        ({"time_ms": math.inf}, "bad_json"),
        ({"type": "undo"}, "unknown_type"),
    ],
)
def test_what_cannot_be_searched_gets_an_error_with_its_id(
    session: Session, fields: dict[str, object], code: str
) -> None:
    outcome = session.handle(request(**fields))
    assert code_of(outcome) == code
    assert isinstance(outcome, ErrorMessage)
    assert outcome.id == (None if code == "bad_json" else 1)
    assert 0 < len(outcome.message) < 500


def test_binary_frames_are_refused(session: Session) -> None:
    assert code_of(session.handle(request().encode())) == "not_text"


def test_messages_too_long_are_refused(session: Session) -> None:
    assert code_of(session.handle(request(comment="x" * 65_536))) == "too_long"


SEARCH = SearchRequest(9, "fast", Board.from_tiles(TINY), Limit())


def test_a_decision_is_answered_with_names_and_values(session: Session) -> None:
    decision = Decision(
        Direction.LEFT, {Direction.LEFT: 4.0, Direction.UP: 1.0}, depth=3, nodes=50, elapsed_ms=1.25
    )
    answer = answered(SEARCH, decision)
    assert json.loads(encode(answer)) == {
        "type": "decision",
        "id": 9,
        "direction": "left",
        "values": {"left": 4.0, "up": 1.0},
        "depth": 3,
        "nodes": 50,
        "elapsed_ms": 1.25,
        "engine": "fast",
        "found_by": "search",
    }


def test_no_decision_is_answered_as_game_over(session: Session) -> None:
    assert answered(SEARCH, None) == GameOver(9)


def test_values_that_json_cannot_hold_are_an_engine_failure(session: Session) -> None:
    for value in (math.nan, math.inf):
        answer = answered(SEARCH, Decision(Direction.UP, {Direction.UP: value}, 1, 1, 1.0))
        assert isinstance(answer, ErrorMessage)
        assert (answer.id, answer.code) == (9, "engine_failed")


def test_a_server_cannot_be_given_defaults_that_its_engine_refuses() -> None:
    with pytest.raises(WireError) as caught:
        Catalogue(CATALOGUE.engines, "deep", Limit())
    assert caught.value.code == "unknown_engine"
    for engine, limit, complaint in [
        ("square", Limit(depth=1), "depth 1 is out of range for engine 'square'; expected 2 to 6"),
        ("fast", Limit(time_ms=math.nan), "time_ms nan is out of range; expected more than 0"),
    ]:
        with pytest.raises(LimitError, match=complaint):
            Catalogue(CATALOGUE.engines, engine, limit)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=20,
)
tiles = st.sampled_from([0, 2, 4, 131072, 2**51, 3, -2]) | json_values
rows = st.lists(st.lists(tiles, max_size=9), max_size=9) | json_values
requests = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["choose", "choose_many", "cancel"]) | json_values,
        "id": st.integers() | st.text() | json_values,
        "board": rows,
        "boards": st.lists(rows, max_size=5) | json_values,
        "engine": st.sampled_from(["fast", "square", "x"]) | json_values,
        "depth": st.integers(-1, 11) | json_values,
        "time_ms": st.floats() | json_values,
        "deadline_ms": st.floats() | json_values,
    },
)
frames = st.builds(
    lambda line, data: line + b"\n" + data,
    st.binary(max_size=40) | (requests | json_values).map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=50),
)


@given(st.text() | st.binary() | json_values.map(json.dumps) | requests.map(json.dumps) | frames)
def test_every_message_has_one_answer_that_can_be_sent_or_is_a_withdrawal(data: str | bytes) -> None:
    outcome = Session(CATALOGUE).handle(data)
    if isinstance(outcome, SearchRequest):
        assert json.loads(encode(answered(outcome, None)))["type"] == "game_over"
    elif isinstance(outcome, BatchRequest):
        answer = answered_many(outcome, np.full(len(outcome.boards), -1, dtype=np.int8), 1.0)
        if isinstance(answer, bytes):
            assert set(decode_directions(answer).directions.tolist()) == {GAME_OVER}
        else:
            assert json.loads(encode(answer))["directions"] == [None] * len(outcome.boards)
    elif isinstance(outcome, Cancel):
        assert isinstance(outcome.id, int | str)
    else:
        assert json.loads(encode(outcome))["type"] == "error"


FOUR = [[2, 4, 8, 16], [0, 0, 2, 4], [0, 0, 0, 2], [0, 0, 0, 0]]
FOUR_PACKED = 0x0000_1000_2100_4321  # a nibble a cell, the first cell lowest


def many(boards: object, **fields: object) -> str:
    message = {"type": "choose_many", "id": 5, "boards": boards} | fields
    return json.dumps(message, separators=(",", ":"))


def test_boards_of_a_batch_become_exponents_in_order(session: Session) -> None:
    outcome = session.handle(many([FOUR, [[131072, 0, 0, 2]] * 4], engine="square", depth=2, deadline_ms=250))
    assert isinstance(outcome, BatchRequest)
    assert (outcome.request_id, outcome.engine, outcome.limit) == (5, "square", Limit(2, None))
    assert (outcome.deadline, outcome.packed) == (0.25, False)
    assert isinstance(outcome.boards, np.ndarray)
    assert outcome.boards.tolist() == [
        [1, 2, 3, 4, 0, 0, 1, 2, 0, 0, 0, 1, 0, 0, 0, 0],
        [17, 0, 0, 1] * 4,
    ]


def test_boards_of_several_sizes_stay_boards(session: Session) -> None:
    outcome = session.handle(many([TINY, FOUR]))
    assert isinstance(outcome, BatchRequest)
    assert outcome.boards == [Board.from_tiles(TINY), Board.from_tiles(FOUR)]


def test_a_packed_frame_becomes_a_batch_and_its_answer_a_frame(session: Session) -> None:
    boards = np.array([FOUR_PACKED, 2**64 - 1], dtype=np.uint64)
    outcome = session.handle(encode_boards(PackedRequest("b", "square", 2), boards))
    assert isinstance(outcome, BatchRequest)
    assert isinstance(outcome.boards, np.ndarray)
    assert outcome.boards.tolist() == boards.tolist()
    answer = answered_many(outcome, np.array([3, -1], dtype=np.int8), 1.5)
    assert isinstance(answer, bytes)
    assert answer == b'{"type":"directions","id":"b","engine":"square","elapsed_ms":1.5}\n\x03\xff'


def test_the_answer_to_a_batch_names_directions(session: Session) -> None:
    outcome = session.handle(many([TINY, TINY]))
    assert isinstance(outcome, BatchRequest)
    answer = answered_many(outcome, np.array([1, -1], dtype=np.int8), 0.5)
    assert answer == Directions(5, ["right", None], "fast", 0.5)


@pytest.mark.parametrize(
    ("boards", "fields", "code", "said"),
    [
        ([], {}, "bad_board", "0 boards; expected 1 to 4096"),
        ([TINY] * 4097, {}, "bad_board", "4097 boards; expected 1 to 4096"),
        ([TINY, [[3, 0], [0, 0]]], {}, "bad_board", "board 1 (counted from 0): 3 in row 1, column 1"),
        ([FOUR, [[1, 0, 0, 0]] * 4], {}, "bad_board", "board 1"),
        ([FOUR, [[2**18, 0, 0, 0]] * 4], {}, "bad_board", "board 1"),
        ([FOUR, TINY], {"engine": "square"}, "unsupported_board", "2x2"),
        ([FOUR], {"engine": "square", "depth": 1}, "bad_limit", "depth 1"),
        ([FOUR], {"deadline_ms": 0}, "bad_limit", "deadline_ms 0"),
        ([FOUR], {"deadline_ms": 1e300}, "bad_limit", "deadline_ms 1e+300"),
        ("all", {}, "bad_request", "boards"),
    ],
)
def test_a_wrong_board_refuses_its_batch(
    session: Session, boards: object, fields: dict[str, object], code: str, said: str
) -> None:
    outcome = session.handle(many(boards, **fields))
    assert isinstance(outcome, ErrorMessage)
    assert (outcome.id, outcome.code) == (5, code)
    assert said in outcome.message


@pytest.mark.parametrize(
    ("frame", "code", "request_id"),
    [
        (b"\0\1", "not_text", None),
        (b"no json\n" + bytes(8), "bad_json", None),
        (b"{}\n" + bytes(8), "bad_request", None),
        (b'{"type":"choose_many","id":7}\n', "bad_board", 7),
        (b'{"type":"choose_many","id":7}\n' + bytes(7), "bad_board", 7),
        (b'{"type":"choose_many","id":7}\n' + bytes(8 * 4097), "bad_board", 7),
        (b'{"type":"choose_many","id":7}\n' + bytes(70_000), "too_long", None),
        (b'{"type":"choose_many","id":7,"depth":"x"}\n' + bytes(8), "bad_request", 7),
        (b'{"type":"choose_many","id":7,"depth":99}\n' + bytes(8), "bad_limit", 7),
        (b'{"type":"choose","id":7}\n' + bytes(8), "bad_request", 7),
    ],
)
def test_a_wrong_frame_gets_an_error(
    session: Session, frame: bytes, code: str, request_id: int | None
) -> None:
    outcome = session.handle(frame)
    assert isinstance(outcome, ErrorMessage)
    assert (outcome.code, outcome.id) == (code, request_id)


def test_a_withdrawal_names_its_request(session: Session) -> None:
    assert session.handle('{"type":"cancel","id":"q"}') == Cancel("q")
    assert code_of(session.handle('{"type":"cancel"}')) == "bad_request"


def test_the_operator_caps_depth_and_time() -> None:
    assert capped(SQUARE, None) == SQUARE
    shallow = capped(SQUARE, 3)
    assert (shallow.min_depth, shallow.max_depth, shallow.default_depth) == (2, 3, 3)
    assert capped(SQUARE, 1).max_depth == 2  # the least that it takes
    assert (capped(FAST, 99).max_depth, capped(FAST, 99).default_depth) == (10, None)
    session = Session(replace(CATALOGUE, default_limit=Limit(), max_time_ms=100.0))
    assert session.hello().max_time_ms == 100
    assert code_of(session.handle(request(time_ms=101))) == "bad_limit"
    outcome = session.handle(request(depth=9))
    assert isinstance(outcome, SearchRequest)
    assert outcome.limit == Limit(9, 100.0)  # or the depth could take a minute
