"""The eye for boards drawn on a canvas: pictures of the window, and the rules to tell what they show."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from playwright.async_api import CDPSession, ElementHandle, Frame, Page
from playwright.async_api import Error as PlaywrightError

from game2048.errors import PageError
from scraper.chromium.driver_errors import first_line, page_silent
from scraper.eye import Explains, SettleQuestion, Sighting, SightKind, SlideQuestion
from scraper.in_page.worlds import PageScripts
from scraper.readers import PIXELS
from scraper.region import Region
from scraper.wait_times import WaitTimes

if TYPE_CHECKING:
    from scraper.readers.canvas_appearances import Crops, Gallery
    from scraper.readers.canvas_lattice import PixelLattice

logger = logging.getLogger(__name__)

_Window = tuple[float, float, float, float]
LEAST_CANVAS = 100
STILL_FOR_S = 0.1
"""How long the cells must look the same, over two pictures at least."""


class CanvasEye:
    """Sees the board on a canvas of one page, in pictures of the window.

    Args:
        page: a page of Playwright.
        scripts: ours, in the page.
        waits: how long to wait for what.
    """

    name = PIXELS.name

    def __init__(self, page: Page, scripts: PageScripts, waits: WaitTimes) -> None:
        self._page = page
        self._scripts = scripts
        self._waits = waits
        self._session: CDPSession | None = None
        self._canvas: ElementHandle | None = None
        self._lattice: PixelLattice | None = None
        self._gallery: Gallery | None = None
        self._size = (0.0, 0.0)
        self._grounded: bool | None = None
        """Whether plain cells are empty, whatever their colour; ``None`` until some have been seen."""
        self._frame: Frame = page.main_frame
        self._found = False

    @property
    def frame(self) -> Frame:
        """The frame of the canvas."""
        return self._frame

    @property
    def has_board(self) -> bool:
        """Whether a canvas with a board has been found."""
        return self._found

    def forget(self) -> None:
        """Look for a canvas anew; what is known of its looks is kept."""
        self._found = False

    async def skip(self) -> bool:
        """Return False: the largest canvas with a board is the only one that is looked at."""
        return False

    async def find(self) -> bool:
        """Look for a canvas that shows a board; return whether there is one."""
        from scraper.readers.canvas_appearances import Gallery
        from scraper.readers.canvas_lattice import find_lattice

        for frame, canvas in await self._canvases():
            self._frame, self._canvas = frame, canvas
            with contextlib.suppress(PlaywrightError):
                lattice = find_lattice(await self._picture())
                if lattice is not None:
                    logger.info("a canvas shows %d×%d squares", lattice.rows, lattice.columns)
                    self._lattice, self._gallery = lattice, self._gallery or Gallery()
                    self._found = True
                    return True
        self._canvas, self._found = None, False
        return False

    async def _canvases(self) -> list[tuple[Frame, ElementHandle]]:
        found: list[tuple[float, Frame, ElementHandle]] = []
        for frame in self._page.frames:
            with contextlib.suppress(PlaywrightError):
                for canvas in await frame.query_selector_all("canvas"):
                    box = await canvas.bounding_box() if await canvas.is_visible() else None
                    if box is not None and min(box["width"], box["height"]) >= LEAST_CANVAS:
                        found.append((box["width"] * box["height"], frame, canvas))
        found.sort(key=lambda one: -one[0])
        return [(frame, canvas) for _, frame, canvas in found]

    async def buttons(self) -> list[tuple[float, float]]:
        """Return where on the largest canvas buttons may be, in the window; its middle comes last."""
        from scraper.readers.canvas_lattice import find_buttons

        for frame, canvas in await self._canvases():
            self._frame, self._canvas = frame, canvas
            box = await canvas.bounding_box()
            if box is not None:
                places = find_buttons(await self._picture())
                places.append((box["width"] / 2, box["height"] / 2))
                return [(box["x"] + x, box["y"] + y) for x, y in places]
        return []

    async def region(self) -> Region | None:
        """Return where the board is in the window."""
        box = await self._canvas.bounding_box() if self._canvas else None
        lattice = self._lattice
        if box is None or lattice is None:
            return None
        return Region(
            box["x"] + lattice.x - lattice.pitch_x / 2,
            box["y"] + lattice.y - lattice.pitch_y / 2,
            lattice.columns * lattice.pitch_x,
            lattice.rows * lattice.pitch_y,
        )

    def look_closer(self) -> bool:
        """Tell looks apart that differ less; return False if that has been done before."""
        from scraper.readers.canvas_appearances import CLOSER, Gallery

        if self._gallery is None or self._gallery.same <= CLOSER:
            return False
        if self._grounded:
            logger.info("the looks of the canvas contradict the rules: plain cells may be tiles")
            self._grounded, self._gallery = False, Gallery()
            return True
        logger.info("the looks of the canvas contradict the rules: looking closer")
        self._gallery = Gallery(CLOSER)
        return True

    # -- questions ----------------------------------------------------------------------------------------

    async def await_settled(self, question: SettleQuestion, cap: int) -> Sighting:
        """Wait for the board to come to rest; see `BoardEye`."""
        return await self._in_time(self._settled(cap), cap)

    async def await_slide(self, question: SlideQuestion, cap: int, explains: Explains) -> Sighting:
        """Wait for what a move does; see `BoardEye`."""
        return await self._in_time(self._slid(question, cap, explains), cap)

    async def _in_time(self, wait: Awaitable[Sighting], cap: int) -> Sighting:
        url = self._page.url
        try:
            async with asyncio.timeout((cap + self._waits.answer) / 1000):
                return await wait
        except PlaywrightError as error:
            raise PageError(
                f"the canvas of {url} cannot be seen any more: {first_line(error)}", url=url, reader=self.name
            ) from error
        except TimeoutError as error:
            raise page_silent(url) from error

    async def _settled(self, cap: int) -> Sighting:
        began = time.monotonic()
        watch = _Stillness()
        while True:
            watch.see(await self._cells())
            late = time.monotonic() - began > cap / 1000
            if watch.still_for >= STILL_FOR_S or late:
                outcome = SightKind.SETTLED if watch.still_for else SightKind.MOVING
                return self._sighting(outcome, watch.crops, learn=True)

    async def _slid(self, question: SlideQuestion, cap: int, explains: Explains) -> Sighting:
        began = time.monotonic()
        watch = _Stillness()
        while True:
            watch.see(await self._cells())
            late = time.monotonic() - began > cap / 1000
            if watch.still_for < STILL_FOR_S and not late:
                continue
            looks = self._names(watch.crops, learn=False)
            if looks == question.looks_before:
                if watch.still_for >= question.idle / 1000 or late:
                    return self._sighting(SightKind.UNCHANGED, watch.crops, learn=False)
            elif explains(looks):
                return self._sighting(SightKind.SLID, watch.crops, learn=True)
            elif watch.still_for >= question.quiet_other / 1000 or late:
                return self._sighting(SightKind.OTHER, watch.crops, learn=True)

    def _names(self, crops: Crops, *, learn: bool) -> tuple[str, ...]:
        assert self._gallery is not None
        return self._gallery.names(crops, learn=learn)

    def _sighting(self, outcome: SightKind, crops: Crops, *, learn: bool) -> Sighting:
        lattice = self._lattice
        assert lattice is not None
        reading = {
            "rows": lattice.rows,
            "columns": lattice.columns,
            "cells": [],
            "looks": list(self._names(crops, learn=learn)),
            "score": None,
            "best": None,
            "won": False,
            "over": False,
        }
        return Sighting(outcome, reading, None, None, 0, self.name)

    # -- pictures -----------------------------------------------------------------------------------------

    async def _cells(self) -> Crops:
        from scraper.readers.canvas_appearances import are_plain, crops_of, without_ground
        from scraper.readers.canvas_lattice import find_lattice

        picture = await self._picture()
        size = (float(picture.shape[1]), float(picture.shape[0]))
        if size != self._size:
            lattice = find_lattice(picture)
            if lattice is not None:
                self._lattice = lattice
            self._size = size
        assert self._lattice is not None
        crops = crops_of(picture, self._lattice)
        if self._grounded is None:
            plain = are_plain(crops)
            self._grounded = bool(plain.any() and not plain.all()) or None
        return without_ground(crops) if self._grounded else crops

    async def _picture(self) -> Any:
        from scraper.readers.canvas_lattice import decode

        assert self._canvas is not None
        if self._session is None:
            self._session = await self._page.context.new_cdp_session(self._page)
        box = await self._canvas.bounding_box()
        x, y, wide, high = await self._scripts.call(self._page.main_frame, "scrolling", into=_Window)
        if box is None:
            url = self._page.url
            raise PageError(
                f"the canvas of {url} has gone: start again to continue", url=url, reader=self.name
            )
        clip = {
            "x": round(box["x"] + x),
            "y": round(box["y"] + y),
            "width": round(box["width"]),
            "height": round(box["height"]),
            "scale": 1,
        }
        # Beyond the window only where need be: the window is made larger for that, which pages notice.
        beyond = (
            box["x"] < 0 or box["y"] < 0 or box["x"] + box["width"] > wide or box["y"] + box["height"] > high
        )
        answer = await self._session.send(
            "Page.captureScreenshot",
            {"format": "png", "clip": clip, "optimizeForSpeed": True, "captureBeyondViewport": beyond},
        )
        return decode(base64.b64decode(answer["data"]))


class _Stillness:
    """For how long the cells have looked the same."""

    def __init__(self) -> None:
        self.crops: Any = None
        self._since = 0.0
        self.still_for = 0.0

    def see(self, crops: Crops) -> None:
        from scraper.readers.canvas_appearances import STILL, difference

        now = time.monotonic()
        if self.crops is None or float(difference(self.crops, crops).max()) >= STILL:
            self._since = now
        self.crops = crops
        self.still_for = now - self._since
