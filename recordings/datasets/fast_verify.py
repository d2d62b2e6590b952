"""Checking games by the rules, in arrays; what is at fault is then said by `recordings.replay`."""

from __future__ import annotations

import datetime

import numpy as np

from recordings.game_arrays import GameArrays, record_of
from recordings.record import WINNING_TILE
from recordings.replay import Fault, verify


def verify_arrays(game: GameArrays) -> Fault | None:
    """The first fault of a game, as `verify` finds it in its record, but at the speed of a kernel."""
    return None if _is_sound(game) else verify(record_of(game))


def _is_sound(game: GameArrays) -> bool:
    from game2048.kernels.transitions import find_facts  # loads kernels

    facts = find_facts(game.cells, game.directions)
    spawned = facts.spawn_cell >= 0
    if game.info.outcome == "interrupted" and not spawned[-1:].all():
        spawned[-1] = bool(np.array_equal(facts.after[-1], game.cells[-1]))
    top = int(game.cells[-1].max())
    tile = 1 << top if top else 0
    return bool(
        spawned.all()
        and (facts.reward >= 0).all()
        and (np.diff(game.scores) == facts.reward).all()
        and game.info.total_moves == game.plies
        and game.info.max_tile == tile
        and game.info.won == (tile >= WINNING_TILE)
        and (game.info.outcome != "game_over" or _is_over(game))
        and _is_moment(game.info.timestamp)
    )


def _is_over(game: GameArrays) -> bool:
    from game2048.kernels.grid import is_grid_over

    return bool(is_grid_over(game.cells[-1]))


def _is_moment(text: str) -> bool:
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
