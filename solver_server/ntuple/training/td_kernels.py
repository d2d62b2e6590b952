"""How a network learns from a game: kernels.

The afterstates and rewards of a game are kept as its *path*, and the network learns along it: while the game
is played (TD(0), TC(0)) or from its end backwards (TC(λ)).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.kernels.intrinsics import prefetch
from game2048.kernels.jit import kernel
from solver_server.ntuple.network_ops import active_entries, is_wide, seen_as

# No 4×4 game is longer: its tiles sum to less than 2**18, and every spawn adds at least 2.
PATH_CAPACITY = 1 << 17

# Layout of `Learner.words`
RANDOM, GAME_RANDOM, START_LOW, START_HIGH, START_EXTRA = range(5)
# Layout of `Learner.counts`
GAMES, EPISODES, MOVES, BEST_SCORE, BEST_TOP, RESTARTING, LENGTH, FAULTS = range(8)

_U0 = np.uint64(0)


class Learner(NamedTuple):
    """What one learning thread owns besides the shared weights.

    Attributes:
        words: uint64 [5], the generator's state, its state when the present game started, and the afterstate
            (three words) that the next episode restarts from.
        counts: int64 [8], games started, episodes (restarts included), moves, the best score and exponent
            so far, whether the next episode is a restart, the length of the path, TD errors that were no
            number.
        path: uint64 [capacity, 3], its afterstates.
        reward: int64 [capacity], of the move that led to each.
    """

    words: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.int64]
    path: npt.NDArray[np.uint64]
    reward: npt.NDArray[np.int64]


class Scratch(NamedTuple):
    """Working memory of a thread.

    Attributes:
        entries: uint64 [2, active weights].
        after: uint64 [4, 2], afterstates; zero where they have no second word.
        reward: int64 [4].
        board: uint8 [rows, columns].
        grids: uint8 [4, rows, columns], afterstates.
    """

    entries: npt.NDArray[np.uint64]
    after: npt.NDArray[np.uint64]
    reward: npt.NDArray[np.int64]
    board: npt.NDArray[np.uint8]
    grids: npt.NDArray[np.uint8]


class Rate(NamedTuple):
    """How far a weight moves.

    Attributes:
        sums: float32 [2 · entries], E and A of each weight side by side (temporal coherence), or empty for a
            fixed rate.
        step: what the TD error is multiplied by (before the weight's own rate |E| / A).
        decay: λ.
    """

    sums: npt.NDArray[np.float32]
    step: np.float32
    decay: np.float32


@kernel
def update(entries: Any, error: np.float32, tables: Any, rate: Rate) -> None:
    """Move all active weights along a TD error; one that is active twice moves twice."""
    w = tables.weights
    sums = rate.sums
    step = rate.step * error
    if sums.size == 0:
        for j in range(entries.size):
            w[entries[j]] += step
        return
    size = abs(error)
    one = np.uint64(1)
    for j in range(entries.size):
        i = entries[j]
        e = sums[i << one]
        a = sums[(i << one) + one]
        own = abs(e) / a if a > np.float32(0) else np.float32(1)
        w[i] += step * own
        sums[i << one] = e + error
        sums[(i << one) + one] = a + size


@kernel
def _sum(entries: Any, weights: Any) -> np.float32:
    """The sum of some weights; in four strands, since each addition waits for the one before it."""
    a = np.float32(0)
    b = np.float32(0)
    c = np.float32(0)
    d = np.float32(0)
    fours = entries.size // 4 * 4
    for j in range(0, fours, 4):
        a += weights[entries[j]]
        b += weights[entries[j + 1]]
        c += weights[entries[j + 2]]
        d += weights[entries[j + 3]]
    for j in range(fours, entries.size):
        a += weights[entries[j]]
    return (a + b) + (c + d)


@kernel
def _find(learner: Learner, t: int, tables: Any, rate: Rate, rules: Any, entries: Any) -> None:
    """The active entries of an afterstate of the path, asked into the caches."""
    low, high = _seen(learner, t, tables, rules)
    active_entries(low, high, tables, entries)
    weights = np.uint64(tables.weights.ctypes.data)
    sums = np.uint64(rate.sums.ctypes.data)
    for j in range(entries.size):
        prefetch(weights + (entries[j] << np.uint64(2)))
        if rate.sums.size:
            prefetch(sums + (entries[j] << np.uint64(3)))


@kernel
def _seen(learner: Learner, t: int, tables: Any, rules: Any) -> Any:
    """The words of an afterstate of the path as the tables see it, downgraded if need be."""
    low, high, extra = learner.path[t, 0], learner.path[t, 1], learner.path[t, 2]
    if extra != _U0 or is_wide(low, high, tables.ranks, rules):
        low, high = seen_as(low, high, extra, tables.ranks, rules)
    return low, high


@kernel
def learn_backward(
    learner: Learner, cut: bool, tables: Any, rate: Rate, rules: Any, scratch: Scratch
) -> None:
    """Learn from the whole path, last afterstate first.

    With z = 0 after the last afterstate, every one before it has the target
    z ← next reward + λ · z + (1 − λ) · (updated value of the next afterstate).

    Args:
        learner: its path is read.
        cut: whether the game goes on after the path; then the last afterstate keeps its value.
        tables: changed.
        rate: changed.
        rules: of the board.
        scratch: of this thread.

    Source: Matsuzaki, "Developing a 2048 player with backward temporal coherence learning and restart",
    ACG 2017, doi:10.1007/978-3-319-71649-7_15.
    """
    target = np.float64(0)
    length = learner.counts[LENGTH]
    keep = np.float64(rate.decay)
    for t in range(length - 1, -1, -1):
        entries = scratch.entries[t & 1]
        if t == length - 1:
            _find(learner, t, tables, rate, rules, entries)
            if cut:
                target = np.float64(_sum(entries, tables.weights) * tables.scale)
        if t > 0:
            _find(learner, t - 1, tables, rate, rules, scratch.entries[(t - 1) & 1])
        error = np.float32(target - np.float64(_sum(entries, tables.weights) * tables.scale))
        if not np.isfinite(error):
            learner.counts[FAULTS] += 1
            return
        update(entries, error, tables, rate)
        updated = np.float64(_sum(entries, tables.weights) * tables.scale)
        target = learner.reward[t] + keep * target + (1 - keep) * updated


@kernel
def learn_step(
    learner: Learner, before: Any, target: Any, tables: Any, rate: Rate, rules: Any, scratch: Scratch
) -> None:
    """Move the last afterstate of the path from its value before towards a target (TD(0))."""
    entries = scratch.entries[0]
    low, high = _seen(learner, learner.counts[LENGTH] - 1, tables, rules)
    active_entries(low, high, tables, entries)
    error = np.float32(target - before)
    if np.isfinite(error):
        update(entries, error, tables, rate)
    else:
        learner.counts[FAULTS] += 1


def make_learner(state: int) -> Learner:
    """A thread's own memory, before its first game.

    Args:
        state: the generator's.
    """
    words = np.zeros(5, dtype=np.uint64)
    words[RANDOM] = state
    return Learner(
        words,
        np.zeros(8, dtype=np.int64),
        np.zeros((PATH_CAPACITY, 3), dtype=np.uint64),
        np.zeros(PATH_CAPACITY, dtype=np.int64),
    )


def make_scratch(rows: int, columns: int, active: int) -> Scratch:
    """Working memory for a board of that size and that many active weights."""
    return Scratch(
        np.zeros((2, active), dtype=np.uint64),
        np.zeros((4, 2), dtype=np.uint64),
        np.zeros(4, dtype=np.int64),
        np.zeros((rows, columns), dtype=np.uint8),
        np.zeros((4, rows, columns), dtype=np.uint8),
    )
