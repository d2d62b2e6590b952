"""The goals of formations as kernels take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from game2048.kernels.jit import kernel
from solver_server.tables.formations import Formation

_U15 = np.uint64(15)
_CELLS = 16


def make_patterns(formations: Sequence[Formation]) -> npt.NDArray[np.int64]:
    """Describe the goals of formations for kernels.

    Returns:
        int64 [formations, goals, 16, 2]: pairs of a bit position and the distance of its tile below the top;
        −1 after the last pair of each goal.
    """
    goals = max((len(formation.patterns) for formation in formations), default=0)
    made = np.full((len(formations), goals, _CELLS, 2), -1, dtype=np.int64)
    for i, formation in enumerate(formations):
        for j, pattern in enumerate(formation.patterns):
            made[i, j, : len(pattern)] = [(4 * cell, below) for cell, below in pattern]
    return made


@kernel
def is_goal(board: np.uint64, top: int, patterns: Any) -> bool:
    """Tell whether a board has reached a goal.

    Args:
        board: board in the position of the formation's picture; locked cells do not matter.
        top: largest exponent of a moving tile.
        patterns: goals of the formation, int64 [goals, 16, 2] (`make_patterns`).
    """
    for goal in range(patterns.shape[0]):
        if patterns[goal, 0, 0] < 0:
            break
        reached = True
        for i in range(patterns.shape[1]):
            if patterns[goal, i, 0] < 0:
                break
            rank = np.int64((board >> np.uint64(patterns[goal, i, 0])) & _U15)
            if rank != top - patterns[goal, i, 1]:
                reached = False
                break
        if reached:
            return True
    return False
