"""Engines through the front door: in this process and on a server, sync and async."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.fake_engines import Endless, FirstLegal, offer
from support.server_process import server_process

import bot2048
from bot2048 import Board, Direction
from bot2048.local_engine import AsyncLocalEngine, LocalEngine
from solver_server.serving.server import SolverServer
from solver_server.serving.server_options import ServerOptions

# A 4 is made by either of two moves; only right and left are legal on the second board.
BOARD = Board.from_text("2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
OVER = Board.from_text("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2")
ONLY_LEFT = Board.from_text("0 2 4 8 / 0 4 8 16 / 0 8 16 32 / 0 16 32 64")
FIVE = Board.from_text("2 2 0 0 0 / 0 0 0 0 0 / 0 0 0 0 0 / 0 0 0 0 0 / 0 0 0 0 0")


@pytest.mark.parametrize("name", [None, "fast", "ntuple", "order"])
def test_a_local_engine_chooses(name: str | None) -> None:
    with bot2048.engine(name) as engine:
        decision = engine.choose(BOARD, depth=1)
        assert decision is not None
        assert decision.direction in BOARD.legal_directions()
        assert set(decision.values) == set(BOARD.legal_directions())
        assert engine.choose(OVER) is None
        found = engine.choose_many([BOARD, OVER, ONLY_LEFT], depth=1)
        assert found == [decision.direction, None, Direction.LEFT]
        assert engine.choose_many([]) == []


def test_without_a_name_boards_of_any_size_are_played() -> None:
    with bot2048.engine() as engine:
        found = engine.choose_many([FIVE, OVER, BOARD], depth=1)
    assert found[0] in FIVE.legal_directions()
    assert found[1] is None
    assert found[2] in BOARD.legal_directions()


def test_packed_boards_get_the_moves_of_one_by_one() -> None:
    boards = [BOARD, ONLY_LEFT, OVER, *(BOARD.with_tile(cell, 3) for cell in range(2, 16))]
    with bot2048.engine("order") as engine:
        one_by_one = [engine.choose(board, depth=2) for board in boards]
        assert engine.choose_many(boards, depth=2) == [d and d.direction for d in one_by_one]


def test_what_an_engine_refuses(tmp_path: Path) -> None:
    with pytest.raises(bot2048.SolverError, match="'best' is unknown; expected one of order"):
        bot2048.engine("best")
    with pytest.raises(bot2048.SolverError, match="'token' belongs to a solver server"):
        bot2048.engine("order", token="secret")
    with pytest.raises(bot2048.SolverError, match="'weights' belongs to the server"):
        bot2048.engine("ws://127.0.0.1:1", weights="x")
    with pytest.raises(bot2048.SolverError, match="weights are for engine 'ntuple', not 'order'"):
        bot2048.engine("order", weights=tmp_path / "x.n2048")
    with pytest.raises(bot2048.SolverError, match=r"x\.n2048"):
        bot2048.engine("ntuple", weights=tmp_path / "x.n2048")
    with pytest.raises(bot2048.SolverError, match="search_threads 0 is out of range"):
        bot2048.engine("order", search_threads=0)
    with bot2048.engine("order") as engine:
        with pytest.raises(bot2048.SolverError, match="does not play 5x5 boards"):
            engine.choose(FIVE)
        with pytest.raises(bot2048.SolverError, match="depth 0 is out of range"):
            engine.choose(BOARD, depth=0)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with server_process("--engine", "fast", "--token", "open-sesame-0123456789") as server:
        yield server.url


def test_a_remote_engine_chooses(address: str) -> None:
    with bot2048.engine(address, token="open-sesame-0123456789", server_engine="fast") as engine:
        decision = engine.choose(BOARD, depth=1)
        assert decision is not None
        assert set(decision.values) == set(BOARD.legal_directions())
        assert engine.choose(OVER) is None
        assert engine.choose_many([OVER, ONLY_LEFT], depth=1) == [None, Direction.LEFT]
        with pytest.raises(bot2048.SolverRefusedError, match="depth") as refusal:
            engine.choose(BOARD, depth=1000)
        assert refusal.value.code == "bad_limit"
        engine.close()
        with pytest.raises(RuntimeError, match="closed"):
            engine.choose(BOARD)


def test_a_remote_engine_that_cannot_be_reached(address: str) -> None:
    before = threading.active_count()
    with pytest.raises(bot2048.SolverError, match="HTTP status 401"):
        bot2048.engine(address)
    assert threading.active_count() == before


async def test_engines_for_asyncio(address: str) -> None:
    for which, token in ((address, "open-sesame-0123456789"), ("fast", None)):
        options: bot2048.EngineOptions = {} if token is None else {"token": token}
        async with bot2048.engine_async(which, **options) as engine:
            decision = await engine.choose(BOARD, depth=1)
            assert decision is not None
            assert decision.direction in BOARD.legal_directions()
            assert await engine.choose_many([OVER, ONLY_LEFT], depth=1) == [None, Direction.LEFT]


class Knows(FirstLegal):
    """Says of each move that a table knew it."""

    def choose(self, board: Board, limit: bot2048.Limit) -> bot2048.Decision | None:
        decision = super().choose(board, limit)
        return None if decision is None else replace(decision, found_by="table")


async def test_a_remote_decision_is_the_decision_of_the_server() -> None:
    local = Knows().choose(BOARD, bot2048.Limit(depth=2))
    async with (
        SolverServer([offer(Knows())], "first", ServerOptions(port=0)) as server,
        bot2048.engine_async(server.url) as engine,
    ):
        assert await engine.choose(BOARD, depth=2) == local


@pytest.fixture
async def endless() -> AsyncIterator[tuple[str, Endless]]:
    engine = Endless()
    async with SolverServer([offer(engine)], "first", ServerOptions(port=0)) as server:
        yield server.url, engine


async def test_a_cancelled_question_stops_the_local_search() -> None:
    local = LocalEngine("fast")
    endless = Endless()
    endless.choose(BOARD, bot2048.Limit(depth=1))
    local._engines["fast"] = endless
    async with AsyncLocalEngine(local) as engine:
        question = asyncio.create_task(engine.choose(BOARD))
        await asyncio.to_thread(endless.searching.acquire)
        waiting = asyncio.create_task(engine.choose(BOARD, depth=1))
        question.cancel()
        with pytest.raises(asyncio.CancelledError):
            await question
        decision = await waiting  # the one that waited is not harmed
        assert decision is not None
        assert decision.direction is Direction.RIGHT


async def test_a_cancelled_question_stops_the_search_of_the_server(endless: tuple[str, Endless]) -> None:
    url, searching = endless
    async with bot2048.engine_async(url) as engine:
        question = asyncio.create_task(engine.choose(BOARD))
        await asyncio.to_thread(searching.searching.acquire)
        question.cancel()
        with pytest.raises(asyncio.CancelledError):
            await question
        assert await engine.choose(BOARD, depth=1) is not None


def test_a_fake_engine_is_asked_with_the_limit() -> None:
    local, first = LocalEngine("composite"), FirstLegal()
    local._engines["composite"] = first
    decision = local.choose(BOARD, time_ms=5, depth=2)
    assert decision is not None
    assert first.asked == [(BOARD, bot2048.Limit(depth=2, time_ms=5))]
