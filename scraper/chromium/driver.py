"""Start and stop the browser driver without left-over error messages."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.async_api import Playwright


@contextlib.asynccontextmanager
async def running_driver() -> AsyncIterator[Playwright]:
    """Start the browser driver; stop it at the end."""
    from playwright.async_api import async_playwright  # heavy, and not needed before

    manager = async_playwright()
    async with manager as playwright:
        _read_its_end(manager)
        yield playwright


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
