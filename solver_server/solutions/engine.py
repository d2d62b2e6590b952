"""Play small boards by their solutions. A board without a solution is played by another engine."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from game2048.board import Board
from game2048.errors import SolverError
from game2048.size import Size
from solver_server.engine import Decision, Limit
from solver_server.limits import DepthRule, seconds_of
from solver_server.search.expectimax_engine import ExpectimaxEngine
from solver_server.solutions.small_board import is_solvable, upright
from solver_server.solutions.solution_file import read_solution, solution_path
from solver_server.solutions.solve import Solution, move_values
from solver_server.stop_flag import StopFlag

_log = logging.getLogger(__name__)
_DEPTH = 1  # of a decision by a solution: it looks at the afterstate of each direction


class SolutionShelf:
    """The solutions of a folder. Each is read when a board of its size comes first; one serves all threads.

    Args:
        folder: folder of the files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Size, Solution | None] = {}

    def solution_for(self, size: Size) -> Solution | None:
        """Return the solution for boards of a size, or ``None``.

        A file that cannot be read is logged and left out.
        """
        if not is_solvable(size):
            return None
        size = upright(size)
        if size not in self._read:
            path = solution_path(self._folder, size)
            try:
                self._read[size] = read_solution(path) if path.exists() else None
            except SolverError as error:
                _log.warning("%s; playing without it", error)
                self._read[size] = None
        return self._read[size]


class SolutionEngine:
    """Plays for the highest expected score by full solutions; asks an engine about all other boards.

    One instance serves one thread.

    Args:
        searcher: engine for boards without a solution, and for positions that no game reaches.
        shelf: the solutions; shared.
        depths: rule of that engine's depth; limits are checked even where no search needs them.

    Attributes:
        stop_flag: stops the running search of that engine.
    """

    def __init__(self, searcher: ExpectimaxEngine, shelf: SolutionShelf, depths: DepthRule) -> None:
        self._searcher = searcher
        self._depths = depths
        self.stop_flag: StopFlag = searcher.stop_flag
        self._shelf = shelf

    def choose(self, board: Board, limit: Limit) -> Decision | None:
        """See `Engine.choose`; a value by a solution is the expected score from here to the end."""
        begun = time.perf_counter()
        solution = self._shelf.solution_for(Size(board.rows, board.columns))
        known = None if solution is None else move_values(board, solution)
        if known is None:
            return self._searcher.choose(board, limit)
        seconds_of(limit)
        if limit.depth is not None:
            self._depths.check(limit.depth)
        if not known:
            return None
        return Decision(
            direction=max(known, key=known.__getitem__),
            values=known,
            depth=_DEPTH,
            nodes=len(known),
            elapsed_ms=(time.perf_counter() - begun) * 1000,
            found_by="table",
        )

    def choose_packed(
        self,
        boards: npt.NDArray[np.uint64],
        limit: Limit,
        directions: npt.NDArray[np.int8],
        turn: float,
    ) -> int:
        """See `ManyBoards.choose_packed`; no 4×4 board has a solution, so the searcher chooses."""
        return self._searcher.choose_packed(boards, limit, directions, turn)
