"""A crowd of valid and hostile clients of one server, whose answers are checked; also the load test's."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import numpy as np
import psutil
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

_MOST_HANDSHAKES = 32
"""Clients that connect at a time. Where more than 64 do, a server drops the oldest that is slow to ask."""
_HOSTILE = [
    "not json",
    "[]",
    '{"type":"choose"}',
    '{"type":"choose","id":1,"board":[[3,2],[0,4]]}',
    '{"type":"choose_many","id":1,"boards":[]}',
    "\x00" * 50,
]


@dataclass
class Crowd:
    """What a crowd saw.

    Attributes:
        counts: answers that were ``right``, ``refused`` as they should be, or wrong, with their text.
        seconds: from each valid request to its answer.
        memory: the least and the most bytes that the server had after the first fifth of the time.
    """

    counts: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    memory: tuple[int, int] = (0, 0)

    @property
    def wrong(self) -> list[str]:
        """Answers that were lost, misdirected, or not what they should be."""
        return [text for text in self.counts if text not in ("right", "refused", "closed")]

    def percentile(self, percent: float) -> float:
        """The milliseconds in which a share of the valid requests was answered."""
        return float(np.percentile(self.seconds, percent)) * 1000


async def meet(
    url: str,
    process: psutil.Process,
    connections: int,
    *,
    seconds: float = 0.0,
    least_requests: int = 1,
    pause: float = 0.2,
) -> Crowd:
    """Let a crowd loose on a server: three quarters valid, one quarter hostile.

    Args:
        url: the server's address.
        process: the server.
        connections: clients at the same time.
        seconds: for how long.
        least_requests: requests that each client makes at least.
        pause: most seconds between two requests of a client.
    """
    crowd = Crowd()
    door = asyncio.Semaphore(_MOST_HANDSHAKES)
    end = time.perf_counter() + seconds
    # Each of these boards has one legal direction and one only.
    known = [(_forced(turns), name) for turns, name in zip((3, 2, 1, 0), _NAMES, strict=True)]
    memory: list[int] = []
    met = asyncio.Event()

    @contextlib.asynccontextmanager
    async def connected() -> AsyncIterator[ClientConnection]:
        async with contextlib.AsyncExitStack() as stack:
            async with door:
                client = await stack.enter_async_context(connect(url, proxy=None, compression=None))
            await client.recv()
            yield client

    async def valid(number: int) -> None:
        draw = random.Random(number)
        async with connected() as client:
            request = 0
            while request < least_requests or time.perf_counter() < end:
                board, expected = draw.choice(known)
                request += 1
                asked = {"type": "choose", "id": f"{number}-{request}", "board": board}
                begun = time.perf_counter()
                await client.send(json.dumps(asked | {"time_ms": draw.choice([1, 2, 5])}))
                answer = json.loads(await client.recv())
                crowd.seconds.append(time.perf_counter() - begun)
                right = answer.get("id") == asked["id"] and answer.get("direction") == expected
                crowd.counts["right" if right else f"asked {asked}, got {answer}"] += 1
                await asyncio.sleep(draw.random() * pause)

    async def hostile(number: int) -> None:
        draw = random.Random(number)
        done = 0
        while done < least_requests or time.perf_counter() < end:
            try:
                async with connected() as client:
                    for _ in range(20):
                        done += 1
                        data: str | bytes = draw.choice(_HOSTILE)
                        if draw.random() < 1 / 3:
                            data = draw.randbytes(draw.randrange(200))
                        await client.send(data)
                        answer = json.loads(await client.recv())
                        refused = answer["type"] == "error"
                        crowd.counts["refused" if refused else f"sent {data!r}, got {answer}"] += 1
                        await asyncio.sleep(draw.random() * pause / 2)
                    if draw.random() < 0.5:
                        client.transport.abort()
            except ConnectionClosed:
                crowd.counts["closed"] += 1

    async def watch() -> None:
        while not met.is_set():
            memory.append(process.memory_info().rss)
            try:
                async with asyncio.timeout(0.25):
                    await met.wait()
            except TimeoutError:
                pass
        memory.append(process.memory_info().rss)

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(valid(n) if n % 4 else hostile(n) for n in range(connections)))
    met.set()
    await watching
    steady = memory[len(memory) // 5 :]
    crowd.memory = min(steady), max(steady)
    return crowd


def room_for(connections: int) -> list[str]:
    """Return the arguments of a server for a crowd: hostile clients come again before they are seen to go."""
    return ["--max-connections", str(connections + connections // 4)]


_NAMES = ("up", "right", "down", "left")


def _forced(turns: int) -> list[list[int]]:
    """A board on which left alone is legal, turned some quarters to the left."""
    left = [[0, 2, 4, 8], [0, 4, 8, 16], [0, 8, 16, 32], [0, 16, 32, 64]]
    return [[int(tile) for tile in row] for row in np.rot90(np.array(left), turns)]
