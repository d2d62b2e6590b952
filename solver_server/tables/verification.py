"""Verify a table: SHA-256, and its equation at random positions. Verify an extract against its tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError
from game2048.kernels.bitboard import RowTables, make_row_tables
from game2048.kernels.jit import kernel
from game2048.kernels.rules import compiled_next_random
from solver_server.tables import storage
from solver_server.tables.build.builder import EndgameTable, load_table, make_rules
from solver_server.tables.build.indexing import Index, Layers, index_of, make_index, multiset_of, number_of
from solver_server.tables.build.induction import Rules, Values, best_of
from solver_server.tables.extract.extract_file import Extract, fit_of, move_at
from solver_server.tables.lookup import TableSet, best_direction, image_moves, make_table_set
from solver_server.tables.matching import order_of, top_of

SAMPLE = 10_000

_U0, _U15 = np.uint64(0), np.uint64(15)


class Drawing(NamedTuple):
    """How random positions are drawn.

    Attributes:
        cells: int64 [n], moving cells.
        bounds: uint64 [n], largest exponent of each.
    """

    cells: npt.NDArray[np.int64]
    bounds: npt.NDArray[np.uint64]


@kernel
def _expected(after: np.uint64, index: Index, layers: Layers, rules: Rules, values: Values) -> int:
    """Compute an afterstate's value by its equation: the mean over spawns of the best value after each."""
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
    drawing: Drawing,
    index: Index,
    layers: Layers,
    rules: Rules,
    values: Values,
) -> np.uint64:
    """Draw positions of a table and check each; return the first wrong one, or 0."""
    checked = 0
    while checked < count:
        board = rules.locked
        for i in range(drawing.cells.size):
            state, number = compiled_next_random(state)
            board |= (number % (drawing.bounds[i] + np.uint64(1))) << np.uint64(4 * drawing.cells[i])
        place = index_of(board, index)
        if place < 0:
            continue
        checked += 1
        if np.int64(values[place]) != _expected(board, index, layers, rules, values):
            return board
    return _U0


def check_equation(table: EndgameTable, sample: int = SAMPLE, seed: int = 0) -> None:
    """Check the one-step equation of a table at random positions.

    Args:
        table: the table.
        sample: number of positions.
        seed: seed of the positions.

    Raises:
        SolverError: a position does not satisfy it.
    """
    spec = table.spec
    index, layers = make_index(spec)
    moving = spec.formation.moving
    drawing = Drawing(
        np.array(moving, dtype=np.int64),
        np.array([spec.top - spec.formation.below_top(cell) for cell in moving], dtype=np.uint64),
    )
    rules = make_rules(spec)
    wrong = _first_wrong(sample, np.uint64(seed), drawing, index, layers, rules, table.values)
    if wrong:
        raise SolverError(
            f"table {spec.name} is wrong at position {int(wrong):#018x}; remove it and build it again"
        )


def check_table(
    path: Path, advance: Callable[[int], None] = lambda count: None, sample: int = SAMPLE
) -> None:
    """Check a table file: its length, its digest, and its equation at random positions.

    Args:
        path: the file.
        advance: called with the number of bytes after each piece.
        sample: number of positions.

    Raises:
        SolverError: the file is damaged.
    """
    table = load_table(path)
    found = storage.digest_of_values(path, advance)
    if found != table.sha256:
        raise SolverError(
            f"table {path} is damaged: its SHA-256 is not the one in its header; remove it and build it again"
        )
    check_equation(table, sample)


@kernel
def _first_worse(known: Extract, locked: Any, rows: RowTables, tables: TableSet, found: Any) -> int:
    """Find the first board of an extract whose move is not the best by the tables; −1 if all are best."""
    for place in range(known.numbers.size):
        board, formation = fit_of(np.uint64(known.numbers[place]), locked, known.numbering)
        top = top_of(board, formation, tables.fits)
        move = move_at(place, known)
        if top < 0 or image_moves(board, formation, top, rows, tables, found) <= 0:
            return place
        if found[move] != found[best_direction(found)]:
            return place
    return -1


def check_extract(known: Extract, tables: Sequence[EndgameTable]) -> None:
    """Compare every move of an extract with the tables that it was made of.

    Args:
        known: the extract.
        tables: the tables of its formations.

    Raises:
        SolverError: a move is not the best.
    """
    # Any large tiles serve, as long as they differ.
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
            f"move {place:,} of the extract is not the best by the tables; make the extract again"
        )
