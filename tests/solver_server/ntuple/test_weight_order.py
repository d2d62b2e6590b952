from __future__ import annotations

import itertools

import numpy as np
import pytest

from game2048.symmetry import permutations
from solver_server.ntuple.one_word_network import board_images, halves, halves_portable
from solver_server.ntuple.patterns import Pattern, distinct_images, pattern_for, with_stages
from solver_server.ntuple.weight_order import halves_mask, order_in_memory, reordered


def index_in_cells(exponents: tuple[int, ...]) -> int:
    return sum(exponent << (4 * place) for place, exponent in enumerate(exponents))


def index_in_halves(exponents: tuple[int, ...]) -> int:
    """The definition, bit by bit: the last cell is the lowest."""
    lower = "".join(f"{exponent % 4:02b}" for exponent in exponents)
    upper = "".join(f"{exponent // 4:02b}" for exponent in exponents)
    return int(upper + lower, 2)


def test_the_lower_halves_come_first_and_the_last_cell_is_the_lowest() -> None:
    # 6 = 01 10, 13 = 11 01: the upper halves 01 11, then the lower ones 10 01.
    assert index_in_halves((6, 13)) == 0b0111_1001
    pattern = pattern_for("014")
    table = np.arange(16**3, dtype=np.float32)  # each weight is its own index
    moved = reordered(pattern, table, "cells", "halves")
    for exponents in itertools.product(range(16), repeat=3):
        assert moved[index_in_halves(exponents)] == index_in_cells(exponents)


def test_each_table_of_each_stage_is_reordered_by_itself_and_back() -> None:
    pattern = with_stages(pattern_for("01 045"), (11,))
    numbers = np.random.default_rng(3).normal(size=2 * pattern.entries).astype(np.float32)  # two a weight
    moved = reordered(pattern, numbers, "cells", "halves")
    second_stage = 16**2 + 16**3
    pairs, moved_pairs = numbers.reshape(-1, 2), moved.reshape(-1, 2)
    for offset, exponents in [(0, (3, 9)), (16**2, (1, 14, 7)), (second_stage + 16**2, (12, 5, 2))]:
        found = moved_pairs[offset + index_in_halves(exponents)]
        assert found.tolist() == pairs[offset + index_in_cells(exponents)].tolist()
    assert reordered(pattern, moved, "halves", "cells").tobytes() == numbers.tobytes()
    assert reordered(pattern, numbers, "cells", "cells") is numbers


def test_nothing_is_reordered_where_nothing_belongs_to_the_weights() -> None:
    assert reordered(pattern_for("0123"), np.zeros(0, dtype=np.float32), "cells", "halves").size == 0


def test_other_boards_keep_the_order_of_cells() -> None:
    assert order_in_memory(pattern_for("4x6")) == "halves"
    assert order_in_memory(Pattern("custom", 3, 3, ((0, 1),))) == "cells"


@pytest.mark.parametrize("split", [halves, halves_portable])
def test_halves_of_nibbles_lie_apart(split: object) -> None:
    rng = np.random.default_rng(4)
    for board in rng.integers(0, 1 << 63, 100, dtype=np.uint64) * np.uint64(2) + np.uint64(1):
        nibbles = [(int(board) >> (4 * cell)) & 15 for cell in range(16)]
        lower = sum((nibble & 3) << (2 * cell) for cell, nibble in enumerate(nibbles))
        upper = sum((nibble >> 2) << (2 * cell) for cell, nibble in enumerate(nibbles))
        assert int(split(board)) == lower | upper << 32  # type: ignore[operator]


def test_a_mask_gathers_the_index_of_each_image() -> None:
    rng = np.random.default_rng(5)
    nibbles = [int(exponent) for exponent in rng.integers(0, 16, 16)]
    board = np.uint64(sum(exponent << (4 * cell) for cell, exponent in enumerate(nibbles)))
    cells = (0, 1, 6, 11)
    mask = halves_mask(cells)
    gathered = []
    for image in board_images(board):
        bits = [(int(image) >> bit) & 1 for bit in range(64) if (mask >> bit) & 1]
        gathered.append(sum(bit << place for place, bit in enumerate(bits)))
    seen = [tuple(nibbles[int(image[cell])] for cell in cells) for image in permutations(4, 4)]
    assert sorted(gathered) == sorted(map(index_in_halves, seen))
    # The first is the board itself, as `distinct_images` numbers them.
    assert distinct_images(pattern_for("016b"), cells)[0] == 0
    assert gathered[0] == index_in_halves(tuple(nibbles[cell] for cell in cells))
