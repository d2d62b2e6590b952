from __future__ import annotations

import numpy as np
import pytest

from game2048.board import Board
from game2048.direction import DIRECTIONS
from game2048.errors import SolverError
from game2048.kernels import intrinsics, one_word_board
from game2048.kernels.jit import kernel
from game2048.kernels.word_ops import (
    lower_words,
    make_move_rules,
    pack_words,
    slide_words,
    spawn_words,
    unpack_words,
)
from game2048.kernels.words import as_words
from game2048.spawn import Spawner
from game2048.symmetry import permutations
from solver_server.ntuple import network, one_word_network
from solver_server.ntuple.network_ops import value_of_cells
from solver_server.ntuple.patterns import (
    PATTERNS,
    Pattern,
    active_weights,
    pattern_for,
    with_ranks,
    with_stages,
)
from solver_server.ntuple.weight_order import order_in_memory, reordered

SIZES = [(4, 4), (5, 5), (3, 3), (2, 2), (2, 3), (4, 5)]


def random_board(rng: np.random.Generator, rows: int, columns: int, top: int = 12) -> Board:
    cells = rng.integers(1, top + 1, rows * columns) * (rng.random(rows * columns) < 0.8)
    return Board(rows, columns, bytes(int(cell) for cell in cells))


def grid_of(board: Board) -> np.ndarray:
    return np.frombuffer(board.cells, dtype=np.uint8).reshape(board.rows, board.columns).copy()


def naive_value(board: Board, pattern: Pattern, weights: np.ndarray) -> float:
    """The same sum, said the long way: under every tuple, every image that shows it other cells."""
    stage = sum(max(board.cells) >= first for first in pattern.stages)
    total, offset, active = 0.0, stage * sum(16 ** len(cells) for cells in pattern.tuples), 0
    images = permutations(board.rows, board.columns) if pattern.symmetric else [range(len(board.cells))]
    for cells in pattern.tuples:
        for looked_at in {tuple(int(image[cell]) for cell in cells) for image in images}:
            index = sum(board.cells[cell] << (4 * place) for place, cell in enumerate(looked_at))
            total += float(weights[offset + index])
            active += 1
        offset += 16 ** len(cells)
    return total / active if pattern.averaged else total


PATTERNS_BY_BOARD = [
    pattern_for("4x5"),
    pattern_for("seed-17x4"),
    pattern_for("05af 0123"),  # the diagonal is its own mirror image: four images, not eight
    pattern_for("0,1,2,5,6 7,12,13,17 0,6,12,18,24", 5, 5),  # in one word, in both, on the diagonal
    Pattern("custom", 3, 3, ((0, 1, 3, 4), (4,))),
    Pattern("custom", 2, 3, ((0, 1, 2), (0, 3))),
    Pattern("custom", 4, 5, ((0, 1, 5, 6), (2, 7, 12, 17))),
    with_stages(pattern_for("0125 05af"), (11, 12)),
]


@pytest.mark.parametrize("pattern", PATTERNS_BY_BOARD, ids=lambda p: f"{p.name}-{p.rows}x{p.columns}")
def test_a_value_is_the_sum_over_every_image_of_every_tuple(pattern: Pattern) -> None:
    rng = np.random.default_rng(7)
    weights = rng.normal(size=pattern.entries).astype(np.float32)
    tables = network.make_tables(pattern, reordered(pattern, weights, "cells", order_in_memory(pattern)))
    rules = make_move_rules(pattern.rows, pattern.columns)
    for _ in range(100):
        board = random_board(rng, pattern.rows, pattern.columns)
        value = value_of_cells(grid_of(board), tables, rules)
        assert value == pytest.approx(naive_value(board, pattern, weights), abs=1e-4)


@pytest.mark.parametrize("pattern", PATTERNS_BY_BOARD, ids=lambda p: f"{p.name}-{p.rows}x{p.columns}")
def test_whole_weights_are_worth_their_steps(pattern: Pattern) -> None:
    rng = np.random.default_rng(8)
    weights = rng.integers(-32767, 32768, pattern.entries).astype(np.int16)
    in_order = reordered(pattern, weights, "cells", order_in_memory(pattern))
    tables = network.make_tables(pattern, in_order, step=0.5)
    rules = make_move_rules(pattern.rows, pattern.columns)
    for _ in range(50):
        board = random_board(rng, pattern.rows, pattern.columns)
        value = value_of_cells(grid_of(board), tables, rules)
        assert value == pytest.approx(0.5 * naive_value(board, pattern, weights), rel=1e-6)


@pytest.mark.parametrize("rank", range(1, 16))
def test_a_stage_begins_with_its_tile(rank: int) -> None:
    tables = network.make_tables(
        with_stages(pattern_for("0123"), (rank,)), np.zeros(2 * 16**4, dtype=np.float32)
    )
    for cell in range(16):
        for exponent in range(16):
            offset = one_word_network.stage_offset(np.uint64(exponent << (4 * cell)), tables)
            assert offset == (16**4 if exponent >= rank else 0)


def test_stages_that_make_no_sense_are_told() -> None:
    for stages in ((12, 11), (11, 11), (16,), (0,)):
        with pytest.raises(SolverError, match="expected ascending tiles, 2 to 32768"):
            with_stages(pattern_for("0123"), stages)
    with pytest.raises(SolverError, match="stages are given for a 5×5 board; only 4×4 can have them"):
        with_stages(PATTERNS["seed-5x5"], (14,))


def test_how_many_weights_make_a_value() -> None:
    counts = {name: active_weights(pattern) for name, pattern in PATTERNS.items()}
    assert counts == {
        "4x5": 32,
        "4x6": 32,
        "5x4": 40,
        "5x6": 40,
        "8x6": 64,
        "seed-4x4": 56,
        "seed-5x5": 96,
        "seed-17x4": 17,
    }
    assert active_weights(pattern_for("05af")) == 4


def test_sizes_of_the_seed_networks() -> None:
    assert PATTERNS["seed-4x4"].entries == 3 * 16**6 + 4 * 16**4
    assert PATTERNS["seed-5x5"].entries == 2 * 16**6 + 5 * 16**5 + 5 * 16**4


def test_every_board_starts_at_the_initial_value() -> None:
    board = random_board(np.random.default_rng(1), 4, 4)
    for name in ("4x5", "seed-17x4"):
        pattern = PATTERNS[name]
        tables = network.make_tables(pattern, network.new_weights(pattern, 320_000.0))
        value = value_of_cells(grid_of(board), tables, make_move_rules(4, 4))
        assert value == pytest.approx(320_000)


@pytest.mark.parametrize(("rows", "columns"), SIZES)
def test_all_slides_at_once_are_those_of_the_rules(rows: int, columns: int) -> None:
    rng = np.random.default_rng(rows * 10 + columns)
    rules = make_move_rules(rows, columns)
    after, reward = np.zeros((4, 2), dtype=np.uint64), np.zeros(4, dtype=np.int64)
    cells = np.zeros((rows, columns), dtype=np.uint8)
    for top in (2, 4, 14):
        for _ in range(50):
            board = random_board(rng, rows, columns, top)
            slide_words(as_words(pack_words(grid_of(board), rules)), rules, after, reward)
            for number, direction in enumerate(DIRECTIONS):
                slide = board.slide(direction)
                unpack_words(as_words((*after[number], 0)), cells, rules)
                assert cells.tobytes() == slide.afterstate.cells
                assert reward[number] == slide.reward


@pytest.mark.parametrize(("rows", "columns"), SIZES)
def test_spawns_are_those_of_the_rules(rows: int, columns: int) -> None:
    rng = np.random.default_rng(3)
    rules = make_move_rules(rows, columns)
    spawner = Spawner(11)
    cells = np.zeros((rows, columns), dtype=np.uint8)
    for _ in range(100):
        board = random_board(rng, rows, columns)
        if not board.empty_cells():
            continue
        words = as_words(pack_words(grid_of(board), rules))
        spawned, state = spawn_words(words, np.uint64(spawner.state), rules)
        expected = spawner.spawn(board)
        unpack_words(as_words(spawned), cells, rules)
        assert cells.tobytes() == expected.cells
        assert int(state) == spawner.state


@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (5, 5)])
def test_tiles_past_the_nibbles_survive_the_words(rows: int, columns: int) -> None:
    rules = make_move_rules(rows, columns)
    cells = np.arange(rows * columns, dtype=np.uint8).reshape(rows, columns) % 18
    back = np.zeros_like(cells)
    unpack_words(as_words(pack_words(cells, rules)), back, rules)
    assert (back == cells).all()


@pytest.mark.parametrize(
    ("ranks", "before", "after"),
    [
        (16, [15, 3, 2, 1], [15, 3, 2, 1]),
        (16, [16, 3, 2, 1], [15, 3, 2, 1]),
        (16, [16, 15, 13, 0], [15, 14, 13, 0]),
        (16, [17, 16, 14, 12], [15, 14, 13, 12]),
        (15, [15, 14, 12, 1], [14, 13, 12, 1]),
        (15, [15, 13, 12, 1], [14, 13, 12, 1]),
    ],
)
def test_large_tiles_are_downgraded_over_the_largest_missing_ranks(
    ranks: int, before: list[int], after: list[int]
) -> None:
    for rows, columns in ((4, 4), (5, 5)):
        rules = make_move_rules(rows, columns)
        cells = np.zeros((rows, columns), dtype=np.uint8)
        expected = np.zeros_like(cells)
        cells[1, :4], expected[1, :4] = before, after
        lowered = lower_words(as_words(pack_words(cells, rules)), ranks, rules)
        seen = np.zeros_like(cells)
        unpack_words(as_words(lowered), seen, rules)
        assert seen.tolist() == expected.tolist()


def test_a_board_without_missing_ranks_keeps_its_order_as_far_as_it_goes() -> None:
    cells = np.array([[17, 16, 15, 14], [13, 12, 11, 10], [9, 8, 7, 6], [5, 4, 3, 2]], dtype=np.uint8)
    rules = make_move_rules(4, 4)
    seen = lower_words(as_words(pack_words(cells, rules)), 16, rules).low
    # Rank 1 alone is missing; leaving it out lowers everything by one, and the largest is still too large.
    lowered = [15, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
    assert [(int(seen) >> (4 * i)) & 15 for i in range(16)] == lowered


@pytest.mark.parametrize(
    ("cells", "ranks", "wide"),
    [([15, 0], 16, False), ([15, 15], 16, True), ([15, 0], 15, True), ([14, 14], 15, False)],
)
def test_which_boards_leave_the_fast_path(cells: list[int], ranks: int, wide: bool) -> None:
    board = np.uint64(cells[0] | cells[1] << 32)
    assert bool(one_word_board.has_high_ranks(board, ranks)) is wide


def test_bits_are_gathered_alike_with_and_without_the_instruction() -> None:
    portable = kernel(intrinsics.pext_portable)
    rng = np.random.default_rng(5)
    for _ in range(300):
        value = rng.integers(0, 2**64, dtype=np.uint64)
        nibbles = [int(n) for n in rng.choice(16, size=int(rng.integers(0, 17)), replace=False)]
        mask = np.uint64(sum(15 << (4 * n) for n in nibbles))
        expected = sum(
            ((int(value) >> (4 * n)) & 15) << (4 * place) for place, n in enumerate(sorted(nibbles))
        )
        assert int(portable(value, mask)) == expected
        assert int(intrinsics.pext(value, mask)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("9x9", "unknown"),
        ("0,1,99", "leaves the board"),
        ("0,1,1", "each cell once"),
        ("01234567", "8 cells"),
        ("", "unknown"),
    ],
)
def test_networks_that_cannot_be(text: str, message: str) -> None:
    with pytest.raises(SolverError, match=message):
        pattern_for(text)


def test_cells_may_be_given_in_either_form_and_any_order() -> None:
    assert pattern_for("5401 0123").tuples == ((0, 1, 4, 5), (0, 1, 2, 3))
    assert pattern_for("5,4,0,1 0,1,2,3").tuples == ((0, 1, 4, 5), (0, 1, 2, 3))
    assert pattern_for("0,1,5,6", 5, 5).rows == 5


def test_ranks_are_15_or_16() -> None:
    assert with_ranks(PATTERNS["4x6"], 15).ranks == 15
    with pytest.raises(SolverError, match="has 14 ranks"):
        with_ranks(PATTERNS["4x6"], 14)
