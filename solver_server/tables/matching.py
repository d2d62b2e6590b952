"""Find the formations that a board fits, and the top that counts."""

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

_MOST_PAIRS = 24  # of adjacent cells on a 4×4 board
_U0, _U15 = np.uint64(0), np.uint64(15)


class Fits(NamedTuple):
    """The formations of some tables as kernels take them, in the order in which play asks them.

    Attributes:
        masks: uint64 [formations], locked cells, as nibbles of 15.
        pairs: int64 [formations, 24, 2], bit positions of adjacent locked cells; then −1.
        below: int64 [formations, 16], distance of the tiles of each cell below the top; −1 where locked.
        patterns: int64 [formations, goals, 16, 2], goals (`goals.make_patterns`).
        lowest: int64 [formations], lowest top whose goals exist (`Formation.lowest_top`).
        tables: int64 [formations, 16], number of the table for each top: the lowest that reaches it.
        reaches: int64 [formations, 16], top of that table.
        tight: bool [formations], see `Formation`.
        tops: int64 [formations], top of the highest table.
        trusted: int64 [formations], least value at which play follows a table.
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
    """List the formations of some tables, in the order in which play asks them."""
    return sorted(dict.fromkeys(spec.formation for spec in specs), key=lambda formation: -formation.trusted)


def make_fits(specs: Sequence[TableSpec]) -> Fits:
    """Describe the formations of some tables, all of 4×4 boards, for kernels."""
    formations = order_of(specs)
    count = len(formations)
    made = Fits(
        masks=np.array([locked_mask(formation) for formation in formations], dtype=np.uint64),
        pairs=np.full((count, _MOST_PAIRS, 2), -1, dtype=np.int64),
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
        made.pairs[i, : len(pairs)] = 4 * np.array(pairs, dtype=np.int64).reshape(-1, 2)
        made.below[i, formation.moving] = [formation.below_top(cell) for cell in formation.moving]
    for number, spec in sorted(enumerate(specs), key=lambda numbered: -numbered[1].top):
        i = formations.index(spec.formation)
        made.tops[i] = max(made.tops[i], spec.top)
        made.tables[i, : spec.top + 1] = number
        made.reaches[i, : spec.top + 1] = spec.top
    return made


@kernel
def top_of(board: np.uint64, formation: int, fits: Fits) -> int:
    """Find the top by which a board fits a formation in this position; −1 if it does not, or is at a goal."""
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
    """Tell whether a slide from ``board`` to ``after`` moved a tile, and no locked one."""
    return bool(after != board and (after ^ board) & fits.masks[formation] == _U0)


@kernel
def goal_at_hand(board: np.uint64, formation: int, top: int, rows: RowTables, fits: Fits) -> int:
    """Find a direction that reaches a goal from a board that fits a formation; −1 if no direction does."""
    for direction in range(4):
        after, _ = slide(board, direction, rows)
        if keeps(board, after, formation, fits) and is_goal(after, top, fits.patterns[formation]):
            return direction
    return -1
