"""A transposition table of afterstates: one array of entries under a multiplicative hash, always replaced."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.jit import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)

# One record an entry, so that a probe touches one cache line. `stamp` is generation · 256 + plies below.
_ENTRY = np.dtype([("key", np.uint64), ("value", np.float64), ("stamp", np.int64)])


class Table(NamedTuple):
    """Values of afterstates searched before.

    Attributes:
        entries: records (key, value, stamp) [2**n].
        generation: int64 [1]; raising it empties the table.
    """

    entries: npt.NDArray[np.void]
    generation: npt.NDArray[np.int64]


def make_table(log2_entries: int) -> Table:
    """An empty table of ``2**log2_entries`` entries, 24 bytes each."""
    return Table(np.zeros(1 << log2_entries, dtype=_ENTRY), np.ones(1, dtype=np.int64))


@kernel
def slot_of(key: np.uint64, table: Table) -> int:
    """Where a key lives."""
    mixed = key * _GOLDEN
    return int((mixed ^ (mixed >> np.uint64(32))) & np.uint64(table.entries.size - 1))


@kernel
def holds(slot: int, key: np.uint64, plies: int, exact: bool, table: Table) -> bool:
    """Whether a slot has the value of a key, searched to ``plies`` (``exact``) or at least so deep."""
    entry: Any = table.entries[slot]
    if entry.key != key or entry.stamp >> 8 != table.generation[0]:
        return False
    depth = entry.stamp & 255
    return bool(depth == plies if exact else depth >= plies)


@kernel
def store(slot: int, key: np.uint64, plies: int, value: float, table: Table) -> None:
    """Put a value into a slot, whatever was there."""
    entry: Any = table.entries[slot]
    entry.key = key
    entry.value = value
    entry.stamp = (table.generation[0] << 8) | plies
