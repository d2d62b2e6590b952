"""Every kernel against the oracle and against `Board`, on random boards."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import naive
from support.strategies import boards

from game2048 import DIRECTIONS, Board, RulesError
from game2048.kernels import bitboard, grid
from game2048.spawn import Spawner, game_state

TABLES = bitboard.make_row_tables()
packed_boards = boards(4, 4, max_exponent=14)


@given(packed_boards)
def test_bitboard_slides_agree_with_the_oracle(board: Board) -> None:
    packed = bitboard.from_board(board)
    for direction in DIRECTIONS:
        expected, reward = naive.slide(board.tiles(), direction.value)
        after, got = bitboard.slide(packed, direction.index, TABLES)
        assert bitboard.to_board(after).tiles() == expected
        assert got == reward
    assert bitboard.is_over(packed, TABLES) == (not naive.legal(board.tiles()))


@given(boards())
def test_grid_slides_agree_with_the_oracle(board: Board) -> None:
    cells = grid.to_grid(board)
    after = np.empty_like(cells)
    for direction in DIRECTIONS:
        expected, reward = naive.slide(board.tiles(), direction.value)
        got = grid.slide_into(cells, direction.index, after)
        assert grid.from_grid(after).tiles() == expected
        assert got == (reward if expected != board.tiles() else -1)
    assert grid.from_grid(cells) == board
    if any(board.cells):
        assert grid.is_grid_over(cells) == (not naive.legal(board.tiles()))
    assert grid.count_empty_cells(cells) == len(board.empty_cells())


@given(packed_boards)
def test_bitboard_counts_and_images(board: Board) -> None:
    packed = bitboard.from_board(board)
    assert bitboard.count_empty(packed) == len(board.empty_cells())
    assert bitboard.max_exponent(packed) == max(board.cells)
    array = np.array(board.tiles())
    assert bitboard.to_board(bitboard.transpose(packed)).tiles() == array.T.tolist()
    assert bitboard.to_board(bitboard.mirror(packed)).tiles() == np.fliplr(array).tolist()
    assert bitboard.to_board(bitboard.flip(packed)).tiles() == np.flipud(array).tolist()
    cells = np.zeros(16, dtype=np.uint8)
    bitboard.unpack_cells(packed, cells)
    assert bytes(cells) == board.cells
    assert bitboard.pack_cells(cells) == packed


def test_two_32768_do_not_merge_into_what_no_nibble_holds() -> None:
    packed = bitboard.from_board(Board.from_text("32768 0 32768 2 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"))
    after, reward = bitboard.slide(packed, 3, TABLES)
    assert bitboard.to_board(after).tiles()[0] == [32768, 32768, 2, 0]
    assert reward == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # one tile of 32768 or more can merge with no other: as it is, and a 4096 stays unlike a 2048
        ("16384 16384 8 4 / 2 0 0 0 / 0 0 0 0 / 0 0 0 0", "16384 16384 8 4 / 2 0 0 0 / 0 0 0 0 / 0 0 0 0"),
        (
            "32768 8192 16 4 / 16384 4096 64 2 / 128 1024 8 2 / 0 0 0 0",
            "32768 8192 16 4 / 16384 4096 64 2 / 128 1024 8 2 / 0 0 0 0",
        ),
        ("131072 16384 8 4 / 2 0 0 0 / 0 0 0 0 / 0 0 0 0", "32768 16384 8 4 / 2 0 0 0 / 0 0 0 0 / 0 0 0 0"),
        # the largest rank missing below the maximum is closed up; the pair can merge again
        ("32768 32768 2 4 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "16384 16384 2 4 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"),
        ("65536 65536 2 4 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "16384 16384 2 4 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"),
        # 2048 is missing, and then one is left that is too large to merge
        (
            "65536 32768 16384 8192 / 512 128 2 4096 / 2 2 0 0 / 0 0 0 0",
            "32768 16384 8192 4096 / 512 128 2 2048 / 2 2 0 0 / 0 0 0 0",
        ),
        # two steps: 32 is missing, then 16
        (
            "131072 65536 32768 16384 / 1024 2048 4096 8192 / 512 256 128 64 / 2 2 0 0",
            "32768 16384 8192 4096 / 256 512 1024 2048 / 128 64 32 16 / 2 2 0 0",
        ),
    ],
)
def test_downgrading_closes_the_gap_below_the_maximum(text: str, expected: str) -> None:
    packed = bitboard.downgrade(grid.to_grid(Board.from_text(text)))
    assert bitboard.to_board(packed).text() == expected


@given(boards(4, 4))
def test_downgrading_keeps_what_merges_with_what(board: Board) -> None:
    small = bitboard.to_board(bitboard.downgrade(grid.to_grid(board)))
    for direction in DIRECTIONS:
        assert small.slide(direction).moved == board.slide(direction).moved
    for a, b in zip(small.cells, board.cells, strict=True):
        assert (a == 0) == (b == 0)
    large = sum(exponent >= 15 for exponent in board.cells)
    if large < 2:
        assert list(small.cells) == [min(exponent, 15) for exponent in board.cells]
    elif 0 in board.cells:  # then enough is missing
        assert sum(exponent >= 15 for exponent in small.cells) < 2


def test_from_board_refuses_what_does_not_fit() -> None:
    with pytest.raises(RulesError, match="65536 does not fit"):
        bitboard.from_board(Board.from_text("65536 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"))
    with pytest.raises(RulesError, match="expected 4×4"):
        bitboard.from_board(Board(5, 5))


@given(st.integers(0, 2**64 - 1), st.integers(0, 10))
def test_the_same_seed_gives_the_same_game_in_python_and_in_both_kernels(seed: int, game: int) -> None:
    spawner = Spawner(seed, game)
    board = spawner.start()
    packed, state = bitboard.start(np.uint64(game_state(seed, game)))
    cells = np.zeros((4, 4), dtype=np.uint8)
    grid_state = grid.start_into(cells, np.uint64(game_state(seed, game)))
    for turn in range(20):
        assert bitboard.to_board(packed) == board == grid.from_grid(cells)
        assert int(state) == int(grid_state) == spawner.state
        legal = board.legal_directions()
        if not legal:
            break
        direction = legal[turn % len(legal)]
        board = spawner.spawn(board.slide(direction).afterstate)
        after, _ = bitboard.slide(np.uint64(packed), direction.index, TABLES)
        packed, state = bitboard.spawn(np.uint64(after), np.uint64(state))
        moved = np.empty_like(cells)
        grid.slide_into(cells, direction.index, moved)
        cells = moved
        grid_state = grid.spawn_into(cells, np.uint64(grid_state))
