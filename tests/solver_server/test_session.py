from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import WireError
from game2048.wire import DecisionMessage, EngineInfo, ErrorMessage, GameOver, encode
from solver_server.engine import Decision, Limit
from solver_server.limits import LimitError
from solver_server.serving.session import Catalogue, Search, Session

FAST = EngineInfo("fast", "any board", ("any",), max_depth=10)
SQUARE = EngineInfo("square", "4x4 alone", ("4x4",), max_depth=6, default_depth=4, min_depth=2)
CATALOGUE = Catalogue({"fast": FAST, "square": SQUARE}, "fast", Limit(time_ms=5.0))

TINY = [[2, 2], [0, 4]]


@pytest.fixture
def session() -> Session:
    return Session(CATALOGUE)


def request(**fields: object) -> str:
    return json.dumps({"type": "choose", "id": 1, "board": TINY} | fields)


def code_of(outcome: Search | ErrorMessage) -> str:
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
    assert outcome == Search("q", "fast", Board.from_tiles(TINY), Limit(3, 20.0))


def test_the_servers_limit_holds_for_requests_without_one(session: Session) -> None:
    assert session.handle(request()) == Search(1, "fast", Board.from_tiles(TINY), Limit(None, 5.0))
    assert session.handle(request(depth=2)) == Search(1, "fast", Board.from_tiles(TINY), Limit(2, None))
    board = [[2, 2, 0, 0]] * 4
    other = session.handle(request(engine="square", board=board))
    assert other == Search(1, "square", Board.from_tiles(board), Limit(None, None))


def test_boards_that_the_default_engine_does_not_play_go_to_one_that_does() -> None:
    session = Session(replace(CATALOGUE, default_engine="square", default_limit=Limit(4, None)))
    four = [[2, 2, 0, 0]] * 4
    assert session.handle(request(board=four)) == Search(1, "square", Board.from_tiles(four), Limit(4, None))
    # The server's limit is for its default engine.
    assert session.handle(request()) == Search(1, "fast", Board.from_tiles(TINY), Limit(None, None))
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


SEARCH = Search(9, "fast", Board.from_tiles(TINY), Limit())


def test_a_decision_is_answered_with_names_and_values(session: Session) -> None:
    decision = Decision(
        Direction.LEFT, {Direction.LEFT: 4.0, Direction.UP: 1.0}, depth=3, nodes=50, elapsed_ms=1.25
    )
    answer = session.answered(SEARCH, decision)
    assert json.loads(encode(answer)) == {
        "type": "decision",
        "id": 9,
        "direction": "left",
        "values": {"left": 4.0, "up": 1.0},
        "depth": 3,
        "nodes": 50,
        "elapsed_ms": 1.25,
        "engine": "fast",
    }


def test_no_decision_is_answered_as_game_over(session: Session) -> None:
    assert session.answered(SEARCH, None) == GameOver(9)


def test_values_that_json_cannot_hold_are_an_engine_failure(session: Session) -> None:
    for value in (math.nan, math.inf):
        answer = session.answered(SEARCH, Decision(Direction.UP, {Direction.UP: value}, 1, 1, 1.0))
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
requests = st.fixed_dictionaries(
    {},
    optional={
        "type": st.just("choose") | json_values,
        "id": st.integers() | st.text() | json_values,
        "board": st.lists(st.lists(tiles, max_size=9), max_size=9) | json_values,
        "engine": st.sampled_from(["fast", "square", "x"]) | json_values,
        "depth": st.integers(-1, 11) | json_values,
        "time_ms": st.floats() | json_values,
    },
)


@given(st.text() | st.binary() | json_values.map(json.dumps) | requests.map(json.dumps))
def test_every_message_has_exactly_one_answer_that_can_be_sent(data: str | bytes) -> None:
    session = Session(CATALOGUE)
    outcome = session.handle(data)
    if isinstance(outcome, Search):
        outcome_message: ErrorMessage | DecisionMessage | GameOver = session.answered(outcome, None)
    else:
        outcome_message = outcome
    assert json.loads(encode(outcome_message))["type"] in {"error", "game_over"}
