"""The search kernel: small trees worked out by hand, and plain expectimax on random boards."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import naive
from support.strategies import boards

from game2048 import DIRECTIONS, Board, Direction
from game2048.kernels import bitboard, grid
from game2048.spawn import Spawner
from solver_server.search.chance import ChancePolicy, list_spawns, make_policy, make_spawns
from solver_server.search.expectimax import Search, decide, make_stack
from solver_server.search.expectimax_engine import make_search
from solver_server.search.heuristics import Constant, make_line_heuristic

NO_LIMIT = 2**62
MERGES = Constant(reward_weight=1.0, dead_value=-100.0, leaf=0.0)


def search_for(shape: tuple[int, ...], evaluator: Any = MERGES, chance: ChancePolicy | None = None) -> Search:
    search = make_search(evaluator, chance or make_policy(), log2_entries=12, exact_depth=True)
    return search._replace(stack=make_stack(shape))


def values_of(board: Board, plies: int, search: Search) -> dict[str, float]:
    cells = grid.to_grid(board)
    one = (
        cells[np.newaxis]
        if search.stack.states.ndim == 3
        else np.array([bitboard.pack_cells(cells.reshape(16))], np.uint64)
    )
    best, reached = decide(one, plies, plies, math.inf, NO_LIMIT, 0.0, search)
    values = {
        d.value: v for d, v in zip(DIRECTIONS, search.values[0].tolist(), strict=True) if not math.isnan(v)
    }
    assert reached == plies
    assert best == (
        -1 if not values else [d.value for d in DIRECTIONS].index(max(values, key=lambda k: values[k]))
    )
    return values


def test_one_ply_is_the_merge_reward() -> None:
    board = Board.from_text("2 2 / 4 4")
    assert values_of(board, 1, search_for((2, 2))) == {"right": 12.0, "left": 12.0}


def test_three_plies_worked_out_by_hand() -> None:
    # Left makes 4 . / 8 . (12 points), and so does right. Then a spawn in one of two cells:
    #   upper cell: 2 → 4 2 / 8 . : nothing merges at once, best next merge 0; 4 → 4 4 / 8 . merges for 8
    #   lower cell: 2 → 4 . / 8 2 : 0; 4 → 4 . / 8 4 : 0 (4 above 8, 4 right of 8: no pair in a line)
    # so 12 + ½·0.1·8 = 12.4.
    board = Board.from_text("2 2 / 4 4")
    values = values_of(board, 3, search_for((2, 2)))
    assert values == pytest.approx({"right": 12.4, "left": 12.4})


def test_a_dead_end_costs_its_dead_value() -> None:
    # Left: 4 2 / 8 . with the spawn in the last cell: a 2 leaves the pair of 2s in the column (4 points), a 4
    # leaves 4 2 / 8 4, which is dead: 0.9·4 − 0.1·100.
    board = Board.from_text("4 2 / 0 8")
    values = values_of(board, 3, search_for((2, 2)))
    assert values["left"] == pytest.approx(0.9 * 4 - 0.1 * 100)


def test_a_dead_board_has_no_move() -> None:
    assert values_of(Board.from_text("2 4 / 4 2"), 3, search_for((2, 2))) == {}


def test_equal_values_are_decided_for_the_first_direction() -> None:
    search = search_for((2, 2), Constant(0.0, 0.0, 5.0))
    assert values_of(Board.from_text("2 0 / 0 2"), 1, search) == dict.fromkeys(
        ("up", "right", "down", "left"), 5.0
    )


def line_heuristic(tiles: naive.Tiles) -> float:
    """The evaluation of `fast`, written once more from its description."""
    total = 0.0
    for line in [*tiles, *map(list, zip(*tiles, strict=True))]:
        ranks = [tile.bit_length() - 1 if tile else 0 for tile in line]
        runs, previous = [], 0
        for rank in filter(None, ranks):
            if rank == previous:
                runs[-1] += 1
            else:
                runs.append(1)
            previous = rank
        falls = sum(max(a**4 - b**4, 0) for a, b in itertools.pairwise(ranks))
        rises = sum(max(b**4 - a**4, 0) for a, b in itertools.pairwise(ranks))
        total += 200_000 + 270 * ranks.count(0) + 700 * sum(n for n in runs if n > 1)
        total -= 47 * min(falls, rises) + 11 * sum(rank**3.5 for rank in ranks)
    return total


SEARCHES = {
    "grid": search_for((4, 4), make_line_heuristic()),
    "bitboard": search_for((), make_line_heuristic()),
}


@settings(max_examples=25)
@given(boards(4, 4, max_exponent=11), st.integers(1, 3), st.sampled_from(sorted(SEARCHES)))
def test_values_equal_plain_expectimax(board: Board, plies: int, kind: str) -> None:
    expected = {
        name: naive.value_after(
            naive.slide(board.tiles(), name)[0], plies - 1, line_heuristic, reward_weight=0.0
        )
        for name in naive.legal(board.tiles())
    }
    assert values_of(board, plies, SEARCHES[kind]) == pytest.approx(expected)


@settings(max_examples=15)
@given(boards(2, 3, max_exponent=4), st.integers(1, 6))
def test_values_of_small_boards_equal_plain_expectimax_deeper(board: Board, plies: int) -> None:
    expected = {
        name: reward + naive.value_after(after, plies - 1, lambda _: 0.0, dead=-100.0)
        for name, (after, reward) in (
            (name, naive.slide(board.tiles(), name)) for name in naive.legal(board.tiles())
        )
    }
    assert values_of(board, plies, search_for((2, 3))) == pytest.approx(expected)


def test_pruning_rarely_changes_the_move() -> None:
    full = search_for((), make_line_heuristic())
    pruned = search_for((), make_line_heuristic(), make_policy(min_probability=1e-3))
    agreed = total = 0
    for board in middle_game_boards(200):
        exact = values_of(board, 5, full)
        quick = values_of(board, 5, pruned)
        total += 1
        agreed += max(exact, key=lambda k: exact[k]) == max(quick, key=lambda k: quick[k])
    assert total == 200
    assert agreed >= 190


def middle_game_boards(count: int) -> list[Board]:
    """Boards of greedy games, seeded."""
    found: list[Board] = []
    search = search_for((), make_line_heuristic())
    for seed in range(1000):
        spawner = Spawner(seed)
        board = spawner.start()
        for turn in range(400):
            values = values_of(board, 1, search)
            if not values or len(found) == count:
                break
            if turn > 100 and turn % 20 == 0:
                found.append(board)
            best = Direction(max(values, key=lambda k: values[k]))
            board = spawner.spawn(board.slide(best).afterstate)
        if len(found) == count:
            break
    return found


def test_an_exact_policy_lists_every_spawn_with_its_probability() -> None:
    board = Board.from_text("2 0 / 4 0")
    spawns = make_spawns(1)
    count = list_spawns(grid.to_grid(board), 0, make_policy(), spawns)
    listed = {
        (int(spawns.cells[0, i]), int(spawns.exponents[0, i])): float(spawns.weights[0, i])
        for i in range(count)
    }
    assert listed == pytest.approx({(1, 1): 0.45, (1, 2): 0.05, (3, 1): 0.45, (3, 2): 0.05})


def test_sampled_cells_are_distinct_and_take_both_tiles() -> None:
    policy = make_policy(exact_up_to=0, sample_cells=4)
    spawns = make_spawns(1)
    seen = set()
    for seed in range(200):
        policy.random_state[0] = seed
        count = list_spawns(grid.to_grid(Board()), 0, policy, spawns)
        assert count == 8
        cells = spawns.cells[0, :8].tolist()
        assert len(set(cells)) == 4
        assert cells[:4] == cells[4:]
        assert spawns.exponents[0, :8].tolist() == [1] * 4 + [2] * 4
        assert spawns.weights[0, :8].sum() == pytest.approx(1.0)
        seen |= set(cells)
    assert seen == set(range(16))


def test_sampled_pairs_follow_the_spawn_rule() -> None:
    policy = make_policy(exact_up_to=6, sample_pairs=6)
    spawns = make_spawns(1)
    board = grid.to_grid(Board.from_text("2 2 2 2 / 2 2 2 2 / 0 0 0 0 / 0 0 0 2"))
    fours = 0
    for seed in range(2000):
        policy.random_state[0] = seed
        assert list_spawns(board, 0, policy, spawns) == 6
        assert set(spawns.cells[0, :6].tolist()) <= set(range(8, 15))
        assert spawns.weights[0, :6].tolist() == [1 / 6] * 6
        fours += spawns.exponents[0, :6].tolist().count(2)
    assert abs(fours - 1200) < 165  # five standard deviations: √(12000·0.1·0.9) = 33


def test_the_time_limit_ends_the_search_with_the_last_finished_depth() -> None:
    search = search_for((), make_line_heuristic())
    board = np.array(
        [bitboard.from_board(Board.from_text("2 4 8 16 / 0 0 0 0 / 0 0 0 2 / 0 0 0 0"))], np.uint64
    )
    unlimited, reached = decide(board, 1, 3, math.inf, NO_LIMIT, 0.0, search)
    values = search.values[0].copy()
    assert reached == 3
    # No time at all: only the first depth, and its values.
    best, reached = decide(board, 3, 31, 0.0, NO_LIMIT, 0.0, search)
    assert (best, reached) == (unlimited, 3)
    np.testing.assert_array_equal(search.values[0], values)
    # Some time: deeper, but far from the end.
    _, reached = decide(board, 1, 31, 0.05, NO_LIMIT, 0.0, search)
    assert 3 <= reached < 31


def test_the_node_limit_ends_the_search_at_the_same_depth_every_time() -> None:
    search = search_for((), make_line_heuristic())
    board = np.array(
        [bitboard.from_board(Board.from_text("2 4 8 16 / 0 0 0 0 / 0 0 0 2 / 0 0 0 0"))], np.uint64
    )
    reached = []
    for nodes in (1, 5_000, 5_000, 500_000):
        reached.append(decide(board, 1, 31, math.inf, nodes, 0.0, search)[1])
        assert search.counters[0] <= nodes + 100  # the first depth is finished, and a node's spawns
    assert reached[0] == 1
    assert 1 < reached[1] == reached[2] < reached[3]


def test_a_depth_that_would_pass_the_node_limit_is_not_begun() -> None:
    search = search_for((), make_line_heuristic())
    board = np.array(
        [bitboard.from_board(Board.from_text("2 4 8 16 / 0 0 0 0 / 0 0 0 2 / 0 0 0 0"))], np.uint64
    )
    _, first = decide(board, 1, 3, math.inf, NO_LIMIT, 0.0, search)
    three = int(search.counters[0])
    one = 3  # to the right nothing moves
    assert first == 3
    # The nodes of three plies are those of one times this growth.
    growth = (three - one) / one
    for limit, expected in ((three, 3), (three - 1, 1)):
        _, reached = decide(board, 1, 3, math.inf, limit, growth, search)
        assert (reached, search.counters[0]) == (expected, three if expected == 3 else one)
