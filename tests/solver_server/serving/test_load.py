"""Many clients at once, valid and hostile: no answer is lost, misdirected or wrong, and memory stays flat."""

from __future__ import annotations

import asyncio
import json
import signal

import psutil
import pytest
from support.server_process import server_process
from websockets.asyncio.client import connect

from benchmarks.crowd import meet, room_for


@pytest.mark.parametrize(
    ("connections", "seconds", "least_requests"),
    [(200, 0.0, 4), pytest.param(200, 60.0, 1, marks=pytest.mark.slow)],
    ids=["short", "a minute"],
)
async def test_a_crowd_gets_its_answers(connections: int, seconds: float, least_requests: int) -> None:
    room = room_for(connections)
    with server_process("--engine", "fast", "--threads", "2", *room, files=1024) as server:
        async with connect(server.url, proxy=None) as client:  # it loads its kernels before it is watched
            await client.recv()
            await client.send(json.dumps({"type": "choose", "id": 1, "board": [[2, 2, 0, 0]] * 4}))
            await client.recv()
        process = psutil.Process(server.process.pid)
        crowd = await meet(
            server.url, process, connections, seconds=seconds, least_requests=least_requests, pause=0.02
        )
        server.process.send_signal(signal.SIGTERM)
        _, err = await asyncio.to_thread(server.process.communicate, timeout=60)
    assert crowd.wrong == []
    assert crowd.counts["right"] >= connections * 3 // 4 * least_requests
    assert crowd.counts["refused"] >= connections // 4
    assert crowd.memory[1] - crowd.memory[0] < 64 << 20
    assert (server.process.returncode, "Traceback" in err) == (0, False)
