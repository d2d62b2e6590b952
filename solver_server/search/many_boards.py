"""Many boards in one call: the contract of engines that can, and the plain loop for those that cannot."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from game2048.board import Board
from game2048.kernels import bitboard
from game2048.kernels.jit import kernel
from game2048.kernels.one_word_board import has_high_ranks
from solver_server.engine import Engine, Limit


@runtime_checkable
class ManyBoards(Protocol):
    """An engine that answers an array of 4×4 boards in one call, without the interpreter's lock."""

    def choose_packed(
        self, boards: npt.NDArray[np.uint64], limit: Limit, directions: npt.NDArray[np.int8], turn: float
    ) -> int:
        """Choose for each board; the direction is the one that `Engine.choose` finds.

        Args:
            boards: uint64 [n], a nibble a cell (`bitboard.from_board`), downgraded (`downgrade_packed`).
            limit: for each board.
            directions: int8 [n], overwritten: the index of the direction, −1 where the game is over.
            turn: seconds after which no further board is begun; the first always is.

        Returns:
            How many boards, from the first on, have their direction.

        Raises:
            SolverError: the engine does not play 4×4 boards, or not to this limit.
            SearchStoppedError: the engine's stop flag was set.
        """
        ...


def choose_each(
    engine: Engine,
    boards: Sequence[Board],
    limit: Limit,
    directions: npt.NDArray[np.int8],
    turn: float = math.inf,
) -> int:
    """Choose for each board by `Engine.choose`; see `ManyBoards.choose_packed`."""
    end = time.perf_counter() + turn
    for i, board in enumerate(boards):
        if i > 0 and time.perf_counter() > end:
            return i
        decision = engine.choose(board, limit)
        directions[i] = -1 if decision is None else decision.direction.index
    return len(boards)


@kernel
def _downgrade_wide(boards: Any, cells: Any) -> None:
    for i in range(boards.size):
        if has_high_ranks(boards[i], 16):
            bitboard.unpack_cells(boards[i], cells)
            boards[i] = bitboard.downgrade(cells)


@kernel
def _downgrade_cells(cells: Any, boards: Any) -> None:
    for i in range(boards.size):
        boards[i] = bitboard.downgrade(cells[i])


def downgrade_packed(boards: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return a copy of some packed boards in which those with two tiles of 32768 are downgraded.

    Args:
        boards: uint64 [n], a nibble a cell.
    """
    narrow = boards.astype(np.uint64)
    _downgrade_wide(narrow, np.zeros(16, dtype=np.uint8))
    return narrow


def pack_exponents(cells: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """Return 4×4 boards of any exponents as packed boards for search (`bitboard.downgrade`).

    Args:
        cells: uint8 [n, 16], the exponents row by row.
    """
    boards = np.zeros(len(cells), dtype=np.uint64)
    _downgrade_cells(cells, boards)
    return boards
