"""The JSON Schema of a game record, made of the types that read and write it."""

from __future__ import annotations

import inspect
import re
from typing import Any

import msgspec

from recordings.record import GameInfo, GameRecord, Move

_ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n      .*)*)", re.MULTILINE)


def record_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of one line of ``games.jsonl``."""
    schema = msgspec.json.schema(GameRecord)
    parts = schema["$defs"]
    for kind, bases in ((GameRecord, (GameInfo, GameRecord)), (Move, (Move,))):
        part = parts[kind.__name__]
        names = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))
        for base in bases:
            text = inspect.getdoc(base) or ""
            part["description"] = text.split("\n")[0].replace("``", "`")
            for name, meaning in _ATTRIBUTE.findall(text):
                part["properties"][names[name]]["description"] = _described(meaning, names)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "bot2048 game record",
    } | schema


def _described(meaning: str, names: dict[str, str]) -> str:
    """Return a line of a docstring for readers of JSON, whose names are those of the values of ``names``."""
    text = " ".join(meaning.replace("``", "`").split())
    return re.sub(r"`(\w+)`", lambda word: f"`{names.get(word[1], word[1])}`", text)


def schema_text() -> str:
    """Return the schema as text for people and files, ended by a line end."""
    return msgspec.json.format(msgspec.json.encode(record_schema()), indent=2).decode() + "\n"
