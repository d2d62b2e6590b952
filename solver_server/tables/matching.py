"""Which formations a board fits, and by which top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.kernels.bitboard import RowTables, slide
from game2048.kernels.jit import kernel
from solver_server.tables.build.indexing import locked_mask
from solver_server.tables.build.induction import CERTAIN
from solver_server.tables.formations import Formation, TableSpec
from solver_server.tables.goals import is_goal, make_patterns

_U0, _U15 = np.uint64(0), np.uint64(15)


class Fits(NamedTuple):
    """The formations of some tables as kernels take them, the one to be asked first in front.

    Attributes:
        masks: uint64 [formations], the locked cells, as nibbles of 15.
        pairs: int64 [formations, 9, 2], bit positions of locked cells side by side; then −1.
        below: int64 [formations, 16], how far below the top the tiles of each cell stay; −1 where locked.
        patterns: int64 [formations, goals, 16, 2], see `patterns`.
        lowest: int64 [formations], the lowest top whose goals can be told.
        tables: int64 [formations, 16], which table is meant for each top: the lowest that reaches it.
        reaches: int64 [formations, 16], the top of that table.
        tight: bool [formations], see `Formation`.
        tops: int64 [formations], of the highest table.
        trusted: int64 [formations], the least value at which a table is followed.
    """

    masks: npt.NDArray[np.uint64]
    pairs: npt.NDArray[np.int64]
    below: npt.NDArray[np.int64]
    patterns: npt.NDArray[np.int64]
    lowest: npt.NDArray[np.int64]
    tables: npt.NDArray[np.int64]
    reaches: npt.NDArray[np.int64]
    tight: npt.NDArray[np.bool_]
    tops: npt.NDArray[np.int64]
    trusted: npt.NDArray[np.int64]


def order_of(specs: Sequence[TableSpec]) -> list[Formation]:
    """The formations of some tables, the one to be asked first in front."""
    return sorted(dict.fromkeys(spec.formation for spec in specs), key=lambda formation: -formation.trusted)


def make_fits(specs: Sequence[TableSpec]) -> Fits:
    """The formations of some tables, all of 4×4 boards."""
    formations = order_of(specs)
    count = len(formations)
    made = Fits(
        masks=np.array([locked_mask(formation) for formation in formations], dtype=np.uint64),
        pairs=np.full((count, 9, 2), -1, dtype=np.int64),
        below=np.full((count, 16), -1, dtype=np.int64),
        patterns=make_patterns(formations),
        lowest=np.array([formation.lowest_top for formation in formations], dtype=np.int64),
        tables=np.full((count, 16), -1, dtype=np.int64),
        reaches=np.full((count, 16), -1, dtype=np.int64),
        tight=np.array([formation.tight for formation in formations], dtype=np.bool_),
        tops=np.full(count, -1, dtype=np.int64),
        trusted=np.array([round(formation.trusted * CERTAIN) for formation in formations], dtype=np.int64),
    )
    for i, formation in enumerate(formations):
        pairs = formation.neighbours
        made.pairs[i, : len(pairs)] = 4 * np.array(pairs)
        made.below[i, formation.moving] = [formation.below_top(cell) for cell in formation.moving]
    for number, spec in sorted(enumerate(specs), key=lambda numbered: -numbered[1].top):
        i = formations.index(spec.formation)
        made.tops[i] = max(made.tops[i], spec.top)
        made.tables[i, : spec.top + 1] = number
        made.reaches[i, : spec.top + 1] = spec.top
    return made


@kernel
def top_of(board: np.uint64, formation: int, fits: Fits) -> int:
    """The top by which a board fits a formation as it lies; −1 if it does not, or has reached a goal."""
    smallest: Any = 15
    for cell in range(16):
        if fits.below[formation, cell] < 0:
            smallest = min(smallest, np.int64((board >> np.uint64(4 * cell)) & _U15))
    top = min(smallest - 1, fits.tops[formation])
    if top < fits.lowest[formation]:
        return -1
    reach = top if fits.tight[formation] else fits.reaches[formation, top]
    for cell in range(16):
        below = fits.below[formation, cell]
        if below >= 0:
            rank = np.int64((board >> np.uint64(4 * cell)) & _U15)
            if rank >= smallest or rank > reach - below:
                return -1
    for i in range(fits.pairs.shape[1]):
        if fits.pairs[formation, i, 0] < 0:
            break
        one, other = np.uint64(fits.pairs[formation, i, 0]), np.uint64(fits.pairs[formation, i, 1])
        if (board >> one) & _U15 == (board >> other) & _U15:
            return -1
    return -1 if is_goal(board, top, fits.patterns[formation]) else int(top)


@kernel
def keeps(board: np.uint64, after: np.uint64, formation: int, fits: Fits) -> bool:
    """Whether a slide from ``board`` to ``after`` has moved something, but no locked tile."""
    return bool(after != board and (after ^ board) & fits.masks[formation] == _U0)


@kernel
def goal_at_hand(board: np.uint64, formation: int, top: int, rows: RowTables, fits: Fits) -> int:
    """A direction that reaches a goal of a board that fits a formation as it lies; −1 if there is none."""
    for direction in range(4):
        after, _ = slide(board, direction, rows)
        if keeps(board, after, formation, fits) and is_goal(after, top, fits.patterns[formation]):
            return direction
    return -1
