"""N-tuple networks: a pattern and its weights, in memory and as kernels take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from game2048.kernels.two_word_board import make_geometry, masks_of
from solver_server.aligned import aligned_zeros
from solver_server.ntuple.one_word_network import OneWordTables, Weights, stage_lift
from solver_server.ntuple.patterns import Pattern, active_weights, distinct_images, scale_of
from solver_server.ntuple.two_word_network import TwoWordTables
from solver_server.ntuple.weight_order import Order, halves_mask, order_in_memory, reordered

NetworkTables = OneWordTables | TwoWordTables
"""A network as kernels take it."""


class Phase(msgspec.Struct, frozen=True, kw_only=True):
    """One stretch of training with unchanged settings.

    Attributes:
        method: learning method: ``td0``, ``tc`` or ``backward``.
        rate: learning rate (`training.settings.Settings`).
        trace: λ of ``backward``; 0 for the others.
        games: number of games started, without restarts.
        episodes: number of games and restarts.
        moves: number of moves in all episodes.
        seconds: wall-clock time spent learning.
        threads: number of threads that learned at once.
        seed: seed of the games.
        starts: description of the boards that games began on; empty if they began on fresh boards.
    """

    method: str
    rate: float
    trace: float
    games: int
    episodes: int
    moves: int
    seconds: float
    threads: int
    seed: int
    starts: str = ""


RATES_VERSION = 2
"""Version of the rates in files. In version 1 the rate of TD(0) was the step of one weight."""


def phase_with_whole_rate(phase: Phase, pattern: Pattern, version: int) -> Phase:
    """Return a phase read from a file with its rate as `Phase` means it.

    Args:
        phase: the phase.
        pattern: shape of the network.
        version: version of the file's rates.
    """
    return msgspec.structs.replace(phase, rate=whole_rate(phase.method, phase.rate, pattern, version))


def whole_rate(method: str, rate: float, pattern: Pattern, version: int) -> float:
    """Return a rate read from a file as the share of a TD error that one step takes off a board's value."""
    if method == "td0" and version < RATES_VERSION:
        return rate * active_weights(pattern) * scale_of(pattern)
    return rate


@dataclass(frozen=True, slots=True)
class Network:
    """A network ready for use.

    Attributes:
        pattern: shape of the network.
        weights: float32 or int16 [pattern.entries], all tables, one behind the other, in the order that
            `weight_order.order_in_memory` names.
        history: how the network was trained, phase by phase.
        sha256: digest of the file it came from, or empty.
        step: score points that a weight of 1 stands for.
    """

    pattern: Pattern
    weights: Weights
    history: tuple[Phase, ...] = ()
    sha256: str = ""
    step: float = 1.0

    def tables(self) -> NetworkTables:
        """Describe the network for kernels; the weights are shared, not copied."""
        return make_tables(self.pattern, self.weights, self.step)

    def weights_in(self, order: Order) -> Weights:
        """Return the weights in an order; a copy if it is not their own."""
        return reordered(self.pattern, self.weights, order_in_memory(self.pattern), order)


def new_weights(pattern: Pattern, initial_value: float = 0.0) -> Weights:
    """Make fresh weights, float32 [entries].

    Args:
        pattern: shape of the network.
        initial_value: value of every board at the start, in points (optimistic initialisation).
    """
    weights = aligned_zeros(pattern.entries, np.float32)
    if initial_value:
        weights[:] = initial_value / (active_weights(pattern) * scale_of(pattern))
    return weights


def make_tables(pattern: Pattern, weights: Weights, step: float = 1.0) -> NetworkTables:
    """Describe a network for kernels.

    Args:
        pattern: shape of the network.
        weights: see `Network`; shared, not copied. In the order of `weight_order.order_in_memory`.
        step: score points that a weight of 1 stands for.
    """
    full: list[tuple[tuple[int, int], int]] = []
    single: list[tuple[tuple[int, int], int, int]] = []
    offset = 0
    in_halves = order_in_memory(pattern) == "halves"
    for cells in pattern.tuples:
        mask = (halves_mask(cells), 0) if in_halves else masks_of(list(cells), pattern.columns)
        distinct = distinct_images(pattern, cells)
        if len(distinct) == 8:
            full.append((mask, offset))
        else:
            single += [(mask, offset, image) for image in distinct]
        offset += 16 ** len(cells)
    masks = _unsigned([mask for mask, _ in full]).reshape(-1, 2)
    offsets = _unsigned([offset for _, offset in full])
    single_masks = _unsigned([mask for mask, _, _ in single]).reshape(-1, 2)
    single_offsets = _unsigned([offset for _, offset, _ in single])
    single_images = np.array([image for _, _, image in single], dtype=np.int64)
    scale = np.float32(scale_of(pattern) * step)
    if in_halves:
        return OneWordTables(
            weights,
            np.ascontiguousarray(masks[:, 0]),
            offsets,
            np.ascontiguousarray(single_masks[:, 0]),
            single_offsets,
            single_images,
            scale,
            pattern.ranks,
            _unsigned([stage_lift(stage) for stage in pattern.stages]),
            np.uint64(pattern.stage_entries),
        )
    return TwoWordTables(
        weights,
        masks,
        _shifts(masks),
        offsets,
        single_masks,
        _shifts(single_masks),
        single_offsets,
        single_images,
        scale,
        pattern.ranks,
        make_geometry(pattern.rows, pattern.columns),
    )


def _unsigned(numbers: Any) -> npt.NDArray[np.uint64]:
    return np.array(numbers, dtype=np.uint64)


def _shifts(masks: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    return _unsigned([int(low).bit_count() for low, _ in masks])
