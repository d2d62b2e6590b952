from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from support.fake_engines import FirstLegal, offer

from game2048.wire import PROTOCOL_VERSION, Choose, ErrorCode, decode_answer, decode_request, requested_board
from solver_server.serving.server import SolverServer
from solver_server.serving.server_options import ServerOptions

DOCUMENT = (Path(__file__).parents[3] / "docs" / "protocol.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.DOTALL | re.MULTILINE)


def test_the_document_is_of_this_version() -> None:
    assert DOCUMENT.startswith(f"# The wire protocol, version {PROTOCOL_VERSION}\n")


def test_every_error_code_is_documented() -> None:
    table = DOCUMENT[DOCUMENT.index("| code |") : DOCUMENT.index("Requests of one connection")]
    documented = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert sorted(documented) == sorted(get_args(ErrorCode))


@pytest.mark.parametrize("example", blocks("json"))
def test_every_example_is_a_message(example: str) -> None:
    if '"choose"' in example:
        request = decode_request(example)
        assert isinstance(request, Choose)
        requested_board(request)
    else:
        decode_answer(example)


async def test_the_client_example_works() -> None:
    (example,) = blocks("python")
    async with SolverServer([offer(FirstLegal())], "first", ServerOptions(port=0)) as server:
        script = example.replace("ws://127.0.0.1:8765", server.url)
        assert script != example
        result = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
    assert result.stdout == "down\n"
