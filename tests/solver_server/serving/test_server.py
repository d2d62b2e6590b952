from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from support.fake_engines import Failing, FirstLegal, Gated, offer
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from game2048.errors import SolverError
from game2048.wire.messages import MAX_MESSAGE_BYTES
from solver_server.engine import Engine
from solver_server.serving.pool import EngineOffer
from solver_server.serving.server import SolverServer
from solver_server.serving.server_options import ServerOptions

TINY = [[2, 2], [0, 4]]  # right: 4 points, first of the legal ones after up
Start = Callable[..., Awaitable[SolverServer]]


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Starts servers on free ports; they end with the test."""
    async with AsyncExitStack() as stack:

        async def begin(*engines: EngineOffer, **options: Any) -> SolverServer:
            settings = dataclasses.replace(ServerOptions(port=0, stop_grace=30.0), **options)
            return await stack.enter_async_context(SolverServer(engines, engines[0].info.name, settings))

        yield begin


@pytest.fixture
async def gated() -> AsyncIterator[Gated]:
    agent = Gated()
    yield agent
    agent.gate.set()


def talk(server: SolverServer, **arguments: Any) -> connect:
    return connect(server.url, proxy=None, **arguments)


async def receive(client: ClientConnection) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(await client.recv())
    return message


async def ask(client: ClientConnection, request_id: int, board: object = TINY, **fields: object) -> None:
    await client.send(json.dumps({"type": "choose", "id": request_id, "board": board} | fields))


async def searching(agent: Gated) -> None:
    """Until the agent stands in a search."""
    assert await asyncio.to_thread(agent.searching.acquire, timeout=60)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 (what it waits for is not the test's own)
            await asyncio.sleep(0.005)


async def refused(attempt: connect) -> tuple[int, str]:
    with pytest.raises(InvalidStatus) as caught:
        await attempt
    response = caught.value.response
    return response.status_code, (response.body or b"").decode()


async def test_a_client_is_greeted_and_answered(start: Start) -> None:
    server = await start(offer(FirstLegal()))
    async with talk(server) as client:
        assert (await receive(client))["type"] == "hello"
        await ask(client, 1, depth=3)
        assert await receive(client) == {
            "type": "decision",
            "id": 1,
            "direction": "right",
            "values": {"right": 4.0, "down": 0.0, "left": 4.0},
            "depth": 3,
            "nodes": 3,
            "elapsed_ms": 0.5,
            "engine": "first",
            "found_by": "search",
        }
        await ask(client, 2, [[2, 4], [4, 2]])
        assert await receive(client) == {"type": "game_over", "id": 2}


async def test_a_connection_outlives_malformed_messages(start: Start) -> None:
    server = await start(offer(FirstLegal()))
    async with talk(server) as client:
        await receive(client)
        for message, code in [
            ("not json", "bad_json"),
            ("[]", "bad_request"),
            (b"\x00\x01", "not_text"),
            ('{"type":"choose","id":5,"board":[[3,2],[0,4]]}', "bad_board"),
            (" " * (MAX_MESSAGE_BYTES + 1), "too_long"),
        ]:
            await client.send(message)
            answer = await receive(client)
            assert (answer["type"], answer["code"]) == ("error", code)
        await ask(client, 6)
        assert (await receive(client))["id"] == 6


async def test_a_message_of_absurd_length_ends_its_connection_alone(start: Start) -> None:
    server = await start(offer(FirstLegal()))
    async with talk(server) as client, talk(server) as other:
        await receive(client)
        await client.send(" " * (4 * MAX_MESSAGE_BYTES + 1))
        with pytest.raises(ConnectionClosed) as caught:
            await client.recv()
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 1009
        assert (await receive(other))["type"] == "hello"


async def test_pipelined_requests_are_answered_in_order(start: Start) -> None:
    server = await start(offer(FirstLegal()), threads=4)
    async with talk(server) as client:
        await receive(client)
        for number in range(30):
            if number % 3:
                await ask(client, number)
            else:
                await ask(client, number, engine="unheard of")
        assert [(await receive(client))["id"] for _ in range(30)] == list(range(30))


async def test_a_connection_that_asks_too_much_hears_busy(start: Start, gated: Gated) -> None:
    server = await start(offer(gated), max_waiting=2)
    async with talk(server) as client:
        await receive(client)
        await ask(client, 1)
        await searching(gated)
        for number in (2, 3, 4):
            await ask(client, number)
        answer = await receive(client)
        assert (answer["id"], answer["code"]) == (4, "busy")
        gated.gate.set()
        assert [(await receive(client))["id"] for _ in range(3)] == [1, 2, 3]


async def test_requests_that_wait_are_bounded_in_size_too(start: Start, gated: Gated) -> None:
    """Each is 60,000 characters long: eight of them wait, the ninth does not."""
    server = await start(offer(gated))
    async with talk(server) as client:
        await receive(client)
        await ask(client, 0)
        await searching(gated)
        for number in range(1, 10):
            await ask(client, number, padding="x" * 60_000)
        answer = await receive(client)
        assert (answer["id"], answer["code"]) == (9, "busy")
        gated.gate.set()
        assert [(await receive(client))["id"] for _ in range(9)] == list(range(9))
        await ask(client, 10, padding="x" * 60_000)
        assert (await receive(client))["id"] == 10


async def test_a_slow_search_holds_nobody_else_up(start: Start, gated: Gated) -> None:
    server = await start(offer(gated, "slow"), offer(FirstLegal()), threads=2)
    async with talk(server) as slow, talk(server) as quick:
        await ask(slow, 1)
        await searching(gated)
        assert (await receive(quick))["type"] == "hello"
        await (await quick.ping())
        await (await slow.ping())
        await ask(quick, 2, engine="first")
        assert (await receive(quick))["id"] == 2


async def test_clients_share_the_threads(start: Start) -> None:
    server = await start(offer(FirstLegal()), threads=2)

    async def play(number: int) -> list[int]:
        async with talk(server) as client:
            await receive(client)
            for turn in range(5):
                await ask(client, 100 * number + turn)
            return [(await receive(client))["id"] for _ in range(5)]

    answers = await asyncio.gather(*(play(number) for number in range(12)))
    assert answers == [[100 * number + turn for turn in range(5)] for number in range(12)]


async def test_who_leaves_takes_the_waiting_requests_along(
    start: Start, gated: Gated, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "solver_server.serving.conversation")
    server = await start(offer(gated), threads=1)
    async with talk(server) as client:
        await receive(client)
        await ask(client, 1)
        await searching(gated)
        async with talk(server) as hasty:
            for number in range(5):
                await ask(hasty, number, [[8, 8], [8, 8]])
            await (await hasty.ping())  # the requests have arrived
        await until(lambda: "disconnected" in caplog.text)
        gated.gate.set()
        assert (await receive(client))["id"] == 1
        await ask(client, 2)
        assert (await receive(client))["id"] == 2
    assert [board.max_tile for board, _ in gated.asked] == [2, 4, 4]


async def test_the_greeting_does_not_wait_for_the_kernels(start: Start) -> None:
    gate = asyncio.Event()
    loop = asyncio.get_running_loop()

    def load() -> Engine:
        asyncio.run_coroutine_threadsafe(gate.wait(), loop).result(60)
        return FirstLegal()

    server = await start(EngineOffer(offer(FirstLegal()).info, load))
    async with talk(server) as client:
        assert (await receive(client))["type"] == "hello"
        await ask(client, 1)
        await (await client.ping())
        gate.set()
        assert (await receive(client))["id"] == 1


async def test_a_server_that_works_logs_nothing(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    server = await start(offer(FirstLegal()))
    async with talk(server) as client:
        await receive(client)
        await ask(client, 1)
        await receive(client)
    assert caplog.records == []


async def test_a_server_whose_engine_cannot_be_loaded_says_so_and_ends() -> None:
    def load() -> Engine:
        raise SolverError("weights file lost.bin does not exist")

    broken = EngineOffer(offer(FirstLegal()).info, load)
    async with SolverServer([broken], "first", ServerOptions(port=0)) as server:
        with pytest.raises(SolverError, match=r"lost\.bin"):
            await server.run_until(asyncio.Event())


async def test_an_engine_that_fails_is_reported_and_replaced(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    made: list[Failing] = []

    def create() -> Engine:
        made.append(Failing())
        return made[-1]

    server = await start(EngineOffer(offer(FirstLegal()).info, create), threads=1)
    async with talk(server) as client:
        await receive(client)
        await ask(client, 1, [[2, 0]] * 3)
        answer = await receive(client)
        assert (answer["code"], answer["message"]) == ("engine_failed", "three rows are too many for me")
        assert len(made) == 1
        await ask(client, 2, TINY)
        answer = await receive(client)
        assert answer["code"] == "engine_failed"
        assert "a bug" in answer["message"]
        assert "ZeroDivisionError" in caplog.text
        await ask(client, 3, [[2, 0]] * 4)
        assert (await receive(client))["direction"] == "up"
        assert len(made) == 2


async def test_web_pages_are_kept_out_unless_allowed(start: Start) -> None:
    server = await start(offer(FirstLegal()), allowed_origins=("http://localhost:8000",))
    status, reason = await refused(talk(server, origin="http://evil.example"))
    assert status == 403
    assert "--allow-origin" in reason
    async with talk(server, origin="http://localhost:8000") as client:
        assert (await receive(client))["type"] == "hello"


async def test_a_rebound_name_does_not_reach_the_server(start: Start) -> None:
    server = await start(offer(FirstLegal()))
    port = int(server.url.rpartition(":")[2])
    evil = connect(f"ws://evil.example:{port}", host="127.0.0.1", port=port, proxy=None)
    assert (await refused(evil))[0] == 403


async def test_the_token_opens_the_door(start: Start) -> None:
    server = await start(offer(FirstLegal()), token="s3cret-of-16-chars")
    assert (await refused(talk(server)))[0] == 401
    assert (await refused(talk(server, additional_headers={"Authorization": "Bearer guess"})))[0] == 401
    async with talk(server, additional_headers={"Authorization": "Bearer s3cret-of-16-chars"}) as client:
        assert (await receive(client))["type"] == "hello"


async def test_further_clients_are_turned_away(start: Start) -> None:
    server = await start(offer(FirstLegal()), max_connections=1)
    async with talk(server) as client:
        await receive(client)
        assert (await refused(talk(server)))[0] == 503


async def raw_client(server: SolverServer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A client that shakes hands and from then on does nothing by itself."""
    host, port = server.url.removeprefix("ws://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        f"GET / HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
    )
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101")
    return reader, writer


async def test_a_half_dead_client_is_dropped(start: Start) -> None:
    server = await start(offer(FirstLegal()), ping_interval=0.02, ping_timeout=0.02)
    reader, writer = await raw_client(server)
    async with asyncio.timeout(60):
        assert b"hello" in await reader.read()  # to the end of the connection
    writer.close()


async def test_a_client_that_takes_no_answers_is_dropped(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    server = await start(offer(FirstLegal()), ping_interval=3600.0, ping_timeout=0.05)
    _, writer = await raw_client(server)
    frame = b"\x81\x82\0\0\0\0[]" * 1000  # masked with zeros: []

    async def flood() -> None:
        while True:
            writer.write(frame)
            await writer.drain()

    with pytest.raises(ConnectionError):
        await asyncio.wait_for(flood(), 60)
    assert "does not read its answers" in caplog.text
    writer.close()


async def test_connections_leave_no_tasks_behind(start: Start) -> None:
    server = await start(offer(FirstLegal()))
    async with talk(server) as client:
        await receive(client)
    await until(lambda: server._admission.open_count == 0)
    before = len(asyncio.all_tasks())
    for number in range(100):
        client = await talk(server)
        if number % 2:
            await ask(client, number)
        if number % 3:
            client.transport.abort()
        else:
            await client.close()
    await until(lambda: not server._admission.open_count and not server._conversations)
    await until(lambda: len(asyncio.all_tasks()) <= before)


async def test_a_port_in_use_is_told(start: Start) -> None:
    server = await start(offer(FirstLegal()))
    port = int(server.url.rpartition(":")[2])
    with pytest.raises(SolverError, match=f"127.0.0.1:{port}: the port is in use"):
        await start(offer(FirstLegal()), port=port)


async def test_an_address_of_no_interface_is_told(start: Start) -> None:
    with pytest.raises(SolverError, match=r"cannot listen on 192\.0\.2\.1:0"):
        await start(offer(FirstLegal()), host="192.0.2.1", token="s3cret-of-16-chars")


async def test_a_port_is_free_again_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    for _ in range(2):
        options = ServerOptions(port=port)
        async with (
            SolverServer([offer(FirstLegal())], "first", options) as server,
            talk(server) as client,
        ):
            assert (await receive(client))["type"] == "hello"


async def test_a_search_that_never_ends_does_not_keep_the_server(gated: Gated) -> None:
    server = SolverServer([offer(gated)], "first", ServerOptions(port=0, stop_grace=0.01))
    async with server:
        client = await talk(server)
        await ask(client, 1)
        await searching(gated)
    assert server.abandoned
    await receive(client)
    with pytest.raises(ConnectionClosed) as caught:
        await receive(client)
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1001


async def test_a_search_that_ends_soon_is_waited_for(gated: Gated) -> None:
    server = SolverServer([offer(gated)], "first", ServerOptions(port=0, stop_grace=60.0))
    async with server:
        async with talk(server) as client:
            await ask(client, 1)
            await searching(gated)
        asyncio.get_running_loop().call_soon(gated.gate.set)
    assert not server.abandoned
    assert len(gated.asked) == 2
