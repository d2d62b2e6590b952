"""The table of transpositions: which slot a board goes to."""

from __future__ import annotations

import numpy as np
import pytest

from solver_server.search.transposition import slot_of

SLOTS = 1 << 16


@pytest.mark.parametrize("row", range(4))
def test_boards_that_differ_in_one_row_spread_over_all_slots(row: int) -> None:
    rest = np.random.default_rng(1).integers(0, 1 << 64, dtype=np.uint64) & ~np.uint64(0xFFFF << (16 * row))
    boards = [rest | np.uint64(number << (16 * row)) for number in range(1 << 16)]

    used = len({slot_of(board, SLOTS) for board in boards})

    # Of n slots, n boards thrown at random leave n/e = 0.37 n empty.
    assert used >= 0.6 * SLOTS


def test_no_cell_is_left_out() -> None:
    boards = np.random.default_rng(2).integers(0, 1 << 64, size=1000, dtype=np.uint64)
    for cell in range(16):
        changed = sum(
            slot_of(board, SLOTS) != slot_of(board ^ np.uint64(1 << (4 * cell)), SLOTS) for board in boards
        )
        assert changed >= 990


def test_slots_are_within_the_table() -> None:
    boards = np.random.default_rng(3).integers(0, 1 << 64, size=1000, dtype=np.uint64)

    assert all(0 <= slot_of(board, 8) < 8 for board in boards)
