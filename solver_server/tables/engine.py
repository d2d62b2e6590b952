"""Play by endgame tables: where a board fits a table, its best move replaces a search."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from game2048.board import Board
from game2048.direction import DIRECTIONS
from game2048.errors import SolverError
from game2048.kernels import bitboard, grid
from game2048.kernels.user_cache import user_cache
from game2048.wire.messages import FoundBy
from solver_server.engine import Decision, Engine, Limit
from solver_server.search.many_boards import ManyBoards, choose_each
from solver_server.stop_flag import StopFlag
from solver_server.tables import storage
from solver_server.tables.build.builder import EndgameTable, load_table
from solver_server.tables.build.induction import CERTAIN
from solver_server.tables.extract import extract_file
from solver_server.tables.extract.extract_file import Extract, extract_move, extract_moves_of_many
from solver_server.tables.lookup import make_table_set, table_moves, table_moves_of_many

_log = logging.getLogger(__name__)

_HINT_SHOWN = "told-of-tables"  # name of the marker file
_LOOKED_UP = 1024  # boards looked up at once before the engine searches the rest
_DEPTH = 1  # of a decision by table: it looks at the afterstate of each direction


class Knowledge(Protocol):
    """Moves known for late boards. One instance serves one thread.

    Attributes:
        found_by: what a decision by it is said to come from.
    """

    found_by: FoundBy

    def moves(self, board: np.uint64) -> tuple[int, Sequence[float]]:
        """Return the best direction of a board and the value of each; −1 and an empty list if unknown."""
        ...

    def moves_of_many(self, boards: npt.NDArray[np.uint64], directions: npt.NDArray[np.int8]) -> None:
        """Write the best direction of each board into ``directions``; −1 if unknown."""
        ...


class ExactKnowledge:
    """Whole tables. The value of a direction is a probability; 0 if it moves a locked tile.

    Args:
        tables: tables of 4×4 boards.
    """

    found_by: FoundBy = "table"

    def __init__(self, tables: Sequence[EndgameTable]) -> None:
        self._tables = tables  # kept, since the set has only addresses of their memory
        self._set = make_table_set(tables)
        self._rows = bitboard.make_row_tables()
        self._values, self._scratch = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)

    def moves(self, board: np.uint64) -> tuple[int, Sequence[float]]:
        """See `Knowledge.moves`."""
        best = table_moves(board, self._rows, self._set, self._scratch, self._values)
        return int(best), [] if best < 0 else [max(int(value), 0) / CERTAIN for value in self._values]

    def moves_of_many(self, boards: npt.NDArray[np.uint64], directions: npt.NDArray[np.int8]) -> None:
        """See `Knowledge.moves_of_many`."""
        table_moves_of_many(boards, self._rows, self._set, self._scratch, self._values, directions)


class ExtractKnowledge:
    """An extract. The best direction has the value 1 and all others 0, since an extract knows no more.

    Args:
        known: the extract; shared, not copied.
    """

    found_by: FoundBy = "extract"

    def __init__(self, known: Extract) -> None:
        self._set = known
        self._rows = bitboard.make_row_tables()

    def moves(self, board: np.uint64) -> tuple[int, Sequence[float]]:
        """See `Knowledge.moves`."""
        best = int(extract_move(board, self._rows, self._set))
        return best, [] if best < 0 else [float(direction == best) for direction in range(4)]

    def moves_of_many(self, boards: npt.NDArray[np.uint64], directions: npt.NDArray[np.int8]) -> None:
        """See `Knowledge.moves_of_many`."""
        extract_moves_of_many(boards, self._rows, self._set, directions)


class TableEngine:
    """Plays the best move by the tables where they have one; elsewhere asks an engine.

    One instance serves one thread.

    Args:
        searcher: engine for all other boards.
        knowledge: moves known for 4×4 boards.

    Attributes:
        stop_flag: stops the running search of that engine.
    """

    def __init__(self, searcher: Engine, knowledge: Knowledge) -> None:
        self._searcher = searcher
        self.stop_flag: StopFlag = getattr(searcher, "stop_flag", None) or StopFlag()
        self._knowledge = knowledge

    def choose(self, board: Board, limit: Limit) -> Decision | None:
        """See `Engine.choose`; the values are those of `Knowledge`."""
        begun = time.perf_counter()
        if (board.rows, board.columns) != (4, 4):
            return self._searcher.choose(board, limit)
        best, values = self._knowledge.moves(np.uint64(bitboard.downgrade(grid.to_grid(board))))
        if best < 0:
            return self._searcher.choose(board, limit)
        return Decision(
            direction=DIRECTIONS[best],
            values={
                direction: values[direction.index] for direction in DIRECTIONS if board.slide(direction).moved
            },
            depth=_DEPTH,
            nodes=len(DIRECTIONS),
            elapsed_ms=(time.perf_counter() - begun) * 1000,
            found_by=self._knowledge.found_by,
        )

    def choose_packed(
        self,
        boards: npt.NDArray[np.uint64],
        limit: Limit,
        directions: npt.NDArray[np.int8],
        turn: float = math.inf,
    ) -> int:
        """See `ManyBoards.choose_packed`."""
        boards, directions = boards[:_LOOKED_UP], directions[:_LOOKED_UP]
        self._knowledge.moves_of_many(boards, directions)
        unknown = np.flatnonzero(directions < 0)
        if not unknown.size:
            return boards.size
        rest, found = boards[unknown], np.full(unknown.size, -1, dtype=np.int8)
        if isinstance(self._searcher, ManyBoards):
            done = self._searcher.choose_packed(rest, limit, found, turn)
        else:
            done = choose_each(
                self._searcher, [bitboard.to_board(board) for board in rest], limit, found, turn
            )
        directions[unknown] = found
        return boards.size if done == unknown.size else int(unknown[done])


def load_tables(folder: Path | None = None) -> list[EndgameTable]:
    """Load the tables that are built. A table that cannot be read is logged and left out.

    Args:
        folder: their folder; by default that of `bot2048 tables`.
    """
    tables = []
    for path in storage.finished_tables(folder or storage.tables_folder()):
        try:
            table = load_table(path)
            if (table.spec.formation.rows, table.spec.formation.columns) != (4, 4):
                raise SolverError(f"table {path} is not of 4×4 boards")
            tables.append(table)
        except SolverError as error:
            _log.warning("%s; playing without it", error)
    return tables


def _show_hint_once() -> None:
    """Log the hint about `tables build` once per user. If the marker file cannot be written, stay silent."""
    marker = user_cache() / _HINT_SHOWN
    try:
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch(exist_ok=False)
    except OSError:
        return
    _log.warning(
        "playing by the bundled extract of the endgame tables; `bot2048 tables build` builds them whole, "
        "in some minutes, 2.9 GB (this hint appears once)"
    )


class Library:
    """The tables that are built or, without any, the bundled extract. One serves all threads.

    Args:
        folder: folder of the tables; by default that of `bot2048 tables`.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._tables = load_tables(folder)
        self._set: Extract | None = None
        if not self._tables:
            self._set = extract_file.read_extract()
            _show_hint_once()

    def knowledge(self) -> Knowledge:
        """Return the known moves in a form for one more thread."""
        return ExactKnowledge(self._tables) if self._set is None else ExtractKnowledge(self._set)
