from __future__ import annotations

import sys

import numpy as np
import pytest
from support.brute_force import BruteForce

from game2048.errors import SolverError
from solver_server.tables.build.builder import EndgameTable, solve_table
from solver_server.tables.build.indexing import index_of
from solver_server.tables.formations import Formation, TableSpec

TWO_BY_THREE = Formation("two-by-three", "#00/111", (".01/...", ".0./.1."))
EDGE = Formation("edge", "#00/011/122", (".01/.1./...", "..0/..0/..."))
TWO_LOCKED = Formation("two-locked", "##0/011/111", ("..0/.11/...", ".../01./.1."))


def boards_of(table: EndgameTable) -> list[tuple[int, int]]:
    """Every position of a table: nibbles and index, found by trying all arrangements of each half."""
    index = table.index
    found = []
    for a in range(index.first.sums.size):
        for b in range(index.second.sums.size):
            if index.offsets[a, b]:
                for first in index.first.boards[index.first.starts[a] : index.first.starts[a + 1]]:
                    for second in index.second.boards[index.second.starts[b] : index.second.starts[b + 1]]:
                        board = int(first | second)
                        found.append((board, index_of(np.uint64(board), index)))
    return found


def moving_of(board: int) -> dict[int, int]:
    return {cell: (board >> (4 * cell)) & 15 for cell in range(16) if (board >> (4 * cell)) & 15}


@pytest.mark.parametrize(
    ("formation", "top", "slack", "large", "spare"),
    [
        (TWO_BY_THREE, 3, 4, 1, 9),
        (TWO_BY_THREE, 4, 8, 1, 2),
        pytest.param(EDGE, 4, 4, 3, 1, marks=pytest.mark.slow),
        (TWO_LOCKED, 3, 4, 1, 9),
        (TWO_LOCKED, 3, 8, 2, 2),
    ],
)
def test_every_value_equals_full_enumeration(
    formation: Formation, top: int, slack: int, large: int, spare: int
) -> None:
    sys.setrecursionlimit(10_000)
    spec = TableSpec(formation, top, slack, large, spare)
    table = solve_table(spec)
    brute = BruteForce(spec)
    positions = boards_of(table)
    assert sorted(index for _, index in positions) == list(range(table.values.size))
    assert all(brute.is_kept(brute.board(moving_of(board))) for board, _ in positions)
    wrong = [
        (hex(board), int(table.values[index]))
        for board, index in positions
        if brute.value(brute.board(moving_of(board))) != table.values[index]
    ]
    assert wrong == []
    assert table.values.max() > 0
    assert len(np.unique(table.values)) > 100


def test_all_positions_within_the_bounds_are_kept() -> None:
    # Three cells up to 8 (exponents 0 to 3), three up to 4 (0 to 2), less the boards that are full.
    table = solve_table(TableSpec(Formation("plain", "000/111", ("0../...",)), 3, slack=64, large=9, spare=9))
    assert table.values.size == 4**3 * 3**3 - 3**3 * 2**3


@pytest.mark.parametrize(
    ("picture", "goals", "why"),
    [
        ("#0/00/0", ("0./../.",), "shape"),
        ("#0x/000", ("0../...",), "sign"),
        ("#00/000", (".#./...",), "sign"),
        ("#00/000", (), "0 goals"),
        ("#00/000", ("0./..",), "shape"),
        ("###/##0", ("0../...",), "1 moving cells"),
    ],
)
def test_what_is_no_formation_is_told(picture: str, goals: tuple[str, ...], why: str) -> None:
    with pytest.raises(SolverError, match=why):
        Formation("odd", picture, goals)


def test_a_top_too_low_for_the_goals_is_told() -> None:
    with pytest.raises(SolverError, match=r"top of a table .* is 2; expected 3 to 13"):
        TableSpec(TWO_BY_THREE, 2)
