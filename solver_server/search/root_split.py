"""One search on several threads: each takes one direction at one depth at a time.

Kernels release the interpreter's lock, so threads search in parallel. Each has its own `Search` with its own
transposition table. Two threads may compute the same value, but none waits for another, and nobody reads a
half-written entry.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy.typing as npt

from solver_server.search.clock import now
from solver_server.search.expectimax import NO_LIMIT, Search, begin, decide, move_value


class _Work:
    """The tasks of one decision, (plies, direction), the shallowest first, and their results."""

    def __init__(self, directions: Sequence[int], first: int, last: int) -> None:
        self._directions = directions
        self._first = first
        self._last = last
        self._taken = 0
        self._lock = threading.Lock()
        self._values: dict[int, dict[int, float]] = {}

    def take(self) -> tuple[int, int] | None:
        """Take the next task; return ``None`` after the last one."""
        with self._lock:
            round_, turn = divmod(self._taken, len(self._directions))
            plies = self._first + 2 * round_
            if plies > self._last:
                return None
            self._taken += 1
            return plies, self._directions[turn]

    def book(self, plies: int, direction: int, value: float) -> None:
        """Store the value of a finished task."""
        with self._lock:
            self._values.setdefault(plies, {})[direction] = value

    def deepest(self) -> tuple[int, dict[int, float]] | None:
        """Return the deepest depth to which all directions were searched, and their values."""
        finished = [plies for plies, found in self._values.items() if len(found) == len(self._directions)]
        return (max(finished), self._values[max(finished)]) if finished else None


class RootSplit:
    """Deepens on all threads at once.

    Args:
        threads: number of threads, the caller's included; at least 2.
    """

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads - 1, thread_name_prefix="root")

    def decide(
        self, boards: Any, first: int, last: int, seconds: float, searches: Sequence[Search]
    ) -> tuple[int, int]:
        """Deepen from ``first`` to ``last`` plies within a limit of time; see `expectimax.decide`.

        Args:
            boards: the board to move on, as an array of one.
            first: plies of the first search, which is always finished.
            last: plies of the last one.
            seconds: limit on all but the first depth.
            searches: one for each thread. The first one gets the values of the deepest finished depth
                (``values[0]``) and the nodes of all threads (``counters[0]``).

        Returns:
            The best direction (−1 if none is legal) and the plies of the deepest finished depth.
        """
        own = searches[0]
        limit = now(own.clock) + seconds
        best, reached = decide(boards, first, first, math.inf, NO_LIMIT, 0.0, own)
        if best < 0 or now(own.clock) > limit:
            return best, reached
        values = own.values[0]
        legal = [direction for direction in range(4) if not math.isnan(values[direction])]
        work = _Work(legal, first + 2, last)
        for search in searches:
            if search is not own:
                begin(search)
            search.deadline[0] = limit
        others = [self._threads.submit(_run, work, boards, search) for search in searches[1:]]
        _run(work, boards, own)
        for other in others:
            other.result()
        deepest = work.deepest()
        if deepest is not None:
            reached, found = deepest
            best = _put(found, values)
        own.counters[0] = sum(int(search.counters[0]) for search in searches)
        return best, reached


def _run(work: _Work, boards: Any, search: Search) -> None:
    while (task := work.take()) is not None:
        plies, direction = task
        value = move_value(boards, direction, plies, search)
        if search.counters[1] != 0:
            return
        work.book(plies, direction, value)


def _put(found: dict[int, float], values: npt.NDArray[Any]) -> int:
    """Write values by direction; return the best, of equal ones the first."""
    for direction, value in found.items():
        values[direction] = value
    return max(sorted(found), key=lambda d: found[d])
