"""Running the asynchronous part of a command."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable


async def until_stopped(work: Awaitable[None]) -> None:
    """Await some work; SIGTERM ends it as Ctrl-C does, so that what was played is recorded.

    Raises:
        KeyboardInterrupt: a signal ended it.
    """
    task = asyncio.current_task()
    if sys.platform != "win32" and task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        await work
    except asyncio.CancelledError:
        if task is not None and task.uncancel() >= 0:
            raise KeyboardInterrupt from None
