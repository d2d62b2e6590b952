"""Look a board up in the endgame tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from game2048.board import Board
from game2048.direction import DIRECTIONS, Direction
from game2048.errors import SolverError
from game2048.kernels import bitboard, grid
from game2048.size import STANDARD_SIZE
from solver_server.tables import storage
from solver_server.tables.build.induction import CERTAIN
from solver_server.tables.engine import load_tables
from solver_server.tables.lookup import best_image, make_table_set, table_moves
from solver_server.tables.matching import order_of


@dataclass(frozen=True, slots=True)
class TableChance:
    """What a table knows of a board.

    Attributes:
        direction: the best direction.
        probability: that best play reaches the goal of the formation from here before a locked tile has to
            move.
        values: the same probability after each legal direction; 0 where it moves a locked tile.
        formation: the name of the formation that the board fits, ``block`` or ``hook``.
    """

    direction: Direction
    probability: float
    values: dict[Direction, float]
    formation: str


class EndgameTables:
    """The endgame tables that are built on this machine. Memory is mapped and shared by all processes.

    Args:
        folder: where they are; by default that of `bot2048 tables`.

    Attributes:
        names: of the tables, as ``block-256``.

    Raises:
        SolverError: no table is built there.
    """

    def __init__(self, folder: Path | None = None) -> None:
        folder = folder or storage.tables_folder()
        self._tables = load_tables(folder)  # keep: the set has only the addresses of their memory
        if not self._tables:
            raise SolverError(f"{folder} has no endgame tables; build them with `bot2048 tables build`")
        self.names = tuple(table.spec.name for table in self._tables)
        self._formations = order_of([table.spec for table in self._tables])
        self._set = make_table_set(self._tables)
        self._rows = bitboard.make_row_tables()

    def probe(self, board: Board) -> TableChance | None:
        """Return what the tables know of a board, in any of its symmetric images.

        Args:
            board: a 4×4 board before a move.

        Returns:
            ``None`` where no table is of use: the large tiles do not stand in a formation, the small ones are
            beyond its bounds, or the chance is below what the formation is trusted for (docs/tables.md).

        Raises:
            SolverError: the board is not 4×4.
        """
        if board.size != STANDARD_SIZE:
            raise SolverError(f"a {board.size} board has no endgame tables; expected {STANDARD_SIZE}")
        packed = np.uint64(bitboard.downgrade(grid.to_grid(board)))
        scratch, values = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
        best = int(table_moves(packed, self._rows, self._set, scratch, values))
        if best < 0:
            return None
        formation = best_image(packed, self._rows, self._set, scratch)[0]
        chances = [max(int(value), 0) / CERTAIN for value in values]
        return TableChance(
            direction=DIRECTIONS[best],
            probability=chances[best],
            values={d: chances[d.index] for d in DIRECTIONS if board.slide(d).moved},
            formation=self._formations[formation].name,
        )


def open_tables(folder: str | Path | None = None) -> EndgameTables:
    """Open the endgame tables of a folder, by default those of `bot2048 tables`.

    Raises:
        SolverError: no table is built there.
    """
    return EndgameTables(None if folder is None else Path(folder))
