"""Several 4×4 games at once in one thread, move by move in turns. Kernels.

A move reads some hundred weights that lie far apart, and a single game waits for them. Here a game's
afterstates are made one turn early, and the cache lines of their weights are asked for; they arrive while
another game moves. Each game has a *lane*: a state of its own (`td_kernels.LEARNER_STATE`) with its own
generator, and a path. All lanes of a thread learn in the same weights, in the order of their turns, so the
network depends on the seed and on the number of lanes alone, not on when a kernel returns. With one lane
everything happens as in `episodes`, which plays the other boards and learns backward.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from game2048.kernels.intrinsics import prefetch, select
from game2048.kernels.jit import inlined_kernel, kernel
from game2048.kernels.one_word_board import has_high_ranks, slide_one_word, spawn_one_word, unpack_one_word
from game2048.kernels.words import U0, U3, Words
from solver_server.ntuple.one_word_network import list_entries_one_word, prefetch_one_word, value_one_word
from solver_server.ntuple.training.episodes import (
    FIRST_HIGH_REWARD,
    GameResults,
    Quota,
    draw_start,
    last_top,
    play_on_grid,
    start_of,
)
from solver_server.ntuple.training.td_kernels import (
    GamePath,
    Learner,
    LearningScratch,
    LearningThread,
    LearnWhen,
    update,
)

AHEAD = 1
"""How many turns early the afterstates of a game are made."""

_NOT_PLAYING, _ON_WORDS, _ON_GRID = 0, 1, 2


@inlined_kernel
def _after(number: int, lanes: int) -> int:
    """Return the lane whose turn comes after another's."""
    return number + 1 if number + 1 < lanes else 0


@inlined_kernel
def _word(board: np.uint64) -> Words:
    return Words(board, U0, U0)


@kernel
def _lane(number: int, thread: LearningThread) -> LearningThread:
    """Return a thread that plays in one lane alone."""
    learner, scratch = thread.learner, thread.scratch
    path = learner.path
    length = path.rewards.size // learner.state.size
    first = number * length
    last = first + length
    own = GamePath(
        path.afterstates[first:last], path.rewards[first:last], path.directions[first:last], path.worths
    )
    return LearningThread(
        Learner(learner.state[number : number + 1], own),
        thread.tables,
        thread.rules,
        thread.rate,
        LearningScratch(
            scratch.entries[number : number + 1],
            scratch.after[4 * number : 4 * number + 4],
            scratch.reward[4 * number : 4 * number + 4],
            scratch.worth,
            scratch.cells,
            scratch.grids,
        ),
        thread.when,
    )


@inlined_kernel
def _fetch(number: int, board: np.uint64, thread: Any) -> None:
    """Make the afterstates of a board, and ask for the weights of their values."""
    after = thread.scratch.after[4 * number : 4 * number + 4]
    slide_one_word(_word(board), thread.rules, after, thread.scratch.reward[4 * number : 4 * number + 4])
    for d in range(4):
        if after[d, 0] != board:
            prefetch_one_word(_word(after[d, 0]), thread.tables)


@inlined_kernel
def _choose(number: int, board: np.uint64, thread: Any) -> Any:
    """Find the direction of the largest reward + value (−1 if none is legal), that sum, and the value."""
    after, reward = thread.scratch.after, thread.scratch.reward
    chosen = np.int64(-1)
    best = np.float32(-np.inf)
    best_value = np.float32(0)
    for d in range(4):
        afterstate = after[4 * number + d, 0]
        if afterstate != board:
            value = value_one_word(_word(afterstate), thread.tables)
            worth = np.float32(reward[4 * number + d]) + value
            better = worth > best
            best = select(better, worth, best)
            best_value = select(better, value, best_value)
            chosen = select(better, np.int64(d), chosen)
    return chosen, best, best_value


@kernel
def _begin(number: int, thread: Any, starts: Any) -> None:
    """Begin a game in a lane: on a fresh board, or on a spawn on one of the boards to start from."""
    state: Any = thread.learner.state[number]
    state.length = 0
    state.score = 0
    state.unrecorded = 0
    state.playing = _ON_WORDS
    words = Words(U0, U0, U0)
    if starts.shape[0] > 0:
        lane = _lane(number, thread)
        draw_start(lane, starts)
        state.restarting = 0
        words = start_of(lane.learner)
        if words.extra != U0 or has_high_ranks(words.low, thread.tables.ranks):
            state.playing = _ON_GRID
            return
    else:
        state.game_random = state.random
        words, state.random = spawn_one_word(words, state.random, thread.rules)
    words, state.random = spawn_one_word(words, state.random, thread.rules)
    state.board = words.low


@inlined_kernel
def _prepare(number: int, thread: Any, starts: Any) -> None:
    """Make a lane ready for its next turn."""
    state: Any = thread.learner.state[number]
    if state.playing == _NOT_PLAYING:
        _begin(number, thread, starts)
    if state.playing == _ON_WORDS:
        _fetch(number, state.board, thread)


@inlined_kernel
def _note(number: int, thread: Any) -> None:
    """List the active weights of the last afterstate of a lane, and ask for their sums."""
    state: Any = thread.learner.state[number]
    entries = thread.scratch.entries[number]
    list_entries_one_word(_word(state.before), thread.tables, entries)
    if thread.rate.sums.size:
        sums = np.uint64(thread.rate.sums.ctypes.data)
        for j in range(entries.size):
            prefetch(sums + (entries[j] << U3))


@kernel
def _note_again(number: int, thread: Any) -> None:
    """Do `_note` for a game that goes on; not inlined, since that happens once."""
    _note(number, thread)


@inlined_kernel
def _learn(number: int, target: Any, thread: Any) -> None:
    """Move the last afterstate of a lane towards a target; see `td_kernels.learn_step`."""
    state: Any = thread.learner.state[number]
    error = np.float32(target - state.before_value)
    if np.isfinite(error):
        update(thread.scratch.entries[number], error, thread.tables, thread.rate)
    else:
        state.faults += 1


@kernel
def _finish_on_grid(number: int, thread: Any) -> None:
    """Play the rest of a lane's game, whose boards do not fit words any more, from ``scratch.cells``."""
    state: Any = thread.learner.state[number]
    before = state.length
    more, _ = play_on_grid(_lane(number, thread))
    state.score += more
    state.moves += state.length - before


@inlined_kernel
def _record(chosen: int, number: int, thread: Any) -> None:
    """Append a move to the path of a lane."""
    state: Any = thread.learner.state[number]
    path = thread.learner.path
    t = number * (path.rewards.size // thread.learner.state.size) + state.length
    path.afterstates[t, 0] = state.before
    path.afterstates[t, 1] = U0
    path.afterstates[t, 2] = U0
    path.rewards[t] = thread.scratch.reward[4 * number + chosen]
    path.directions[t] = chosen
    state.length += 1


@inlined_kernel
def _move(number: int, thread: Any) -> bool:
    """Choose a lane's move, learn from it, and make it; return whether the game is over."""
    state: Any = thread.learner.state[number]
    if state.playing == _ON_GRID:
        start = start_of(_lane(number, thread).learner)
        unpack_one_word(start, thread.scratch.cells, thread.rules)
        _finish_on_grid(number, thread)
        return True
    chosen, best, value = _choose(number, state.board, thread)
    if thread.when == LearnWhen.ONLINE and state.length > 0:
        _learn(number, best if chosen >= 0 else np.float32(0), thread)
    if chosen < 0:
        return True
    state.before = thread.scratch.after[4 * number + chosen, 0]
    state.before_value = value
    reward = thread.scratch.reward[4 * number + chosen]
    state.score += reward
    state.moves += 1
    _record(chosen, number, thread)
    if reward >= FIRST_HIGH_REWARD and has_high_ranks(state.before, thread.tables.ranks):
        unpack_one_word(_word(state.before), thread.scratch.cells, thread.rules)
        _finish_on_grid(number, thread)
        return True
    if thread.when == LearnWhen.ONLINE:
        _note(number, thread)
    words, state.random = spawn_one_word(_word(state.before), state.random, thread.rules)
    state.board = words.low
    return False


@kernel
def _is_best(number: int, top: Any, learner: Learner) -> bool:
    """Return whether a lane's game is better than all before, by score or by tile; then all lanes note it."""
    state: Any = learner.state[number]
    if state.score <= state.best_score and top <= state.best_top:
        return False
    score = max(state.score, state.best_score)
    top = max(top, state.best_top)
    for i in range(learner.state.size):
        other: Any = learner.state[i]
        other.best_score = score
        other.best_top = top
    return True


@kernel
def learn_in_lockstep(thread: Any, starts: Any, quota: Quota, results: GameResults) -> Any:
    """Play and learn until a game ends that fills a quota or the results, or is better than all before.

    Args:
        thread: its learner has all lanes: state [lanes], paths one behind the other. Changed.
        starts: uint64 [n, 3], afterstates that games begin on, drawn at random; [0, 3] for fresh boards.
        quota: when to stop; games count when they end.
        results: overwritten with the games that ended.

    Returns:
        How many games were written, and the lane of the last one if it is the best so far, else −1.
    """
    states = thread.learner.state
    lanes = states.size
    games = np.int64(0)
    moves = np.int64(0)
    for i in range(lanes):
        lane: Any = states[i]
        games += lane.games
        moves += lane.moves
        if lane.playing == _ON_WORDS and lane.length > 0:
            _note_again(i, thread)
    until = moves + quota.moves
    written = 0
    if games >= quota.games or moves >= until:
        return written, -1
    first: Any = states[0]
    turn = first.turn
    later = turn
    early = min(AHEAD, lanes - 1)
    while True:
        _prepare(later, thread, starts)
        later = _after(later, lanes)
        if early > 0:
            early -= 1
            continue
        number = turn
        turn = _after(turn, lanes)
        if not _move(number, thread):
            continue
        state: Any = states[number]
        state.playing = _NOT_PLAYING
        state.games += 1
        state.episodes += 1
        first.turn = turn
        games += 1
        top = last_top(_lane(number, thread))
        results.scores[written] = state.score
        results.tops[written] = top
        written += 1
        if _is_best(number, top, thread.learner):
            return written, number
        moves = np.int64(0)
        for i in range(lanes):
            lane = states[i]
            moves += lane.moves
        if games >= quota.games or moves >= until or written == results.scores.size:
            return written, -1


@kernel
def play_in_lockstep(thread: Any, randoms: Any, results: Any) -> None:
    """Play games greedily, learning nothing; the results are those of `episodes.play_for_results`.

    Args:
        thread: its lanes are overwritten; ``when`` must be `LearnWhen.NEVER`.
        randoms: uint64 [games], first state of the generator in each game.
        results: int64 [games, 3], overwritten with score, largest exponent and number of moves.
    """
    states = thread.learner.state
    lanes = states.size
    for i in range(lanes):
        idle: Any = states[i]
        idle.playing = _NOT_PLAYING
    begun = np.int64(0)
    over = np.int64(0)
    turn = 0
    later = 0
    early = min(AHEAD, lanes - 1)
    while over < randoms.size:
        begun = _deal(later, thread, randoms, begun)
        later = _after(later, lanes)
        if early > 0:
            early -= 1
            continue
        state: Any = states[turn]
        if state.playing != _NOT_PLAYING and _move(turn, thread):
            state.playing = _NOT_PLAYING
            game = state.episodes
            results[game, 0] = state.score
            results[game, 1] = last_top(_lane(turn, thread))
            results[game, 2] = state.length
            over += 1
        turn = _after(turn, lanes)


@inlined_kernel
def _deal(number: int, thread: Any, randoms: Any, begun: Any) -> Any:
    """Make a lane ready for its next turn, with the next game if its own is over; return the games begun."""
    state: Any = thread.learner.state[number]
    if state.playing == _NOT_PLAYING:
        if begun == randoms.size:
            return begun
        state.random = randoms[begun]
        state.episodes = begun
        begun += 1
    _prepare(number, thread, thread.learner.path.afterstates[:0])
    return begun
