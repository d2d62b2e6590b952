"""Boards that episodes begin on, taken from games that were recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError
from game2048.kernels.transitions import find_facts
from game2048.kernels.word_ops import make_move_rules, pack_words
from recordings.datasets.dataset_file import read_games

Starts = npt.NDArray[np.uint64]


def no_starts() -> Starts:
    """Every episode begins on an empty board."""
    return np.empty((0, 3), dtype=np.uint64)


def read_starts(path: Path, rows: int, columns: int, least: int = 0) -> Starts:
    """The afterstates of all games in a file that are of a size and far enough, as words (`seam`).

    Args:
        path: a dataset or a recording, in any format of `recordings.datasets.dataset_file`.
        rows: of the board.
        columns: of the board.
        least: the exponent that the largest tile must have at least.

    Returns:
        uint64 [boards, 3].

    Raises:
        RecordError: the file cannot be read.
        SolverError: it holds no such board.
    """
    rules = make_move_rules(rows, columns)
    found: list[tuple[int, int, int]] = []
    for game in read_games(path):
        if game.size != (rows, columns) or game.cells.max() < least:
            continue
        facts = find_facts(game.cells, game.directions)
        usable = (facts.after.max(axis=(1, 2)) >= least) & (facts.reward >= 0)
        found += (tuple(pack_words(after, rules)) for after in facts.after[usable])
    if not found:
        above = f" with a {1 << least} or more" if least else ""
        raise SolverError(
            f"{path} holds no board of {rows}x{columns}{above}: give other games, or another tile"
        )
    return np.array(found, dtype=np.uint64)
