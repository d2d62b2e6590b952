"""Start and stop the browser driver without left-over error messages."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from game2048.errors import PageError

if TYPE_CHECKING:
    from playwright.async_api import Playwright


@contextlib.asynccontextmanager
async def running_driver() -> AsyncIterator[Playwright]:
    """Start the browser driver; stop it at the end.

    Raises:
        PageError: it does not start.
    """
    from playwright.async_api import async_playwright  # heavy, and not needed before

    manager = async_playwright()
    async with contextlib.AsyncExitStack() as stack:
        try:
            playwright = await stack.enter_async_context(manager)
        except Exception as error:  # Playwright has no type of its own for this
            _do_not_log(error)
            raise PageError(
                f"Playwright's driver, a Node.js program, does not start: {await _why() or error}; "
                "if it lacks libatomic.so.1, run 'apt-get install libatomic1' or 'bot2048 install-browser'"
            ) from error
        _read_its_end(manager)
        yield playwright


async def _why() -> str:
    """Start the driver's Node.js alone, and return the last line that it prints if it fails, or nothing.

    The loop reaps the driver that has ended meanwhile; otherwise asyncio would log that at the end.
    """
    from playwright._impl._driver import compute_driver_executable
    from playwright.async_api import Error as PlaywrightError

    try:
        node = await asyncio.create_subprocess_exec(
            compute_driver_executable()[0],
            "--version",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
    except (OSError, PlaywrightError) as error:
        return str(error)
    _, told = await node.communicate()
    lines = told.decode(errors="replace").split("\n") if node.returncode else []
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")


def _do_not_log(known: Exception) -> None:
    """Keep asyncio from logging an error that also waits in a future of the driver's client, out of reach."""

    def log(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if context.get("exception") is not known:
            loop.default_exception_handler(context)

    asyncio.get_running_loop().set_exception_handler(log)


def _read_its_end(manager: object) -> None:
    """Read the error that the driver leaves when a signal ends it.

    A signal to a group of processes also ends the driver. Its client keeps the error in a future that nobody
    reads, so asyncio would log it at the end of the program.
    """
    for holder in ("_client", "_connection"):  # the versions of Playwright differ
        transport: Any = getattr(getattr(manager, holder, None), "_transport", None)
        future = getattr(transport, "on_error_future", None)
        if isinstance(future, asyncio.Future):
            future.add_done_callback(_read)


def _read(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()
