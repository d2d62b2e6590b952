"""Whether a table is what it should be, by its digest and by its own equation at drawn positions; and whether
moves that were distilled of tables are theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from game2048.errors import SolverError
from game2048.kernels.bitboard import RowTables, make_row_tables
from game2048.kernels.jit import kernel
from game2048.spawn import next_random
from solver_server.tables import storage
from solver_server.tables.build.builder import Table, load, make_rules
from solver_server.tables.build.indexing import Index, Layers, index_of, make_index, multiset_of, number_of
from solver_server.tables.build.induction import Rules, Values, best_of
from solver_server.tables.extract.move_set import DistilledSet, fit_of, move_at
from solver_server.tables.lookup import TableSet, best_direction, image_moves, make_table_set
from solver_server.tables.matching import order_of, top_of

SAMPLE = 10_000

_next_random = kernel(next_random)
_U0, _U15 = np.uint64(0), np.uint64(15)


@kernel
def _expected(after: np.uint64, index: Index, layers: Layers, rules: Rules, values: Values) -> int:
    """The value of an afterstate by its equation: the mean over spawns of the best value after each."""
    total = empties = 0
    for cell in range(rules.height * rules.width):
        shift = np.uint64(4 * cell)
        if (after >> shift) & _U15 != _U0:
            continue
        empties += 1
        for rank in range(1, 3):
            board = after | (np.uint64(rank) << shift)
            first, second = number_of(board, index.first), number_of(board, index.second)
            if layers.places[multiset_of(first), multiset_of(second)] > 0:
                total += (9 if rank == 1 else 1) * best_of(board, index, rules, values, 0)
    return (total + 5 * empties) // (10 * empties)


@kernel
def _first_wrong(
    count: int,
    state: np.uint64,
    cells: Any,
    bounds: Any,
    index: Index,
    layers: Layers,
    rules: Rules,
    values: Values,
) -> np.uint64:
    """Draw so many positions of a table and check each; the first wrong one, or 0."""
    checked = 0
    while checked < count:
        board = rules.locked
        for i in range(cells.size):
            state, number = _next_random(state)
            board |= (number % (bounds[i] + np.uint64(1))) << np.uint64(4 * cells[i])
        place = index_of(board, index)
        if place < 0:
            continue
        checked += 1
        if np.int64(values[place]) != _expected(board, index, layers, rules, values):
            return board
    return _U0


def check_equation(table: Table, sample: int = SAMPLE, seed: int = 0) -> None:
    """Check the one-step equation of a table at drawn positions.

    Raises:
        SolverError: one does not satisfy it.
    """
    spec = table.spec
    index, layers = make_index(spec)
    cells = np.array(spec.formation.moving, dtype=np.int64)
    bounds = np.array([spec.top - spec.formation.below_top(cell) for cell in cells], dtype=np.uint64)
    rules = make_rules(spec)
    wrong = _first_wrong(sample, np.uint64(seed), cells, bounds, index, layers, rules, table.values)
    if wrong:
        raise SolverError(
            f"table {spec.name} is wrong at position {int(wrong):#018x}: remove it and build it again"
        )


def check_file(path: Path, advance: Callable[[int], None] = lambda count: None, sample: int = SAMPLE) -> None:
    """Check a table file: its length, its digest, and its equation at drawn positions.

    Args:
        path: the file.
        advance: told of the bytes read.
        sample: how many positions.

    Raises:
        SolverError: it is damaged.
    """
    table = load(path)
    found = storage.digest(path, advance)
    if found != table.sha256:
        raise SolverError(
            f"table {path} is damaged: its digest is not the one it names; remove it and build it again"
        )
    check_equation(table, sample)


@kernel
def _first_worse(known: DistilledSet, locked: Any, rows: RowTables, tables: TableSet, found: Any) -> int:
    """The place of the first board of a set whose move is not the best by the tables; −1 if there is none."""
    for place in range(known.numbers.size):
        board, formation = fit_of(np.uint64(known.numbers[place]), locked, known.numbering)
        top = top_of(board, formation, tables.fits)
        move = move_at(place, known)
        if top < 0 or image_moves(board, formation, top, rows, tables, found) <= 0:
            return place
        if found[move] != found[best_direction(found)]:
            return place
    return -1


def check_set(known: DistilledSet, tables: Sequence[Table]) -> None:
    """Compare every move of a distilled set with the tables that it was made of.

    Args:
        known: the set.
        tables: those of its formations.

    Raises:
        SolverError: a move is not the best.
    """
    # Large tiles that differ; which, makes no difference.
    locked = np.array(
        [
            sum((15 - place) << (4 * cell) for place, cell in enumerate(formation.locked))
            for formation in order_of([table.spec for table in tables])
        ],
        dtype=np.uint64,
    )
    rows, found = make_row_tables(), np.zeros(4, dtype=np.int64)
    place = _first_worse(known, locked, rows, make_table_set(tables), found)
    if place >= 0:
        raise SolverError(
            f"move {place:,} of the distilled set is not the best by the tables: install bot2048 again"
        )
