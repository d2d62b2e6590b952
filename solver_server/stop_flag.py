"""A flag that stops a running search."""

from __future__ import annotations

import numpy as np

from game2048.errors import SolverError


class SearchStoppedError(SolverError):
    """A search stopped because its `StopFlag` was set."""


class StopFlag:
    """A flag that a compiled search reads where it reads the clock.

    Another thread may set it at any time: the kernels run without the interpreter's lock.

    Attributes:
        array: int64 [1], not 0 once the search must stop.
    """

    __slots__ = ("array",)

    def __init__(self) -> None:
        self.array = np.zeros(1, dtype=np.int64)

    def set(self) -> None:
        """Ask the running search to stop."""
        self.array[0] = 1

    def clear(self) -> None:
        """Allow the next search to run."""
        self.array[0] = 0

    @property
    def is_set(self) -> bool:
        """Whether the search must stop."""
        return bool(self.array[0])

    def check(self) -> None:
        """Do nothing, unless the flag is set.

        Raises:
            SearchStoppedError: the flag is set.
        """
        if self.is_set:
            raise SearchStoppedError("the search was stopped, since its result is no longer wanted")
