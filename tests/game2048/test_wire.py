from __future__ import annotations

import json

import pytest

from game2048.errors import WireError
from game2048.net import authorization, is_loopback
from game2048.wire.messages import (
    MAX_MESSAGE_BYTES,
    Choose,
    DecisionMessage,
    EngineInfo,
    ErrorMessage,
    GameOver,
    Hello,
    decode_answer,
    decode_request,
    encode,
    protocol_of,
    requested_board,
)

HELLO = Hello(
    protocol=1,
    server="bot2048/0.1.0",
    engines=(EngineInfo("fast", "quick", ("any",), 10),),
    default_engine="fast",
    min_side=2,
    max_side=8,
    max_time_ms=60_000.0,
    max_message_bytes=MAX_MESSAGE_BYTES,
)


def test_a_request_is_the_json_that_the_protocol_documents() -> None:
    request = Choose(7, [[2, 0], [4, 8]], engine="fast", time_ms=5.0)
    assert json.loads(encode(request)) == {
        "type": "choose",
        "id": 7,
        "board": [[2, 0], [4, 8]],
        "engine": "fast",
        "depth": None,
        "time_ms": 5.0,
        "deadline_ms": None,
    }
    assert decode_request(encode(request)) == request
    assert isinstance(request, Choose)
    assert requested_board(request).text() == "2 0 / 4 8"


@pytest.mark.parametrize(
    "answer",
    [
        HELLO,
        DecisionMessage(1, "up", {"up": 1.5, "left": -2.0}, 3, 40, 0.25, "fast"),
        GameOver("a"),
        ErrorMessage(None, "bad_json", "no"),
    ],
)
def test_an_answer_comes_back_as_it_was_sent(
    answer: Hello | DecisionMessage | GameOver | ErrorMessage,
) -> None:
    assert decode_answer(encode(answer)) == answer


def test_fields_of_a_later_version_are_ignored() -> None:
    assert decode_request('{"type":"choose","id":1,"board":[[2,0],[0,2]],"colour":"red"}').id == 1
    assert decode_answer('{"type":"game_over","id":1,"score":5}') == GameOver(1)


@pytest.mark.parametrize(
    ("data", "code", "request_id"),
    [
        ("", "bad_json", None),
        ("up, please", "bad_json", None),
        (b"\xff\xfe", "bad_json", None),
        ("\ud800", "bad_json", None),
        ('{"type":"choose","id":1,BOARD,"time_ms":NaN}', "bad_json", None),
        ('{"type":"choose","id":1,"board":' + "[" * 20_000 + "]" * 20_000 + "}", "bad_json", None),
        ("[]", "bad_request", None),
        ("null", "bad_request", None),
        ('{"id":1,BOARD}', "bad_request", 1),
        ('{"type":7,"id":"x",BOARD}', "bad_request", "x"),
        ('{"type":"choose",BOARD}', "bad_request", None),
        ('{"type":"choose","id":null,BOARD}', "bad_request", None),
        ('{"type":"choose","id":true,BOARD}', "bad_request", None),
        ('{"type":"choose","id":1.5,BOARD}', "bad_request", None),
        ('{"type":"choose","id":9007199254740992,BOARD}', "bad_request", None),
        ('{"type":"choose","id":"' + "x" * 129 + '",BOARD}', "bad_request", None),
        ('{"type":"choose","id":1}', "bad_request", 1),
        ('{"type":"choose","id":1,"board":"2 4 / 0 0"}', "bad_request", 1),
        ('{"type":"choose","id":1,"board":[2,0,0,2]}', "bad_request", 1),
        ('{"type":"choose","id":1,"board":[[2.0,0],[0,2]]}', "bad_request", 1),
        ('{"type":"choose","id":1,"board":[[true,0],[0,2]]}', "bad_request", 1),
        ('{"type":"choose","id":1,"board":[["2",0],[0,2]]}', "bad_request", 1),
        ('{"type":"choose","id":1,BOARD,"depth":2.0}', "bad_request", 1),
        ('{"type":"choose","id":1,BOARD,"time_ms":1e999}', "bad_request", 1),
        ('{"type":"choose","id":1,BOARD,"engine":5}', "bad_request", 1),
        ('{"type":"undo","id":4}', "unknown_type", 4),
        (" " * (MAX_MESSAGE_BYTES + 1), "too_long", None),
    ],
)
def test_what_is_no_request_is_told_by_a_code(data: str | bytes, code: str, request_id: object) -> None:
    if isinstance(data, str):
        data = data.replace("BOARD", '"board":[[2,0],[0,2]]')
    with pytest.raises(WireError) as caught:
        decode_request(data)
    assert (caught.value.code, caught.value.request_id) == (code, request_id)


@pytest.mark.parametrize("tiles", [[[3, 0], [0, 2]], [[-2, 0], [0, 2]], [[2], [0, 2]], [[]], [], [[2, 4]]])
def test_what_is_no_board_is_told_with_the_id(tiles: list[list[int]]) -> None:
    with pytest.raises(WireError) as caught:
        requested_board(Choose("b", tiles))
    assert (caught.value.code, caught.value.request_id) == ("bad_board", "b")


def test_the_version_of_a_greeting_is_read_whatever_else_it_holds() -> None:
    assert protocol_of(encode(HELLO)) == 1
    assert protocol_of('{"type":"hello","protocol":9,"engines":"renamed"}') == 9
    assert protocol_of('{"type":"hello","protocol":true}') is None
    assert protocol_of('{"type":"game_over","id":1,"protocol":1}') is None
    assert protocol_of("good morning") is None


def test_a_token_goes_into_a_header_or_is_refused() -> None:
    assert authorization("s3cret-Token_") == "Bearer s3cret-Token_"
    for token in ["", "two words", "line\nbreak", "naïve"]:
        with pytest.raises(WireError) as caught:
            authorization(token)
        assert caught.value.code == "bad_token"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1", "localhost", "LOCALHOST.", "a.localhost"]
)
def test_loopback_hosts_are_known(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "10.0.0.1", "example.org", "localhost.example.org"])
def test_other_hosts_are_not_loopback(host: str) -> None:
    assert not is_loopback(host)
