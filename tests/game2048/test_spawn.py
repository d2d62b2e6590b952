from __future__ import annotations

import pytest
from hypothesis import given
from support.strategies import boards

from game2048 import Board, RulesError
from game2048.spawn import Spawner, chance_outcomes, game_state, next_random, pick


def test_the_generator_is_splitmix64() -> None:
    # The first outputs for seed 1234567, as published with the reference implementation.
    state, drawn = 1234567, []
    for _ in range(5):
        state, number = next_random(state)
        drawn.append(number)
    assert drawn == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_a_number_stands_for_a_cell_and_a_tile() -> None:
    top_half = 0xFFFFFFFF << 32
    assert pick(0, 16) == (0, 2)  # the lowest tenth of the lower half is a 4
    assert pick(429496729, 16) == (0, 2)
    assert pick(429496730, 16) == (0, 1)
    assert pick(top_half | 0xFFFFFFFF, 16) == (15, 1)
    assert pick(0x80000000 << 32, 2) == (1, 2)
    assert pick(0x7FFFFFFF << 32, 2) == (0, 2)


def test_spawns_follow_the_rule() -> None:
    spawner = Spawner(2048)
    board = Board.from_text("2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 2 0 4 2")
    draws = 20_000
    fours = 0
    cells = dict.fromkeys(board.empty_cells(), 0)
    for _ in range(draws):
        child = spawner.spawn(board)
        (cell,) = (i for i in cells if child.cells[i])
        cells[cell] += 1
        fours += child.cells[cell] == 2
    # Five standard deviations: √(20000·0.1·0.9) = 42, √(20000·¼·¾) = 61.
    assert abs(fours - 2000) < 212
    assert all(abs(count - 5000) < 306 for count in cells.values())


def test_a_first_board_has_two_tiles_of_two_or_four() -> None:
    for seed in range(50):
        tiles = [tile for row in Spawner(seed).start(5, 3).tiles() for tile in row if tile]
        assert len(tiles) == 2
        assert set(tiles) <= {2, 4}


def test_games_of_a_run_differ_and_repeat() -> None:
    starts = [Spawner(7, game).start() for game in range(8)]
    assert len(set(starts)) > 4
    assert starts == [Spawner(7, game).start() for game in range(8)]


def test_a_full_board_takes_no_tile() -> None:
    with pytest.raises(RulesError, match="board '2 4 / 4 2' is full"):
        Spawner(1).spawn(Board.from_text("2 4 / 4 2"))


@pytest.mark.parametrize(("seed", "game"), [(-1, 0), (2**64, 0), (0, -1)])
def test_bad_seeds_are_told(seed: int, game: int) -> None:
    with pytest.raises(RulesError, match="expected 0"):
        game_state(seed, game)


@given(boards(2, 3))
def test_chance_outcomes_are_a_distribution(board: Board) -> None:
    outcomes = chance_outcomes(board)
    assert len(outcomes) == 2 * len(board.empty_cells())
    if outcomes:
        assert sum(p for p, _ in outcomes) == pytest.approx(1.0)
        fours = sum(
            p for p, child in outcomes if sum(map(sum, child.tiles())) - sum(map(sum, board.tiles())) == 4
        )
        assert fours == pytest.approx(0.1)
