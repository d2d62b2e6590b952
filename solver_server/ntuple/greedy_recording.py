"""Greedy games of an n-tuple network, whole games in one kernel, written into arrays as they are played."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError
from game2048.kernels import grid
from game2048.kernels.jit import kernel
from game2048.spawn import game_state
from recordings.game_arrays import GameArrays
from solver_server.generate.plan import Plan
from solver_server.ntuple.files.native import Network
from solver_server.ntuple.network_ops import (
    is_wide,
    join,
    make_rules,
    prefetch_value,
    slide_all,
    spawn,
    value,
)
from solver_server.ntuple.training.episodes import value_of

_U0 = np.uint64(0)
_CAPACITY = 1 << 14
OVER, STOPPED = range(2)


class Recording(NamedTuple):
    """Where a game is written to; `GameArrays` says what the arrays are.

    Attributes:
        cells: uint8 [capacity + 1, rows, columns].
        directions: uint8 [capacity].
        scores: int64 [capacity + 1].
        values: float64 [capacity, 4].
        nodes: int64 [capacity].
    """

    cells: npt.NDArray[np.uint8]
    directions: npt.NDArray[np.uint8]
    scores: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    nodes: npt.NDArray[np.int64]


class Scratch(NamedTuple):
    """Working memory.

    Attributes:
        after: uint64 [4, 2], afterstates in words.
        reward: int64 [4].
        grids: uint8 [4, rows, columns], afterstates.
    """

    after: npt.NDArray[np.uint64]
    reward: npt.NDArray[np.int64]
    grids: npt.NDArray[np.uint8]


@kernel
def _book(recording: Recording, ply: int, chosen: int, legal: int, reward: int) -> None:
    recording.directions[ply] = chosen
    recording.nodes[ply] = legal
    recording.scores[ply + 1] = recording.scores[ply] + reward


@kernel
def _play_words(
    state: np.uint64, last: int, tables: Any, rules: Any, recording: Recording, scratch: Scratch
) -> Any:
    """Play while every exponent fits a nibble: plies, the generator's state, and whether the game is over.

    Where the boards have grown too large, the board that ends the recording waits for its spawn.
    """
    low, high, state = spawn(_U0, _U0, state, rules)
    low, high, state = spawn(low, high, state, rules)
    after, reward = scratch.after, scratch.reward
    recording.scores[0] = 0
    ply = 0
    while True:
        join(low, high, _U0, recording.cells[ply], rules)
        slide_all(low, high, rules, after, reward)
        for d in range(4):
            if after[d, 0] != low or after[d, 1] != high:
                prefetch_value(after[d, 0], after[d, 1], tables)
        chosen = -1
        legal = 0
        best = np.float32(-np.inf)
        for d in range(4):
            worth = np.float32(np.nan)
            if after[d, 0] != low or after[d, 1] != high:
                legal += 1
                worth = np.float32(reward[d]) + value(after[d, 0], after[d, 1], tables)
                if worth > best:
                    best = worth
                    chosen = d
            if ply < last:
                recording.values[ply, d] = worth
        if chosen < 0 or ply == last:
            return ply, state, chosen < 0, False
        _book(recording, ply, chosen, legal, reward[chosen])
        ply += 1
        low, high = after[chosen, 0], after[chosen, 1]
        if reward[chosen] >= 32768 and is_wide(low, high, tables.ranks, rules):
            join(low, high, _U0, recording.cells[ply], rules)
            return ply, state, False, True
        low, high, state = spawn(low, high, state, rules)


@kernel
def _play_grid(
    ply: int, state: np.uint64, last: int, tables: Any, rules: Any, recording: Recording, scratch: Scratch
) -> Any:
    """Go on from the afterstate that ends the recording, exactly: plies, and whether the game is over."""
    after, reward = scratch.grids, scratch.reward
    state = grid.spawn(recording.cells[ply], state)
    while True:
        board = recording.cells[ply]
        chosen = -1
        legal = 0
        best = np.float32(-np.inf)
        for d in range(4):
            reward[d] = grid.slide_into(board, d, after[d])
            worth = np.float32(np.nan)
            if reward[d] >= 0:
                legal += 1
                worth = np.float32(reward[d]) + value_of(after[d], tables, rules)
                if worth > best:
                    best = worth
                    chosen = d
            if ply < last:
                recording.values[ply, d] = worth
        if chosen < 0 or ply == last:
            return ply, chosen < 0
        _book(recording, ply, chosen, legal, reward[chosen])
        ply += 1
        grid.copy_into(after[chosen], recording.cells[ply])
        state = grid.spawn(recording.cells[ply], state)


@kernel
def play_game(
    state: np.uint64, last: int, tables: Any, rules: Any, recording: Recording, scratch: Scratch
) -> Any:
    """Play a game from its start.

    Args:
        state: of the generator (`game2048.spawn.game_state`).
        last: stop after so many moves, at most what the recording can take.
        tables: the network.
        rules: of the board.
        recording: overwritten.
        scratch: overwritten.

    Returns:
        How many moves were made, and whether the game is over.
    """
    ply, state, over, wide = _play_words(state, last, tables, rules, recording, scratch)
    if not wide:
        return ply, over
    return _play_grid(ply, state, last, tables, rules, recording, scratch)


class GreedyPlayer:
    """Plays a network greedily; the same games as its agent plays a move at a time.

    Args:
        network: whose weights are shared, not copied.
        plan: see `Plan`.

    Raises:
        SolverError: the network is for another board than the plan.
    """

    def __init__(self, network: Network, plan: Plan) -> None:
        pattern = network.pattern
        if (pattern.rows, pattern.columns) != (plan.rows, plan.columns):
            raise SolverError(
                f"network {pattern.name} plays {pattern.rows}×{pattern.columns}, "
                f"not {plan.rows}×{plan.columns}"
            )
        self._plan = plan
        self._tables = network.tables()
        self._rules = make_rules(plan.rows, plan.columns)
        self._scratch = Scratch(
            np.zeros((4, 2), dtype=np.uint64),
            np.zeros(4, dtype=np.int64),
            np.zeros((4, plan.rows, plan.columns), dtype=np.uint8),
        )
        self._recording = self._room(_CAPACITY)

    def _room(self, capacity: int) -> Recording:
        return Recording(
            np.zeros((capacity + 1, self._plan.rows, self._plan.columns), dtype=np.uint8),
            np.zeros(capacity, dtype=np.uint8),
            np.zeros(capacity + 1, dtype=np.int64),
            np.zeros((capacity, 4)),
            np.zeros(capacity, dtype=np.int64),
        )

    def play(self, game: int) -> GameArrays:
        """See `Player.play`."""
        plan = self._plan
        state = np.uint64(game_state(plan.seed, game))
        while True:
            room = self._recording.directions.size
            last = room if plan.max_moves is None else min(room, plan.max_moves)
            plies, over = play_game(state, last, self._tables, self._rules, self._recording, self._scratch)
            if over or plies == plan.max_moves:
                break
            self._recording = self._room(2 * room)  # once more, with room for all of it
        r = self._recording
        known = plan.metadata and plies > 0
        return GameArrays(
            plan.info(game, "game_over" if over else "stopped"),
            r.cells[: plies + 1].copy(),
            r.directions[:plies].copy(),
            r.scores[: plies + 1].copy(),
            r.values[:plies].copy() if known else None,
            r.nodes[:plies].copy() if known else None,
            np.ones(plies, dtype=np.int16) if known else None,
        ).with_totals()
