"""Clients that do harm, by mistake or on purpose, against a server process."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator

import psutil
import pytest
from support.server_process import ServerProcess, server_process
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

HANDSHAKE = (
    "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
BOARD = [[2, 4, 8, 16], [0, 0, 2, 4], [0, 0, 0, 2], [0, 0, 0, 0]]
GRACE = 30
LONG = [[2, 2, 64, 8], [8, 4, 64, 32], [8, 16, 2, 2], [32, 2, 4, 4]]

Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@pytest.fixture
async def server() -> AsyncIterator[ServerProcess]:
    with server_process("--engine", "fast", "--threads", "2", "--grace", str(GRACE)) as running:
        yield running


async def raw(server: ServerProcess, *, greeted: bool) -> Pair:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    if greeted:
        writer.write(HANDSHAKE.encode())
        await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def ask(server: ServerProcess, **fields: object) -> str:
    async with connect(server.url, proxy=None) as client:
        await client.recv()
        await client.send(json.dumps({"type": "choose", "id": 1, "board": BOARD, "depth": 1} | fields))
        return str(json.loads(await client.recv())["type"])


async def ended(server: ServerProcess) -> str:
    """Stop the server as an operator does; what it wrote to its log."""
    server.process.send_signal(signal.SIGTERM)
    _, err = await asyncio.to_thread(server.process.communicate, timeout=60)
    assert server.process.returncode == 0
    assert "Traceback" not in err
    return err


async def test_who_pings_and_never_reads_is_dropped_before_memory_grows(server: ServerProcess) -> None:
    assert await ask(server) == "decision"
    process = psutil.Process(server.process.pid)
    before = process.memory_info().rss
    _, writer = await raw(server, greeted=True)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    frame = (b"\x89\xfd\0\0\0\0" + b"x" * 125) * 200

    async def flood() -> None:
        while True:
            writer.write(frame)
            await writer.drain()

    with pytest.raises(ConnectionError):
        await asyncio.wait_for(flood(), 60)
    assert process.memory_info().rss - before < 64 << 20
    assert await ask(server) == "decision"
    assert (await ended(server)).count("does not read its answers") == 1


async def test_long_searches_delay_no_ping_and_end_with_their_clients(server: ServerProcess) -> None:
    """Both threads search for a minute; the next client needs one of them."""
    await ask(server, engine="order")
    clients, answers = [], []
    for number in range(2):
        client = await connect(server.url, proxy=None)
        await client.recv()
        request = {"type": "choose", "id": number, "board": LONG, "engine": "order", "time_ms": 60_000}
        await client.send(json.dumps(request))
        clients.append(client)
        answers.append(asyncio.create_task(client.recv()))
    async with asyncio.timeout(30):
        async with connect(server.url, proxy=None) as other:
            for _ in range(50):
                await (await other.ping())
        assert not any(answer.done() for answer in answers)
        for client in clients:
            client.transport.abort()
        assert await ask(server) == "decision"
    await asyncio.gather(*answers, return_exceptions=True)
    await ended(server)


async def test_silent_connections_do_not_shut_others_out() -> None:
    with server_process("--engine", "fast", files=256) as server:
        assert await ask(server) == "decision"
        async with connect(server.url, proxy=None) as client:
            await client.recv()
            silent = []
            for _ in range(600):
                try:
                    silent.append(await raw(server, greeted=False))
                except OSError:
                    continue
            await client.send(json.dumps({"type": "choose", "id": 1, "board": BOARD, "depth": 1}))
            assert json.loads(await client.recv())["type"] == "decision"
            assert psutil.Process(server.process.pid).num_fds() < 200
            for _, writer in silent:
                writer.transport.abort()
        assert await ask(server) == "decision"
        log = await ended(server)
    refusals = [line for line in log.splitlines() if "refused" in line]
    assert 1 <= len(refusals) < 10  # summed up
    assert any("more connections within" in line for line in refusals)


@pytest.mark.parametrize("count", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
async def test_connections_leave_nothing_behind(server: ServerProcess, count: int) -> None:
    process = psutil.Process(server.process.pid)
    await ask(server)
    files = process.num_fds()

    async def come_and_go(number: int) -> None:
        if number % 3 == 0:
            _, writer = await raw(server, greeted=False)
            writer.transport.abort()
        elif number % 3 == 1:
            _, writer = await raw(server, greeted=True)
            writer.transport.abort()
        else:
            async with connect(server.url, proxy=None) as client:
                await client.recv()

    for first in range(0, count, 20):
        await asyncio.gather(*(come_and_go(number) for number in range(first, first + 20)))
    async with asyncio.timeout(30):
        while process.num_fds() > files:  # noqa: ASYNC110 (another process is watched)
            await asyncio.sleep(0.01)
    await ended(server)


async def test_a_stop_answers_what_was_asked_and_is_not_delayed_by_others(server: ServerProcess) -> None:
    await ask(server, engine="order")
    silent = await raw(server, greeted=False)  # never sends its request
    half = await raw(server, greeted=False)
    half[1].write(HANDSHAKE[:40].encode())
    deaf = await raw(server, greeted=True)  # answers no close frame
    _, unread = await raw(server, greeted=True)  # reads nothing of what it asked for
    unread.transport.pause_reading()  # type: ignore[attr-defined]
    unread.write(b"\x81\x82\0\0\0\0[]" * 50_000)
    async with connect(server.url, proxy=None) as waiting, connect(server.url, proxy=None) as idle:
        await waiting.recv()
        await idle.recv()
        for number in range(3):
            request = {"type": "choose", "id": number, "board": LONG, "engine": "order", "time_ms": 300}
            await waiting.send(json.dumps(request))
        await (await waiting.ping())
        begun = asyncio.get_running_loop().time()
        server.process.send_signal(signal.SIGTERM)
        assert [json.loads(await waiting.recv())["id"] for _ in range(3)] == [0, 1, 2]
        for client in (waiting, idle):
            with pytest.raises(ConnectionClosed):
                await client.recv()
            assert client.close_code == 1001
    _, err = await asyncio.to_thread(server.process.communicate, timeout=60)
    assert (server.process.returncode, "Traceback" in err) == (0, False)
    assert asyncio.get_running_loop().time() - begun < GRACE  # so long for who is due an answer
    for _, writer in (silent, half, deaf):
        writer.transport.abort()
    unread.transport.abort()


async def test_wrong_tokens_are_slowed_down_and_the_right_one_is_not() -> None:
    with server_process("--engine", "fast", "--token", "the-right-token-of-all") as server:

        async def status(token: str) -> tuple[int, float]:
            loop = asyncio.get_running_loop()
            begun = loop.time()
            reader, writer = await raw(server, greeted=False)
            header = f"Authorization: Bearer {token}\r\n\r\n"
            writer.write(HANDSHAKE.replace("\r\n\r\n", "\r\n").encode() + header.encode())
            line = await reader.readuntil(b"\r\n")
            writer.transport.abort()
            return int(line.split()[1]), loop.time() - begun

        waits = []
        for _ in range(4):
            code, seconds = await status("a-wrong-token-of-many")
            assert code == 401
            waits.append(seconds)
        assert waits[3] >= 0.8  # 0.1 s, doubled each time; a lower bound holds on any machine
        assert (await status("the-right-token-of-all"))[0] == 101
        log = await ended(server)
    assert "the-right" not in log
    assert "a-wrong" not in log


async def test_a_flood_of_frames_that_are_not_of_the_protocol_ends_in_order(server: ServerProcess) -> None:
    for frames in (
        b"\x81\x82\0\0\0\0\xff\xfe",  # not UTF-8
        b"\x83\x80\0\0\0\0",  # a reserved opcode
        b"\x81\x02[]",  # not masked
        b"\x89\xfe\x01\x00\0\0\0\0" + b"x" * 256,  # a ping too long
        b"\xf1\x80\0\0\0\0",  # reserved bits
        b"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0",  # a message of 2^63 bytes
        b"GET / HTTP/1.1\r\n\r\n",
    ):
        reader, writer = await raw(server, greeted=True)
        writer.write(frames)
        async with asyncio.timeout(60):
            rest = await reader.read()  # to the end of the connection
        assert b"\x88" in rest  # a close frame, after the greeting
        writer.close()
    assert await ask(server) == "decision"
    assert "connection handler failed" not in await ended(server)
