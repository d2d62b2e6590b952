"""How a network learns: the settings of a training run."""

from __future__ import annotations

from typing import Annotated

import msgspec

from solver_server.ntuple.patterns import Pattern

METHODS = ("backward", "tc", "td0")

Positive = Annotated[float, msgspec.Meta(gt=0, le=1e30)]
_Count = Annotated[int, msgspec.Meta(ge=0)]


_LANES = 2


def default_lanes(method: str, pattern: Pattern) -> int:
    """Return the number of games that a thread plays at once by default (`Settings.lanes`)."""
    return _LANES if method != "backward" and (pattern.rows, pattern.columns) == (4, 4) else 1


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How a network learns.

    Attributes:
        method: ``backward`` (TC(λ) from the end of each game, with restarts), ``tc`` (TC(0)) or ``td0``.
        rate: learning rate, the share of a TD error that one step takes off the value of a board. It is
            divided among the active weights, images included. TD(0): α, commonly 0.1; TC: β, commonly 1.
        trace: λ of ``backward``.
        initial_value: value of every board before learning, in points (optimistic initialisation).
        decay_interval: number of games after which the rate is multiplied by ``decay_factor``; 0 for never.
        decay_factor: factor of the rate after each interval.
        seed: seed of the games.
        threads: number of threads that learn at once, without locks; only one is reproducible.
        starts: description of the boards that games begin on; empty if they begin on fresh boards.
        lanes: number of games that a thread plays at once, move by move in turns (`lockstep`): more than 1
            for ``tc`` and ``td0`` on 4×4 only. Files without it were learned one game after the other.
    """

    method: str = "backward"
    rate: Positive = 1.0
    trace: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5
    initial_value: float = 0.0
    decay_interval: _Count = 0
    decay_factor: Positive = 0.5
    seed: _Count = 0
    threads: int = 1
    starts: str = ""
    lanes: Annotated[int, msgspec.Meta(ge=1, le=64)] = 1
