"""The examples of docs/api.md and of the README run as they stand.

Only addresses and the tile at which games stop are replaced, so that they are played here and quickly.
"""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.recorded import worked_game
from support.server_process import server_process

import bot2048
from recordings.datasets.dataset_file import write_games
from recordings.game_arrays import arrays_of
from scraper.demo.server import serve_demo
from solver_server.tables.build import builder
from solver_server.tables.formations import BLOCK, TableSpec

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("docs/api.md", "README.md")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Go to a folder with what the examples read; yield what is to be replaced in them."""
    folder = tmp_path_factory.mktemp("examples")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(folder)
        monkeypatch.setenv("BOT2048_TABLES", str(folder / "tables"))
        yield from _prepared(folder)


def _prepared(folder: Path) -> Iterator[dict[str, str]]:
    write_games("data/games.parquet", [arrays_of(worked_game())])
    builder.build_table(TableSpec(BLOCK, 4, slack=8, large=2, spare=3), folder / "tables")
    with serve_demo() as page, server_process("--engine", "order") as server:
        yield {
            "https://example.org/2048": page,
            "ws://127.0.0.1:8765": server.url,
            "2048 stopped": "16 stopped",
        }


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_examples_run(document: str, here: dict[str, str]) -> None:
    text = (ROOT / document).read_text("utf-8")
    examples = "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    examples = re.sub(r"until_tile=2048\b", "until_tile=16", examples)
    for written, used in here.items():
        examples = examples.replace(written, used)
    test = doctest.DocTestParser().get_doctest(examples, {"bot2048": bot2048}, document, document, 0)
    assert len(test.examples) >= 4
    said: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=said.append, clear_globs=False)
    assert result.failed == 0, "".join(said)


def test_every_name_is_in_the_page() -> None:
    text = (ROOT / "docs" / "api.md").read_text("utf-8")
    types_of_answers = {"AsyncOpenEngine", "OpenEngine", "EngineOptions", "EndgameTables", "TableChance"}
    for name in set(bot2048.__all__) - types_of_answers:
        assert re.search(rf"\b{name}\b", text), name
