"""Searches that nobody waits for end (`search/test_many_boards.py` has the kernels of real engines)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.fake_engines import Endless, FirstLegal, Gated, offer
from websockets.asyncio.client import ClientConnection, connect

from bot.client import SolverClient
from game2048.board import Board
from solver_server.serving.server import SolverServer
from solver_server.serving.server_options import ServerOptions

BOARD = [[2, 2], [0, 4]]


@pytest.fixture
def endless() -> Endless:
    return Endless()


@pytest.fixture
async def server(endless: Endless) -> AsyncIterator[SolverServer]:
    """One thread: whoever comes next is answered only once the search before has ended."""
    async with SolverServer([offer(endless)], "first", ServerOptions(port=0, threads=1)) as running:
        yield running


async def receive(client: ClientConnection) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(await client.recv())
    return message


async def send(client: ClientConnection, **message: object) -> None:
    await client.send(json.dumps(message))


async def begin_search(client: ClientConnection, endless: Endless, **fields: object) -> None:
    """Ask for a search without an end, and wait until it runs."""
    await receive(client)
    await send(client, type="choose", id="long", board=BOARD, **fields)
    assert await asyncio.to_thread(endless.searching.acquire, timeout=60)


async def ask_as_another(server: SolverServer) -> None:
    """Be answered by the only thread."""
    async with asyncio.timeout(60), connect(server.url, proxy=None) as other:
        await receive(other)
        await send(other, type="choose", id=2, board=BOARD, depth=1)
        assert (await receive(other))["type"] == "decision"


async def test_a_search_ends_when_its_client_withdraws_it(server: SolverServer, endless: Endless) -> None:
    async with connect(server.url, proxy=None) as client:
        await begin_search(client, endless)
        await send(client, type="choose", id="next", board=BOARD, depth=1)
        for _ in range(3):
            await send(client, type="cancel", id="long")
        answer = await receive(client)
        assert (answer["type"], answer["id"], answer["code"]) == ("error", "long", "cancelled")
        assert (await receive(client))["id"] == "next"
        await ask_as_another(server)


async def test_a_search_ends_when_its_client_goes(server: SolverServer, endless: Endless) -> None:
    client = await connect(server.url, proxy=None)
    await begin_search(client, endless)
    client.transport.abort()
    await ask_as_another(server)


async def test_a_search_ends_at_its_deadline(server: SolverServer, endless: Endless) -> None:
    async with connect(server.url, proxy=None) as client:
        await begin_search(client, endless, deadline_ms=100)
        answer = await receive(client)
        assert (answer["id"], answer["code"]) == ("long", "deadline_passed")
        assert "0.1 s" in answer["message"]
        await ask_as_another(server)


async def test_a_search_ends_when_the_caller_of_the_client_is_cancelled(
    server: SolverServer, endless: Endless
) -> None:
    async with SolverClient(server.url) as client:
        asking = asyncio.create_task(client.choose(Board.from_tiles(BOARD)))
        assert await asyncio.to_thread(endless.searching.acquire, timeout=60)
        asking.cancel()
        await asyncio.wait({asking})
        await ask_as_another(server)
        assert (await client.choose(Board.from_tiles(BOARD), depth=1)) is not None


async def test_a_search_ends_when_the_server_stops(endless: Endless) -> None:
    options = ServerOptions(port=0, threads=1, stop_grace=0.05)
    async with SolverServer([offer(endless)], "first", options) as server:
        client = await connect(server.url, proxy=None)
        await begin_search(client, endless)
    assert not server.abandoned
    await client.wait_closed()
    assert client.close_code == 1001


async def test_requests_that_wait_can_be_withdrawn_and_others_cannot() -> None:
    engine = Gated()
    async with SolverServer([offer(engine)], "first", ServerOptions(port=0)) as server:  # noqa: SIM117
        async with connect(server.url, proxy=None) as client:
            await receive(client)
            await send(client, type="choose", id=1, board=[[2, 2], [0, 4]])
            assert await asyncio.to_thread(engine.searching.acquire, timeout=60)
            for number in (2, 3, 2):
                await send(client, type="choose", id=number, board=[[2, 2], [0, 8]])
            for number in (2, 99):
                await send(client, type="cancel", id=number)
            await (await client.ping())  # all have arrived
            engine.gate.set()
            answers = [await receive(client) for _ in range(4)]
            await send(client, type="cancel", id=1)  # is answered already: nothing to withdraw
            await send(client, type="choose", id=1, board=[[2, 2], [0, 4]])
            assert (await receive(client))["type"] == "decision"
    assert [(answer["id"], answer.get("code")) for answer in answers] == [
        (1, None),
        (2, "cancelled"),
        (3, None),
        (2, "cancelled"),
    ]
    assert len(engine.asked) == 4  # the first warms it up


async def test_a_request_may_be_overdue_before_its_turn() -> None:
    engine = Gated()
    async with SolverServer([offer(engine)], "first", ServerOptions(port=0)) as server:  # noqa: SIM117
        async with connect(server.url, proxy=None) as client:
            await receive(client)
            await send(client, type="choose", id=1, board=[[2, 2], [0, 4]], deadline_ms=1)
            await send(client, type="choose", id=2, board=[[2, 2], [0, 4]], deadline_ms=2)
            assert [(await receive(client))["code"] for _ in range(2)] == ["deadline_passed"] * 2
            engine.gate.set()


async def test_answers_do_not_depend_on_the_wall_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    async with SolverServer([offer(FirstLegal())], "first", ServerOptions(port=0)) as server:  # noqa: SIM117
        async with connect(server.url, proxy=None) as client:
            await receive(client)
            for jump in (86_400.0, -86_400.0):
                now = time.time()
                monkeypatch.setattr(time, "time", lambda now=now, jump=jump: now + jump)
                await send(client, type="choose", id=1, board=[[2, 2], [0, 4]], deadline_ms=60_000)
                assert (await receive(client))["type"] == "decision"
                await (await client.ping())
