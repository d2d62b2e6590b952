from __future__ import annotations

import numpy as np
import pytest
from support.naive import best_expected_score

from game2048.board import Board
from game2048.direction import DIRECTIONS
from game2048.kernels import grid
from game2048.kernels.word_ops import make_move_rules, pack_words, unpack_words
from game2048.kernels.words import as_words
from game2048.spawn import chance_outcomes, game_state, next_random, pick
from game2048.symmetry import permutations
from solver_server.ntuple import network
from solver_server.ntuple.greedy_results import GreedyScorer
from solver_server.ntuple.network_ops import list_entries, value_of_cells, value_of_words
from solver_server.ntuple.patterns import PATTERNS, Pattern, active_weights
from solver_server.ntuple.training import td_kernels
from solver_server.ntuple.training.episodes import GameResults, Quota, learn_for_a_while
from solver_server.ntuple.training.settings import Settings
from solver_server.ntuple.training.start_boards import no_starts
from solver_server.ntuple.training.td_kernels import (
    NO_RATE,
    Learner,
    LearningThread,
    LearnWhen,
    Rate,
)
from solver_server.ntuple.training.training_state import Training

# V = w0[c0 + 16·c1] + w1[c2 + 16·c3]; two active weights, small enough to follow by hand.
TWO_ROWS = Pattern("custom", 2, 2, ((0, 1), (2, 3)), symmetric=False)
W0, W1 = 0, 256
NO_SUMS = np.zeros(0, dtype=np.float32)


def thread_of(
    learner: Learner, pattern: Pattern, weights: np.ndarray, rate: Rate, when: LearnWhen
) -> LearningThread:
    return LearningThread(
        learner,
        network.make_tables(pattern, weights),
        make_move_rules(pattern.rows, pattern.columns),
        rate,
        td_kernels.make_scratch(pattern.rows, pattern.columns, active_weights(pattern)),
        when,
    )


def one_result() -> GameResults:
    return GameResults(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))


def with_path(*steps: tuple[list[int], int]) -> Learner:
    """A learner whose last game had these afterstates (2×2) and rewards."""
    learner = td_kernels.make_learner(0)
    rules = make_move_rules(2, 2)
    for t, (cells, reward) in enumerate(steps):
        learner.path.afterstates[t] = pack_words(np.array(cells, dtype=np.uint8).reshape(2, 2), rules)
        learner.path.rewards[t] = reward
    learner.put("length", len(steps))
    return learner


def learn_backward(learner: Learner, weights: np.ndarray, rate: Rate) -> None:
    td_kernels.learn_backward(False, thread_of(learner, TWO_ROWS, weights, rate, LearnWhen.BACKWARD))


def test_td_backward_by_hand() -> None:
    weights = np.zeros(512, dtype=np.float32)
    weights[W0 + 2], weights[W1 + 0] = 10, 2
    learner = with_path(([1, 0, 0, 0], 0), ([2, 0, 0, 0], 8))
    learn_backward(learner, weights, Rate(NO_SUMS, np.float32(0.25), np.float32(0.5)))
    # Last afterstate: V = 10 + 2 = 12, target 0, error −12, so both weights −3: V = 7 − 1 = 6.
    # The one before: z = 8 + 0.5 · 0 + 0.5 · 6 = 11, V = 0 − 1, error 12, so both weights +3.
    assert weights[W0 + 2] == 7
    assert weights[W0 + 1] == 3
    assert weights[W1 + 0] == 2
    assert np.count_nonzero(weights) == 3


def test_tc_backward_by_hand() -> None:
    weights = np.zeros(512, dtype=np.float32)
    sums = np.zeros(1024, dtype=np.float32)
    learner = with_path(([1, 0, 0, 0], 0), ([2, 0, 0, 0], 8))
    rate = Rate(sums, np.float32(0.5), np.float32(0.5))  # β = 1 over two active weights
    learn_backward(learner, weights, rate)
    # Last: V = 0, error 0. Before: z = 8, error 8, own rate 1 while A = 0: both weights +4, E = A = 8.
    assert weights[[W0 + 2, W0 + 1, W1]].tolist() == [0, 4, 4]
    learn_backward(learner, weights, rate)
    # Last: V = 0 + 4, error −4. w0[2] has A = 0, w1[0] has |E|/A = 8/8: both −2.  E, A: −4, 4 and 4, 12.
    # Before: z = 8 + 0.5 · 0 + 0.5 · 0 = 8, V = 4 + 2, error 2. w0[1] has 8/8: +1. w1[0] has 4/12: +1/3.
    assert weights[[W0 + 2, W0 + 1]].tolist() == [-2, 5]
    assert weights[W1] == pytest.approx(2 + 1 / 3, rel=1e-6)
    pairs = sums.reshape(-1, 2)
    assert pairs[W0 + 2].tolist() == [-4, 4]
    assert pairs[W0 + 1].tolist() == [10, 10]
    assert pairs[W1].tolist() == [6, 14]


def test_a_weight_that_is_active_twice_moves_twice() -> None:
    same_table = Pattern("custom", 2, 2, ((0, 1),))  # eight images on 2×2
    weights, sums = np.zeros(256, dtype=np.float32), np.zeros(512, dtype=np.float32)
    tables = network.make_tables(same_table, weights)
    entries = np.zeros(8, dtype=np.uint64)
    list_entries(as_words((0x0001, 0, 0)), tables, entries)
    # Of the eight ordered pairs of neighbours, two start at the 2, two end at it, four are empty.
    assert sorted(entries.tolist()) == [0, 0, 0, 0, 1, 1, 16, 16]
    td_kernels.update(entries, np.float32(8), tables, Rate(sums, np.float32(1 / 8), np.float32(0)))
    assert weights[[0, 1, 16]].tolist() == [4, 2, 2]
    assert sums.reshape(-1, 2)[[0, 1, 16]].tolist() == [[32, 32], [16, 16], [16, 16]]


class Slow:
    """The same learning in plain Python, from dictionaries of cells."""

    def __init__(self, pattern: Pattern, seed: int) -> None:
        self.pattern = pattern
        self.state = game_state(seed)
        self.weights: dict[tuple[int, ...], float] = {}
        self.sums: dict[tuple[int, ...], tuple[float, float]] = {}
        self.images = permutations(pattern.rows, pattern.columns)[: 8 if pattern.symmetric else 1]
        self.lengths: list[int] = []

    def keys(self, board: Board) -> list[tuple[int, ...]]:
        return [
            (number, *(board.cells[image[cell]] for cell in cells))
            for number, cells in enumerate(self.pattern.tuples)
            for image in self.images
        ]

    def value(self, board: Board) -> float:
        return sum(self.weights.get(key, 0.0) for key in self.keys(board))

    def spawn(self, board: Board) -> Board:
        empty = board.empty_cells()
        self.state, number = next_random(self.state)
        which, exponent = pick(number, len(empty))
        return board.with_tile(empty[which], exponent)

    def choose(self, board: Board) -> tuple[float, Board, int] | None:
        slides = [slide for slide in map(board.slide, DIRECTIONS) if slide.moved]
        options = [(slide.reward + self.value(slide.afterstate), slide) for slide in slides]
        if not options:
            return None
        best = max(options, key=lambda option: option[0])  # the first of equals, as in the kernel
        return best[0], best[1].afterstate, best[1].reward

    def update(self, board: Board, error: float, tc: bool, rate: float) -> None:
        keys = self.keys(board)
        for key in keys:
            e, a = self.sums.get(key, (0.0, 0.0))
            own = abs(e) / a if tc and a else 1.0
            self.weights[key] = self.weights.get(key, 0.0) + rate / len(keys) * own * error
            self.sums[key] = (e + error, a + abs(error))

    def backward_episode(self, start: Board | None) -> Board | None:
        board = self.spawn(start or self.spawn(Board(self.pattern.rows, self.pattern.columns)))
        path = []
        while (choice := self.choose(board)) is not None:
            path.append(choice[1:])
            board = self.spawn(choice[1])
        target = 0.0
        for after, reward in reversed(path):
            self.update(after, target - self.value(after), tc=True, rate=1.0)
            target = reward + 0.5 * target + 0.5 * self.value(after)
        self.lengths.append(len(path))
        return path[len(path) // 2][0] if len(path) >= 10 else None

    def online_games(self, tc: bool, rate: float, states: list[int], games: int) -> list[int]:
        """Play in lanes, one move in each by turns, until so many games are over; the generators' states."""
        states = list(states)
        boards: list[Board | None] = [None] * len(states)
        before: list[tuple[float, Board] | None] = [None] * len(states)
        lane = 0
        while True:
            self.state = states[lane]
            board = boards[lane]
            if board is None:
                board = self.spawn(self.spawn(Board(self.pattern.rows, self.pattern.columns)))
            choice = self.choose(board)
            earlier = before[lane]
            if earlier is not None:
                self.update(earlier[1], (choice[0] if choice else 0.0) - earlier[0], tc, rate)
            before[lane] = (choice[0] - choice[2], choice[1]) if choice else None
            boards[lane] = self.spawn(choice[1]) if choice else None
            states[lane] = self.state
            games -= choice is None
            lane = (lane + 1) % len(states)
            if choice is None and games == 0:
                return states

    def online_game(self, tc: bool, rate: float) -> None:
        board = self.spawn(self.spawn(Board(self.pattern.rows, self.pattern.columns)))
        before: tuple[float, Board] | None = None
        while True:
            choice = self.choose(board)
            worth = choice[0] if choice else 0.0
            if before is not None:
                self.update(before[1], worth - before[0], tc, rate)
            if choice is None:
                return
            before = (choice[0] - choice[2], choice[1])
            board = self.spawn(choice[1])


def assert_same_weights(slow: Slow, training: Training) -> None:
    slow_weights = sorted(value for value in slow.weights.values() if value)
    fast_weights = np.sort(training.network.weights[training.network.weights != 0])
    assert len(fast_weights) == len(slow_weights) > 100
    np.testing.assert_allclose(fast_weights, slow_weights, rtol=1e-3, atol=1e-3)


def test_backward_learning_with_restarts_is_that_of_plain_python() -> None:
    pattern = PATTERNS["4x5"]
    slow = Slow(pattern, seed=5)
    restart = slow.backward_episode(None)
    for _ in range(2):
        restart = slow.backward_episode(restart)
    training = Training.start(pattern, Settings(seed=5))
    lengths = []
    for _ in range(3):
        training.advance(games=1000, moves=1)
        lengths.append(training.learners[0].get("length"))
    assert lengths == slow.lengths
    assert training.learners[0].get("random") == slow.state
    assert_same_weights(slow, training)


@pytest.mark.parametrize(("method", "rate"), [("td0", 0.1), ("tc", 1.0)])
def test_learning_while_playing_is_that_of_plain_python(method: str, rate: float) -> None:
    # Without symmetries, since rounding would break the ties of mirrored afterstates one way or the other.
    pattern = Pattern("custom", 4, 4, ((0, 1, 2, 4), (5, 6, 9, 10), (11, 13, 14, 15)), symmetric=False)
    slow = Slow(pattern, seed=9)
    for _ in range(2):
        slow.online_game(method == "tc", rate)
    training = Training.start(pattern, Settings(method=method, rate=rate, seed=9))
    while training.games < 2:
        training.advance(games=2)
    assert training.learners[0].get("random") == slow.state
    assert_same_weights(slow, training)


@pytest.mark.parametrize(("method", "rate"), [("td0", 0.1), ("tc", 1.0)])
def test_games_in_lockstep_learn_as_in_plain_python(method: str, rate: float) -> None:
    pattern = Pattern("custom", 4, 4, ((0, 1, 2, 4), (5, 6, 9, 10), (11, 13, 14, 15)), symmetric=False)
    slow = Slow(pattern, seed=9)
    states = slow.online_games(method == "tc", rate, [game_state(9, lane) for lane in range(3)], games=4)
    training = Training.start(pattern, Settings(method=method, rate=rate, seed=9, lanes=3))
    while training.games < 4:
        training.advance(games=4, moves=1)
    assert [learner.get("random") for learner in training.learners] == states
    assert sum(learner.get("playing") for learner in training.learners) == 2  # the last game of four is over
    assert_same_weights(slow, training)


def value_of_policy(tiles: list[list[int]], training: Training, cache: dict[str, float]) -> float:
    """The exact expected further score of the learned greedy player, without sampling."""
    board = Board.from_tiles(tiles)
    if board.text() in cache:
        return cache[board.text()]
    tables = training.network.tables(), training.rules
    best, best_slide = -np.inf, None
    for slide in map(board.slide, DIRECTIONS):
        if slide.moved:
            worth = slide.reward + float(value_of_cells(grid.to_grid(slide.afterstate), *tables))
            if worth > best:
                best, best_slide = worth, slide
    value = 0.0
    if best_slide is not None:
        value = best_slide.reward + sum(
            p * value_of_policy(child.tiles(), training, cache)
            for p, child in chance_outcomes(best_slide.afterstate)
        )
    cache[board.text()] = value
    return value


@pytest.mark.parametrize(("method", "rate"), [("backward", 1.0), ("tc", 1.0), ("td0", 0.08)])
def test_a_2x2_board_is_learned_to_its_exact_optimum(method: str, rate: float) -> None:
    whole_board = Pattern("custom", 2, 2, ((0, 1, 2, 3),))
    training = Training.start(whole_board, Settings(method=method, rate=rate, seed=1))
    while training.games < 20_000:
        training.advance(games=20_000, moves=10_000_000)
    tables = training.network.tables(), training.rules
    optimum = played = 0.0
    best_cache: dict[tuple[tuple[int, ...], ...], float] = {}
    policy_cache: dict[str, float] = {}
    for p, first in chance_outcomes(Board(2, 2)):
        for q, second in chance_outcomes(first):
            optimum += p * q * best_expected_score(second.tiles(), best_cache)
            played += p * q * value_of_policy(second.tiles(), training, policy_cache)
    assert optimum > 30
    assert 0.99 * optimum <= played <= optimum + 1e-6
    # And what the player thinks a board is worth is near the truth.
    exact = best_expected_score([[2, 2], [0, 0]], best_cache)
    believed = max(
        slide.reward + float(value_of_cells(grid.to_grid(slide.afterstate), *tables))
        for slide in map(Board.from_tiles([[2, 2], [0, 0]]).slide, DIRECTIONS)
        if slide.moved
    )
    assert believed == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("name", ["4x5", "seed-17x4"])
def test_two_32768_make_a_65536_and_score_it(name: str) -> None:
    pattern = PATTERNS[name]
    learner = td_kernels.make_learner(3)
    thread = thread_of(learner, pattern, network.new_weights(pattern), NO_RATE, LearnWhen.ONLINE)
    start = np.zeros((4, 4), dtype=np.uint8)
    start[0, :2] = 15
    words = pack_words(start, thread.rules)
    for field, word in zip(("start_low", "start_high", "start_extra"), words, strict=True):
        learner.put(field, word)
    learner.put("restarting", 1)
    learn_for_a_while(thread, no_starts(), Quota(1, 0), one_result())
    # Without values the greedy player takes the largest reward at once.
    assert learner.path.rewards[0] == 65536
    cells = np.zeros((4, 4), dtype=np.uint8)
    unpack_words(as_words(learner.path.afterstates[learner.get("length") - 1]), cells, thread.rules)
    assert cells.max() == 16


def test_td0_at_the_common_rate_of_0_1_learns() -> None:
    training = Training.start(PATTERNS["4x5"], Settings(method="td0", rate=0.1, seed=3))
    untaught = GreedyScorer(training.network).play(1, range(100))[:, 0].mean()
    scores: list[int] = []
    while training.games < 1500:
        scores += training.advance(games=1500).scores.tolist()
    assert np.mean(scores[-300:]) > 3 * untaught


def test_one_step_of_td0_takes_its_rate_off_the_error() -> None:
    pattern = PATTERNS["4x6"]
    training = Training.start(pattern, Settings(method="td0", rate=0.1))
    thread = training.thread(0, training.rate())
    board = np.array([[1, 2, 3, 4], [5, 1, 2, 0], [3, 0, 0, 1], [0, 2, 0, 0]], dtype=np.uint8)
    words = as_words(np.array(pack_words(board, thread.rules), dtype=np.uint64))
    entries = np.zeros(32, dtype=np.uint64)
    list_entries(words, thread.tables, entries)
    assert len(set(entries.tolist())) == 32
    td_kernels.update(entries, np.float32(1000), thread.tables, thread.rate)
    assert float(value_of_words(words, thread.tables)) == pytest.approx(100)


def test_values_beyond_all_bounds_are_told() -> None:
    from game2048.errors import SolverError

    training = Training.start(PATTERNS["4x5"], Settings(method="td0", rate=1e30))
    with pytest.raises(SolverError, match=r"the learning rate is 1e\+30, too large"):
        training.advance(games=50)


def test_a_path_that_is_full_ends_the_episode_but_not_at_value_0() -> None:
    learner = td_kernels.make_learner(1, td_kernels.make_path(20))
    pattern = PATTERNS["4x5"]
    rate = Rate(NO_SUMS, np.float32(0.1 / 32), np.float32(0.5))
    thread = thread_of(learner, pattern, network.new_weights(pattern, 1000.0), rate, LearnWhen.BACKWARD)
    learn_for_a_while(thread, no_starts(), Quota(1, 1), one_result())
    assert learner.get("length") == 20
    assert float(value_of_words(as_words(learner.path.afterstates[19]), thread.tables)) > 900
