"""Play by endgame tables: where a board fits one, what it knows exactly takes the place of a search."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from game2048 import bitboard, grid
from game2048.board import Board
from game2048.direction import DIRECTIONS
from game2048.errors import SolverError
from solver_server.agent import Agent, Decision, Limit
from solver_server.tables import storage
from solver_server.tables.building import Table, load
from solver_server.tables.induction import CERTAIN
from solver_server.tables.lookup import make_table_set, table_moves

log = logging.getLogger(__name__)

_PLAYED = 1  # the depth of a decision by table: it looks at what each direction leads to


class TableAgent:
    """Plays the best move by the tables, and an engine's where they are not to be followed. One instance
    serves one thread.

    Args:
        agent: chooses where no table does.
        tables: all of 4×4 boards.
    """

    def __init__(self, agent: Agent, tables: Sequence[Table]) -> None:
        self._agent = agent
        self._tables = tables  # whose memory the set only has the addresses of
        self._set = make_table_set(tables)
        self._rows = bitboard.make_row_tables()
        self._values, self._scratch = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)

    def choose(self, board: Board, limit: Limit) -> Decision | None:
        """See `Agent.choose`; the values of a table are probabilities, 0 for what moves a locked tile."""
        begun = time.perf_counter()
        if not self._tables or (board.rows, board.columns) != (4, 4):
            return self._agent.choose(board, limit)
        values = self._values
        packed = np.uint64(bitboard.downgrade(grid.from_board(board)))
        best = table_moves(packed, self._rows, self._set, self._scratch, values)
        if best < 0:
            return self._agent.choose(board, limit)
        return Decision(
            direction=DIRECTIONS[best],
            values={
                direction: max(int(values[direction.index]), 0) / CERTAIN
                for direction in DIRECTIONS
                if board.slide(direction).moved
            },
            depth=_PLAYED,
            nodes=len(DIRECTIONS),
            elapsed_ms=(time.perf_counter() - begun) * 1000,
        )


def load_all(folder: Path | None = None) -> list[Table]:
    """The tables that are built; what cannot be read is told and left out.

    Args:
        folder: where they are; by default that of `bot2048 tables`.
    """
    where = folder or storage.folder()
    tables = []
    for path in storage.list_files(where):
        try:
            tables.append(load(path))
        except SolverError as error:
            log.warning("%s; playing without it", error)
    if not tables:
        log.warning("no endgame tables in %s; `bot2048 tables build` makes them, in some minutes", where)
    return tables
