"""Figures of an engine through the front door."""

from __future__ import annotations

import pytest

import bot2048
from bot2048 import Limit, Size


def test_the_same_seed_gives_the_same_games() -> None:
    first = bot2048.evaluate("fast", games=3, limit=Limit(depth=1), size=Size(3, 3), seed=5)
    again = bot2048.evaluate("fast", games=3, limit=Limit(depth=1), size=Size(3, 3), seed=5, threads=2)
    other = bot2048.evaluate("fast", games=3, limit=Limit(depth=1), size=Size(3, 3), seed=6)
    assert (first.games, first.mean, first.moves) == (3, again.mean, again.moves)
    assert sum(first.max_tile_counts.values()) == 3
    assert other.moves != first.moves


def test_what_cannot_be_evaluated() -> None:
    with pytest.raises(bot2048.SolverError, match="games is 0; expected at least 1"):
        bot2048.evaluate("fast", games=0)
    with pytest.raises(bot2048.SolverError, match="'best' is unknown"):
        bot2048.evaluate("best")
    with pytest.raises(bot2048.SolverError, match="5x5"):
        bot2048.evaluate("order", games=1, size=Size(5, 5))
