"""Refused connections in the log: the first at once, the rest summed up."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter

log = logging.getLogger(__name__)

_PERIOD = 10.0


class RefusalLog:
    """Counts refusals by cause. A flood of them costs one line in ten seconds.

    Args:
        period: seconds between two lines.
    """

    def __init__(self, period: float = _PERIOD) -> None:
        self._period = period
        self._counts: Counter[str] = Counter()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, cause: str, detail: str) -> None:
        """Count a refusal.

        Args:
            cause: a few words, the same for all refusals of a kind.
            detail: a sentence, logged if no refusal was logged for a while.
        """
        if self._timer is None:
            log.warning("refused a connection: %s", detail)
            self._timer = asyncio.get_running_loop().call_later(self._period, self._sum_up)
        else:
            self._counts[cause] += 1

    def close(self) -> None:
        """Log what was counted since the last line."""
        if self._timer is not None:
            self._timer.cancel()
            self._sum_up()
            if self._timer is not None:
                self._timer.cancel()

    def _sum_up(self) -> None:
        self._timer = None
        if not self._counts:
            return
        causes = ", ".join(f"{count} {cause}" for cause, count in self._counts.most_common())
        log.warning("refused %d more connections within %g s: %s", self._counts.total(), self._period, causes)
        self._counts.clear()
        self._timer = asyncio.get_running_loop().call_later(self._period, self._sum_up)
