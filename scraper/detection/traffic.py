"""Watch what a page is still loading."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from playwright.async_api import Page, Request, Response

LONGEST_LOAD_S = 12.0
"""How much longer to wait for a page that is still loading."""


class Traffic:
    """The files of its own site, and the scripts of any site, that a page is still fetching.

    A request that takes too long does not count: it may be a stream or a poll, or get no answer.
    """

    KINDS = frozenset({"document", "script", "stylesheet", "image", "font", "fetch", "xhr"})
    UNANSWERED_S = 4.0
    LONG_S = 8.0
    """How long an answer may take to arrive after it has begun."""
    POLLS = frozenset({"fetch", "xhr"})
    POLL_S = 2.5
    """How long a script's request counts; a server may answer it only when something happens."""
    MUCH = 100_000

    def __init__(self, page: Page) -> None:
        self._page = page
        self._pending: dict[Request, float] = {}
        """For each request, until when it counts."""
        self.ended_at = 0.0
        """When the last answer arrived."""
        page.on("request", self._begin)
        page.on("response", self._arrive)
        page.on("requestfinished", self._end)
        page.on("requestfailed", self._end)

    def _begin(self, request: Request) -> None:
        sites = {urlsplit(frame.url).netloc for frame in self._page.frames}
        is_own = urlsplit(request.url).netloc in sites
        if request.resource_type == "script" or (is_own and request.resource_type in self.KINDS):
            lasts = self.POLL_S if request.resource_type in self.POLLS else self.UNANSWERED_S
            self._pending[request] = time.monotonic() + lasts

    def _arrive(self, response: Response) -> None:
        request = response.request
        if request not in self._pending:
            return
        length = response.headers.get("content-length", "")
        if length.isdecimal() and int(length) >= self.MUCH:
            self._pending[request] = time.monotonic() + LONGEST_LOAD_S
        elif request.resource_type not in self.POLLS:
            self._pending[request] = time.monotonic() + self.LONG_S

    def _end(self, request: Request) -> None:
        if self._pending.pop(request, None) is not None:
            self.ended_at = time.monotonic()

    @property
    def is_busy(self) -> bool:
        """Whether the page still waits for a recent request."""
        return any(time.monotonic() < until for until in self._pending.values())
