"""Big arrays that begin where a cache line and a huge page begin."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_LINE = 64
_HUGE_PAGE = 1 << 21


def aligned_empty(count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Make an array of undefined numbers, [count]; see `aligned_zeros`."""
    return _aligned(np.empty, count, np.dtype(dtype))


def aligned_zeros(count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Make an array of zeros, [count].

    NumPy begins an array some bytes after a cache line, so numbers that a table keeps in one line would lie
    in two. It asks for huge pages for arrays of 4 MiB and more.
    """
    return _aligned(np.zeros, count, np.dtype(dtype))


def _aligned(make: Any, count: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    size = count * dtype.itemsize
    alignment = _HUGE_PAGE if size >= _HUGE_PAGE else _LINE
    room: npt.NDArray[np.uint8] = make(size + alignment, dtype=np.uint8)
    start = -room.ctypes.data % alignment
    return room[start : start + size].view(dtype)
