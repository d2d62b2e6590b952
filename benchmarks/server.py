"""Measure a solver server over loopback: throughput, and how it bears a crowd and faults.

    python -m benchmarks.server throughput            # boards a second, 1 and 16 connections, text and frames
    python -m benchmarks.server load --seconds 60     # 200 connections, valid and hostile
    python -m benchmarks.server faults                # floods, abandoned searches, descriptors, disconnects

Each starts servers of its own as processes. `--before FOLDER` also measures the server of another source
tree, in turns with this one. Figures and the machine they come from: benchmarks/server.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from benchmarks.crowd import Crowd, meet, room_for
from bot.client import SolverClient
from game2048.board import Board
from game2048.wire.frames import PackedRequest, encode_boards
from game2048.wire.messages import MAX_BOARDS, ChooseMany, encode

IN_FLIGHT = 8


Server = tuple[str, psutil.Process]
"""Where a server listens, and its process."""


@contextmanager
def running_server(source: Path | None, *arguments: str, nofile: int | None = None) -> Iterator[Server]:
    """A server process of a source tree (``None``: of this one)."""
    command = [sys.executable, "-m", "solver_server", "serve", "--port", "0", *arguments]
    if nofile is not None:
        command = ["sh", "-c", f'ulimit -n {nofile}; exec "$@"', "sh", *command]
    with (
        tempfile.TemporaryFile("w+") as log,  # a pipe that nobody reads would stop the server
        subprocess.Popen(command, cwd=source, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        assert process.stdout is not None
        line = process.stdout.readline()
        url = json.loads(line)["url"] if line.startswith("{") else line.removeprefix("listening on ").strip()
        try:
            yield url, psutil.Process(process.pid)
        finally:
            begun = time.perf_counter()
            process.terminate()
            process.wait()
            took = time.perf_counter() - begun
            log.seek(0)
            err = log.read()
            print(
                f"  SIGTERM to exit: {took:.2f} s; log: {len(err.splitlines())} lines, "
                f"{err.count('Traceback')} tracebacks",
                flush=True,
            )


def some_boards(count: int) -> list[Board]:
    """Boards of random games, packed exponents up to 11."""
    draw = random.Random(7)
    boards = []
    for _ in range(count):
        filled = draw.randrange(4, 14)
        cells = [draw.randrange(1, 12) for _ in range(filled)] + [0] * (16 - filled)
        draw.shuffle(cells)
        boards.append(Board(4, 4, bytes(cells)))
    return boards


async def measure_single(url: str, connections: int, seconds: float, fields: dict[str, Any]) -> float:
    """Answers a second to `choose`, pipelined."""
    texts = [board.tiles() for board in some_boards(500)]

    async def ask() -> int:
        done = 0
        async with connect(url, proxy=None, compression=None) as client:
            await client.recv()
            for number in range(IN_FLIGHT):
                await client.send(_single(number, texts[number], fields))
            number = IN_FLIGHT
            while time.perf_counter() < end:
                await client.recv()
                done += 1
                await client.send(_single(number, texts[number % len(texts)], fields))
                number += 1
        return done

    await warm_up(url, fields)
    begun = time.perf_counter()
    end = begun + seconds
    done = await asyncio.gather(*(ask() for _ in range(connections)))
    return sum(done) / (time.perf_counter() - begun)


def _single(number: int, board: list[list[int]], fields: dict[str, Any]) -> str:
    return json.dumps({"type": "choose", "id": number, "board": board} | fields, separators=(",", ":"))


async def warm_up(url: str, fields: dict[str, Any]) -> None:
    async with connect(url, proxy=None) as client:
        await client.recv()
        for board in some_boards(4):
            await client.send(_single(0, board.tiles(), fields))
            await client.recv()


async def measure_many(
    url: str, connections: int, seconds: float, fields: dict[str, Any], *, binary: bool
) -> float:
    """Boards a second by `choose_many`, a few messages in flight."""
    boards = some_boards(MAX_BOARDS)
    packed = np.array(
        [sum(cell << (4 * i) for i, cell in enumerate(board.cells)) for board in boards], dtype=np.uint64
    )
    count = MAX_BOARDS if binary else 1000
    message = (
        encode_boards(PackedRequest(1, **fields), packed)
        if binary
        else encode(ChooseMany(1, [board.tiles() for board in boards[:count]], **fields))
    )

    async def ask() -> int:
        done = 0
        async with connect(url, proxy=None, compression=None) as client:
            await client.recv()
            for _ in range(4):
                await client.send(message)
            while time.perf_counter() < end:
                answer = await client.recv()
                if binary:
                    assert isinstance(answer, bytes)
                    assert len(answer.partition(b"\n")[2]) == count
                else:
                    assert len(json.loads(answer)["directions"]) == count
                done += count
                await client.send(message)
        return done

    await warm_up(url, fields)
    begun = time.perf_counter()
    end = begun + seconds
    done = await asyncio.gather(*(ask() for _ in range(connections)))
    return sum(done) / (time.perf_counter() - begun)


async def measure_client(url: str, seconds: float, fields: dict[str, Any]) -> float:
    """Boards a second by `SolverClient.choose_packed`, a caller's view."""
    boards = np.tile(
        np.array(
            [sum(c << (4 * i) for i, c in enumerate(board.cells)) for board in some_boards(1000)],
            dtype=np.uint64,
        ),
        64,
    )
    async with SolverClient(url) as client:
        await client.choose_packed(boards, **fields)
        begun = time.perf_counter()
        done = 0
        while time.perf_counter() < begun + seconds:
            done += (await client.choose_packed(boards, **fields)).size
        return done / (time.perf_counter() - begun)


KINDS: dict[str, dict[str, Any]] = {
    "ntuple, greedy": {"engine": "ntuple", "depth": 1},
    "fast, depth 1": {"engine": "fast", "depth": 1},
    "order": {"engine": "order"},
}
ROUNDS = 3


async def throughput(servers: dict[str, Server], seconds: float, kinds: list[str]) -> None:
    """Print boards a second and processor time a board, medians of some turns.

    A turn measures one server after the other. The processor time is the server's alone: other work on the
    machine changes it little.

    Args:
        servers: servers by name.
        seconds: of each measurement.
        kinds: names in `KINDS`.
    """
    heads = [head for name in servers for head in (f"{name}, boards/s", f"{name}, µs/board")]
    print(f"| engine | connections | asked by | {' | '.join(heads)} |")
    print(f"|---|---|---|{'---|' * len(heads)}", flush=True)
    for name in kinds:
        for connections in (1, 16):
            for how in ("choose", "choose_many, JSON", "choose_many, frames", "SolverClient.choose_packed"):
                if how.startswith("Solver") and connections > 1:
                    continue
                measured: dict[str, list[tuple[float, float]]] = {server: [] for server in servers}
                for _ in range(ROUNDS):
                    for server, (url, process) in servers.items():
                        measured[server] += await _measured(
                            url, process, how, connections, seconds, KINDS[name]
                        )
                cells = [cell for pairs in measured.values() for cell in _medians(pairs)]
                print(f"| {name} | {connections} | {how} | {' | '.join(cells)} |", flush=True)


def _medians(pairs: list[tuple[float, float]]) -> list[str]:
    if not pairs:
        return ["–", "–"]
    rates, costs = zip(*pairs, strict=True)
    return [f"{statistics.median(rates):,.0f}", f"{statistics.median(costs):,.1f}"]


async def _measured(
    url: str, process: psutil.Process, how: str, connections: int, seconds: float, fields: dict[str, Any]
) -> list[tuple[float, float]]:
    """Boards a second and µs of the server a board; nothing if the server does not know the request."""
    async with connect(url, proxy=None) as client:
        knows_many = bool(json.loads(await client.recv()).get("max_boards"))
    if how != "choose" and not knows_many:
        return []
    await warm_up(url, fields)
    before, begun = sum(process.cpu_times()[:2]), time.perf_counter()
    if how == "choose":
        rate = await measure_single(url, connections, seconds, fields)
    elif how.startswith("Solver"):
        rate = await measure_client(url, seconds, fields)
    else:
        rate = await measure_many(url, connections, seconds, fields, binary="frames" in how)
    spent, boards = sum(process.cpu_times()[:2]) - before, rate * (time.perf_counter() - begun)
    return [(rate, 1e6 * spent / boards)]


LONG = [[2, 2, 64, 8], [8, 4, 64, 32], [8, 16, 2, 2], [32, 2, 4, 4]]
"""Full and with many merges: `order` searches it for longer than any time limit."""


async def load(url: str, process: psutil.Process, seconds: float, connections: int) -> None:
    """Valid and hostile clients at once; see `benchmarks.crowd`."""
    await warm_up(url, {})
    crowd: Crowd = await meet(url, process, connections, seconds=seconds, pause=2.0)
    print(f"{connections} connections, {seconds:g} s: {dict(crowd.counts)}")
    print(
        f"  answers: p50 {crowd.percentile(50):.1f} ms, p99 {crowd.percentile(99):.1f} ms; "
        f"memory {crowd.memory[0] / 2**20:.0f} to {crowd.memory[1] / 2**20:.0f} MB"
    )


# -- faults ----------------------------------------------------------------------------------------


async def raw(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = url.removeprefix("ws://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        f"GET / HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
    )
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def ping_flood(url: str, process: psutil.Process, seconds: float) -> None:
    """Pings and never a read."""
    before = process.memory_info().rss
    _, writer = await raw(url)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    frame = (b"\x89\xfd\0\0\0\0" + b"x" * 125) * 200
    most, sent, begun = before, 0, time.perf_counter()
    closed: float | None = None
    while time.perf_counter() < begun + seconds:
        writer.write(frame)
        sent += len(frame)
        try:
            async with asyncio.timeout(0.5):
                await writer.drain()
        except TimeoutError:
            pass
        except ConnectionError:
            closed = time.perf_counter() - begun
            break
        most = max(most, process.memory_info().rss)
    writer.transport.abort()
    print(
        f"ping flood: {sent / 2**20:.0f} MB sent; memory {before / 2**20:.0f} → {most / 2**20:.0f} MB; "
        + (f"closed after {closed:.1f} s" if closed is not None else f"still open after {seconds:g} s")
    )


async def abandoned_searches(url: str) -> None:
    """Two clients ask for a minute each and leave; how long does the next wait?"""
    await warm_up(url, {"engine": "order"})
    for _ in range(2):
        client = await connect(url, proxy=None)
        await client.recv()
        fields = {"engine": "order", "time_ms": 20_000}
        await client.send(json.dumps({"type": "choose", "id": 1, "board": LONG} | fields))
        await asyncio.sleep(0.2)
        client.transport.abort()
    begun = time.perf_counter()
    async with connect(url, proxy=None) as other:
        await other.recv()
        await other.send(
            json.dumps({"type": "choose", "id": 2, "board": LONG, "engine": "order", "depth": 1})
        )
        await other.recv()
    took = time.perf_counter() - begun
    print(f"two abandoned searches of 20 s: the next client is answered after {took:.3f} s")


async def descriptors(url: str, count: int) -> None:
    """Silent connections without a handshake, more than the server has descriptors."""
    host, port = url.removeprefix("ws://").split(":")
    await warm_up(url, {"engine": "fast"})
    async with connect(url, proxy=None) as client:
        await client.recv()
        held: deque[asyncio.StreamWriter] = deque()
        for _ in range(count):
            try:
                async with asyncio.timeout(1):
                    _, writer = await asyncio.open_connection(host, int(port))
                held.append(writer)
            except (OSError, TimeoutError):
                break
        begun = time.perf_counter()
        await client.send(
            json.dumps({"type": "choose", "id": 2, "board": LONG, "engine": "fast", "depth": 1})
        )
        await client.recv()
        old = time.perf_counter() - begun
        begun = time.perf_counter()
        try:
            async with asyncio.timeout(30), connect(url, proxy=None, open_timeout=30) as newcomer:
                await newcomer.recv()
            new = f"a new one greeted after {time.perf_counter() - begun:.2f} s"
        except (OSError, TimeoutError, ConnectionClosed) as error:
            new = f"a new one is not greeted ({type(error).__name__})"
        for writer in held:
            writer.transport.abort()
    print(f"{len(held)} silent connections: an old client is answered after {old:.3f} s, {new}")


async def ping_at_full_load(url: str) -> None:
    """Round trips of a ping while all threads search."""
    await warm_up(url, {"engine": "order"})
    clients: list[ClientConnection] = []
    for number in range(4):
        client = await connect(url, proxy=None)
        await client.recv()
        fields = {"engine": "order", "time_ms": 5000}
        await client.send(json.dumps({"type": "choose", "id": number, "board": LONG} | fields))
        clients.append(client)
    times = []
    async with connect(url, proxy=None) as client:
        for _ in range(100):
            begun = time.perf_counter()
            await (await client.ping())
            times.append(time.perf_counter() - begun)
            await asyncio.sleep(0.02)
    for client in clients:
        client.transport.abort()
    times.sort()
    print(f"ping at full load: p50 {1000 * times[50]:.2f} ms, longest {1000 * times[-1]:.2f} ms")


async def cycles(url: str, process: psutil.Process, count: int) -> None:
    """Connect and disconnect; are descriptors or memory left behind?"""
    for _ in range(200):
        async with connect(url, proxy=None) as client:
            await client.recv()
    files, memory = process.num_fds(), process.memory_info().rss
    for _ in range(count // 20):

        async def one() -> None:
            async with connect(url, proxy=None) as client:
                await client.recv()

        await asyncio.gather(*(one() for _ in range(20)))
    await asyncio.sleep(0.5)
    print(
        f"{count} connections made and closed: descriptors {files} → {process.num_fds()}, "
        f"memory {memory / 2**20:.0f} → {process.memory_info().rss / 2**20:.0f} MB"
    )


def faults(source: Path | None, seconds: float) -> None:
    with running_server(source, "--engine", "fast", "--threads", "2") as (url, process):
        asyncio.run(ping_at_full_load(url))
        asyncio.run(abandoned_searches(url))
        asyncio.run(ping_flood(url, process, seconds))
        asyncio.run(cycles(url, process, 10_000))
    with running_server(source, "--engine", "fast", nofile=256) as (url, process):
        asyncio.run(descriptors(url, 1000))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["throughput", "load", "faults"])
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement")
    parser.add_argument("--connections", type=int, default=200, help="of `load`")
    parser.add_argument(
        "--kinds", nargs="+", choices=list(KINDS), default=list(KINDS), help="of `throughput`"
    )
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="another source tree")
    options = parser.parse_args()
    sources = {"before": options.before} if options.before else {}
    sources |= {"now": None}
    if options.what == "throughput":
        with ExitStack() as stack:
            begun = {
                name: stack.enter_context(running_server(source, "--engine", "fast", "--threads", "2"))
                for name, source in sources.items()
            }
            asyncio.run(throughput(begun, options.seconds, options.kinds))
        return
    for name, source in sources.items():
        print(f"{name}:")
        if options.what == "faults":
            faults(source, max(options.seconds, 15.0))
            continue
        room = [] if source else room_for(options.connections)
        connections = 60 if source else options.connections  # it takes no more
        with running_server(source, "--engine", "fast", "--threads", "2", *room) as (url, process):
            asyncio.run(load(url, process, options.seconds, connections))


if __name__ == "__main__":
    main()
