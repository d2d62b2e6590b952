"""Temporal-difference learning from a game: kernels.

The afterstates and rewards of a game are kept as its *path*, and the network learns along it: while the game
is played (TD(0), TC(0)), or from its end backwards (TC(λ)).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.kernels.intrinsics import prefetch
from game2048.kernels.jit import inlined_kernel, kernel
from game2048.kernels.word_ops import MoveRules
from game2048.kernels.words import U1, U2, U3, Words, read_words
from solver_server.ntuple.network import NetworkTables
from solver_server.ntuple.network_ops import list_entries, lowered_if_high

# No 4×4 game is longer: its tiles sum to less than 2**18, and every spawn adds at least 2.
PATH_CAPACITY = 1 << 17

_WORD_FIELDS = ("random", "game_random", "start_low", "start_high", "start_extra")
_COUNT_FIELDS = ("games", "episodes", "moves", "best_score", "best_top", "restarting", "length", "faults")
# Of a game that is not over (`lockstep`); checkpoints of threads that play one game at a time lack them.
_WORD_FIELDS_IN_A_GAME = ("board", "before")
_COUNT_FIELDS_IN_A_GAME = ("score", "playing", "turn")

LEARNER_STATE = np.dtype(
    [(name, np.uint64) for name in _WORD_FIELDS + _WORD_FIELDS_IN_A_GAME]
    + [(name, np.int64) for name in _COUNT_FIELDS + _COUNT_FIELDS_IN_A_GAME]
    + [("before_value", np.float32), ("unrecorded", np.int64)]
)
"""What a learner remembers between episodes or, in lockstep, between moves.

* ``random``: state of the generator; ``game_random``: its state when the present game started;
* ``start_low``, ``start_high``, ``start_extra``: afterstate that the next episode restarts from;
* ``games``: number of games started; ``episodes``: the same, restarts included; ``moves``: moves made;
* ``best_score``, ``best_top``: the best score and the largest exponent so far;
* ``restarting``: 1 if the next episode is a restart;
* ``length``: length of the path;
* ``faults``: number of TD errors that were not finite.

Of the game that a lane plays (`lockstep`):

* ``board``: the board to move on; ``before``: the last afterstate; ``before_value``: its value when chosen;
* ``score``: its score so far; ``playing``: 0 between games;
* ``turn``: number of the lane that moves next, kept in the first lane;
* ``unrecorded``: 1 if the path lacks the moves before the checkpoint that the game resumes from.
"""


class LearnWhen(IntEnum):
    """When a network learns from a game."""

    NEVER = 0
    ONLINE = 1
    """After each move, from the next one: TD(0), TC(0)."""
    BACKWARD = 2
    """After each episode, from its end: TC(λ); then the game restarts half-way."""


class GamePath(NamedTuple):
    """The moves of the present episode.

    Attributes:
        afterstates: uint64 [capacity, 3], as `Words`.
        rewards: int64 [capacity], merge reward of each move.
        directions: uint8 [capacity], index of each direction.
        worths: float32 [capacity, 4], reward + value of all directions at each move, NaN where illegal;
            [0, 4] where nobody asks for them.
    """

    afterstates: npt.NDArray[np.uint64]
    rewards: npt.NDArray[np.int64]
    directions: npt.NDArray[np.uint8]
    worths: npt.NDArray[np.float32]


class Learner(NamedTuple):
    """What one learning thread owns, besides the weights that all share.

    Attributes:
        state: records [1], see `LEARNER_STATE`.
        path: the moves of the present episode.
    """

    state: npt.NDArray[np.void]
    path: GamePath

    def get(self, field: str) -> int:
        """Read a field of the state."""
        return int(self.state[field][0])

    def put(self, field: str, value: int) -> None:
        """Write a field of the state."""
        self.state[field][0] = value


class LearningScratch(NamedTuple):
    """Working memory of a thread.

    Attributes:
        entries: uint64 [2 or lanes, active weights], indices of the weights of afterstates.
        after: uint64 [4 · lanes, 2], low and high words of the afterstates.
        reward: int64 [4 · lanes], rewards of the directions.
        worth: float32 [4], reward + value of the directions; NaN where illegal.
        cells: uint8 [rows, columns], a board.
        grids: uint8 [4, rows, columns], afterstates.
    """

    entries: npt.NDArray[np.uint64]
    after: npt.NDArray[np.uint64]
    reward: npt.NDArray[np.int64]
    worth: npt.NDArray[np.float32]
    cells: npt.NDArray[np.uint8]
    grids: npt.NDArray[np.uint8]


class Rate(NamedTuple):
    """The learning rate: how far a TD error moves a weight.

    Attributes:
        sums: float32 [2 · entries], E and A of each weight side by side (temporal coherence); [0] for a fixed
            rate.
        step: factor of the TD error, before the weight's own rate |E| / A.
        decay: λ.
    """

    sums: npt.NDArray[np.float32]
    step: np.float32
    decay: np.float32


NO_RATE = Rate(np.zeros(0, dtype=np.float32), np.float32(0), np.float32(0))
"""For play that learns nothing."""


class LearningThread(NamedTuple):
    """Everything that one thread plays and learns with, as kernels take it.

    Attributes:
        learner: its state and its path, changed.
        tables: the network; its weights change.
        rules: slides of the board.
        rate: learning rate; its sums change.
        scratch: working memory.
        when: when the network learns.
    """

    learner: Learner
    tables: NetworkTables
    rules: MoveRules
    rate: Rate
    scratch: LearningScratch
    when: LearnWhen


@inlined_kernel
def update(entries: Any, error: np.float32, tables: Any, rate: Rate) -> None:
    """Move all active weights along a TD error. A weight that is active twice moves twice."""
    w = tables.weights
    sums = rate.sums
    step = rate.step * error
    if sums.size == 0:
        for j in range(entries.size):
            w[entries[j]] += step
        return
    size = abs(error)
    for j in range(entries.size):
        i = entries[j]
        e = sums[i << U1]
        a = sums[(i << U1) + U1]
        own = abs(e) / a if a > np.float32(0) else np.float32(1)
        w[i] += step * own
        sums[i << U1] = e + error
        sums[(i << U1) + U1] = a + size


@kernel
def _sum(entries: Any, weights: Any) -> np.float32:
    """Sum up weights; in four strands, since each addition waits for the one before it."""
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
def _seen(t: int, thread: LearningThread) -> Words:
    """Return the afterstate number ``t`` of the path, as the tables read it."""
    return lowered_if_high(read_words(thread.learner.path.afterstates, t), thread.tables, thread.rules)


@kernel
def _find(t: int, entries: Any, thread: LearningThread) -> None:
    """List the active entries of an afterstate of the path, and ask for their cache lines."""
    list_entries(_seen(t, thread), thread.tables, entries)
    weights = np.uint64(thread.tables.weights.ctypes.data)
    sums = np.uint64(thread.rate.sums.ctypes.data)
    for j in range(entries.size):
        prefetch(weights + (entries[j] << U2))
        if thread.rate.sums.size:
            prefetch(sums + (entries[j] << U3))


@kernel
def learn_backward(cut: bool, thread: LearningThread) -> None:
    """Learn from the whole path, last afterstate first.

    With z = 0 after the last afterstate, every one before it has the target
    z ← next reward + λ · z + (1 − λ) · (updated value of the next afterstate).

    Args:
        cut: whether the game goes on after the path; then the last afterstate keeps its value.
        thread: its weights and sums change.

    Source: Matsuzaki, "Developing a 2048 player with backward temporal coherence learning and restart",
    ACG 2017, doi:10.1007/978-3-319-71649-7_15.
    """
    state: Any = thread.learner.state[0]
    tables = thread.tables
    target = np.float64(0)
    length = state.length
    keep = np.float64(thread.rate.decay)
    for t in range(length - 1, -1, -1):
        entries = thread.scratch.entries[t & 1]
        if t == length - 1:
            _find(t, entries, thread)
            if cut:
                target = np.float64(_sum(entries, tables.weights) * tables.scale)
        if t > 0:
            _find(t - 1, thread.scratch.entries[(t - 1) & 1], thread)
        error = np.float32(target - np.float64(_sum(entries, tables.weights) * tables.scale))
        if not np.isfinite(error):
            state.faults += 1
            return
        update(entries, error, tables, thread.rate)
        updated = np.float64(_sum(entries, tables.weights) * tables.scale)
        target = thread.learner.path.rewards[t] + keep * target + (1 - keep) * updated


@kernel
def learn_step(before: Any, target: Any, thread: LearningThread) -> None:
    """Move the last afterstate of the path towards a target (TD(0)).

    Args:
        before: its value when it was chosen.
        target: reward + value of the next afterstate; 0 if the game is over.
        thread: its weights and sums change.

    Source: Szubert & Jaśkowski, IEEE CIG 2014, doi:10.1109/CIG.2014.6932907.
    """
    state: Any = thread.learner.state[0]
    entries = thread.scratch.entries[0]
    list_entries(_seen(state.length - 1, thread), thread.tables, entries)
    error = np.float32(target - before)
    if np.isfinite(error):
        update(entries, error, thread.tables, thread.rate)
    else:
        state.faults += 1


def make_path(capacity: int, *, worths: bool = False) -> GamePath:
    """Make memory for the moves of an episode.

    Args:
        capacity: most moves that fit.
        worths: whether the worth of all directions is kept.
    """
    return GamePath(
        np.zeros((capacity, 3), dtype=np.uint64),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity, dtype=np.uint8),
        np.zeros((capacity if worths else 0, 4), dtype=np.float32),
    )


def make_learner(random: int, path: GamePath | None = None) -> Learner:
    """Make the memory of a thread before its first game.

    Args:
        random: state of the generator.
        path: memory for its moves; by default for the longest 4×4 game.
    """
    learner = Learner(np.zeros(1, dtype=LEARNER_STATE), path or make_path(PATH_CAPACITY))
    learner.put("random", random)
    return learner


def make_lanes(count: int) -> Learner:
    """Make the memory of a thread that plays several 4×4 games at once (`lockstep`)."""
    return Learner(np.zeros(count, dtype=LEARNER_STATE), make_path(count * PATH_CAPACITY))


def lanes_of(learner: Learner) -> list[Learner]:
    """Return each lane of a thread's memory by itself; nothing is copied."""
    count = learner.state.size
    length = learner.path.rewards.size // count
    lanes = []
    for number in range(count):
        own = slice(number * length, (number + 1) * length)
        path = learner.path
        lanes.append(
            Learner(
                learner.state[number : number + 1],
                GamePath(path.afterstates[own], path.rewards[own], path.directions[own], path.worths),
            )
        )
    return lanes


def saved_state(learner: Learner) -> tuple[list[int], list[int]]:
    """Return the state as checkpoints hold it: the words, and the counts. Those of a game come last."""
    words = [learner.get(name) for name in _WORD_FIELDS]
    counts = [learner.get(name) for name in _COUNT_FIELDS]
    if learner.get("playing") or learner.get("turn"):
        words += [learner.get(name) for name in _WORD_FIELDS_IN_A_GAME]
        words.append(int(learner.state["before_value"].view(np.uint32)[0]))
        counts += [learner.get(name) for name in _COUNT_FIELDS_IN_A_GAME]
    return words, counts


def restore_state(learner: Learner, words: list[int], counts: list[int]) -> None:
    """Set the state as a checkpoint holds it.

    Raises:
        ValueError: the lists have another length.
        OverflowError: a number does not fit its field.
    """
    word_names: tuple[str, ...] = _WORD_FIELDS
    count_names: tuple[str, ...] = _COUNT_FIELDS
    if len(words) > len(word_names):
        word_names += _WORD_FIELDS_IN_A_GAME
        count_names += _COUNT_FIELDS_IN_A_GAME
        *words, value = words
        learner.state["before_value"] = np.array([value], dtype=np.uint32).view(np.float32)
        learner.put("unrecorded", 1)
    for names, numbers in ((word_names, words), (count_names, counts)):
        for name, number in zip(names, numbers, strict=True):
            learner.put(name, number)


def make_scratch(rows: int, columns: int, active: int, lanes: int = 1) -> LearningScratch:
    """Make working memory for a board of some size and for some number of active weights."""
    return LearningScratch(
        np.zeros((max(2, lanes), active), dtype=np.uint64),
        np.zeros((4 * lanes, 2), dtype=np.uint64),
        np.zeros(4 * lanes, dtype=np.int64),
        np.zeros(4, dtype=np.float32),
        np.zeros((rows, columns), dtype=np.uint8),
        np.zeros((4, rows, columns), dtype=np.uint8),
    )
