"""The JSON Schema of the wire protocol, made of the types that encode and decode its messages."""

from __future__ import annotations

from typing import Any

import msgspec

from game2048.field_docs import field_docs, summary_of_type
from game2048.wire.frames import PackedAnswer, PackedRequest
from game2048.wire.messages import (
    Cancel,
    Choose,
    ChooseMany,
    DecisionMessage,
    Directions,
    EngineInfo,
    ErrorMessage,
    GameOver,
    Hello,
)

_OF_CLIENT = (Choose, ChooseMany, Cancel)
_OF_SERVER = (Hello, DecisionMessage, Directions, GameOver, ErrorMessage)
_LINES = (PackedRequest, PackedAnswer)


def protocol_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of all messages in text frames.

    ``$defs`` also has ``ClientMessage`` and ``ServerMessage``, what each side may send, and ``PackedRequest``
    and ``PackedAnswer``, the lines at the head of binary frames.
    """
    kinds = (*_OF_CLIENT, *_OF_SERVER, *_LINES)
    _, parts = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    for kind in (*kinds, EngineInfo):
        part = parts[kind.__name__]
        part["description"] = summary_of_type(kind)
        for name, meaning in field_docs(kind).items():
            part["properties"][name]["description"] = meaning
    sides = {
        "ClientMessage": {"description": "What a client may send as text.", "anyOf": _references(_OF_CLIENT)},
        "ServerMessage": {"description": "What a server may send as text.", "anyOf": _references(_OF_SERVER)},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "bot2048 wire protocol",
        "description": "The messages between a client and a solver server (docs/protocol.md).",
        "anyOf": [{"$ref": f"#/$defs/{side}"} for side in sides],
        "$defs": sides | parts,
    }


def protocol_schema_text() -> str:
    """Return the schema as text for people and files, ended by a line end."""
    return msgspec.json.format(msgspec.json.encode(protocol_schema()), indent=2).decode() + "\n"


def _references(kinds: tuple[type, ...]) -> list[dict[str, str]]:
    return [{"$ref": f"#/$defs/{kind.__name__}"} for kind in kinds]
