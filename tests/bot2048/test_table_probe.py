"""The chance of a board, looked up in endgame tables that are built here."""

from __future__ import annotations

from pathlib import Path

import pytest

import bot2048
from bot2048 import Board, Direction
from game2048.symmetry import isomorphs
from solver_server.tables.build import builder
from solver_server.tables.formations import BLOCK, TableSpec

# A block with 32 as the smallest tile, whose chain of 16, 8, 4, 4 is ready as soon as the last 4 is beside:
# left brings two 4s one above the other, the upper one beside the 8.
READY = Board.from_text("4096 2048 1024 0 / 512 256 32 0 / 16 8 0 4 / 4 2 0 4")
ORDINARY = Board.from_text("2 4 8 16 / . . 2 4 / . . . 2 / . . . .")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> bot2048.EndgameTables:
    folder = tmp_path_factory.mktemp("tables")
    builder.build_table(TableSpec(BLOCK, 4, slack=8, large=2, spare=3), folder)
    return bot2048.open_tables(folder)


def test_a_board_has_the_chance_of_its_best_direction(tables: bot2048.EndgameTables) -> None:
    assert tables.names == ("block-16",)
    found = tables.probe(READY)
    assert found is not None
    assert (found.direction, found.probability, found.formation) == (Direction.LEFT, 1.0, "block")
    assert found.values[Direction.LEFT] == 1.0
    assert set(found.values) == set(READY.legal_directions())
    assert all(0 <= value <= 1 for value in found.values.values())


def test_all_images_of_a_board_have_its_chance(tables: bot2048.EndgameTables) -> None:
    for image in isomorphs(READY):
        found = tables.probe(image)
        assert found is not None
        assert found.probability == 1.0


def test_a_board_without_a_formation_has_no_chance(tables: bot2048.EndgameTables) -> None:
    assert tables.probe(ORDINARY) is None


def test_what_has_no_tables(tables: bot2048.EndgameTables, tmp_path: Path) -> None:
    with pytest.raises(bot2048.SolverError, match="a 5x5 board has no endgame tables; expected 4x4"):
        tables.probe(Board(5, 5))
    with pytest.raises(bot2048.SolverError, match="has no endgame tables; build them with `bot2048 tables"):
        bot2048.open_tables(tmp_path)
