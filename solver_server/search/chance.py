"""Expand chance nodes: every spawn, or a sample of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.kernels.jit import kernel
from game2048.kernels.rules import compiled_next_random, compiled_pick
from game2048.spawn import P_FOUR, P_TWO
from solver_server.search.board_ops import count_cells, is_cell_empty


class ChancePolicy(NamedTuple):
    """How a chance node is expanded.

    Attributes:
        exact_up_to: largest number of empty cells at which each is expanded into a 2 (0.9) and a 4 (0.1).
        sample_cells: number of distinct cells drawn above that, each expanded into both tiles; 0 for pairs.
        sample_pairs: number of (cell, tile) pairs drawn by the spawn rule, with replacement.
        min_probability: a node that is reached from the root with less probability is evaluated instead.
        random_state: uint64 [1], generator of the samples.
    """

    exact_up_to: int
    sample_cells: int
    sample_pairs: int
    min_probability: float
    random_state: npt.NDArray[np.uint64]


class Spawns(NamedTuple):
    """Working memory for the spawns of the chance nodes on the current path, a row for each level.

    Attributes:
        cells: int64 [levels, 128], cell of each spawn.
        exponents: int64 [levels, 128], its exponent.
        weights: float64 [levels, 128], its probability; they add up to 1 for each node.
    """

    cells: npt.NDArray[np.int64]
    exponents: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]


def make_policy(
    exact_up_to: int = 64, sample_cells: int = 0, sample_pairs: int = 0, min_probability: float = 0.0
) -> ChancePolicy:
    """Make a chance policy. By default it expands every spawn."""
    return ChancePolicy(
        exact_up_to, sample_cells, sample_pairs, min_probability, np.zeros(1, dtype=np.uint64)
    )


def make_spawns(levels: int) -> Spawns:
    """Make the working memory for a number of levels."""
    shape = (levels, 128)
    return Spawns(np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64), np.zeros(shape))


@kernel
def list_spawns(after: Any, level: int, policy: ChancePolicy, spawns: Spawns) -> int:
    """Write the spawns to expand on an afterstate into row ``level``; return their number."""
    cells = spawns.cells[level]
    empties = 0
    for cell in range(count_cells(after)):
        if is_cell_empty(after, cell):
            cells[empties] = cell
            empties += 1
    if empties <= policy.exact_up_to:
        return _both_tiles(empties, level, spawns)
    if policy.sample_cells > 0:
        return _both_tiles(_shuffle(cells, empties, policy), level, spawns)
    return _draw_pairs(empties, level, policy, spawns)


@kernel
def _both_tiles(count: int, level: int, spawns: Spawns) -> int:
    """Give each of the first ``count`` cells of a row a 2 and a 4; return the number of spawns."""
    for i in range(count):
        spawns.cells[level, count + i] = spawns.cells[level, i]
        spawns.exponents[level, i] = 1
        spawns.exponents[level, count + i] = 2
        spawns.weights[level, i] = P_TWO / count
        spawns.weights[level, count + i] = P_FOUR / count
    return 2 * count


@kernel
def _shuffle(cells: Any, empties: int, policy: ChancePolicy) -> int:
    """Bring ``sample_cells`` distinct cells to the front (partial Fisher-Yates); return their number."""
    wanted = min(policy.sample_cells, empties)
    for i in range(wanted):
        state, number = compiled_next_random(policy.random_state[0])
        policy.random_state[0] = state
        j = i + int(((number >> np.uint64(32)) * np.uint64(empties - i)) >> np.uint64(32))
        cells[i], cells[j] = cells[j], cells[i]
    return wanted


@kernel
def _draw_pairs(empties: int, level: int, policy: ChancePolicy, spawns: Spawns) -> int:
    """Replace the listed cells by (cell, tile) pairs drawn by the spawn rule; return their number."""
    cells = spawns.cells[level]
    count = policy.sample_pairs
    for i in range(count):  # write pairs after the listed cells first, which must stay readable
        state, number = compiled_next_random(policy.random_state[0])
        policy.random_state[0] = state
        which, exponent = compiled_pick(number, np.uint64(empties))
        cells[empties + i] = cells[which]
        spawns.exponents[level, i] = exponent
        spawns.weights[level, i] = 1.0 / count
    for i in range(count):
        cells[i] = cells[empties + i]
    return count
