"""Draw a tab very small while its moves are confirmed. Nobody sees it, and drawing costs half of a move."""

from __future__ import annotations

import contextlib

import msgspec
from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from scraper.in_page.worlds import PageScripts

SCALE = 0.05
"""The scale of the small drawing. Tiles stay larger than a pixel: frames that change nothing come late."""
FULL_AFTER_PICTURE = 20
"""How many moves stay drawn in full after a picture; the next picture may follow soon."""


class _Metrics(msgspec.Struct, frozen=True, rename="camel"):
    """What a page sees of its window, in CSS pixels."""

    width: int
    height: int
    screen_width: int
    screen_height: int
    pixel_ratio: float
    orientation: str
    angle: int


_TYPES = {
    "landscape-primary": "landscapePrimary",
    "landscape-secondary": "landscapeSecondary",
    "portrait-primary": "portraitPrimary",
    "portrait-secondary": "portraitSecondary",
}


class TabDrawing:
    """The scale at which the browser draws one tab. The page cannot see it: its window keeps its size.

    While the tab is small, clicks miss and pictures are tiny. So it is small only between key presses.

    Args:
        page: a page of Playwright.
        scripts: the project's scripts in the page.
        allowed: whether the tab may be drawn small at all.
    """

    def __init__(self, page: Page, scripts: PageScripts, *, allowed: bool) -> None:
        self._page = page
        self._scripts = scripts
        self._allowed = allowed
        self._session: CDPSession | None = None
        self._metrics: _Metrics | None = None
        self._waits = 0
        self.is_small = False

    async def shrink(self) -> None:
        """Draw the tab small from now on, unless somebody has taken a picture just now."""
        if self.is_small or not self._allowed:
            return
        if self._waits:
            self._waits -= 1
            return
        with contextlib.suppress(PlaywrightError, msgspec.DecodeError):
            self._metrics = await self._scripts.call(self._page.main_frame, "metrics", into=_Metrics)
            self.is_small = True  # also if the call fails half-way
            await self._draw_at(SCALE)

    async def restore(self, *, for_picture: bool = False) -> None:
        """Draw the tab in full from now on.

        Args:
            for_picture: the caller takes a picture; keep the full drawing for some moves.
        """
        if for_picture:
            self._waits = FULL_AFTER_PICTURE
        if not self.is_small:
            return
        with contextlib.suppress(PlaywrightError):  # the page has gone; the next question says so
            await self._draw_at(1)
            self.is_small = False

    async def _draw_at(self, scale: float) -> None:
        if self._session is None:
            self._session = await self._page.context.new_cdp_session(self._page)
        metrics = self._metrics
        assert metrics is not None
        await self._session.send(
            "Emulation.setDeviceMetricsOverride",
            {
                "width": metrics.width,
                "height": metrics.height,
                "screenWidth": metrics.screen_width,
                "screenHeight": metrics.screen_height,
                "deviceScaleFactor": metrics.pixel_ratio,
                "screenOrientation": {
                    "type": _TYPES.get(metrics.orientation, "landscapePrimary"),
                    "angle": metrics.angle,
                },
                "mobile": False,
                "scale": scale,
            },
        )
