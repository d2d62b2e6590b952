"""Tables play where they are to be followed, and an engine everywhere else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from game2048 import DIRECTIONS, Board, Direction
from solver_server.engine import Decision, Limit
from solver_server.engines import spec_of, with_tables
from solver_server.tables import engine, storage
from solver_server.tables.build import builder
from solver_server.tables.build.builder import EndgameTable, solve_table
from solver_server.tables.engine import ExactKnowledge, ExtractKnowledge, Library, TableEngine, load_tables
from solver_server.tables.extract import extract_file
from solver_server.tables.formations import BLOCK, HOOK, TableSpec

SPECS = (TableSpec(HOOK, 4, slack=8, large=2, spare=3), TableSpec(BLOCK, 4, slack=8, large=2, spare=3))


@dataclass
class Prefers:
    """An engine that values the legal directions in the order given, the first most."""

    order: tuple[Direction, ...]

    def choose(self, board: Board, limit: Limit) -> Decision | None:
        legal = [move for move in self.order if board.slide(move).afterstate != board]
        values = {move: float(-i) for i, move in enumerate(legal)}
        return Decision(legal[0], values, 1, 1, 0.5) if legal else None


UP, RIGHT, DOWN, LEFT = DIRECTIONS
DOWN_FIRST = Prefers((DOWN, RIGHT, LEFT, UP))


@pytest.fixture(scope="module")
def tables() -> list[EndgameTable]:
    return [solve_table(spec) for spec in SPECS]


def choice(board: Board, tables: list[EndgameTable], engine: Prefers = DOWN_FIRST) -> Direction | None:
    decision = TableEngine(engine, ExactKnowledge(tables)).choose(board, Limit())
    return None if decision is None else decision.direction


# A block with 32 as the smallest tile, whose chain of 16, 8, 4, 4 is ready as soon as the last 4 is beside.
READY = Board.from_text("4096 2048 1024 0 / 512 256 32 0 / 16 8 0 4 / 4 2 0 4")


def test_a_table_plays_instead_of_the_engine(tables: list[EndgameTable]) -> None:
    # Left brings two 4s one above the other, the upper one beside the 8: the block's first goal.
    decision = TableEngine(DOWN_FIRST, ExactKnowledge(tables)).choose(READY, Limit())
    assert decision is not None
    assert decision.direction is LEFT
    assert decision.values[LEFT] == 1.0
    assert all(0 <= value <= 1 for value in decision.values.values())


def test_what_moves_a_locked_tile_is_worth_nothing(tables: list[EndgameTable]) -> None:
    decision = TableEngine(DOWN_FIRST, ExactKnowledge(tables)).choose(READY, Limit())
    assert decision is not None
    assert decision.values[RIGHT] == 0.0
    assert set(decision.values) == {move for move in DIRECTIONS if READY.slide(move).moved}


def test_past_32768_the_same_tables_serve(tables: list[EndgameTable]) -> None:
    assert choice(Board.from_text("65536 2048 1024 0 / 512 256 32 0 / 16 8 0 4 / 4 2 0 4"), tables) is LEFT


@pytest.mark.parametrize(
    "text",
    [
        "2 4 8 16 / 0 0 0 0 / 0 0 0 2 / 0 0 0 0",  # no formation
        "4096 2048 1024 0 / 512 256 32 0 / 16 8 4 4 / 4 2 0 4",  # a goal that is reached
        "4096 2048 1024 0 / 512 512 32 0 / 16 8 0 4 / 4 2 0 4",  # locked tiles that would merge
        "2 0 0 / 0 4 0 / 0 0 2",  # another size
    ],
)
def test_where_no_table_fits_the_engine_plays(text: str, tables: list[EndgameTable]) -> None:
    board = Board.from_text(text)
    alone = DOWN_FIRST.choose(board, Limit())
    assert TableEngine(DOWN_FIRST, ExactKnowledge(tables)).choose(board, Limit()) == alone


def test_a_hook_that_promises_little_is_not_followed(tables: list[EndgameTable]) -> None:
    hook = [table for table in tables if table.spec.formation == HOOK]
    board = Board.from_text("4096 2048 1024 2 / 512 256 8 4 / 2 4 2 8 / 4 2 4 0")
    assert TableEngine(DOWN_FIRST, ExactKnowledge(hook)).choose(board, Limit()) == DOWN_FIRST.choose(
        board, Limit()
    )


def test_a_dead_board_has_no_move(tables: list[EndgameTable]) -> None:
    assert choice(Board.from_text("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2"), tables) is None


def test_what_cannot_be_read_is_logged_and_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert load_tables(tmp_path) == []
    builder.build_table(SPECS[1], tmp_path)
    (tmp_path / f"torn{storage.SUFFIX}").write_bytes(b"nothing of the kind")
    (table,) = load_tables(tmp_path)
    assert table.spec == SPECS[1]
    assert "is not an endgame table" in caplog.text


def test_an_extract_plays_where_it_knows_a_move_and_the_engine_elsewhere() -> None:
    knowledge = ExtractKnowledge(
        extract_file.make_extract(SPECS, np.zeros(0, np.uint32), np.zeros(0, np.uint8))
    )
    decision = TableEngine(DOWN_FIRST, knowledge).choose(READY, Limit())
    assert decision is not None
    assert decision.direction is LEFT  # a goal at hand, which an empty extract sees too
    assert decision.values == {LEFT: 1.0} | dict.fromkeys(set(decision.values) - {LEFT}, 0.0)
    other = Board.from_text("2 4 8 16 / 0 0 0 0 / 0 0 0 2 / 0 0 0 0")
    assert TableEngine(DOWN_FIRST, knowledge).choose(other, Limit()) == DOWN_FIRST.choose(other, Limit())


def test_without_tables_the_bundled_extract_serves_and_a_hint_appears_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(engine, "user_cache", lambda: tmp_path / "cache")
    assert isinstance(Library(tmp_path).knowledge(), ExtractKnowledge)
    assert caplog.text.count("`bot2048 tables build` builds") == 1
    assert isinstance(Library(tmp_path).knowledge(), ExtractKnowledge)
    assert caplog.text.count("`bot2048 tables build` builds") == 1
    builder.build_table(SPECS[1], tmp_path)
    assert isinstance(Library(tmp_path).knowledge(), ExactKnowledge)


def test_where_no_marker_can_be_written_no_hint_appears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(engine, "user_cache", lambda: tmp_path / "file" / "below")
    assert isinstance(Library(tmp_path).knowledge(), ExtractKnowledge)
    assert caplog.text == ""


def test_an_engine_with_tables_plays_by_those_that_are_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder.build_table(SPECS[1], tmp_path)
    monkeypatch.setenv("BOT2048_TABLES", str(tmp_path))
    decision = with_tables(spec_of("fast")).create().choose(READY, Limit(depth=1))
    assert decision is not None
    assert decision.direction is LEFT
