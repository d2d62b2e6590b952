"""Say that kernels are compiled: once, and only if they are."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numba.core.event

NOTICE = "compiling kernels, once; this may take a minute"

_LONG = 1.0


def tell_of_compilation(say: Callable[[str], object], after: float = _LONG) -> None:
    """Say from now on, once, that this process compiles kernels. Kernels that are cached are not compiled.

    Args:
        say: called with `NOTICE`, in any thread.
        after: seconds of compiling, all kernels together, before it is said.
    """
    numba.core.event.register("numba:compile", _Listener(say, after))


class _Listener(numba.core.event.Listener):  # type: ignore[misc]
    """Adds up the time for which kernels are compiled; numba compiles one at a time."""

    def __init__(self, say: Callable[[str], object], after: float) -> None:
        self._say = say
        self._left = after
        self._depth = 0  # a kernel is compiled while another waits for it
        self._begun = 0.0
        self._timer: threading.Timer | None = None
        self._said = False

    def on_start(self, event: Any) -> None:
        """Start the clock."""
        self._depth += 1
        if self._depth > 1 or self._said:
            return
        self._begun = time.monotonic()
        self._timer = threading.Timer(max(self._left, 0.0), self._tell)
        self._timer.daemon = True
        self._timer.start()

    def on_end(self, event: Any) -> None:
        """Stop the clock."""
        self._depth -= 1
        if self._depth == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._left -= time.monotonic() - self._begun

    def _tell(self) -> None:
        if not self._said:
            self._said = True
            self._say(NOTICE)
