from __future__ import annotations

import asyncio
import contextlib
import json
import re
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from support.fake_engines import Endless, Failing, FirstLegal, Gated, offer
from websockets.asyncio.client import connect

from solver_server.serving.http_requests import board_of_digits
from solver_server.serving.server import SolverServer
from solver_server.serving.server_options import ServerOptions

TOKEN = "a-token-of-23-characters"
PAGE = "http://localhost:8000"
HANDSHAKE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)


@pytest.fixture
async def server() -> AsyncIterator[SolverServer]:
    options = ServerOptions(port=0, allowed_origins=(PAGE,))
    async with SolverServer([offer(FirstLegal()), offer(Failing(), "broken")], "first", options) as running:
        yield running


Fetched = tuple[int, str, dict[str, str]]


async def fetch(
    server: SolverServer, path: str, method: str = "GET", headers: dict[str, str] | None = None
) -> Fetched:
    url = server.url.replace("ws://", "http://") + path
    request = urllib.request.Request(url, method=method, headers=headers or {})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def go() -> Fetched:
        try:
            with opener.open(request, timeout=60) as response:
                return response.status, response.read().decode(), dict(response.headers)
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(), dict(error.headers)

    return await asyncio.to_thread(go)


def metrics_of(text: str) -> dict[tuple[str, ...], float]:
    return {
        (
            sample.name,
            *(sample.labels[name] for name in ("engine", "code") if name in sample.labels),
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if "bucket" not in sample.name and not sample.name.endswith("_created")
    }


async def test_health_is_told_in_a_word(server: SolverServer) -> None:
    while (told := await fetch(server, "/healthz"))[1] == "loading\n":
        assert told[0] == 200
    assert told[:2] == (200, "ok\n")
    assert (await fetch(server, "/healthz", "HEAD"))[:2] == (200, "")


async def test_metrics_count_what_was_asked(server: SolverServer) -> None:
    async with connect(server.url, proxy=None) as client:
        await client.recv()
        board = [[2, 2], [0, 4]]  # right, down and left are legal: FirstLegal says 3 nodes
        for message in (
            {"type": "choose", "id": 1, "board": board},
            {"type": "choose", "id": 2, "board": [[2, 4], [4, 2]]},
            {"type": "choose", "id": 3, "board": board, "engine": "broken"},
            {"type": "choose_many", "id": 4, "boards": [board] * 7},
            {"type": "nonsense"},
        ):
            await client.send(json.dumps(message))
            await client.recv()
        counted = metrics_of((await fetch(server, "/metrics"))[1])
    assert counted["bot2048_requests_total", "first", "ok"] == 3
    assert counted["bot2048_requests_total", "broken", "engine_failed"] == 1
    assert counted["bot2048_boards_total", "first"] == 9
    assert counted["bot2048_nodes_total", "first"] == 3
    assert counted["bot2048_refused_messages_total", "unknown_type"] == 1
    assert counted["bot2048_request_seconds_count", "first"] == 3
    assert counted["bot2048_connections",] == 1
    assert counted["bot2048_queue",] == 0


async def test_the_page_for_operators_lists_all_metrics(server: SolverServer) -> None:
    await fetch(server, "/move?board=1120000000000000")
    page = (Path(__file__).parents[3] / "docs" / "server.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(bot2048_\w+)`", page, re.MULTILINE))
    families = text_string_to_metric_families((await fetch(server, "/metrics"))[1])
    told = {f"{family.name}_total" if family.type == "counter" else family.name for family in families}
    assert listed == {name for name in told if not name.endswith("_created")}


async def test_the_status_has_the_last_decisions(server: SolverServer) -> None:
    assert (await fetch(server, "/move?board=1120000000000000"))[1] == "r"
    code, text, headers = await fetch(server, "/status")
    status = json.loads(text)
    assert (code, headers["Content-Type"]) == (200, "application/json")
    assert (status["requests"], status["boards"], status["errors"]) == (1, 1, 0)
    assert status["max_connections"] == 64
    assert status["last"] == [
        {
            "engine": "first",
            "boards": 1,
            "board": [[2, 2, 4, 0], [0] * 4, [0] * 4, [0] * 4],
            "direction": "right",
            "depth": 1,
            "nodes": 3,
            "elapsed_ms": 0.5,
        }
    ]


@pytest.mark.parametrize(
    ("query", "code", "said"),
    [
        ("board=1120000000000000", 200, "r"),
        ("board=0000000000000001", 200, "u"),
        ("board=1000000000000000", 200, "r"),
        ("board=1212212112122121", 200, "x"),
        ("board=112000000000000B&depth=2", 200, "u"),
        ("board=1120000000000000&engine=broken", 200, "r"),
        ("", 400, "expected 16 hexadecimal digits"),
        ("board=12", 400, "expected 16 hexadecimal digits"),
        ("board=112000000000000g", 400, "expected 16 hexadecimal digits"),
        ("board=1120000000000000&depth=99", 400, "depth 99 is out of range"),
        ("board=1120000000000000&depth=two", 400, "the query is not usable"),
        ("board=1120000000000000&time_ms=nan", 400, "time_ms is not a finite number"),
        ("board=1120000000000000&engine=stockfish", 400, "engine 'stockfish' is unknown"),
        ("&".join(f"a{n}=1" for n in range(99)), 400, "the query is not usable"),
    ],
)
async def test_a_move_is_a_letter(server: SolverServer, query: str, code: int, said: str) -> None:
    found = await fetch(server, f"/move?{query}")
    assert found[0] == code
    assert found[1] == said if code == 200 else said in found[1]
    assert len(found[1].splitlines()) == 1


def test_the_digits_of_a_board_are_its_exponents_row_by_row() -> None:
    assert board_of_digits("01234567890abcdE").tiles() == [
        [0, 2, 4, 8],
        [16, 32, 64, 128],
        [256, 512, 0, 1024],
        [2048, 4096, 8192, 16384],
    ]


async def test_only_allowed_pages_may_read_a_move(server: SolverServer) -> None:
    path = "/move?board=1120000000000000"
    allowed = await fetch(server, path, headers={"Origin": PAGE})
    assert allowed[0] == 200
    assert allowed[2]["Access-Control-Allow-Origin"] == PAGE
    assert "Access-Control-Allow-Origin" not in (await fetch(server, path))[2]
    for headers in (
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "evil.example"},
    ):
        assert (await fetch(server, path, headers=headers))[0] == 403


async def test_an_allowed_page_may_send_its_token() -> None:
    """A browser asks with OPTIONS, without the token, before it sends the token to another origin."""
    options = ServerOptions(port=0, token=TOKEN, allowed_origins=(PAGE,))
    asking = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization"}
    async with SolverServer([offer(FirstLegal())], "first", options) as server:
        code, text, headers = await fetch(server, "/healthz", "OPTIONS", {"Origin": PAGE} | asking)
        assert (code, text) == (204, "")
        assert headers["Access-Control-Allow-Origin"] == PAGE
        assert headers["Access-Control-Allow-Headers"] == "Authorization"
        stranger = {"Origin": "http://evil.example"} | asking
        assert (await fetch(server, "/healthz", "OPTIONS", stranger))[0] == 403
        assert (await fetch(server, "/healthz", headers={"Origin": PAGE}))[0] == 401
        assert (await fetch(server, "/healthz", "OPTIONS", asking))[0] == 405


async def test_a_one_shot_search_ends_when_its_client_goes() -> None:
    """One thread: the second client is answered only once the search of the first has ended."""
    endless = Endless()
    async with SolverServer([offer(endless)], "first", ServerOptions(port=0, threads=1)) as server:
        host, port = server.url.removeprefix("ws://").split(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET /move?board=1120000000000000 HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        assert await asyncio.to_thread(endless.searching.acquire, timeout=60)
        writer.transport.abort()
        assert (await fetch(server, "/move?board=1120000000000000&depth=1"))[:2] == (200, "r")


@pytest.mark.parametrize("more", [None, b"GET / HTTP/1.1\r\n\r\n"])
async def test_what_follows_a_request_too_early_leaves_nothing_in_the_log(
    server: SolverServer, more: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    """Another request, as in pipelining, or the end of what the client sends."""
    host, port = server.url.removeprefix("ws://").split(":")
    for path, headers in (
        ("/move?board=1120000000000000", ""),
        ("/nowhere", ""),
        ("/", HANDSHAKE),
        ("/", HANDSHAKE + "Origin: http://evil.example\r\n"),
    ):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n".encode())
        if more is None:
            writer.write_eof()
        else:
            writer.write(more)
        async with asyncio.timeout(60):
            with contextlib.suppress(ConnectionResetError):
                await reader.read()
        writer.close()
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_one_shot_searches_are_bounded() -> None:
    engine = Gated()
    options = ServerOptions(port=0, max_connections=1)
    async with SolverServer([offer(engine)], "first", options) as server:
        first = asyncio.create_task(fetch(server, "/move?board=1120000000000000"))
        assert await asyncio.to_thread(engine.searching.acquire, timeout=60)
        code, text, _ = await fetch(server, "/move?board=1120000000000000")
        assert (code, text) == (503, "the server is busy with 1 moves; try again later\n")
        engine.gate.set()
        assert (await first)[:2] == (200, "r")


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/status", "/move?board=1120000000000000", "/"])
async def test_everything_needs_the_token_where_there_is_one(path: str) -> None:
    options = ServerOptions(port=0, token=TOKEN)
    async with SolverServer([offer(FirstLegal())], "first", options) as server:
        assert (await fetch(server, path))[0] == 401
        allowed = await fetch(server, path, headers={"Authorization": f"Bearer {TOKEN}"})
        assert allowed[0] == (404 if path == "/" else 200)


@pytest.mark.parametrize("method", ["POST", "OPTIONS", "DELETE"])
async def test_other_methods_are_refused(server: SolverServer, method: str) -> None:
    assert (await fetch(server, "/healthz", method))[0] == 405


async def test_no_answer_can_run_as_a_page(server: SolverServer) -> None:
    for path in ("/healthz", "/metrics", "/status", "/nowhere", "/move?board=<script>"):
        headers = (await fetch(server, path))[2]
        assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert headers["X-Content-Type-Options"] == "nosniff"


async def test_a_server_that_loads_says_so(server: SolverServer) -> None:
    gate = asyncio.Event()
    loop = asyncio.get_running_loop()

    def load() -> FirstLegal:
        asyncio.run_coroutine_threadsafe(gate.wait(), loop).result(60)
        return FirstLegal()

    slow: Callable[[], FirstLegal] = load
    loading = offer(FirstLegal())
    loading = type(loading)(loading.info, slow)
    async with SolverServer([loading], "first", ServerOptions(port=0)) as other:
        assert (await fetch(other, "/healthz"))[:2] == (200, "loading\n")
        assert json.loads((await fetch(other, "/status"))[1])["ready"] is False
        gate.set()
