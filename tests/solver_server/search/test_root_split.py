"""One search on several threads finds what one thread finds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from game2048 import Board
from game2048.kernels import bitboard
from solver_server.engine import Limit
from solver_server.limits import PLAYER_MOVES
from solver_server.search.chance import make_policy
from solver_server.search.expectimax import NO_LIMIT, Search, decide, make_stack
from solver_server.search.expectimax_engine import ExpectimaxEngine, make_search, sibling_of
from solver_server.search.heuristics import make_line_heuristic
from solver_server.search.root_split import RootSplit

# Crowded enough for searches to differ by depth, and to be over in a moment.
BOARD = Board.from_text("2 4 8 16 / 4 8 32 2 / 2 64 4 128 / 0 2 0 4")
STUCK = Board.from_text("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2")


def make_searches(count: int) -> list[Search]:
    # Values of transpositions searched exactly as deep do not depend on who searched before.
    first = make_search(make_line_heuristic(), make_policy(), log2_entries=14, exact_depth=True)
    return [
        search._replace(stack=make_stack(()))
        for search in (first, *(sibling_of(first) for _ in range(count - 1)))
    ]


def packed(board: Board) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array([bitboard.from_board(board)], dtype=np.uint64)


@pytest.mark.parametrize("threads", [2, 3, 5])  # with fewer, as many and more threads than directions
def test_every_number_of_threads_finds_the_values_of_one(threads: int) -> None:
    alone = make_searches(1)[0]
    expected = decide(packed(BOARD), 1, 7, math.inf, NO_LIMIT, 0.0, alone)
    searches = make_searches(threads)
    found = RootSplit(threads).decide(packed(BOARD), 1, 7, 60.0, searches)
    assert found == expected
    assert found[1] == 7
    np.testing.assert_allclose(searches[0].values[0], alone.values[0], rtol=1e-12)


def test_all_threads_take_part() -> None:
    searches = make_searches(2)
    RootSplit(2).decide(packed(BOARD), 1, 9, 60.0, searches)
    assert searches[1].counters[0] > 0
    assert searches[0].counters[0] > searches[1].counters[0]  # it has the sum


def test_without_time_the_first_depth_answers() -> None:
    searches = make_searches(2)
    alone = make_searches(1)[0]
    expected = decide(packed(BOARD), 3, 3, math.inf, NO_LIMIT, 0.0, alone)
    assert RootSplit(2).decide(packed(BOARD), 3, 31, 0.0, searches) == expected
    np.testing.assert_array_equal(searches[0].values[0], alone.values[0])


def test_a_limit_leaves_the_values_of_a_depth_that_was_finished() -> None:
    searches = make_searches(2)
    split = RootSplit(2)
    for seconds in (0.001, 0.003, 0.01, 0.03):
        best, reached = split.decide(packed(BOARD), 1, 31, seconds, searches)
        assert reached < 31
        alone = make_searches(1)[0]
        expected, _ = decide(packed(BOARD), reached, reached, math.inf, NO_LIMIT, 0.0, alone)
        assert best == expected
        np.testing.assert_allclose(searches[0].values[0], alone.values[0], rtol=1e-12)


def test_an_agent_with_threads_plays_other_sizes_and_tells_the_end() -> None:
    search = make_search(make_line_heuristic(), make_policy(min_probability=1e-3), log2_entries=12)
    agent = ExpectimaxEngine(search, PLAYER_MOVES, threads=2)
    limit = Limit(time_ms=5)
    assert agent.choose(STUCK, limit) is None
    for text in ("2 4 8 16 / 4 8 32 2 / 2 64 4 128 / 2 2 4 8", "2 2 4 / 8 4 2 / 16 8 4 / 32 16 8"):
        board = Board.from_text(text)
        decision = agent.choose(board, limit)
        assert decision is not None
        assert board.slide(decision.direction).afterstate != board
        assert decision.values[decision.direction] == max(decision.values.values())


def test_without_a_time_limit_moves_do_not_depend_on_threads() -> None:
    def make(threads: int) -> ExpectimaxEngine:
        search = make_search(make_line_heuristic(), make_policy(min_probability=1e-3), log2_entries=12)
        return ExpectimaxEngine(search, PLAYER_MOVES, threads=threads)

    one, two = make(1).choose(BOARD, Limit()), make(2).choose(BOARD, Limit())
    assert one is not None
    assert two is not None
    assert (one.direction, one.values, one.depth, one.nodes) == (
        two.direction,
        two.values,
        two.depth,
        two.nodes,
    )
