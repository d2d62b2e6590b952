from __future__ import annotations

import asyncio
import itertools
import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import numpy as np
import pytest
import trustme
from support.fake_engines import Cheat, FirstLegal, Gated, offer
from websockets.asyncio.server import ServerConnection, serve

from bot.client import ClientPatience, SolverClient
from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import SolverError, SolverRefusedError
from game2048.wire.messages import Choose, DecisionMessage, GameOver, decode_request, encode
from solver_server.engine import Engine, Limit
from solver_server.serving.server import SolverServer
from solver_server.serving.server_options import ServerOptions, TlsFiles

Imitation = Callable[..., Awaitable[str]]

BOARD = Board.from_text("2 2 / 0 4")
FULL = "2 2 64 8 / 8 4 64 32 / 8 16 2 2 / 32 2 4 4"
OVER = Board.from_text("2 4 / 4 2")
SHORT = ClientPatience(first_delay=0.001, longest_delay=0.005, outage=0.2, connect=5.0)
LONG = ClientPatience(first_delay=0.001, longest_delay=0.02, outage=60.0)


def server_of(agent: Engine, **options: object) -> SolverServer:
    settings = {"port": 0, "stop_grace": 30.0} | options
    return SolverServer([offer(agent)], "first", ServerOptions(**settings))  # type: ignore[arg-type]


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@pytest.fixture
async def imitation() -> AsyncIterator[Imitation]:
    """Starts servers that say on each connection what they are told to, and then wait."""
    async with AsyncExitStack() as stack:

        async def begin(*messages: str | bytes) -> str:
            async def converse(connection: ServerConnection) -> None:
                for message in messages:
                    await connection.send(message)
                await connection.wait_closed()

            server = await stack.enter_async_context(serve(converse, "127.0.0.1", 0))
            return f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"

        yield begin


async def test_a_board_is_answered_with_a_move() -> None:
    async with server_of(FirstLegal()) as server, SolverClient(server.url) as client:
        assert client.hello is not None
        assert client.hello.default_engine == "first"
        answer = await client.choose(BOARD, engine="first", depth=3)
        assert isinstance(answer, DecisionMessage)
        assert (answer.direction, answer.depth, answer.engine) == ("right", 3, "first")
        assert answer.values == {"right": 4.0, "down": 0.0, "left": 4.0}
        assert isinstance(await client.choose(OVER), GameOver)


async def test_a_limit_reaches_the_engine() -> None:
    agent = FirstLegal()
    async with server_of(agent) as server, SolverClient(server.url) as client:
        await client.choose(BOARD, time_ms=12.5)
    assert agent.asked[-1] == (BOARD, Limit(None, 12.5))


async def test_a_refusal_is_raised_with_its_code_and_the_client_goes_on() -> None:
    async with server_of(FirstLegal()) as server, SolverClient(server.url) as client:
        with pytest.raises(SolverRefusedError, match="expected one of first") as caught:
            await client.choose(BOARD, engine="stockfish")
        assert caught.value.code == "unknown_engine"
        assert isinstance(await client.choose(BOARD), DecisionMessage)


async def test_concurrent_questions_get_their_own_answers() -> None:
    boards = [Board.from_tiles([[2, 0], [0, 2**power]]) for power in range(1, 17)]
    agent = FirstLegal()
    async with server_of(agent) as server, SolverClient(server.url) as client:
        await asyncio.gather(*(client.choose(board) for board in boards))
    assert [board for board, _ in agent.asked[1:]] == boards


async def test_a_cancelled_question_does_not_confuse_the_next() -> None:
    agent = Gated()
    async with server_of(agent) as server, SolverClient(server.url) as client:
        first = asyncio.create_task(client.choose(OVER))
        await asyncio.to_thread(agent.searching.acquire)
        first.cancel()
        await asyncio.wait({first})
        agent.gate.set()
        assert isinstance(await client.choose(BOARD), DecisionMessage)


async def test_no_server_is_told_at_once_with_what_to_try(free_port: int) -> None:
    with pytest.raises(SolverError, match=rf"ws://127\.0\.0\.1:{free_port}.*bot2048 serve"):
        await SolverClient(f"ws://127.0.0.1:{free_port}").connect()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1", "127.0.0.1:8765", "", "ws://[::1", "ws://127.0.0.1:99999"]
)
async def test_what_is_no_address_is_told(url: str) -> None:
    with pytest.raises(SolverError, match=r"expected e\.g\. ws://"):
        await SolverClient(url).connect()


async def test_a_server_restarted_on_its_port_goes_on_with_the_same_question() -> None:
    agent, successor = Gated(), FirstLegal()
    async with server_of(agent, stop_grace=0.01) as server:
        client = SolverClient(server.url, patience=LONG)
        question = asyncio.create_task(client.choose(BOARD))
        await asyncio.to_thread(agent.searching.acquire)
    async with server_of(successor, port=port_of(server.url)):
        assert isinstance(await question, DecisionMessage)
        assert isinstance(await client.choose(OVER), GameOver)
        await client.close()
    assert [board for board, _ in successor.asked[1:]] == [BOARD, OVER]
    agent.gate.set()


async def test_a_server_that_stays_away_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    async with server_of(FirstLegal()) as server:
        client = SolverClient(server.url, patience=SHORT)
        await client.connect()
    with pytest.raises(SolverError, match=r"cannot reach .* attempts within 0\.2 s") as caught:
        await client.choose(BOARD)
    assert server.url in str(caught.value)
    assert caplog.text.count("reconnecting") == 1


async def test_a_moved_server_is_found_through_its_source() -> None:
    urls = []

    async def source() -> str:
        return urls[-1]

    async with server_of(FirstLegal()) as old:
        urls.append(old.url)
        client = SolverClient(source, patience=LONG)
        await client.choose(BOARD)
    async with server_of(FirstLegal()) as new:
        urls.append(new.url)
        assert isinstance(await client.choose(BOARD), DecisionMessage)
        assert client.url == new.url
        await client.close()


@pytest.fixture
def serve_process(free_port: int) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Starts `serve` as a process, each time on the same port, and returns once it listens."""
    processes: list[subprocess.Popen[str]] = []

    def begin() -> subprocess.Popen[str]:
        options = ["--engine", "fast", "--depth", "1", "--stop-with-stdin"]
        process = subprocess.Popen(
            [sys.executable, "-m", "solver_server", "serve", "--port", str(free_port), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == f"listening on ws://127.0.0.1:{free_port}\n"
        return process

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


def wait_for_a_search(port: int) -> None:
    """Until a search has begun and is not the first, which warms the server up."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while True:
        with opener.open(f"http://127.0.0.1:{port}/status", timeout=60) as response:
            status = json.load(response)
        if status["ready"] and status["searching"]:
            return


async def test_a_game_outlives_a_server_that_is_killed_in_mid_search(
    serve_process: Callable[[], subprocess.Popen[str]], free_port: int
) -> None:
    process = serve_process()
    board = Board.from_text("2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    async with SolverClient(f"ws://127.0.0.1:{free_port}", patience=LONG) as client:
        before = await client.choose(board)
        searching = asyncio.create_task(client.choose(Board.from_text(FULL), time_ms=1000))
        await asyncio.to_thread(wait_for_a_search, free_port)
        process.send_signal(signal.SIGKILL)
        process.wait()
        await asyncio.to_thread(serve_process)
        assert isinstance(await searching, DecisionMessage)  # was asked again
        after = await client.choose(board)
    assert isinstance(before, DecisionMessage)
    assert isinstance(after, DecisionMessage)
    assert (after.direction, after.values) == (before.direction, before.values)


async def test_a_server_that_vanishes_without_a_word_is_left(
    serve_process: Callable[[], subprocess.Popen[str]], free_port: int
) -> None:
    """A half-open link: the connection stands, but nobody answers on it; another server is there by then."""
    process = serve_process()
    urls = [f"ws://127.0.0.1:{free_port}"]

    async def source() -> str:
        return urls[-1]

    patience = ClientPatience(ping=0.2, first_delay=0.001, longest_delay=0.02, outage=60.0)
    client = SolverClient(source, patience=patience)
    assert isinstance(await client.choose(BOARD), DecisionMessage)
    process.send_signal(signal.SIGSTOP)
    async with server_of(FirstLegal()) as other:
        urls.append(other.url)
        assert isinstance(await client.choose(BOARD), DecisionMessage)
        assert client.url == other.url
        await client.close()


async def test_a_server_without_room_is_asked_again() -> None:
    async with server_of(FirstLegal(), max_connections=1) as server:
        async with SolverClient(server.url):
            with pytest.raises(SolverError, match="503"):
                await SolverClient(server.url).connect()
            patient = SolverClient(server.url, patience=LONG)
            question = asyncio.create_task(patient.choose(BOARD))
        assert isinstance(await question, DecisionMessage)
        await patient.close()


async def test_a_token_is_sent_or_asked_for() -> None:
    async with server_of(FirstLegal(), token="s3cret-of-16-chars") as server:
        async with SolverClient(server.url, token="s3cret-of-16-chars") as client:
            assert isinstance(await client.choose(BOARD), DecisionMessage)
        for token in (None, "guess"):
            with pytest.raises(SolverError, match=r"401.*--token"):
                await SolverClient(server.url, token=token).connect()


async def test_a_server_is_asked_over_tls_if_its_certificate_is_trusted(tmp_path: Path) -> None:
    authority, certificate = tmp_path / "authority.pem", tmp_path / "server.pem"
    ours = trustme.CA()
    ours.cert_pem.write_to_path(authority)
    ours.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(certificate)
    async with server_of(FirstLegal(), tls=TlsFiles(certificate)) as server:
        async with SolverClient(server.url, ca=authority) as client:
            assert isinstance(await client.choose(BOARD), DecisionMessage)
        with pytest.raises(SolverError, match=r"certificate .* is not trusted .*try --ca"):
            await SolverClient(server.url).connect()
        name = server.url.replace("127.0.0.1", "localhost")  # the certificate does not name it
        with pytest.raises(SolverError, match="is not trusted"):
            await SolverClient(name, ca=authority).connect()
        with pytest.raises(SolverError, match=r"is not usable .*expected certificates in PEM form"):
            await SolverClient(server.url, ca=Path(__file__)).connect()
        with pytest.raises(SolverError, match="cannot reach"):  # speaks no TLS
            await SolverClient(server.url.replace("wss://", "ws://"), patience=SHORT).connect()


async def test_a_proxy_is_not_asked_for_loopback(monkeypatch: pytest.MonkeyPatch, free_port: int) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "ws_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port}")
    monkeypatch.delenv("no_proxy", raising=False)
    async with server_of(FirstLegal()) as server, SolverClient(server.url) as client:
        assert isinstance(await client.choose(BOARD), DecisionMessage)


@pytest.mark.parametrize(("version", "who"), [(2, "client"), (0, "server")])
async def test_another_protocol_version_is_told(imitation: Imitation, version: int, who: str) -> None:
    url = await imitation(f'{{"type":"hello","protocol":{version},"new":true}}')
    with pytest.raises(SolverError, match=f"speaks protocol {version}, this client 1: update the {who}"):
        await SolverClient(url).connect()


@pytest.mark.parametrize(
    "message", ["good morning", b"\x00", '{"type":"game_over","id":1}', '{"type":"tick"}']
)
async def test_what_is_no_solver_server_is_told(imitation: Imitation, message: str | bytes) -> None:
    with pytest.raises(SolverError, match="is not a solver server"):
        await SolverClient(await imitation(message)).connect()


async def test_a_server_that_does_not_greet_is_told(imitation: Imitation) -> None:
    with pytest.raises(SolverError, match=r"no greeting within 0\.05 s"):
        await SolverClient(await imitation(), patience=ClientPatience(connect=0.05)).connect()


async def test_a_server_that_never_answers_is_told() -> None:
    agent = Gated()
    async with server_of(agent) as server:
        async with SolverClient(server.url, patience=ClientPatience(answer=0.05)) as client:
            with pytest.raises(SolverError, match=r"did not answer within 0\.05 s"):
                await client.choose(BOARD)
        agent.gate.set()


async def test_a_move_that_changes_nothing_is_not_passed_on() -> None:
    async with server_of(Cheat()) as server, SolverClient(server.url) as client:
        with pytest.raises(SolverError, match="chose 'up', which changes nothing"):
            await client.choose(BOARD)


def test_the_delays_grow_to_their_bound() -> None:
    patience = ClientPatience(first_delay=0.1, longest_delay=1.0)
    delays = list(itertools.islice(SolverClient("ws://127.0.0.1:1", patience=patience)._delays(), 40))
    assert 0 <= delays[0] <= 0.1
    assert delays[1:] == pytest.approx([0.1, 0.2, 0.4, 0.8, *[1.0] * 35])


async def test_a_server_that_knows_no_batches_is_asked_board_by_board() -> None:
    hello = '{"type":"hello","protocol":1,"server":"old","engines":[],"default_engine":"fast","min_side":2,'
    hello += '"max_side":8,"max_time_ms":60000,"max_message_bytes":65536}'
    asked: list[Choose] = []

    async def converse(connection: ServerConnection) -> None:
        await connection.send(hello)
        async for data in connection:
            request = decode_request(data)
            assert isinstance(request, Choose)
            asked.append(request)
            if request.board == OVER.tiles():
                await connection.send(encode(GameOver(request.id)))
            else:
                values = {"right": 4.0}
                answer = DecisionMessage(request.id, "right", values, 1, 1, 0.1, "fast")  # type: ignore[arg-type]
                await connection.send(encode(answer))

    async with serve(converse, "127.0.0.1", 0) as server:
        url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
        async with SolverClient(url) as client:
            directions = await client.choose_many([BOARD, OVER, BOARD] * 5, depth=2)
            with pytest.raises(SolverError, match="does not take packed boards"):
                await client.choose_packed(np.zeros(1, dtype=np.uint64))
    assert directions == [Direction.RIGHT, None, Direction.RIGHT] * 5
    assert [request.board for request in asked] == [BOARD.tiles(), OVER.tiles(), BOARD.tiles()] * 5
    assert {request.depth for request in asked} == {2}
