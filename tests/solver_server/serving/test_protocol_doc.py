"""docs/protocol.md, the JSON Schema and the types say the same."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator, ValidationError
from support.fake_engines import Failing, FirstLegal, offer
from websockets.asyncio.client import connect

from game2048.wire.messages import (
    PROTOCOL_VERSION,
    Choose,
    ErrorCode,
    Hello,
    decode_answer,
    decode_request,
    requested_board,
)
from game2048.wire.schema import protocol_schema
from solver_server.cli.serve import serve
from solver_server.serving.server import SolverServer
from solver_server.serving.server_options import ServerOptions

DOCS = Path(__file__).parents[3] / "docs"
DOCUMENT = (DOCS / "protocol.md").read_text(encoding="utf-8")
OF_CLIENTS = {"choose", "choose_many", "cancel"}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.DOTALL | re.MULTILINE)


def validator(name: str) -> Draft202012Validator:
    schema = protocol_schema()
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})


def fields_of_table(heading: str) -> set[str]:
    table = DOCUMENT.split(heading, 1)[1].split("\n\n", 1)[0]
    cells = re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def test_the_document_is_of_this_version() -> None:
    assert DOCUMENT.startswith(f"# The wire protocol, version {PROTOCOL_VERSION}\n")


def test_every_error_code_is_documented() -> None:
    assert fields_of_table("| code | the request |") == set(get_args(ErrorCode))


def test_the_tables_list_the_fields_of_the_schema() -> None:
    parts = protocol_schema()["$defs"]
    assert fields_of_table("| field | meaning |") == set(parts["Hello"]["properties"]) - {"type"}
    assert fields_of_table("| field of an engine | meaning |") == set(parts["EngineInfo"]["properties"])
    choose = DOCUMENT[DOCUMENT.index("## One move") :].split("| field | meaning |", 1)[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", choose, re.MULTILINE)) == set(parts["Choose"]["properties"]) - {
        "type"
    }


def test_every_field_is_described() -> None:
    for name, part in protocol_schema()["$defs"].items():
        assert part["description"], name
        for field, about in part.get("properties", {}).items():
            assert field == "type" or about.get("description"), (name, field)


def test_the_command_prints_the_schema_that_is_in_the_docs() -> None:
    printed = CliRunner().invoke(serve, ["--schema"]).output
    assert printed == (DOCS / "protocol.schema.json").read_text(encoding="utf-8")
    assert json.loads(printed) == protocol_schema()
    Draft202012Validator.check_schema(protocol_schema())


@pytest.mark.parametrize("example", blocks("json"))
def test_every_example_is_a_message_that_obeys_the_schema(example: str) -> None:
    message = json.loads(example)
    if message["type"] in OF_CLIENTS:
        validator("ClientMessage").validate(message)
        request = decode_request(example)
        if isinstance(request, Choose):
            requested_board(request)
    else:
        validator("ServerMessage").validate(message)
        decode_answer(example)
    assert not validator("ClientMessage").is_valid(message | {"type": "unknown"})
    assert not validator("ServerMessage").is_valid(message | {"type": "unknown"})


def test_every_type_of_message_has_an_example() -> None:
    shown = {json.loads(example)["type"] for example in blocks("json")}
    kinds = [part for part in protocol_schema()["$defs"].values() if "type" in part.get("properties", {})]
    assert shown == {kind for part in kinds for kind in part["properties"]["type"]["enum"]}


def test_a_greeting_of_the_example_names_all_fields() -> None:
    (example,) = (example for example in blocks("json") if '"hello"' in example)
    assert set(json.loads(example)) == {"type", *Hello.__struct_fields__}


async def test_what_the_server_says_obeys_the_schema() -> None:
    board = [[2, 2], [0, 4]]
    engines = [offer(FirstLegal()), offer(Failing(), "broken")]
    async with SolverServer(engines, "first", ServerOptions(port=0)) as server:  # noqa: SIM117
        async with connect(server.url, proxy=None) as client:
            said: list[dict[str, Any]] = [json.loads(await client.recv())]
            for request in (
                {"type": "choose", "id": 1, "board": board},
                {"type": "choose", "id": "two", "board": [[2, 4], [4, 2]]},
                {"type": "choose_many", "id": 3, "boards": [board, [[2, 4], [4, 2]]]},
                {"type": "choose", "id": 4, "board": board, "engine": "broken"},
                {"type": "choose"},
            ):
                await client.send(json.dumps(request))
                said.append(json.loads(await client.recv()))
            packed = b'{"type":"choose_many","id":5}\n' + bytes(8)
            await client.send(packed)
            line = json.loads((await client.recv(decode=False)).partition(b"\n")[0])
    kinds = ["hello", "decision", "game_over", "directions", "error", "error"]
    assert [message["type"] for message in said] == kinds
    for message in said:
        validator("ServerMessage").validate(message)
    validator("PackedAnswer").validate(line)
    validator("PackedRequest").validate({"type": "choose_many", "id": 5})
    with pytest.raises(ValidationError):
        validator("ServerMessage").validate({"type": "error", "id": 1.5, "code": "", "message": ""})


@pytest.mark.parametrize("example", blocks("python"))
async def test_the_examples_for_python_work(example: str) -> None:
    async with SolverServer([offer(FirstLegal())], "first", ServerOptions(port=0)) as server:
        script = example.replace("ws://127.0.0.1:8765", server.url)
        assert script != example
        result = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
    assert result.stdout == ("directions 1000 2\n" if "struct" in script else "down\n")
