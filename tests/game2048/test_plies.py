from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support import naive
from support.strategies import boards

from game2048 import DIRECTIONS, Board
from game2048.kernels.transitions import find_facts


def cells_of(*texts: str) -> np.ndarray:
    return np.stack(
        [
            np.frombuffer(board.cells, dtype=np.uint8).reshape(board.rows, board.columns)
            for board in map(Board.from_text, texts)
        ]
    )


@given(boards(), st.sampled_from(DIRECTIONS))
def test_facts_of_a_ply_are_those_of_the_slow_oracle(board: Board, direction) -> None:
    after, reward = naive.slide(board.tiles(), direction.value)
    legal = naive.legal(board.tiles())
    cells = np.frombuffer(board.cells * 2, dtype=np.uint8).reshape(2, board.rows, board.columns)
    facts = find_facts(cells, np.array([direction.index], dtype=np.uint8))
    assert [d.value for d in DIRECTIONS if facts.legal[0] >> d.index & 1] == legal
    assert facts.after[0].tolist() == [
        [tile.bit_length() - 1 if tile else 0 for tile in row] for row in after
    ]
    assert facts.reward[0] == (reward if direction.value in legal else -1)


def test_a_spawn_is_found_by_its_cell_and_tile() -> None:
    cells = cells_of("2 2 / 0 0", "4 0 / 0 4", "4 4 / 2 0")
    facts = find_facts(cells, np.array([3, 0], dtype=np.uint8))  # left, up
    assert facts.spawn_cell.tolist() == [3, 2]
    assert facts.spawn_exponent.tolist() == [2, 1]


def test_no_spawn_two_spawns_a_spawned_8_and_a_changed_tile_are_no_spawn() -> None:
    for after in ("4 0 / 0 0", "4 0 / 2 2", "4 8 / 0 0", "8 2 / 0 0", "0 2 / 0 0"):
        facts = find_facts(cells_of("2 2 / 0 0", after), np.array([3], dtype=np.uint8))
        assert (facts.spawn_cell[0], facts.spawn_exponent[0]) == (-1, 0), after


def test_a_game_without_moves_has_no_facts() -> None:
    facts = find_facts(cells_of("2 2 / 0 0"), np.zeros(0, dtype=np.uint8))
    assert facts.after.shape == (0, 2, 2)
    assert facts.legal.size == 0
