"""Clients of other libraries and languages, as they come."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
import websocket
from support.fake_engines import FirstLegal, offer

from solver_server.serving.server import SolverServer
from solver_server.serving.server_options import ServerOptions

TOKEN = "a-token-of-23-characters"
REQUEST = '{"type":"choose","id":"a","board":[[2,2],[0,4]]}'
NODE = """
const server = new WebSocket(process.argv[1], JSON.parse(process.argv[2]));
server.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.type === "hello") server.send(process.argv[3]);
  else { console.log(message.id, message.direction); server.close(); }
};
server.onclose = ({ code }) => console.log("closed", code);
server.onerror = () => console.log("error");
"""


@pytest.fixture
async def server() -> AsyncIterator[SolverServer]:
    async with SolverServer([offer(FirstLegal())], "first", ServerOptions(port=0)) as running:
        yield running


def node(url: str, *subprotocols: str) -> list[str]:
    """What a program for Node prints that asks for one move."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("Node is missing; it has a WebSocket of its own")
    command = [program, "-e", NODE, url, json.dumps(subprotocols), REQUEST]
    if "function" not in _output([program, "-p", "typeof WebSocket"]):
        command.insert(1, "--experimental-websocket")
    return _output(command).splitlines()


def _output(command: list[str], text: str = "") -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    if "bad option: --experimental-websocket" in done.stderr:
        pytest.skip("this Node has no WebSocket")
    assert done.returncode == 0, done.stderr
    return done.stdout


async def test_node_is_answered(server: SolverServer) -> None:
    assert await asyncio.to_thread(node, server.url) == ["a right", "closed 1005"]


async def test_node_may_send_its_token_as_a_page_does() -> None:
    options = ServerOptions(port=0, token=TOKEN)
    async with SolverServer([offer(FirstLegal())], "first", options) as server:
        right = await asyncio.to_thread(node, server.url, "bot2048", f"bot2048.token.{TOKEN}")
        assert right == ["a right", "closed 1005"]
        wrong = await asyncio.to_thread(node, server.url, "bot2048", f"bot2048.token.{TOKEN}r")
        assert wrong[0] == "error"


async def test_the_command_of_websockets_is_answered(server: SolverServer) -> None:
    def talk() -> list[dict[str, Any]]:
        with subprocess.Popen(
            [sys.executable, "-m", "websockets", server.url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            found: list[dict[str, Any]] = []
            while len(found) < 2:
                line = process.stdout.readline()
                assert line, "it ended before it had an answer"
                if "{" in line:
                    found.append(json.loads(line[line.index("{") : line.rindex("}") + 1]))
                    if len(found) == 1:
                        process.stdin.write(REQUEST + "\n")
                        process.stdin.flush()
            process.stdin.close()
            return found

    hello, answer = await asyncio.to_thread(talk)
    assert hello["type"] == "hello"
    assert (answer["id"], answer["direction"]) == ("a", "right")


def ask_by_websocket_client(url: str, **arguments: Any) -> str:
    client = websocket.create_connection(url, timeout=60, http_no_proxy=["127.0.0.1"], **arguments)
    try:
        client.recv()
        client.send(REQUEST)
        return str(json.loads(client.recv())["direction"])
    finally:
        client.close()


async def test_websocket_client_is_answered_although_it_sends_an_origin(server: SolverServer) -> None:
    assert await asyncio.to_thread(ask_by_websocket_client, server.url) == "right"
    localhost = server.url.replace("127.0.0.1", "localhost")
    assert await asyncio.to_thread(ask_by_websocket_client, localhost) == "right"


async def test_websocket_client_is_told_what_to_set(server: SolverServer) -> None:
    for arguments in (
        {"origin": "http://127.0.0.1:1"},
        {"origin": "http://evil.example"},
        {"header": ["User-Agent: a browser"]},
    ):
        with pytest.raises(websocket.WebSocketBadStatusException) as caught:
            await asyncio.to_thread(ask_by_websocket_client, server.url, **arguments)
        assert caught.value.status_code == 403
        assert b"suppress_origin=True" in (caught.value.resp_body or b"")
    assert (
        await asyncio.to_thread(
            ask_by_websocket_client, server.url, suppress_origin=True, header=["User-Agent: a browser"]
        )
        == "right"
    )
