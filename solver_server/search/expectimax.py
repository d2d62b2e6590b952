"""The expectimax search of all engines but `order`.

A decision node is the maximum over legal directions of merge reward + value of the afterstate; a chance node
is the mean over spawns. Engines differ only in data: the evaluator of the leaves, the policy of
chance nodes, and the limits.

Depth is counted in plies here (a player's move is one, a spawn is one), because a search may end on either:
n player moves with afterstates at the leaves are 2n − 1 plies.

The search keeps its own stack: a recursive kernel would hand a hundred words of arguments down at each call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.kernels.bitboard import RowTables
from game2048.kernels.jit import kernel
from solver_server.search.board_ops import key_of, make_boards, put_tile, slide_at
from solver_server.search.chance import ChancePolicy, Spawns, list_spawns
from solver_server.search.clock import now
from solver_server.search.evaluator import value_of_leaf
from solver_server.search.transposition import TranspositionTable, holds, slot_of, store

MAX_PLIES = 31
LEVELS = MAX_PLIES // 2 + 1
NO_LIMIT = np.iinfo(np.int64).max
"""A limit on nodes that no search reaches."""
_CLOCK_EVERY = 4  # chance nodes between two looks at the clock, each some microseconds of evaluation


class Stack(NamedTuple):
    """The chance nodes on the current path, with the decision node below each.

    A level is a chance node, an afterstate whose spawns are taken one after another; its ``state`` is the
    board after the current spawn, whose directions are tried one after another.

    Attributes:
        afters: boards [levels + 1], the afterstates; the entry above the last open level is scratch.
        states: boards [levels].
        keys: uint64 [levels], of the afterstates.
        plies: int64 [levels], left below the afterstate.
        counts: int64 [levels], spawns of the node.
        spawns: int64 [levels], the current one.
        directions: int64 [levels], the next to try.
        probabilities: float64 [levels], of reaching the afterstate.
        rewards: float64 [levels], weighted merge reward of the direction being searched.
        best: float64 [levels], over the directions tried.
        values: float64 [levels], the mean so far.
    """

    afters: Any
    states: Any
    keys: npt.NDArray[np.uint64]
    plies: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    spawns: npt.NDArray[np.int64]
    directions: npt.NDArray[np.int64]
    probabilities: npt.NDArray[np.float64]
    rewards: npt.NDArray[np.float64]
    best: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]


class Span(NamedTuple):
    """The depths and limits of `decide`.

    Attributes:
        first: plies of the first search, at least 1.
        last: plies of the last one, at most `MAX_PLIES`.
        seconds: wall-clock limit for all but the first depth; infinite for none.
        nodes: limit on the nodes of all depths together; it too spares the first.
        growth: expected ratio of the nodes of a depth to those of the depth before; a depth that would pass
            the limit is not begun.
    """

    first: int
    last: int
    seconds: float
    nodes: int
    growth: float


class Search(NamedTuple):
    """Everything that a search needs, as one argument of kernels.

    Attributes:
        rows: the row tables, used on 4×4 boards.
        evaluator: gives leaves their value (`evaluator.value_of_leaf`).
        chance: how chance nodes are expanded.
        spawns: scratch for the spawns of each level.
        stack: scratch for the path.
        exact_depth: whether a transposition must have been searched exactly as deep (else: at least as deep).
        table: the transposition table.
        counters: int64 [2]: nodes so far; 1 once a limit has been passed.
        values: float64 [2, 4], of the directions at the root: by the deepest finished search, by the current.
        deadline: float64 [1], in seconds of `clock.now`.
        node_limit: int64 [1], nodes after which a search stops.
        clock: int64 [2], scratch of `clock.now`.
        stop: int64 [1], not 0 once the caller wants the search to stop (`StopFlag.array`).
    """

    rows: RowTables
    evaluator: Any
    chance: ChancePolicy
    spawns: Spawns
    stack: Stack
    exact_depth: bool
    table: TranspositionTable
    counters: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    deadline: npt.NDArray[np.float64]
    node_limit: npt.NDArray[np.int64]
    clock: npt.NDArray[np.int64]
    stop: npt.NDArray[np.int64]


def make_stack(board_shape: tuple[int, ...]) -> Stack:
    """Make a stack for boards of a shape (`board_ops.make_boards`)."""
    return Stack(
        afters=make_boards(LEVELS + 1, board_shape),
        states=make_boards(LEVELS, board_shape),
        keys=np.zeros(LEVELS, dtype=np.uint64),
        plies=np.zeros(LEVELS, dtype=np.int64),
        counts=np.zeros(LEVELS, dtype=np.int64),
        spawns=np.zeros(LEVELS, dtype=np.int64),
        directions=np.zeros(LEVELS, dtype=np.int64),
        probabilities=np.zeros(LEVELS),
        rewards=np.zeros(LEVELS),
        best=np.zeros(LEVELS),
        values=np.zeros(LEVELS),
    )


@kernel
def _known_value(level: int, key: np.uint64, plies: int, probability: float, search: Search) -> Any:
    """Tell whether the afterstate on a level is settled without expansion, and its value then."""
    if plies == 0 or probability < search.chance.min_probability:
        search.counters[0] += 1
        return True, value_of_leaf(search.stack.afters[level], search.evaluator)
    slot = slot_of(key, search.table.entries.size)
    if holds(slot, key, plies, search.exact_depth, search.table):
        return True, search.table.entries[slot].value
    return False, 0.0


@kernel
def _open(level: int, key: np.uint64, plies: int, probability: float, search: Search) -> None:
    """Make the afterstate on a level a chance node to expand."""
    stack = search.stack
    stack.keys[level] = key
    stack.plies[level] = plies
    stack.probabilities[level] = probability
    stack.values[level] = 0.0
    stack.counts[level] = list_spawns(stack.afters[level], level, search.chance, search.spawns)
    stack.spawns[level] = 0
    _place(level, search)
    search.counters[0] += 1
    if search.counters[0] > search.node_limit[0] or _is_late(search):
        search.counters[1] = 1


@kernel
def _is_late(search: Search) -> bool:
    """Tell whether the deadline has passed or the caller wants to stop; checked only now and then."""
    if search.counters[0] % _CLOCK_EVERY != 0:
        return False
    return bool(search.stop[0] != 0 or now(search.clock) > float(search.deadline[0]))


@kernel
def _place(level: int, search: Search) -> None:
    """Make the decision node of the current spawn."""
    stack, spawns = search.stack, search.spawns
    i = stack.spawns[level]
    put_tile(stack.afters, level, spawns.cells[level, i], spawns.exponents[level, i], stack.states, level)
    stack.directions[level] = 0
    stack.best[level] = -np.inf


@kernel
def _advance(level: int, value: float, search: Search) -> bool:
    """Book the value of the current spawn and go on to the next; False when there is none left."""
    stack = search.stack
    stack.values[level] += search.spawns.weights[level, stack.spawns[level]] * value
    stack.spawns[level] += 1
    if stack.spawns[level] == stack.counts[level]:
        return False
    _place(level, search)
    return True


@kernel
def _try_directions(level: int, search: Search) -> bool:
    """Try the directions of the current decision node in turn.

    Returns:
        True when all are tried; False when one must be searched deeper, which is then open on the next level.
    """
    stack = search.stack
    plies = stack.plies[level] - 2
    weight = search.spawns.weights[level, stack.spawns[level]]
    probability = stack.probabilities[level] * weight
    for direction in range(stack.directions[level], 4):
        reward, moved = slide_at(stack.states, level, direction, stack.afters, level + 1, search.rows)
        if not moved:
            continue
        weighted = search.evaluator.reward_weight * reward
        key = key_of(stack.afters[level + 1])
        known, value = _known_value(level + 1, key, plies, probability, search)
        if not known:
            stack.rewards[level] = weighted
            stack.directions[level] = direction + 1
            _open(level + 1, key, plies, probability, search)
            return False
        stack.best[level] = max(stack.best[level], weighted + value)
    return True


@kernel
def _current_value(level: int, search: Search) -> Any:
    """Tell whether the board after the current spawn is finished, and its value then."""
    stack = search.stack
    if stack.plies[level] == 1:
        search.counters[0] += 1
        return True, value_of_leaf(stack.states[level], search.evaluator)
    if not _try_directions(level, search):
        return False, 0.0
    best = stack.best[level]
    return True, search.evaluator.dead_value if best == -np.inf else best


@kernel
def afterstate_value(plies: int, search: Search) -> float:
    """Compute the value of the board ``search.stack.afters[0]``, on which a spawn is due.

    Args:
        plies: how deep to search: 0 evaluates it as it is, 1 ends on the boards after the spawn, 2 on the
            afterstates of the next move, and so on.
        search: see `Search`.

    Returns:
        The value; meaningless once a limit has been passed (``search.counters[1]``).
    """
    stack = search.stack
    level = 0
    key = key_of(stack.afters[0])
    known, value = _known_value(0, key, plies, 1.0, search)
    if known:
        return float(value)
    _open(0, key, plies, 1.0, search)
    while search.counters[1] == 0:
        done, value = _current_value(level, search)
        if not done:
            level += 1
        elif not _advance(level, value, search):
            value = stack.values[level]
            key = stack.keys[level]
            store(slot_of(key, search.table.entries.size), key, stack.plies[level], value, search.table)
            level -= 1
            if level < 0:
                return float(value)
            stack.best[level] = max(stack.best[level], stack.rewards[level] + value)
    return 0.0


@kernel
def move_value(boards: Any, direction: int, plies: int, search: Search) -> float:
    """Search one direction of a board.

    Args:
        boards: the board to move on, as an array of one (`position.make_boards`).
        direction: its index.
        plies: how deep, the first move included; at least 1.
        search: see `Search`.

    Returns:
        Merge reward + value of the afterstate; NaN where the direction is illegal.
    """
    reward, moved = slide_at(boards, 0, direction, search.stack.afters, 0, search.rows)
    if not moved:
        return np.nan
    return float(search.evaluator.reward_weight * reward + afterstate_value(plies - 1, search))


@kernel
def root_values(boards: Any, plies: int, search: Search, values: Any) -> int:
    """Search every legal direction of a board.

    Args:
        boards: see `move_value`.
        plies: see `move_value`.
        search: see `Search`.
        values: float64 [4], overwritten; NaN where the direction is illegal.

    Returns:
        The best direction, or −1 if none is legal. Of equal ones the first.
    """
    best = -1
    for direction in range(4):
        value = move_value(boards, direction, plies, search)
        values[direction] = value
        if not np.isnan(value) and (best < 0 or value > values[best]):
            best = direction
    return best


@kernel
def begin(search: Search) -> None:
    """Make a search ready for a board: nothing known, nothing spent, no limit."""
    search.table.generation[0] += 1
    search.counters[0] = search.counters[1] = 0
    search.deadline[0] = np.inf
    search.node_limit[0] = NO_LIMIT


@kernel
def decide(
    boards: Any, first: int, last: int, seconds: float, nodes: int, growth: float, search: Search
) -> Any:
    """Deepen from ``first`` to ``last`` plies, a player move and a spawn at a time, within limits.

    The first depth is always finished, so that there is a move to answer with, unless ``search.stop`` is set;
    a depth that a limit cuts short is thrown away. The values of the deepest finished search are left in
    ``search.values[0]``.

    Args:
        boards: the board to move on, as an array of one.
        first: plies of the first search, at least 1.
        last: plies of the last one, at most `MAX_PLIES`.
        seconds: wall-clock limit for all but the first depth; infinite for none.
        nodes: limit on the nodes of all depths together; it too spares the first.
        growth: how many times the nodes of the depth before it a depth is expected to take; where that would
            pass the limit it is not begun.
        search: see `Search`.

    Returns:
        The best direction (−1 if none is legal) and the plies of the deepest finished search.
    """
    begin(search)
    limit = now(search.clock) + seconds
    before = 0
    best = root_values(boards, first, search, search.values[0])
    reached = first
    search.deadline[0] = limit
    search.node_limit[0] = nodes
    for plies in range(first + 2, last + 1, 2):
        spent = search.counters[0] - before
        if best < 0 or now(search.clock) > limit or search.counters[0] + growth * spent > nodes:
            break
        before = search.counters[0]
        found = root_values(boards, plies, search, search.values[1])
        if search.counters[1] != 0:
            break
        best = found
        for direction in range(4):
            search.values[0, direction] = search.values[1, direction]
        reached = plies
    return best, reached


@kernel
def decide_many(boards: Any, span: Span, turn: float, search: Search, directions: Any) -> int:
    """Decide one board after another, each as `decide` does.

    Args:
        boards: uint64 [n] or uint8 [n, rows, columns], the boards to move on.
        span: how far to deepen on each board.
        turn: seconds after which no further board is begun; the first always is.
        search: see `Search`.
        directions: int8 [n], overwritten: the best direction, or −1 where none is legal.

    Returns:
        How many boards, from the first on, have their direction.
    """
    end = now(search.clock) + turn
    for i in range(directions.size):
        if i > 0 and now(search.clock) > end:
            return i
        best, _ = decide(
            boards[i : i + 1], span.first, span.last, span.seconds, span.nodes, span.growth, search
        )
        if search.stop[0] != 0:
            return i
        directions[i] = best
    return int(directions.size)
