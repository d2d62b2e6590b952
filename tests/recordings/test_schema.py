"""The JSON Schema of records: what the types say, what the page says, and what is written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest
from click.testing import CliRunner
from support.dataset_games import hard_games
from support.recorded import worked_game

from recordings.cli.records import records
from recordings.datasets.formats.json_text import line_of
from recordings.record import encode_record
from recordings.schema import record_schema

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "records.md").read_text(encoding="utf-8")


def properties(kind: str) -> dict[str, Any]:
    found: dict[str, Any] = record_schema()["$defs"][kind]["properties"]
    return found


def fields_of_table(heading: str) -> list[str]:
    table = PAGE.split(heading, 1)[1].split("\n\n", 1)[0]
    return re.findall(r"^\| `(\w+)`", table, re.MULTILINE)


def test_the_command_prints_the_schema_that_is_in_the_docs() -> None:
    printed = CliRunner().invoke(records, ["schema"]).output
    assert printed == (DOCS / "record.schema.json").read_text(encoding="utf-8")
    assert json.loads(printed) == record_schema()


def test_the_page_lists_the_fields_of_the_schema() -> None:
    assert set(fields_of_table("| field | type | meaning |")) == set(properties("GameRecord"))
    named = {"board", "direction", "score"}  # by the row of `moves`
    assert set(fields_of_table("| field of a move | type | meaning |")) | named == set(properties("Move"))


def test_every_field_is_described() -> None:
    for kind in ("GameRecord", "Move"):
        for name, about in properties(kind).items():
            assert about.get("description"), name


def test_written_records_obey_the_schema_and_damaged_ones_do_not() -> None:
    schema = record_schema()
    schema["$schema"] = "http://json-schema.org/draft-07/schema"  # the one it knows
    check = fastjsonschema.compile(schema)
    for line in (encode_record(worked_game()), *map(line_of, hard_games())):
        check(json.loads(line))
    good = json.loads(encode_record(worked_game()))
    for change in (
        {"finalScore": -1},
        {"won": 1},
        {"outcome": "lost"},
        {"finalBoard": [[2]]},
        {"symmetry": 8},
        {"moves": [{"board": [[2, 2], [0, 0]], "direction": "LEFT", "score": 0}]},
    ):
        with pytest.raises(fastjsonschema.JsonSchemaException):
            check(good | change)
