from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from support.dataset_games import hard_games, late_game, moveless, played
from support.recorded import worked_game

from recordings.game_arrays import GameArrays, arrays_of, record_of
from recordings.replay import verify


@pytest.mark.parametrize("number", range(len(hard_games())))
def test_games_by_the_rules_have_no_fault(number: int) -> None:
    assert verify(hard_games()[number]) is None


def changed(game: GameArrays, ply: int, cell: int, exponent: int) -> GameArrays:
    cells = game.cells.copy()
    cells[ply].flat[cell] = exponent
    return dataclasses.replace(game, cells=cells)


def faulty() -> list[GameArrays]:
    game = played(4, 4, 5)
    scores = game.scores.copy()
    scores[20] += 4
    turned = game.directions.copy()
    turned[10] = (turned[10] + 1) % 4
    empty = int(np.flatnonzero(game.cells[30] == 0)[0])
    worked = arrays_of(worked_game())
    return [
        dataclasses.replace(game, scores=scores),
        dataclasses.replace(game, directions=turned),
        changed(game, 30, empty, 1),
        changed(game, 30, empty, 3),
        changed(game, 0, int(np.flatnonzero(game.cells[0])[0]), 9),
        changed(game, game.plies, 0, 12),
        game.with_info(total_moves=game.plies + 1),
        game.with_info(max_tile=4),
        game.with_info(won=True),
        game.with_info(timestamp="yesterday"),
        played(4, 4, 5, max_moves=30).with_info(outcome="game_over"),
        changed(worked, 5, 2, 3),
        moveless(late_game()).with_info(max_tile=2),
    ]


@pytest.mark.parametrize("number", range(13))
def test_what_breaks_the_rules_is_told_as_the_replay_tells_it(number: int) -> None:
    game = faulty()[number]
    fault = verify(game)
    assert fault is not None
    assert fault == verify(record_of(game))


def test_only_after_an_interrupted_game_s_last_move_the_spawn_may_be_missing() -> None:
    game = arrays_of(worked_game())
    cells = game.cells.copy()
    cells[-1] = [[1, 3], [2, 0]]  # left made no merge; the spawned 2 is taken away
    cut = dataclasses.replace(game, cells=cells)
    assert verify(cut.with_info(outcome="interrupted")) is None
    fault = verify(cut.with_info(outcome="stopped"))
    assert fault is not None
    assert fault.ply == 5
