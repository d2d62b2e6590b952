"""Limit the number of moves a second."""

from __future__ import annotations

import asyncio
import time


class RateLimit:
    """Let callers pass one after another at a limited rate.

    Args:
        rate: turns a second; ``None`` for no limit.
    """

    def __init__(self, rate: float | None) -> None:
        self._rate = rate
        self._due = 0.0

    async def turn(self) -> None:
        """Wait until the next turn."""
        if self._rate is None:
            return
        now = time.monotonic()
        wait = self._due - now
        self._due = max(now, self._due) + 1 / self._rate
        if wait > 0:
            await asyncio.sleep(wait)
