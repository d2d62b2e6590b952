"""How a network learns: the settings of a training run."""

from __future__ import annotations

import msgspec

METHODS = ("backward", "tc", "td0")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How a network learns.

    Attributes:
        method: ``backward`` (TC(λ) from the end of each game, with restarts), ``tc`` (TC(0)) or ``td0``.
        rate: learning rate. TD(0): what every active weight moves by per point of error. TC: β, shared over
            the active weights.
        trace: λ of ``backward``.
        initial_value: value of every board before learning, in points (optimistic initialisation).
        decay_interval: number of games after which the rate is multiplied by ``decay_factor``; 0 for never.
        decay_factor: factor of the rate after each interval.
        seed: seed of the games.
        threads: number of threads that learn at once, without locks; only one is reproducible.
        starts: description of the boards that games begin on; empty if they begin on fresh boards.
    """

    method: str = "backward"
    rate: float = 1.0
    trace: float = 0.5
    initial_value: float = 0.0
    decay_interval: int = 0
    decay_factor: float = 0.5
    seed: int = 0
    threads: int = 1
    starts: str = ""
