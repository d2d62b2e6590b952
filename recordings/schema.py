"""The JSON Schema of a game record, made of the types that read and write it."""

from __future__ import annotations

from typing import Any

import msgspec

from game2048.field_docs import field_docs, summary_of_type
from recordings.record import GameInfo, GameRecord, Move


def record_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of one line of ``games.jsonl``."""
    schema = msgspec.json.schema(GameRecord)
    parts = schema["$defs"]
    for kind, bases in ((GameRecord, (GameInfo, GameRecord)), (Move, (Move,))):
        part = parts[kind.__name__]
        names = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))
        part["description"] = summary_of_type(kind)
        for base in bases:
            for name, meaning in field_docs(base, names).items():
                part["properties"][names[name]]["description"] = meaning
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "bot2048 game record",
    } | schema


def schema_text() -> str:
    """Return the schema as text for people and files, ended by a line end."""
    return msgspec.json.format(msgspec.json.encode(record_schema()), indent=2).decode() + "\n"
