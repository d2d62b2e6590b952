"""One client at work: two tasks, one that reads requests and one that answers them in order.

A connection has one search with the pool at a time. That bounds the pool's queue by the number of
connections, and shares the threads among them in turn.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import itertools
import logging
import time
from dataclasses import dataclass

from websockets.exceptions import ConnectionClosed

from game2048.errors import SolverError
from game2048.wire.messages import MAX_MESSAGE_BYTES, Cancel, ErrorMessage, Message, RequestId, encode
from solver_server.serving.bounded_connection import BoundedConnection
from solver_server.serving.metrics import ServerMetrics
from solver_server.serving.pool import EnginePool
from solver_server.serving.session import (
    BatchRequest,
    Session,
    Work,
    answered,
    answered_many,
    busy,
    cancelled,
    failed,
    overdue,
)

log = logging.getLogger(__name__)

connection_name: contextvars.ContextVar[str] = contextvars.ContextVar("connection_name", default="-")
"""The connection that a log record is about; see `log_format`."""

_MOST_WAITING = 8 * MAX_MESSAGE_BYTES
"""Characters of the waiting messages of one connection; decoded, they may take ten times as much memory."""

_numbers = itertools.count(1)


@dataclass(slots=True, eq=False)
class _Entry:
    """A message of the client that waits for its turn or is worked on.

    Attributes:
        step: what to do about it.
        size: characters or bytes of the message.
        deadline: the event loop's time at which its answer is of no use.
        is_searched: whether its search runs.
    """

    step: Work | ErrorMessage
    size: int
    deadline: float | None = None
    is_searched: bool = False
    _withdrawn: bool = False

    def is_withdrawn(self) -> bool:
        """Return whether the client has cancelled the request."""
        return self._withdrawn

    def withdraw(self) -> None:
        """Note that the client has cancelled the request."""
        self._withdrawn = True


class Conversation:
    """Answers one client until one of the two has enough.

    Args:
        connection: the open connection.
        session: decides what to say.
        pool: searches.
        metrics: counts.
        max_waiting: requests that may wait.
    """

    def __init__(
        self,
        connection: BoundedConnection,
        session: Session,
        pool: EnginePool,
        metrics: ServerMetrics,
        max_waiting: int,
    ) -> None:
        self._connection = connection
        self._session = session
        self._pool = pool
        self._metrics = metrics
        self._queue: asyncio.Queue[_Entry] = asyncio.Queue(max_waiting)
        self._entries: set[_Entry] = set()  # those that wait and the one that is worked on
        self._size = 0  # of all entries
        self._idle = asyncio.Event()
        self._idle.set()
        self._finishing = False
        self._answering: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """Requests that wait for their turn."""
        return self._queue.qsize()

    async def run(self) -> None:
        """Greet the client and answer it until the connection ends."""
        connection_name.set(f"c{next(_numbers)}")
        log.info("%s connected", self._connection.peer)
        try:
            async with asyncio.TaskGroup() as tasks:
                await self._send(self._session.hello())
                self._answering = tasks.create_task(self._answer_all())
                await self._read()
                self._answering.cancel()  # nobody is there to hear the rest
        except* ConnectionClosed as closed:
            log.info("connection lost: %s", closed.exceptions[0])
        finally:
            self._idle.set()  # nothing is left to answer
        log.info("disconnected")

    async def finish(self) -> None:
        """Answer what was asked, take no more, and close with 1001."""
        self._finishing = True
        await self._idle.wait()
        with contextlib.suppress(ConnectionClosed):
            await self._connection.close(1001, "the server stops")

    def abandon(self) -> None:
        """Stop answering; `finish` then closes the connection."""
        if self._answering is not None:
            self._answering.cancel()
        self._idle.set()

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        async for data in self._connection:
            if self._finishing:
                continue
            step = self._session.handle(data)
            if isinstance(step, Cancel):
                self._withdraw(step.id)
                continue
            if isinstance(step, ErrorMessage):
                self._metrics.refused(step.code)
                entry = _Entry(step, len(data))
            else:
                deadline = None if step.deadline is None else loop.time() + step.deadline
                entry = _Entry(step, len(data), deadline)
            if self._queue.full() or (self._entries and self._size + entry.size > _MOST_WAITING):
                # The one answer out of order: to wait here would leave pings and a disconnect unseen.
                full = step if isinstance(step, ErrorMessage) else busy(step, self._queue.qsize())
                await self._send(full)
            else:
                self._queue.put_nowait(entry)
                self._entries.add(entry)
                self._size += entry.size
                self._idle.clear()

    def _withdraw(self, request_id: RequestId) -> None:
        for entry in self._entries:
            if not isinstance(entry.step, ErrorMessage) and entry.step.request_id == request_id:
                entry.withdraw()
                if entry.is_searched and self._answering is not None:
                    entry.is_searched = False  # a second message must not cancel what comes after
                    self._answering.cancel()  # `_work_on` takes it as the end of this search alone

    async def _answer_all(self) -> None:
        while True:
            entry = await self._queue.get()
            try:
                await self._send(await self._answer_to(entry))
            finally:
                self._entries.discard(entry)
                self._size -= entry.size
            if not self._entries:
                self._idle.set()

    async def _answer_to(self, entry: _Entry) -> Message | bytes:
        if isinstance(entry.step, ErrorMessage):
            return entry.step
        begun = time.perf_counter()
        answer = await self._work_on(entry, entry.step)
        self._metrics.answered(entry.step, answer, time.perf_counter() - begun)
        return answer

    async def _work_on(self, entry: _Entry, work: Work) -> Message | bytes:
        if entry.is_withdrawn():
            return cancelled(work)
        entry.is_searched = True
        try:
            if entry.deadline is None:
                return await self._solve(work)
            async with asyncio.timeout_at(entry.deadline):
                return await self._solve(work)
        except TimeoutError:
            return overdue(work)
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if entry.is_withdrawn() and current is not None and current.uncancel() == 0:
                return cancelled(work)
            raise
        finally:
            entry.is_searched = False

    async def _solve(self, work: Work) -> Message | bytes:
        try:
            if isinstance(work, BatchRequest):
                begun = time.perf_counter()
                directions = await self._pool.choose_many(work.engine, work.boards, work.limit)
                return answered_many(work, directions, (time.perf_counter() - begun) * 1000)
            return answered(work, await self._pool.choose(work.engine, work.board, work.limit))
        except SolverError as error:
            return failed(work, str(error))

    async def _send(self, message: Message | bytes) -> None:
        await self._connection.send(message if isinstance(message, bytes) else encode(message))
