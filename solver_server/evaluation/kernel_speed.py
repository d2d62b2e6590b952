"""Measure the speed of each kernel alone, on this machine at this moment.

Learning from zero weights plays young games: they are short, and what they read stays in the caches. A
trained network plays late games, which wait for memory; that is what a long training is like.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from game2048.board import Board
from game2048.kernels.jit import kernel
from game2048.kernels.word_ops import slide_words, unpack_words
from game2048.kernels.words import as_words, read_words
from solver_server.engine import Engine, Limit
from solver_server.ntuple.greedy_results import GreedyScorer
from solver_server.ntuple.network import Network
from solver_server.ntuple.network_ops import value_of_words
from solver_server.ntuple.training.settings import Settings, default_lanes
from solver_server.ntuple.training.training_state import Training

_REPEATS = 20


class Speeds(msgspec.Struct, frozen=True):
    """Figures of one thread, a second of its processor time.

    Attributes:
        network: whose tables were read.
        games: "young" if learning began with zero weights, else "late".
        compile_seconds: until all kernels had run once; small when an earlier run left them compiled.
        slides_per_second: single slides, all four of a board at once.
        evaluations_per_second: values of afterstates of one game.
        td0_moves_per_second: training by TD(0).
        backward_moves_per_second: training by backward TC(λ), restarts included.
        greedy_moves_per_second: play without learning.
        expectimax_nodes_per_second: of ``engine`` at ``depth``.
        engine: whose search was measured.
        depth: of the search.
    """

    network: str
    games: str
    compile_seconds: float
    slides_per_second: float
    evaluations_per_second: float
    td0_moves_per_second: float
    backward_moves_per_second: float
    greedy_moves_per_second: float
    expectimax_nodes_per_second: float
    engine: str
    depth: int


@kernel
def _slide_many(path: Any, repeats: int, rules: Any, after: Any, reward: Any) -> int:
    total = 0
    for _ in range(repeats):
        for t in range(path.shape[0]):
            slide_words(read_words(path, t), rules, after, reward)
            total += reward[0]
    return total


@kernel
def _value_many(path: Any, repeats: int, tables: Any) -> float:
    total = 0.0
    for _ in range(repeats):
        for t in range(path.shape[0]):
            total += value_of_words(read_words(path, t), tables)
    return total


def measure(
    network: Network, engine: str, make_agent: Callable[[], Engine], depth: int, seconds: float
) -> Speeds:
    """Measure every kernel for some seconds.

    Args:
        network: the network to play with, and to train from where it is; its own weights stay as they are.
        engine: the name of the engine that searches.
        make_agent: makes it.
        depth: that it searches to.
        seconds: for each figure.
    """
    begun = time.perf_counter()
    pattern = network.pattern
    late = bool(network.weights.any())
    backward = Training.start(pattern, Settings())
    td0 = Training.start(pattern, Settings(method="td0", rate=0.1, lanes=default_lanes("td0", pattern)))
    if late:
        for training in (backward, td0):
            np.multiply(network.weights, np.float32(network.step), out=training.network.weights)
    player = GreedyScorer(td0.network)
    agent = make_agent()
    boards = _boards(backward, count=20)
    path = _narrow_path(backward)
    after, reward = np.zeros((4, 2), dtype=np.uint64), np.zeros(4, dtype=np.int64)
    tables = td0.network.tables()
    td0.compile()
    _slide_many(path, 1, td0.rules, after, reward)
    _value_many(path, 1, tables)
    player.play(0, [0])
    agent.choose(boards[0], Limit(depth))
    compiled = time.perf_counter() - begun
    count = len(path) * _REPEATS
    return Speeds(
        network=pattern.name,
        games="late" if late else "young",
        compile_seconds=round(compiled, 2),
        slides_per_second=_rate(
            lambda: 4 * count + 0 * _slide_many(path, _REPEATS, td0.rules, after, reward), seconds
        ),
        td0_moves_per_second=_rate(lambda: _learn(td0), seconds),
        backward_moves_per_second=_rate(lambda: _learn(backward), seconds),
        evaluations_per_second=_rate(lambda: count + 0 * int(_value_many(path, _REPEATS, tables)), seconds),
        greedy_moves_per_second=_rate(lambda: int(player.play(0, range(20))[:, 2].sum()), seconds),
        expectimax_nodes_per_second=_rate(lambda: _search(agent, boards, depth), seconds),
        engine=engine,
        depth=depth,
    )


def _rate(work: Callable[[], int], seconds: float) -> float:
    """Units of work a second of processor time, which other programs disturb less than wall-clock time."""
    done = 0
    begun = time.thread_time()
    while (spent := time.thread_time() - begun) < seconds or not done:
        done += work()
    return round(done / spent, 1)


def _learn(training: Training) -> int:
    before = training.moves
    training.advance(1 << 62)
    return training.moves - before


def _search(agent: Engine, boards: list[Board], depth: int) -> int:
    decisions = [agent.choose(board, Limit(depth)) for board in boards]
    return sum(decision.nodes for decision in decisions if decision is not None)


def _narrow_path(training: Training) -> Any:
    """Return the afterstates of a game that the network played."""
    learner = training.learners[0]
    while learner.get("length") < 200 or training.games < 200:
        training.advance(1 << 62, 1)
    path = learner.path.afterstates[: learner.get("length")].copy()
    return path[path[:, 2] == 0]


def _boards(training: Training, count: int) -> list[Board]:
    """Boards of a game, evenly spread."""
    path = _narrow_path(training)
    rows, columns = training.network.pattern.rows, training.network.pattern.columns
    cells = np.zeros((rows, columns), dtype=np.uint8)
    boards = []
    for words in path[:: max(len(path) // count, 1)]:
        unpack_words(as_words(words), cells, training.rules)
        boards.append(Board(rows, columns, cells.tobytes()))
    return boards
