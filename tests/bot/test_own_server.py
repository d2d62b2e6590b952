from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys

import psutil
import pytest

from bot.client import SolverClient
from bot.own_server import OwnServer
from game2048.board import Board
from game2048.errors import SolverError
from game2048.wire.messages import DecisionMessage

BOARD = Board.from_text("2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
QUICK = ["--engine", "fast", "--depth", "1"]
"""For what is the same with any engine: this one has no network to load."""


def process_of(server: OwnServer) -> psutil.Process:
    assert server.pid is not None
    return psutil.Process(server.pid)


async def test_an_own_server_answers_and_is_gone_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT2048_TOKEN", "of-another-server")
    async with OwnServer(["--depth", "1"]) as server:
        process = process_of(server)
        async with SolverClient(server.url) as client:
            assert isinstance(await client.choose(BOARD), DecisionMessage)
    assert not process.is_running()
    assert server.pid is None


async def test_a_killed_server_is_started_again_and_the_game_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with OwnServer(QUICK) as server, SolverClient(server.ensure_running) as client:
        before = await client.choose(BOARD)
        first = process_of(server)
        first.kill()
        after = await client.choose(BOARD)
        assert isinstance(before, DecisionMessage)
        assert isinstance(after, DecisionMessage)
        assert (after.direction, after.values) == (before.direction, before.values)
        assert process_of(server) != first
    assert "ended (signal 9" in caplog.text


async def test_a_server_that_does_not_stop_is_killed(caplog: pytest.LogCaptureFixture) -> None:
    async with OwnServer(stop_timeout=0.1) as server:
        process = process_of(server)
        process.suspend()
    assert not process.is_running()
    assert "ending it by force" in caplog.text


async def test_why_a_server_does_not_start_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(
        SolverError, match=r"\(exit code 1\): depth 99 is out of range for engine '\w+'; expected"
    ):
        await OwnServer(["--depth", "99"]).ensure_running()
    with pytest.raises(SolverError, match=r"\(exit code 2\): .*stockfish.*is not an engine; expected one of"):
        await OwnServer(["--engine", "stockfish"]).ensure_running()
    assert caplog.records == []


async def test_a_server_that_does_not_listen_in_time_is_ended() -> None:
    server = OwnServer(start_timeout=0.0)
    with pytest.raises(SolverError, match="did not listen within 0 s"):
        await server.ensure_running()
    assert server.pid is None


async def test_what_the_server_logs_is_logged_here(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "bot.own_server")
    async with OwnServer([*QUICK, "-v"]) as server, SolverClient(server.url) as client:
        await client.choose(BOARD)
    told = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert any(level == "INFO" and "is ready" in message for level, message in told)


OWNER = """
import asyncio
from bot.own_server import OwnServer

async def main():
    async with OwnServer() as server:
        print(server.pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def test_no_server_outlives_a_killed_owner() -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        server = psutil.Process(int(owner.stdout.readline()))
        owner.kill()
    server.wait(60)
    assert not server.is_running()


def test_ctrl_c_in_a_terminal_reaches_the_owner_alone() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as owner:
        assert owner.stdout is not None
        server = psutil.Process(int(owner.stdout.readline()))
        assert os.getpgid(server.pid) != os.getpgid(owner.pid)
        os.killpg(owner.pid, signal.SIGINT)  # the owner leaves its block in order
    server.wait(60)


async def test_two_who_find_the_server_dead_start_it_once() -> None:
    async with OwnServer(QUICK) as server:
        process = process_of(server)
        process.kill()
        await asyncio.to_thread(process.wait, 60)
        urls = await asyncio.gather(*(server.ensure_running() for _ in range(4)))
        assert len(set(urls)) == 1
