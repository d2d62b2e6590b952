"""An event loop in a thread of its own: what lets plain functions use the asynchronous parts.

It also works where a loop runs already, as in notebooks.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
import weakref
from collections.abc import Coroutine
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")
_Started = concurrent.futures.Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]


class LoopThread:
    """A thread that runs an event loop until `close`, until nobody refers to it, or until Python ends.

    At the end all that still runs in the loop is cancelled, and its asynchronous generators are closed.
    """

    def __init__(self) -> None:
        started = _Started()
        thread = threading.Thread(target=_run_loop, args=(started,), name="bot2048", daemon=True)
        thread.start()
        self._loop, stop = started.result()
        self._finalizer = weakref.finalize(self, _stop_loop, self._loop, stop, thread)

    @property
    def is_closed(self) -> bool:
        """Whether the loop has ended."""
        return not self._finalizer.alive

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop and return its result.

        Where Ctrl-C or another exception interrupts the wait, the coroutine is cancelled, and has ended when
        this method raises.
        """
        result: concurrent.futures.Future[T] = concurrent.futures.Future()
        tasks: list[asyncio.Task[T]] = []

        def begin() -> None:
            tasks.append(self._loop.create_task(work))
            tasks[0].add_done_callback(partial(_hand_over, result))

        try:
            self._loop.call_soon_threadsafe(begin)
        except RuntimeError:  # the loop is closed
            work.close()
            raise
        try:
            return result.result()
        finally:
            if not result.done():
                self._loop.call_soon_threadsafe(lambda: tasks[0].cancel())
                concurrent.futures.wait([result])

    def close(self) -> None:
        """End the loop and its thread. A second call does nothing."""
        self._finalizer()


def _hand_over(result: concurrent.futures.Future[T], task: asyncio.Task[T]) -> None:
    if task.cancelled():
        result.set_exception(concurrent.futures.CancelledError())
    elif (error := task.exception()) is not None:
        result.set_exception(error)
    else:
        result.set_result(task.result())


def _run_loop(started: _Started) -> None:
    async def until_stopped() -> None:
        stop = asyncio.Event()
        started.set_result((asyncio.get_running_loop(), stop))
        await stop.wait()

    asyncio.run(until_stopped())


def _stop_loop(loop: asyncio.AbstractEventLoop, stop: asyncio.Event, thread: threading.Thread) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(stop.set)
    if thread is not threading.current_thread():
        thread.join()
