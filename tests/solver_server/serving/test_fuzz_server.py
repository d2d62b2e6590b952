"""Anything a client may send: an error answer or a clean close, and nothing in the log.

`make test` tries some hundred cases, `pytest -m slow tests/solver_server/serving/test_fuzz_server.py` more.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from support.fake_engines import Failing, FirstLegal, offer

from game2048.errors import WireError
from game2048.wire.frames import decode_boards, decode_directions
from game2048.wire.messages import decode_answer, decode_request
from solver_server.serving.server import SolverServer
from solver_server.serving.server_options import ServerOptions

FEW_OR_MANY = pytest.mark.parametrize("count", [150, pytest.param(5_000, marks=pytest.mark.slow)])
HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
MESSAGES = [
    b'{"type":"choose","id":1,"board":[[2,2],[0,4]]}',
    b'{"type":"choose","id":"b","board":[[2,2,0],[0,4,0],[0,0,0]],"engine":"broken","deadline_ms":5}',
    b'{"type":"choose_many","id":2,"boards":[[[2,2],[0,4]],[[2,4],[4,2]]]}',
    b'{"type":"cancel","id":1}',
    b'{"type":"hello","protocol":1}',
    b'{"type":"choose_many","id":3}\n' + bytes(16),
    b'{"type":"directions","id":3,"engine":"x","elapsed_ms":1}\n\x00\x01\xff',
    b'{"type":"decision","id":1,"direction":"up","values":{"up":1},"depth":1,"nodes":1,"elapsed_ms":1,"engine":"x"}',
]


@st.composite
def damaged(draw: st.DrawFn, whole: SearchStrategy[bytes]) -> bytes:
    """Bytes with some cut out, doubled, changed or put in."""
    data = bytearray(draw(whole))
    for _ in range(draw(st.integers(0, 3))):
        at, length = draw(st.integers(0, len(data))), draw(st.integers(0, 8))
        part = bytes(data[at : at + length])
        data[at : at + length] = draw(st.sampled_from([b"", part * 2]) | st.binary(max_size=8))
    return bytes(data)


messages = damaged(st.sampled_from(MESSAGES)) | st.binary(max_size=300)


@st.composite
def frames(draw: st.DrawFn) -> bytes:
    """A frame, mostly whole and masked as the rules say, with any opcode."""
    data = draw(messages)
    first = draw(
        st.sampled_from([0x81, 0x81, 0x82, 0x89, 0x8A, 0x88, 0x01, 0x80, 0x00]) | st.integers(0, 255)
    )
    masked = draw(st.sampled_from([0x80, 0x80, 0x80, 0]))
    length = draw(st.just(len(data)) | st.sampled_from([0, 125, 1 << 16, 1 << 40, (1 << 64) - 1]))
    if length < 126:
        head = bytes([first, masked | length])
    elif length < 1 << 16:
        head = bytes([first, masked | 126]) + length.to_bytes(2, "big")
    else:
        head = bytes([first, masked | 127]) + length.to_bytes(8, "big")
    return head + bytes(4 if masked else 0) + data


requests = damaged(
    st.sampled_from(
        [HANDSHAKE, HANDSHAKE.replace(b" / ", b" /healthz ").replace(b"Upgrade: websocket\r\n", b"")]
    )
    | st.sampled_from(["GET", "HEAD", "OPTIONS", "POST", "get", ""]).flatmap(
        lambda method: st.text(max_size=40).map(
            lambda query: f"{method} /move?board={query} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
        )
    )
)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Where a server listens that runs in a thread of its own."""
    ports: list[int] = []
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def run() -> None:
        engines = [offer(FirstLegal()), offer(Failing(), "broken")]
        # All connections of the fuzz come from one address and one after another.
        async with SolverServer(engines, "first", ServerOptions(port=0, ping_timeout=5.0)) as server:
            ports.append(int(server.url.rpartition(":")[2]))
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    assert ready.wait(60)
    yield ports[0]
    loop.call_soon_threadsafe(stop.set)
    thread.join(60)
    loop.close()


def exchange(port: int, data: bytes, *, first: bytes = b"") -> bytes:
    """Send bytes, and then nothing more; everything that the server says until it closes.

    Args:
        port: the server's.
        data: the bytes.
        first: bytes to send before, and to wait for an answer to.
    """
    said = bytearray()
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        if first:
            client.sendall(first)
            said += client.recv(1 << 16)
        with suppress(ConnectionError):
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):
            while part := client.recv(1 << 16):
                said += part
    return bytes(said)


def frames_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The opcodes and payloads of frames of a server, which are whole, final and not masked."""
    while data:
        assert data[0] & 0xF0 == 0x80
        length, head = data[1], 2
        if length in (126, 127):
            head = 4 if length == 126 else 10
            length = int.from_bytes(data[2:head], "big")
        assert data[1] < 128
        assert len(data) >= head + length
        yield data[0] & 0x0F, data[head : head + length]
        data = data[head + length :]


def check_answers(said: bytes) -> None:
    for opcode, payload in frames_of(said):
        if opcode == 1:
            decode_answer(payload)
        elif opcode == 2:
            decode_directions(payload)
        else:
            assert opcode in (8, 10), "expected a close frame or a pong"


def is_answered(port: int) -> None:
    """The server still works."""
    said = exchange(
        port, b"\x81" + bytes([0x80 | len(MESSAGES[0])]) + bytes(4) + MESSAGES[0], first=HANDSHAKE
    )
    kinds = [json.loads(payload)["type"] for opcode, payload in frames_of(after_head(said)) if opcode == 1]
    assert kinds[0] == "hello"


def after_head(said: bytes) -> bytes:
    head, _, rest = said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101 ")
    return rest


def errors_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was logged as an error, but for the engine that fails on purpose."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.levelno >= logging.ERROR and "engine broken" not in record.getMessage()
    ]


@FEW_OR_MANY
def test_any_frames_are_answered_or_end_the_connection(
    port: int, count: int, caplog: pytest.LogCaptureFixture
) -> None:
    @settings(max_examples=count)
    @given(st.lists(frames(), max_size=6))
    def check(sent: list[bytes]) -> None:
        check_answers(after_head(exchange(port, b"".join(sent), first=HANDSHAKE)))
        assert errors_in(caplog) == []

    check()
    is_answered(port)


@FEW_OR_MANY
def test_any_request_is_answered_or_ends_the_connection(
    port: int, count: int, caplog: pytest.LogCaptureFixture
) -> None:
    @settings(max_examples=count)
    @given(requests | st.binary(max_size=300))
    def check(sent: bytes) -> None:
        said = exchange(port, sent)
        assert said == b"" or said.startswith(b"HTTP/1.1 ")
        assert not said.startswith(b"HTTP/1.1 500")
        assert errors_in(caplog) == []

    check()
    is_answered(port)


@FEW_OR_MANY
@pytest.mark.parametrize("decode", [decode_request, decode_answer, decode_boards, decode_directions])
def test_any_bytes_are_decoded_or_refused(decode: Callable[[bytes], object], count: int) -> None:
    @settings(max_examples=count)
    @given(messages)
    def check(data: bytes) -> None:
        with suppress(WireError):
            decode(data)

    check()
