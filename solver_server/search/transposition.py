"""A transposition table of afterstates: one array, a multiplicative hash, always replaced."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.kernels.jit import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ODD = np.uint64(0xBF58476D1CE4E5B9)  # of the splitmix64 finalizer
_U29, _U32 = np.uint64(29), np.uint64(32)

# One record an entry, so that a probe touches one cache line. `stamp` is generation · 256 + plies below.
_ENTRY = np.dtype([("key", np.uint64), ("value", np.float64), ("stamp", np.int64)])


class TranspositionTable(NamedTuple):
    """Values of afterstates searched before.

    Attributes:
        entries: records (key, value, stamp) [2**n].
        generation: int64 [1]; raising it empties the table.
    """

    entries: npt.NDArray[np.void]
    generation: npt.NDArray[np.int64]


def make_transposition_table(log2_entries: int) -> TranspositionTable:
    """Make an empty table of ``2**log2_entries`` entries, 24 bytes each."""
    return TranspositionTable(np.zeros(1 << log2_entries, dtype=_ENTRY), np.ones(1, dtype=np.int64))


@kernel
def slot_of(key: np.uint64, slots: int) -> int:
    """Return the slot of a key among ``slots``, a power of two up to 2**32."""
    # A bit of a product depends only on the bits up to it: unless the upper ones are folded back, boards that
    # differ in the last row alone, where the small tiles are, would all share a slot.
    mixed = (key ^ (key >> _U32)) * _GOLDEN
    mixed = (mixed ^ (mixed >> _U29)) * _ODD
    return int((mixed >> _U32) & np.uint64(slots - 1))


@kernel
def holds(slot: int, key: np.uint64, plies: int, exact: bool, table: TranspositionTable) -> bool:
    """Tell whether a slot has the value of a key, searched to ``plies`` (``exact``) or at least so deep."""
    entry: Any = table.entries[slot]
    if entry.key != key or entry.stamp >> 8 != table.generation[0]:
        return False
    depth = entry.stamp & 255
    return bool(depth == plies if exact else depth >= plies)


@kernel
def store(slot: int, key: np.uint64, plies: int, value: float, table: TranspositionTable) -> None:
    """Put a value into a slot, in place of any other."""
    entry: Any = table.entries[slot]
    entry.key = key
    entry.value = value
    entry.stamp = (table.generation[0] << 8) | plies
