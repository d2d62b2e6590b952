"""The monotonic clock, readable inside kernels.

A kernel resolves the C library's own function by name, so that it can still be cached on disk.
"""

from __future__ import annotations

import sys
from typing import Any

from numba import types

from game2048.kernels.jit import kernel

_CLOCK_MONOTONIC = 6 if sys.platform == "darwin" else 1

if sys.platform == "win32":
    _counter = types.ExternalFunction("QueryPerformanceCounter", types.int32(types.voidptr))
    _frequency = types.ExternalFunction("QueryPerformanceFrequency", types.int32(types.voidptr))

    @kernel
    def now(buffer: Any) -> float:
        """Return the seconds of a clock that never goes back; ``buffer`` is int64 [2], overwritten."""
        _frequency(buffer.ctypes)
        frequency = buffer[0]
        _counter(buffer.ctypes)
        return float(buffer[0]) / frequency

else:
    _clock_gettime = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.voidptr))

    @kernel
    def now(buffer: Any) -> float:
        """Return the seconds of a clock that never goes back; ``buffer`` is int64 [2], overwritten."""
        _clock_gettime(_CLOCK_MONOTONIC, buffer.ctypes)
        return float(buffer[0] + 1e-9 * buffer[1])
