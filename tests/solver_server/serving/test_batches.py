from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import numpy as np
import pytest
from support.fake_engines import FirstLegal, Gated, offer
from websockets.asyncio.client import connect

from bot.client import SolverClient
from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import SolverRefusedError
from game2048.wire.frames import GAME_OVER, pack_boards
from game2048.wire.messages import MAX_BOARDS
from solver_server.engine import Limit
from solver_server.engines import ENGINES
from solver_server.serving.pool import EngineOffer
from solver_server.serving.server import SolverServer
from solver_server.serving.server_options import ServerOptions

TEXTS = [
    "2 4 8 16 / . . 2 4 / . . . 2 / . . . .",
    "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2",
    "4 2 2 4 / 8 16 32 64 / 16 8 64 32 / 2 4 8 16",
    ". . . . / . . . . / . . . 2 / . . 2 .",
]
BOARDS = [Board.from_text(text) for text in TEXTS]


@pytest.fixture
async def server() -> AsyncIterator[SolverServer]:
    offers = [EngineOffer(ENGINES["fast"].info, ENGINES["fast"].create), offer(FirstLegal())]
    async with SolverServer(offers, "fast", ServerOptions(port=0)) as running:
        yield running


def alone(boards: list[Board], depth: int) -> list[Direction | None]:
    engine = ENGINES["fast"].create()
    decisions = [engine.choose(board, Limit(depth=depth)) for board in boards]
    return [None if decision is None else decision.direction for decision in decisions]


async def test_many_boards_are_answered_in_order_across_messages(server: SolverServer) -> None:
    boards = BOARDS * (MAX_BOARDS // 2)  # two messages' worth of 4096
    expected = alone(BOARDS, 2) * (MAX_BOARDS // 2)
    assert expected[1] is None
    async with SolverClient(server.url) as client:
        assert await client.choose_many(boards, depth=2) == expected
        packed = pack_boards(boards)
        assert packed is not None
        found = await client.choose_packed(packed, depth=2)
    assert found.tolist() == [GAME_OVER if one is None else one.index for one in expected]


async def test_boards_that_cannot_be_packed_go_as_text(server: SolverServer) -> None:
    large = Board.from_text("65536 2 2 4 / 8 16 32 64 / 16 8 64 32 / 2 4 8 16")
    async with SolverClient(server.url) as client:
        for boards, times in (([large, *BOARDS], 300), ([Board.from_text("2 2 / 0 4"), *BOARDS], 1)):
            assert await client.choose_many(boards * times, depth=1) == alone(boards, 1) * times
        assert await client.choose_many([]) == []
        assert (await client.choose_packed(np.zeros(0, dtype=np.uint64))).size == 0


async def test_an_engine_without_a_kernel_for_many_boards_plays_them_one_by_one(server: SolverServer) -> None:
    async with SolverClient(server.url) as client:
        found = await client.choose_many(BOARDS * 20, engine="first")
    assert found == [next(iter(board.legal_directions()), None) for board in BOARDS] * 20


async def test_a_refused_batch_leaves_the_client_usable(server: SolverServer) -> None:
    async with SolverClient(server.url) as client:
        for boards in (BOARDS * 3000, [Board.from_text("2 2 / 0 4")] * 10_000):
            with pytest.raises(SolverRefusedError) as caught:
                await client.choose_many(boards, engine="stockfish")
            assert caught.value.code == "unknown_engine"
        assert await client.choose_many(BOARDS, depth=1) == alone(BOARDS, 1)


async def test_a_batch_is_asked_again_from_where_it_stood_when_the_server_was_lost() -> None:
    answered: list[int] = []

    class Counting(FirstLegal):
        def choose(self, board: Board, limit: Limit):  # type: ignore[no-untyped-def]
            answered.append(board.max_tile)
            return super().choose(board, limit)

    boards = [Board.from_tiles([[0, 2], [0, 1 << (2 + i // 1000 % 8)]]) for i in range(20_000)]
    options = ServerOptions(port=0)
    async with SolverServer([offer(Counting())], "first", options) as first:
        client = SolverClient(first.url)
        asking = asyncio.create_task(client.choose_many(boards))
        while len(answered) < 9000:  # noqa: ASYNC110 (what it waits for is not the test's own)
            await asyncio.sleep(0.001)
        for talk in list(first._conversations):
            talk._connection.transport.abort()
        assert await asking == [board.legal_directions()[0] for board in boards]
        await client.close()
    assert len(answered) < 2 * len(boards) - 3000  # what was answered was not asked again


async def test_a_long_batch_lets_others_have_their_turn() -> None:
    """One thread; a batch of many turns is under way when somebody else asks."""
    slow = EngineOffer(ENGINES["fast"].info, ENGINES["fast"].create)
    async with SolverServer([slow], "fast", ServerOptions(port=0, threads=1)) as server:  # noqa: SIM117
        async with connect(server.url, proxy=None) as many, connect(server.url, proxy=None) as one:
            await many.recv()
            await one.recv()
            tiles = [board.tiles() for board in BOARDS] * 250
            batch = {"type": "choose_many", "id": 1, "boards": tiles, "time_ms": 2}
            await many.send(json.dumps(batch, separators=(",", ":")))
            await one.send(json.dumps({"type": "choose", "id": 2, "board": tiles[0], "depth": 1}))
            first = asyncio.create_task(many.recv())
            second = asyncio.create_task(one.recv())
            await asyncio.wait({first, second}, return_when=asyncio.FIRST_COMPLETED)
            assert second.done()
            assert not first.done()
            assert len(json.loads(await first)["directions"]) == 1000


async def test_a_batch_can_be_withdrawn_between_turns() -> None:
    engine = Gated()
    async with SolverServer([offer(engine)], "first", ServerOptions(port=0)) as server:  # noqa: SIM117
        async with connect(server.url, proxy=None) as client:
            await client.recv()
            await client.send(
                json.dumps({"type": "choose_many", "id": 1, "boards": [BOARDS[0].tiles()] * 100})
            )
            assert await asyncio.to_thread(engine.searching.acquire, timeout=60)
            await client.send(json.dumps({"type": "cancel", "id": 1}))
            answer = json.loads(await client.recv())
            assert (answer["id"], answer["code"]) == (1, "cancelled")
            engine.gate.set()
