"""Episodes: a network plays greedily against the spawn rule, and learns if asked to. Kernels.

All greedy play goes through the two loops here: training, measuring (`greedy_results`) and recording
(`greedy_recording`). While every exponent fits a nibble, a game is played on words
(`game2048.kernels.word_ops`); from then on on exact grids, which the network reads downgraded.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.kernels import grid
from game2048.kernels.jit import inlined_kernel, kernel
from game2048.kernels.rules import compiled_next_random
from game2048.kernels.word_ops import is_high, pack_words, slide_words, spawn_words, unpack_words
from game2048.kernels.words import U0, Words, is_move, read_after, read_words, write_words
from solver_server.ntuple.network_ops import value_of_cells, value_of_words
from solver_server.ntuple.training.td_kernels import LearningThread, LearnWhen, learn_backward, learn_step

RESTART_BELOW = 10
"""A path shorter than this is not restarted half-way."""
FIRST_HIGH_REWARD = 32768
"""Only a move that makes at least so many points can leave the words (`word_ops.is_high`)."""


class Quota(NamedTuple):
    """When to stop.

    Attributes:
        moves: stop after the episode in which the thread has made so many moves more.
        games: start no more games than this in all.
    """

    moves: int
    games: int


class GameResults(NamedTuple):
    """The results of games.

    Attributes:
        scores: int64 [n], the scores.
        tops: int64 [n], the largest exponents.
    """

    scores: npt.NDArray[np.int64]
    tops: npt.NDArray[np.int64]


@kernel
def start_of(learner: Any) -> Words:
    """Return the afterstate from which the next episode restarts."""
    state = learner.state[0]
    return Words(state.start_low, state.start_high, state.start_extra)


@kernel
def _set_start(words: Words, learner: Any) -> None:
    state = learner.state[0]
    state.start_low = words.low
    state.start_high = words.high
    state.start_extra = words.extra
    state.restarting = 1


@inlined_kernel
def _record(words: Words, chosen: int, thread: LearningThread) -> None:
    """Append a move to the path."""
    state: Any = thread.learner.state[0]
    path = thread.learner.path
    t = state.length
    write_words(words, path.afterstates, t)
    path.rewards[t] = thread.scratch.reward[chosen]
    path.directions[t] = chosen
    if path.worths.size:
        for d in range(4):
            path.worths[t, d] = thread.scratch.worth[d]
    state.length = t + 1


@inlined_kernel
def _choose_on_words(words: Words, thread: LearningThread) -> Any:
    """Find the direction of the largest reward + value (−1 if none is legal), and its afterstate's value."""
    after, reward, worth = thread.scratch.after, thread.scratch.reward, thread.scratch.worth
    slide_words(words, thread.rules, after, reward)
    chosen = -1
    best = np.float32(-np.inf)
    best_value = np.float32(0)
    for d in range(4):
        worth[d] = np.float32(np.nan)
        if is_move(words, after, d):
            value = value_of_words(read_after(after, d), thread.tables)
            worth[d] = np.float32(reward[d]) + value
            if np.float32(reward[d]) + value > best:
                best = np.float32(reward[d]) + value
                best_value = value
                chosen = d
    return chosen, best_value


@inlined_kernel
def _choose_on_grid(cells: Any, thread: LearningThread) -> Any:
    """Find the direction of the largest reward + value (−1 if none is legal), and its afterstate's value."""
    after, reward, worth = thread.scratch.grids, thread.scratch.reward, thread.scratch.worth
    chosen = -1
    best = np.float32(-np.inf)
    best_value = np.float32(0)
    for d in range(4):
        worth[d] = np.float32(np.nan)
        reward[d] = grid.slide_into(cells, d, after[d])
        if reward[d] >= 0:
            value = value_of_cells(after[d], thread.tables, thread.rules)
            worth[d] = np.float32(reward[d]) + value
            if worth[d] > best:
                best = worth[d]
                best_value = value
                chosen = d
    return chosen, best_value


@inlined_kernel
def _learn_online(chosen: int, before: Any, thread: LearningThread) -> None:
    """Learn from the move just chosen, if the thread learns online; ``before``: see `learn_step`."""
    state: Any = thread.learner.state[0]
    if thread.when == LearnWhen.ONLINE and state.length > 0:
        target = thread.scratch.worth[chosen] if chosen >= 0 else np.float32(0)
        learn_step(before, target, thread)


@kernel
def _begin(thread: LearningThread) -> Words:
    """Make the first board of the next episode: a fresh one, or a spawn on the afterstate to restart from."""
    state: Any = thread.learner.state[0]
    state.episodes += 1
    state.length = 0
    words: Words = Words(U0, U0, U0)
    random = state.random
    if state.restarting:
        words = start_of(thread.learner)
    else:
        state.games += 1
        state.game_random = random
        words, random = spawn_words(words, random, thread.rules)
    words, random = spawn_words(words, random, thread.rules)
    state.random = random
    return words


@kernel
def draw_start(thread: LearningThread, starts: Any) -> None:
    """Let the next episode begin on one of the boards to start from."""
    state: Any = thread.learner.state[0]
    state.game_random = state.random
    random, number = compiled_next_random(state.random)
    state.random = random
    i: Any = number % np.uint64(starts.shape[0])
    _set_start(read_words(starts, i), thread.learner)


@kernel
def _play_on_words(thread: LearningThread) -> Any:
    """Play an episode while its boards fit words; return the score, and whether the game is over."""
    state: Any = thread.learner.state[0]
    scratch = thread.scratch
    words = _begin(thread)
    random = state.random
    score = np.int64(0)
    last = np.float32(0)
    over = False
    while state.length < thread.learner.path.rewards.size:
        chosen, value = _choose_on_words(words, thread)
        _learn_online(chosen, last, thread)
        if chosen < 0:
            over = True
            break
        score += scratch.reward[chosen]
        last = value
        words = read_after(scratch.after, chosen)
        _record(words, chosen, thread)
        if scratch.reward[chosen] >= FIRST_HIGH_REWARD and is_high(words, thread.tables.ranks, thread.rules):
            break
        words, random = spawn_words(words, random, thread.rules)
    state.random = random
    return score, over


@kernel
def play_on_grid(thread: LearningThread) -> Any:
    """Continue on the exact ``scratch.cells``; return the added score, and whether the game is over."""
    state: Any = thread.learner.state[0]
    scratch = thread.scratch
    cells = scratch.cells
    last = value_of_cells(cells, thread.tables, thread.rules)
    random = grid.spawn_into(cells, state.random)
    score = np.int64(0)
    over = False
    while state.length < thread.learner.path.rewards.size:
        chosen, value = _choose_on_grid(cells, thread)
        _learn_online(chosen, last, thread)
        if chosen < 0:
            over = True
            break
        score += scratch.reward[chosen]
        last = value
        grid.copy_into(scratch.grids[chosen], cells)
        _record(pack_words(cells, thread.rules), chosen, thread)
        random = grid.spawn_into(cells, random)
    state.random = random
    return score, over


@kernel
def play_episode(thread: LearningThread) -> Any:
    """Play one episode: a game from its start, or a restart if the learner's state says so.

    Returns:
        Its score, and whether the game is over (else the path is full).
    """
    state: Any = thread.learner.state[0]
    start = start_of(thread.learner)
    if state.restarting != 0 and (start.extra != U0 or is_high(start, thread.tables.ranks, thread.rules)):
        state.episodes += 1
        state.length = 0
        unpack_words(start, thread.scratch.cells, thread.rules)
        return play_on_grid(thread)
    score, over = _play_on_words(thread)
    if over or state.length == thread.learner.path.rewards.size:
        return score, over
    last = read_words(thread.learner.path.afterstates, state.length - 1)
    unpack_words(last, thread.scratch.cells, thread.rules)
    more, over = play_on_grid(thread)
    return score + more, over


@kernel
def _prepare_restart(learner: Any) -> None:
    """Let the next episode start half-way along the path, unless that has become short."""
    state: Any = learner.state[0]
    state.restarting = 0
    if state.length >= RESTART_BELOW:
        _set_start(read_words(learner.path.afterstates, state.length // 2), learner)


@kernel
def last_top(thread: LearningThread) -> Any:
    """Return the largest exponent at the end of the path."""
    cells = thread.scratch.cells
    state: Any = thread.learner.state[0]
    unpack_words(read_words(thread.learner.path.afterstates, state.length - 1), cells, thread.rules)
    rows, columns = cells.shape
    top = np.int64(0)
    for r in range(rows):
        for c in range(columns):
            top = max(top, np.int64(cells[r, c]))
    return top


@kernel
def learn_for_a_while(thread: LearningThread, starts: Any, quota: Quota, results: GameResults) -> Any:
    """Play and learn until a quota is reached, the results are full, or a game is better than all before.

    Args:
        thread: changed.
        starts: uint64 [n, 3], afterstates that games begin on, drawn at random; [0, 3] for fresh boards.
        quota: when to stop.
        results: overwritten with the games that ended; restarts do not count.

    Returns:
        How many games were written, and whether the last one is the best so far, by score or by tile: then
        the path is still its path.
    """
    state: Any = thread.learner.state[0]
    until = state.moves + quota.moves
    written = 0
    while (
        state.moves < until
        and written < results.scores.size
        and (state.restarting or state.games < quota.games)
    ):
        restarted = state.restarting
        if not restarted and starts.shape[0] > 0:
            draw_start(thread, starts)
            state.games += 1
        score, over = play_episode(thread)
        state.moves += state.length
        state.restarting = 0
        if thread.when == LearnWhen.BACKWARD:
            learn_backward(not over, thread)
            _prepare_restart(thread.learner)
        if restarted:
            continue
        top = last_top(thread)
        results.scores[written] = score
        results.tops[written] = top
        written += 1
        if score > state.best_score or top > state.best_top:
            state.best_score = max(score, state.best_score)
            state.best_top = max(top, state.best_top)
            return written, True
    return written, False


@kernel
def play_for_results(thread: LearningThread, states: Any, results: Any) -> None:
    """Play games greedily, learning nothing.

    Args:
        thread: its path is overwritten with each game's.
        states: uint64 [games], first state of the generator in each game.
        results: int64 [games, 3], overwritten with score, largest exponent and number of moves.
    """
    state: Any = thread.learner.state[0]
    for g in range(states.size):
        state.random = states[g]
        state.restarting = 0
        score, _ = play_episode(thread)
        results[g, 0] = score
        results[g, 1] = last_top(thread)
        results[g, 2] = state.length
