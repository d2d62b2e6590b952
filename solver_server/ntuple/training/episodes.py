"""Episodes: a network plays greedily against the spawn rule, and learns if asked to. Kernels.

While no exponent is beyond the nibbles, a game is played on words
(`solver_server.ntuple.network_ops`); from then on on exact grids, of which the
network sees the downgraded form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from game2048.kernels import grid
from game2048.kernels.jit import kernel
from game2048.spawn import next_random
from solver_server.ntuple.network_ops import (
    is_wide,
    join,
    prefetch_value,
    seen_as,
    slide_all,
    spawn,
    split,
    value,
)
from solver_server.ntuple.training.td_kernels import (
    BEST_SCORE,
    BEST_TOP,
    EPISODES,
    GAME_RANDOM,
    GAMES,
    LENGTH,
    MOVES,
    RANDOM,
    RESTARTING,
    START_EXTRA,
    START_HIGH,
    START_LOW,
    Learner,
    Rate,
    Scratch,
    learn_backward,
    learn_step,
)

RESTART_BELOW = 10

# When a game is learned from
NEVER, ONLINE, BACKWARD = range(3)

_U0 = np.uint64(0)
_next_random = kernel(next_random)


@kernel
def _record(learner: Learner, low: np.uint64, high: np.uint64, extra: np.uint64, reward: int) -> None:
    t = learner.counts[LENGTH]
    learner.path[t, 0] = low
    learner.path[t, 1] = high
    learner.path[t, 2] = extra
    learner.reward[t] = reward
    learner.counts[LENGTH] = t + 1


@kernel
def _begin(learner: Learner, rules: Any) -> Any:
    """The first board of the next episode: a fresh one, or a spawn after the afterstate to restart from."""
    words, counts = learner.words, learner.counts
    counts[EPISODES] += 1
    counts[LENGTH] = 0
    low, high = _U0, _U0
    state = words[RANDOM]
    if counts[RESTARTING]:
        low, high = words[START_LOW], words[START_HIGH]
    else:
        counts[GAMES] += 1
        words[GAME_RANDOM] = state
        low, high, state = spawn(low, high, state, rules)
    low, high, words[RANDOM] = spawn(low, high, state, rules)
    return low, high


@kernel
def _choose_start(learner: Learner, starts: Any) -> None:
    """Let the next episode, which counts as a game, begin on one of the boards to start from."""
    words, counts = learner.words, learner.counts
    counts[GAMES] += 1
    words[GAME_RANDOM] = words[RANDOM]
    words[RANDOM], number = _next_random(words[RANDOM])
    i = number % np.uint64(starts.shape[0])
    words[START_LOW], words[START_HIGH], words[START_EXTRA] = starts[i, 0], starts[i, 1], starts[i, 2]
    counts[RESTARTING] = 1


@kernel
def _play_narrow(learner: Learner, tables: Any, rate: Rate, rules: Any, mode: int, scratch: Scratch) -> Any:
    """Play an episode from its start while its boards are narrow; the score, and whether the game is over."""
    after, reward = scratch.after, scratch.reward
    low, high = _begin(learner, rules)
    state = learner.words[RANDOM]
    score = np.int64(0)
    last = np.float32(0)
    over = False
    while learner.counts[LENGTH] < learner.reward.size:
        slide_all(low, high, rules, after, reward)
        for d in range(4):
            if after[d, 0] != low or after[d, 1] != high:
                prefetch_value(after[d, 0], after[d, 1], tables)
        chosen = -1
        best = np.float32(-np.inf)
        best_value = np.float32(0)
        for d in range(4):
            if after[d, 0] != low or after[d, 1] != high:
                worth = value(after[d, 0], after[d, 1], tables)
                if np.float32(reward[d]) + worth > best:
                    best = np.float32(reward[d]) + worth
                    best_value = worth
                    chosen = d
        if mode == ONLINE and learner.counts[LENGTH] > 0:
            target = best if chosen >= 0 else np.float32(0)
            learn_step(learner, last, target, tables, rate, rules, scratch)
        if chosen < 0:
            over = True
            break
        score += reward[chosen]
        last = best_value
        low, high = after[chosen, 0], after[chosen, 1]
        _record(learner, low, high, _U0, reward[chosen])
        if reward[chosen] >= 32768 and is_wide(low, high, tables.ranks, rules):
            break
        low, high, state = spawn(low, high, state, rules)
    learner.words[RANDOM] = state
    return score, over


@kernel
def value_of(board: Any, tables: Any, rules: Any) -> Any:
    """The value of an afterstate of uint8 [rows, columns], downgraded if need be."""
    low, high, extra = split(board, rules)
    if extra != _U0 or is_wide(low, high, tables.ranks, rules):
        low, high = seen_as(low, high, extra, tables.ranks, rules)
    return value(low, high, tables)


@kernel
def _play_wide(learner: Learner, tables: Any, rate: Rate, rules: Any, mode: int, scratch: Scratch) -> Any:
    """Go on after the afterstate in ``scratch.board``, exactly; the score made, whether the game is over."""
    board, after, reward = scratch.board, scratch.grids, scratch.reward
    last = value_of(board, tables, rules)
    state = grid.spawn(board, learner.words[RANDOM])
    score = np.int64(0)
    over = False
    while learner.counts[LENGTH] < learner.reward.size:
        chosen = -1
        best = np.float32(-np.inf)
        best_value = np.float32(0)
        for d in range(4):
            reward[d] = grid.slide_into(board, d, after[d])
            if reward[d] >= 0:
                worth = value_of(after[d], tables, rules)
                if np.float32(reward[d]) + worth > best:
                    best = np.float32(reward[d]) + worth
                    best_value = worth
                    chosen = d
        if mode == ONLINE and learner.counts[LENGTH] > 0:
            target = best if chosen >= 0 else np.float32(0)
            learn_step(learner, last, target, tables, rate, rules, scratch)
        if chosen < 0:
            over = True
            break
        score += reward[chosen]
        last = best_value
        grid.copy_into(after[chosen], board)
        low, high, extra = split(board, rules)
        _record(learner, low, high, extra, reward[chosen])
        state = grid.spawn(board, state)
    learner.words[RANDOM] = state
    return score, over


@kernel
def _play(learner: Learner, tables: Any, rate: Rate, rules: Any, mode: int, scratch: Scratch) -> Any:
    """Play one episode; its score, and whether the game is over (else the path is full)."""
    words, counts = learner.words, learner.counts
    if counts[RESTARTING] != 0 and (
        words[START_EXTRA] != _U0 or is_wide(words[START_LOW], words[START_HIGH], tables.ranks, rules)
    ):
        counts[EPISODES] += 1
        counts[LENGTH] = 0
        join(words[START_LOW], words[START_HIGH], words[START_EXTRA], scratch.board, rules)
        return _play_wide(learner, tables, rate, rules, mode, scratch)
    score, over = _play_narrow(learner, tables, rate, rules, mode, scratch)
    if over or counts[LENGTH] == learner.reward.size:
        return score, over
    t = counts[LENGTH] - 1
    join(learner.path[t, 0], learner.path[t, 1], learner.path[t, 2], scratch.board, rules)
    more, over = _play_wide(learner, tables, rate, rules, mode, scratch)
    return score + more, over


@kernel
def _prepare_restart(learner: Learner) -> None:
    """Let the next episode start half-way along the path, unless that has become short."""
    length = learner.counts[LENGTH]
    learner.counts[RESTARTING] = 0
    if length >= RESTART_BELOW:
        learner.counts[RESTARTING] = 1
        learner.words[START_LOW] = learner.path[length // 2, 0]
        learner.words[START_HIGH] = learner.path[length // 2, 1]
        learner.words[START_EXTRA] = learner.path[length // 2, 2]


@kernel
def _top_of(learner: Learner, t: int, rules: Any, cells: Any) -> Any:
    join(learner.path[t, 0], learner.path[t, 1], learner.path[t, 2], cells, rules)
    rows, columns = cells.shape
    top = np.int64(0)
    for r in range(rows):
        for c in range(columns):
            top = max(top, np.int64(cells[r, c]))
    return top


@kernel
def run(
    learner: Learner,
    tables: Any,
    rate: Rate,
    rules: Any,
    mode: int,
    moves: int,
    games: int,
    starts: Any,
    scores: Any,
    tops: Any,
    scratch: Scratch,
) -> Any:
    """Play and learn for a while.

    Args:
        learner: changed.
        tables: the network; its weights change.
        rate: its sums change.
        rules: of the board.
        mode: learn ``ONLINE``, or ``BACKWARD`` after each episode, and then restart half-way.
        moves: stop after the episode in which this many moves have been made.
        games: start no more games than this in all.
        starts: uint64 [n, 3], afterstates that games begin on, drawn at random; none: they begin afresh.
        scores: int64 [n], overwritten with the scores of games (restarts do not count); stops when full.
        tops: int64 [n], overwritten with their largest exponents.
        scratch: overwritten.

    Returns:
        How many games were written, and whether the last one is the best so far, by score or by tile: then
        the path is still its path.
    """
    counts = learner.counts
    until = counts[MOVES] + moves
    written = 0
    while counts[MOVES] < until and written < scores.size and (counts[RESTARTING] or counts[GAMES] < games):
        restarted = counts[RESTARTING]
        if not restarted and starts.shape[0] > 0:
            _choose_start(learner, starts)
        score, over = _play(learner, tables, rate, rules, mode, scratch)
        length = counts[LENGTH]
        counts[MOVES] += length
        counts[RESTARTING] = 0
        if mode == BACKWARD:
            learn_backward(learner, not over, tables, rate, rules, scratch)
            _prepare_restart(learner)
        if restarted:
            continue
        top = _top_of(learner, length - 1, rules, scratch.board)
        scores[written] = score
        tops[written] = top
        written += 1
        if score > counts[BEST_SCORE] or top > counts[BEST_TOP]:
            counts[BEST_SCORE] = max(score, counts[BEST_SCORE])
            counts[BEST_TOP] = max(top, counts[BEST_TOP])
            return written, True
    return written, False


@kernel
def play_games(
    learner: Learner, tables: Any, rate: Rate, rules: Any, states: Any, results: Any, scratch: Scratch
) -> None:
    """Play games greedily, learning nothing.

    Args:
        learner: its path is overwritten with each game's.
        tables: the network.
        rate: not used.
        rules: of the board.
        states: uint64 [games], the generator's first state in each.
        results: int64 [games, 3], overwritten with score, largest exponent and moves.
        scratch: overwritten.
    """
    for g in range(states.size):
        learner.words[RANDOM] = states[g]
        learner.counts[RESTARTING] = 0
        score, _ = _play(learner, tables, rate, rules, NEVER, scratch)
        length = learner.counts[LENGTH]
        results[g, 0] = score
        results[g, 1] = _top_of(learner, length - 1, rules, scratch.board)
        results[g, 2] = length
