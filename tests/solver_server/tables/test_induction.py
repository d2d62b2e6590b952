from __future__ import annotations

import sys

import numpy as np
import pytest
from brute_force import BruteForce

from solver_server.tables.building import Table, solve
from solver_server.tables.formations import Formation, TableSpec
from solver_server.tables.indexing import index_of

TWO_BY_THREE = Formation("two-by-three", "@11/222")
THREE_BY_THREE = Formation("three-by-three", "#@1/111/222")
EDGE = Formation("edge", "@11/112/222")


def boards_of(table: Table) -> list[tuple[int, int]]:
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
    ("formation", "goal", "slack", "large", "spare"),
    [
        (TWO_BY_THREE, 3, 4, 1, 9),
        (TWO_BY_THREE, 4, 8, 1, 2),
        (EDGE, 3, 4, 1, 9),
        (THREE_BY_THREE, 3, 8, 3, 1),
        (THREE_BY_THREE, 3, 4, 2, 2),
    ],
)
def test_every_value_equals_full_enumeration(
    formation: Formation, goal: int, slack: int, large: int, spare: int
) -> None:
    sys.setrecursionlimit(10_000)
    spec = TableSpec(formation, goal, slack, large, spare)
    table = solve(spec)
    brute = BruteForce(spec, top=goal)
    positions = boards_of(table)
    assert sorted(index for _, index in positions) == list(range(table.values.size))
    wrong = [
        (hex(board), int(table.values[index]))
        for board, index in positions
        if brute.value(brute.board(moving_of(board))) != table.values[index]
    ]
    assert wrong == []
    assert table.values.max() > 0


def test_a_chain_of_tables_equals_full_enumeration() -> None:
    sys.setrecursionlimit(10_000)
    lower, upper = (TableSpec(EDGE, goal, slack=4, large=2, spare=2) for goal in (2, 3))
    table = solve(lower, solve(upper))
    brute = BruteForce(lower, top=3)
    assert [
        hex(board)
        for board, index in boards_of(table)
        if brute.value(brute.board(moving_of(board))) != table.values[index]
    ] == []
    assert 0 < table.values.max() < 65535
