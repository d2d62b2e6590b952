"""Play by endgame tables: what is known exactly overrules what an engine believes."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from game2048 import bitboard
from game2048.board import Board
from game2048.errors import SolverError
from solver_server.agent import Agent, Decision, Limit
from solver_server.tables import storage
from solver_server.tables.building import Table, load
from solver_server.tables.induction import CERTAIN
from solver_server.tables.lookup import make_table_set, table_moves

log = logging.getLogger(__name__)

TRUSTED = 0.5
"""A table is followed where its best move succeeds at least so often; else the formation is better left."""
NEAR = 0.003
"""Moves whose chances differ by less are the engine's to choose from: it knows what comes after the goal."""


class TableAgent:
    """Plays an engine's move, unless a table knows a better one. One instance serves one thread.

    Args:
        agent: chooses where no table does, and among moves that are as good.
        tables: all of 4×4 boards.
    """

    def __init__(self, agent: Agent, tables: Sequence[Table]) -> None:
        self._agent = agent
        self._tables = tables  # whose memory the set only has the addresses of
        self._set = make_table_set(tables)
        self._rows = bitboard.make_row_tables()
        self._values = np.zeros(4, dtype=np.int64)

    def choose(self, board: Board, limit: Limit) -> Decision | None:
        """See `Agent.choose`; the direction may be other than that of the highest value."""
        decision = self._agent.choose(board, limit)
        if decision is None or not self._tables or not _is_packable(board):
            return decision
        begun = time.perf_counter()
        values = self._values
        best = table_moves(bitboard.from_board(board), self._rows, self._set, values)
        if best < 0 or values[best] < TRUSTED * CERTAIN:
            return decision
        near = [move for move in decision.values if values[move.index] >= values[best] - NEAR * CERTAIN]
        direction = max(near, key=lambda move: decision.values[move])
        more = (time.perf_counter() - begun) * 1000
        return replace(decision, direction=direction, elapsed_ms=decision.elapsed_ms + more)


def _is_packable(board: Board) -> bool:
    """Whether it is 4×4 and has no tile beyond the nibbles."""
    return (board.rows, board.columns) == (4, 4) and max(board.cells) <= bitboard.MAX_EXPONENT


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
