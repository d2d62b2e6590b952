"""Play by endgame tables: where a board fits one, what it knows takes the place of a search."""

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
from solver_server.engine import Decision, Engine, Limit
from solver_server.search.many_boards import ManyBoards, choose_each
from solver_server.stop_flag import StopFlag
from solver_server.tables import storage
from solver_server.tables.build.builder import Table, load
from solver_server.tables.build.induction import CERTAIN
from solver_server.tables.extract import move_set
from solver_server.tables.extract.move_set import DistilledSet, distilled_move, distilled_moves_of_many
from solver_server.tables.lookup import make_table_set, table_moves, table_moves_of_many

log = logging.getLogger(__name__)

_TOLD = "told-of-tables"  # the file that says so
_LOOKED_UP = 1024  # boards that tables are asked about before the engine searches the rest
_PLAYED = 1  # the depth of a decision by table: it looks at what each direction leads to


class Knowledge(Protocol):
    """What is known of late boards, in a form that one thread may ask."""

    def moves(self, board: np.uint64) -> tuple[int, Sequence[float]]:
        """The best direction of a board and what each is worth; −1 and nothing where nothing is known."""
        ...

    def moves_of_many(self, boards: npt.NDArray[np.uint64], directions: npt.NDArray[np.int8]) -> None:
        """Write the best direction of each board into ``directions``; −1 where nothing is known."""
        ...


class ExactKnowledge:
    """Tables as they were built; directions are worth a probability, 0 for what moves a locked tile.

    Args:
        tables: all of 4×4 boards.
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        self._tables = tables  # whose memory the set only has the addresses of
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


class DistilledKnowledge:
    """A distilled set; the best direction is worth 1, all others 0, since no more is known of them.

    Args:
        known: shared, not copied.
    """

    def __init__(self, known: DistilledSet) -> None:
        self._set = known
        self._rows = bitboard.make_row_tables()

    def moves(self, board: np.uint64) -> tuple[int, Sequence[float]]:
        """See `Knowledge.moves`."""
        best = int(distilled_move(board, self._rows, self._set))
        return best, [] if best < 0 else [float(direction == best) for direction in range(4)]

    def moves_of_many(self, boards: npt.NDArray[np.uint64], directions: npt.NDArray[np.int8]) -> None:
        """See `Knowledge.moves_of_many`."""
        distilled_moves_of_many(boards, self._rows, self._set, directions)


class TableEngine:
    """Plays the best move by the tables, and an engine's where they are not to be followed. One instance
    serves one thread.

    Args:
        agent: chooses where no table does.
        knowledge: what is known of 4×4 boards.

    Attributes:
        stop_flag: breaks off the running search of that engine.
    """

    def __init__(self, agent: Engine, knowledge: Knowledge) -> None:
        self._agent = agent
        self.stop_flag: StopFlag = getattr(agent, "stop_flag", None) or StopFlag()
        self._knowledge = knowledge

    def choose(self, board: Board, limit: Limit) -> Decision | None:
        """See `Engine.choose`; for the values of directions see `Knowledge`."""
        begun = time.perf_counter()
        if (board.rows, board.columns) != (4, 4):
            return self._agent.choose(board, limit)
        best, values = self._knowledge.moves(np.uint64(bitboard.downgrade(grid.to_grid(board))))
        if best < 0:
            return self._agent.choose(board, limit)
        return Decision(
            direction=DIRECTIONS[best],
            values={
                direction: values[direction.index] for direction in DIRECTIONS if board.slide(direction).moved
            },
            depth=_PLAYED,
            nodes=len(DIRECTIONS),
            elapsed_ms=(time.perf_counter() - begun) * 1000,
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
        if isinstance(self._agent, ManyBoards):
            done = self._agent.choose_packed(rest, limit, found, turn)
        else:
            done = choose_each(self._agent, [bitboard.to_board(board) for board in rest], limit, found, turn)
        directions[unknown] = found
        return boards.size if done == unknown.size else int(unknown[done])


def load_all(folder: Path | None = None) -> list[Table]:
    """The tables that are built; what cannot be read is told and left out.

    Args:
        folder: where they are; by default that of `bot2048 tables`.
    """
    tables = []
    for path in storage.list_files(folder or storage.folder()):
        try:
            tables.append(load(path))
        except SolverError as error:
            log.warning("%s; playing without it", error)
    return tables


def _tell_once() -> None:
    """Tell how to build tables, to each user once; who cannot be known to have been told is not told."""
    told = user_cache() / _TOLD
    try:
        told.parent.mkdir(parents=True, exist_ok=True)
        told.touch(exist_ok=False)
    except OSError:
        return
    log.warning(
        "playing by the small set of endgame moves that comes with bot2048; `bot2048 tables build` makes all "
        "the tables, in some minutes and 2.9 GB (this is said once)"
    )


class Library:
    """What there is to know: the tables that are built or, where there are none, the set that comes with the
    project. Loaded once, for any number of threads.

    Args:
        folder: where tables are; by default that of `bot2048 tables`.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._tables = load_all(folder)
        self._set: DistilledSet | None = None
        if not self._tables:
            self._set = move_set.load()
            _tell_once()

    def knowledge(self) -> Knowledge:
        """It, for one more thread."""
        return ExactKnowledge(self._tables) if self._set is None else DistilledKnowledge(self._set)
