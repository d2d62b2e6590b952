"""Tables overrule an engine where they know better, and nowhere else."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

import pytest

from game2048 import DIRECTIONS, Board, Direction
from solver_server.agent import Decision, Limit
from solver_server.engines import spec_of, with_tables
from solver_server.tables import building, storage
from solver_server.tables.agent import TableAgent, load_all
from solver_server.tables.building import Table, solve
from solver_server.tables.formations import BLOCK, TableSpec

TOP = TableSpec(BLOCK, 4, slack=8, large=2, spare=3)


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
def tables() -> list[Table]:
    return [solve(TOP)]


def choice(board: Board, tables: list[Table], engine: Prefers = DOWN_FIRST) -> Direction | None:
    decision = TableAgent(engine, tables).choose(board, Limit())
    return None if decision is None else decision.direction


# The block: 4096 2048 1024 / 512 256 16, with a second 16 below the first, which up joins.
READY = Board.from_text("4096 2048 1024 0 / 512 256 16 0 / 0 0 16 0 / 0 0 2 0")


def test_a_table_overrules_the_engine(tables: list[Table]) -> None:
    assert choice(READY, tables) is UP


def test_the_values_of_the_engine_stay(tables: list[Table]) -> None:
    decision = TableAgent(DOWN_FIRST, tables).choose(READY, Limit())
    alone = DOWN_FIRST.choose(READY, Limit())
    assert decision is not None
    assert alone is not None
    assert (decision.values, decision.depth, decision.nodes) == (alone.values, alone.depth, alone.nodes)
    assert decision.elapsed_ms > alone.elapsed_ms


def test_among_moves_as_good_the_engine_chooses(tables: list[Table]) -> None:
    # Whether up or right joins two 4s is all the same:
    # the goal is reached in 73 of 100 games.
    board = Board.from_text("4096 2048 1024 2 / 512 256 16 4 / 0 0 0 4 / 0 0 4 4")
    assert choice(board, tables, Prefers((UP, RIGHT, LEFT, DOWN))) is UP
    assert choice(board, tables, Prefers((LEFT, RIGHT, UP, DOWN))) is RIGHT


@pytest.mark.parametrize(
    "text",
    [
        "2 4 8 16 / 0 0 0 0 / 0 0 0 2 / 0 0 0 0",  # no formation
        "65536 2048 1024 0 / 512 256 16 0 / 0 0 16 0 / 0 0 2 0",  # beyond the nibbles
        "2 0 0 / 0 4 0 / 0 0 2",  # another size
    ],
)
def test_where_no_table_fits_the_engine_plays(text: str, tables: list[Table]) -> None:
    board = Board.from_text(text)
    alone = DOWN_FIRST.choose(board, Limit())
    assert TableAgent(DOWN_FIRST, tables).choose(board, Limit()) == alone


def test_a_table_without_hope_is_not_followed(tables: list[Table]) -> None:
    # By the table right is best, and reaches the goal in 24 of 100 games.
    board = Board.from_text("4096 2048 1024 2 / 512 256 16 2 / 0 4 0 0 / 0 0 8 0")
    assert choice(board, tables, Prefers((LEFT, RIGHT, UP, DOWN))) is LEFT


def test_a_dead_board_has_no_move(tables: list[Table]) -> None:
    assert choice(Board.from_text("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2"), tables) is None


def test_what_cannot_be_read_is_told_and_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    assert load_all(tmp_path) == []
    assert "`bot2048 tables build` makes them" in caplog.text
    building.build(TOP, tmp_path)
    (tmp_path / f"torn{storage.SUFFIX}").write_bytes(b"nothing of the kind")
    (table,) = load_all(tmp_path)
    assert table.spec == TOP
    assert "is no endgame table" in caplog.text


def test_an_engine_with_tables_plays_by_those_that_are_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    building.build(TOP, tmp_path)
    monkeypatch.setenv("BOT2048_TABLES", str(tmp_path))
    decision = with_tables(spec_of("fast")).create().choose(READY, Limit(depth=1))
    assert decision is not None
    assert decision.direction is UP
