"""A decision says what knew it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from support.fake_engines import FirstLegal

from game2048.board import Board
from game2048.wire.messages import FoundBy
from solver_server.engine import Limit
from solver_server.tables.engine import TableEngine


class Knows:
    """Knows one board: left."""

    def __init__(self, board: Board, found_by: FoundBy) -> None:
        self._board = board
        self.found_by: FoundBy = found_by

    def moves(self, board: np.uint64) -> tuple[int, Sequence[float]]:
        known = int(board) == sum(cell << 4 * place for place, cell in enumerate(self._board.cells))
        return (3, [0.0, 0.25, 0.0, 0.75]) if known else (-1, [])

    def moves_of_many(self, boards: npt.NDArray[np.uint64], directions: npt.NDArray[np.int8]) -> None:
        raise AssertionError("not asked here")


@pytest.mark.parametrize("found_by", ["table", "extract"])
def test_a_decision_names_the_table_or_the_search(found_by: FoundBy) -> None:
    known = Board.from_text("0 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 4")
    other = Board.from_text("0 2 2 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 4")
    engine = TableEngine(FirstLegal(), Knows(known, found_by))
    by_table, by_search = engine.choose(known, Limit()), engine.choose(other, Limit())
    assert by_table is not None
    assert by_search is not None
    assert (by_table.found_by, str(by_table.direction)) == (found_by, "left")
    assert by_search.found_by == "search"
