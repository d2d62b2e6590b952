"""The order of the weights of a 4×4 table: near boards have weights that lie near each other.

A table has a weight for each choice of exponents of its cells. Two orders number them:

* ``cells``: the exponent of the first cell is the lowest hexadecimal digit, the next cell's the next one.
  Boards of other sizes, packed networks and files of earlier versions have it.
* ``halves``: the lower two bits of all exponents come first, the last cell's lowest; then the upper two bits,
  the last cell's lowest. All 4×4 networks in memory have it.

Moves and spawns mostly change small tiles, so mostly lower bits, and a cache line holds what two cells can
show with tiles up to 8. Play waits for memory: of 110 weights that a move reads, 28 are not in a cache of
2 MB with ``halves``, and 41 with ``cells`` (4x6, games of 2,500 moves).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from solver_server.aligned import aligned_empty
from solver_server.ntuple.patterns import Pattern

Order = Literal["cells", "halves"]


def order_in_memory(pattern: Pattern) -> Order:
    """Return the order that kernels expect of a network's weights."""
    return "halves" if (pattern.rows, pattern.columns) == (4, 4) else "cells"


def reordered(pattern: Pattern, numbers: npt.NDArray[Any], before: Order, after: Order) -> npt.NDArray[Any]:
    """Return the weights of a network, or what belongs to each of them, in another order.

    Args:
        pattern: shape of the network.
        numbers: [entries · n], n numbers for each weight, table by table and stage by stage. It is returned
            itself if it has the right order.
        before: its order.
        after: order of the result.
    """
    if before == after:
        return numbers
    result = aligned_empty(numbers.size, numbers.dtype)
    width = numbers.size // pattern.entries
    start = 0
    for cells in pattern.tuples * (len(pattern.stages) + 1):
        end = start + width * 16 ** len(cells)
        result[start:end] = _reordered_table(numbers[start:end], len(cells), width, after)
        start = end
    return result


def _reordered_table(table: npt.NDArray[Any], cells: int, width: int, after: Order) -> npt.NDArray[Any]:
    # In the order `cells` the axes are the upper and the lower half of the last cell, of the one before, ….
    upper = [2 * (cells - 1 - cell) for cell in range(cells)]
    axes = [*upper, *(axis + 1 for axis in upper)]
    if after == "cells":
        axes = np.argsort(axes).tolist()
    return table.reshape((4,) * (2 * cells) + (width,)).transpose([*axes, 2 * cells]).reshape(-1)


def halves_mask(cells: tuple[int, ...]) -> int:
    """Make the mask that gathers a tuple's index of the order ``halves`` out of `one_word_network.halves`."""
    return sum(3 << (2 * (15 - cell)) | 3 << (32 + 2 * (15 - cell)) for cell in cells)
