"""How many connections there may be, and how long a wrong token waits."""

from __future__ import annotations

import asyncio
import sys
import weakref
from collections import OrderedDict
from collections.abc import Hashable
from pathlib import Path
from typing import Protocol

from game2048.errors import SolverError
from solver_server.serving.refusal_log import RefusalLog

_FIRST_DELAY = 0.1
_LONGEST_DELAY = 5.0
_TIME_TO_ASK = 1.0  # seconds that every connection has for its request, however many come
_SPARE = 8  # connections below the limit from which on those that only wait make room
_REMEMBERED = 1024  # addresses that sent a wrong token
_LEAST = 16  # connections that are always allowed, however few descriptors there are


class Droppable(Protocol):
    """A connection that can be dropped."""

    def drop(self) -> None:
        """Close the connection at once."""
        ...


class TooManyConnectionsError(ConnectionError):
    """A connection was accepted although there are as many as there may be."""


class Admission:
    """Counts connections from the moment they are accepted, long before they have shown a token.

    Args:
        max_connections: open websockets.
        max_handshakes: connections that have not sent their request. Of more, the oldest is dropped if it
            has had a second, or if descriptors run out. Also how many wrong tokens wait for their answer.
        refusals: where refusals are counted.

    Raises:
        SolverError: so many connections need more descriptors than half of those the process may open.
    """

    def __init__(self, max_connections: int, max_handshakes: int, refusals: RefusalLog) -> None:
        share = descriptor_share()
        if max_connections > share:
            raise SolverError(
                f"{max_connections} connections are more than half of the files that this process may open "
                f"({share}); ask for fewer with --max-connections, or raise the limit with `ulimit -n`"
            )
        self.max_connections = max_connections
        self._limit = share
        self._max_handshakes = max_handshakes
        self._refusals = refusals
        self._accepted: weakref.WeakSet[Droppable] = weakref.WeakSet()
        self._waiting: OrderedDict[Droppable, float] = OrderedDict()  # since when
        self._open: set[Droppable] = set()
        self._failures: OrderedDict[Hashable, int] = OrderedDict()
        self._slowed = 0  # requests with a wrong token that wait
        self._stopping = asyncio.Event()

    @property
    def open_count(self) -> int:
        """Open websockets."""
        return len(self._open)

    @property
    def is_full(self) -> bool:
        """Whether there are as many open websockets as there may be."""
        return len(self._open) >= self.max_connections

    def accept(self, connection: Droppable) -> None:
        """Count a connection that was just accepted, before any byte of it.

        Raises:
            TooManyConnectionsError: there are too many already; the caller drops it.
        """
        if len(self._accepted) >= self._limit:
            self._refusals.add(
                "too many connections", f"there are {self._limit} connections, as many as may be"
            )
            raise TooManyConnectionsError
        self._accepted.add(connection)

    def connected(self, connection: Droppable) -> None:
        """Note that a connection can be read, and wait for its request."""
        now = asyncio.get_running_loop().time()
        self._waiting[connection] = now
        if len(self._waiting) <= self._max_handshakes:
            return
        oldest, since = next(iter(self._waiting.items()))
        if now - since > _TIME_TO_ASK or len(self._accepted) > self._limit - _SPARE:
            del self._waiting[oldest]
            self._refusals.add("sent no request", "it sent no request while others waited to connect")
            oldest.drop()

    def requested(self, connection: Droppable) -> None:
        """Note that the request of a connection has come."""
        self._waiting.pop(connection, None)

    def opened(self, connection: Droppable) -> None:
        """Note that a connection has become a websocket."""
        self._open.add(connection)

    def lost(self, connection: Droppable) -> None:
        """Note that a connection has ended."""
        self._waiting.pop(connection, None)
        self._open.discard(connection)
        self._accepted.discard(connection)

    def stop_waiting(self) -> None:
        """Drop all connections that have not sent a request; answer wrong tokens without delay."""
        self._stopping.set()
        for connection in list(self._waiting):
            connection.drop()

    def drop_all(self) -> None:
        """Drop every connection."""
        for connection in list(self._accepted):
            connection.drop()

    async def slow_down(self, address: Hashable) -> bool:
        """Wait before a wrong token is answered; each time longer for the same address.

        Returns:
            Whether to answer at all. Where many wait already, others would lack their descriptors.
        """
        failures = self._failures.pop(address, 0) + 1
        self._failures[address] = failures
        if len(self._failures) > _REMEMBERED:
            self._failures.popitem(last=False)
        if self._slowed >= self._max_handshakes:
            return False
        self._slowed += 1
        try:
            async with asyncio.timeout(min(_FIRST_DELAY * 2.0 ** min(failures - 1, 10), _LONGEST_DELAY)):
                await self._stopping.wait()
        except TimeoutError:
            pass
        finally:
            self._slowed -= 1
        return True

    def forgive(self, address: Hashable) -> None:
        """Forget the wrong tokens of an address that has sent the right one."""
        self._failures.pop(address, None)


def descriptor_share() -> int:
    """Return how many connections leave half of the process's file descriptors free."""
    if sys.platform == "win32":
        return 2048
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return 1 << 20
    try:
        used = len(list(Path("/dev/fd").iterdir()))
    except OSError:
        used = 32
    return max(soft // 2 - used, _LEAST)
