from __future__ import annotations

import numpy as np
from support.dataset_games import late_game, played
from support.recorded import worked_game

from recordings.datasets.statistics import GameTally, statistics_text
from recordings.game_arrays import GameArrays, arrays_of
from recordings.record import new_info


def ended(
    score: int, exponent: int, moves: int = 150, directions: tuple[int, ...] = (0, 1, 2, 3)
) -> GameArrays:
    """A game of which only what is counted is true."""
    cells = np.zeros((moves + 1, 4, 4), dtype=np.uint8)
    cells[-1, 0, 0] = exponent
    return GameArrays(
        new_info(source="self-play", solver="hand", outcome="game_over"),
        cells,
        np.resize(np.array(directions, dtype=np.uint8), moves),
        np.full(moves + 1, score, dtype=np.int64),
    ).with_totals()


def tally(*games: GameArrays) -> GameTally:
    counted = GameTally()
    for game in games:
        counted.add(game)
    return counted


def test_the_figures_of_three_games_by_hand() -> None:
    s = tally(ended(10_000, 10, 120), ended(20_000, 11, 160), ended(60_000, 12, 200)).statistics()
    assert (s.games, s.wins, s.win_rate) == (3, 2, 0.6667)
    assert (s.mean_score, s.median_score, s.p75_score, s.p90_score, s.max_score) == (
        30_000.0,
        20_000.0,
        40_000.0,
        52_000.0,
        60_000,
    )
    assert (s.moves, s.mean_moves, s.short_games) == (480, 160.0, 0)
    assert (s.max_tile, s.max_tile_counts) == (4096, {"4096": 1, "2048": 1, "1024": 1})
    assert s.directions == {"up": 120, "right": 120, "down": 120, "left": 120}
    assert (s.outcomes, s.boards, s.red_flags) == ({"game_over": 3}, {"4x4": 3}, [])


def test_each_red_flag_is_raised_by_what_it_is_about() -> None:
    assert tally(ended(9_000, 10)).statistics().red_flags == [
        "win rate 0.0%, below 50%: the player is weak",
        "average score 9,000, below 10,000: check the evaluation",
    ]
    assert tally(ended(20_000, 11, 99), ended(20_000, 11)).statistics().red_flags == [
        "1 of 2 games have fewer than 100 moves: they end too early"
    ]
    assert tally(ended(20_000, 11, directions=(0, 1, 3))).statistics().red_flags == [
        "no move goes down: the player never uses that direction"
    ]
    many = tally(*[ended(20_000, 11, 100)] * 1000)
    assert many.statistics().red_flags == ["no 4096 tile in 1000 games: the search is too shallow"]
    assert tally().statistics().red_flags == ["there are no games"]


def test_boards_on_which_2048_cannot_be_are_not_blamed_for_it() -> None:
    assert tally(*[played(3, 3, seed) for seed in range(3)]).statistics().red_flags == [
        "3 of 3 games have fewer than 100 moves: they end too early"
    ]


def test_games_of_other_programs_count_too() -> None:
    game = arrays_of(worked_game()).with_info(outcome=None)
    s = tally(game, late_game()).statistics()
    assert s.outcomes == {"not recorded": 1, "stopped": 1}
    assert s.boards == {"2x2": 1, "4x4": 1}
    assert s.max_tile_counts == {"131072": 1, "8": 1}


def test_the_report_is_laid_out_as_the_specification_shows_it() -> None:
    counted = tally(ended(10_000, 10, 120), ended(20_000, 11, 160), ended(60_000, 12, 200))
    text = statistics_text(counted.statistics())
    assert text.splitlines() == [
        "📊 Dataset Statistics",
        "============================================================",
        "Total games: 3",
        "Wins (2048+): 2 (66.7%)",
        "Average score: 30,000",
        "Median score: 20,000 (75 %: 40,000, 90 %: 52,000)",
        "Average moves per game: 160.0",
        "Max tile achieved: 4096",
        "",
        "Max tile distribution:",
        "  4096:    1 games ( 33.3%)",
        "  2048:    1 games ( 33.3%)",
        "  1024:    1 games ( 33.3%)",
        "",
        "Directions: up 25.0%, right 25.0%, down 25.0%, left 25.0%",
        "Total training samples: 480",
        "Average samples per game: 160",
    ]
