"""Whether a table is what it should be: its digest, and its own equation at drawn positions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from game2048.errors import SolverError
from game2048.jit import kernel
from game2048.spawn import next_random
from solver_server.tables import storage
from solver_server.tables.building import Table, load, make_rules
from solver_server.tables.indexing import Index, Layers, index_of, make_index, multiset_of, number_of
from solver_server.tables.induction import Known, Rules, Values, best_of

SAMPLE = 10_000

_next_random = kernel(next_random)
_U0, _U15 = np.uint64(0), np.uint64(15)


@kernel
def _expected(after: np.uint64, index: Index, layers: Layers, rules: Rules, values: Values) -> int:
    """The value of an afterstate by its equation: the mean over spawns of the best value after each."""
    known = Known(values, 0, values, 0, values, 0)
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
                total += (9 if rank == 1 else 1) * best_of(board, index, rules, known)
    return (total + 5 * empties) // (10 * empties)


@kernel
def _first_wrong(
    count: int, state: np.uint64, cells: Any, index: Index, layers: Layers, rules: Rules, values: Values
) -> np.uint64:
    """Draw so many positions of a table and check each; the first wrong one, or 0."""
    checked = 0
    while checked < count:
        board = rules.locked
        for cell in cells:
            state, number = _next_random(state)
            board |= (number % (rules.goal + np.uint64(1))) << np.uint64(4 * cell)
        i = index_of(board, index)
        if i < 0:
            continue
        checked += 1
        if np.int64(values[i]) != _expected(board, index, layers, rules, values):
            return board
    return _U0


def check_equation(table: Table, above: Table | None, sample: int = SAMPLE, seed: int = 0) -> None:
    """Check the one-step equation of a table at drawn positions.

    Raises:
        SolverError: one does not satisfy it.
    """
    index, layers = make_index(table.spec)
    cells = np.array([cell for half in table.spec.formation.halves for cell in half], dtype=np.int64)
    rules = make_rules(table.spec, index, above)
    wrong = _first_wrong(sample, np.uint64(seed), cells, index, layers, rules, table.values)
    if wrong:
        raise SolverError(
            f"table {table.spec.name} is wrong at position {int(wrong):#018x}: remove it and build it again"
        )


def check_file(path: Path, advance: Callable[[int], None] = lambda count: None, sample: int = SAMPLE) -> None:
    """Check a table file: its length, its digest, and its equation at drawn positions.

    Args:
        path: the file; the table that it leads to is looked for beside it.
        advance: told of the bytes read.
        sample: how many positions.

    Raises:
        SolverError: it is damaged, or the table that it leads to is missing or another one.
    """
    table = load(path)
    found = storage.digest(path, advance)
    if found != table.sha256:
        raise SolverError(
            f"table {path} is damaged: its digest is not the one it names; remove it and build it again"
        )
    above = find_above(path.parent, table)
    check_equation(table, above, sample)


def find_above(where: Path, table: Table) -> Table | None:
    """The table that a table leads to, or ``None`` at the top of a chain.

    Raises:
        SolverError: it is missing, or another one.
    """
    if not table.above:
        return None
    spec = table.spec
    path = storage.path_of(where, f"{spec.formation.name}-{2 << spec.goal}")
    if not path.exists():
        raise SolverError(
            f"table {spec.name} leads to {path}, which is missing: build it, or remove {spec.name}"
        )
    above = load(path)
    if above.sha256 != table.above:
        raise SolverError(
            f"table {spec.name} was built on another {path.name}: remove {spec.name} and build it again"
        )
    return above
