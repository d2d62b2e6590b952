"""The eye for boards drawn on a canvas: pictures of the window, and the rules to tell what they show."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from playwright.async_api import CDPSession, ElementHandle, Frame, Page
from playwright.async_api import Error as PlaywrightError

from game2048.errors import PageError
from scraper.detection.page_script import Answer, Patience, first_line
from scraper.input.methods import Region

if TYPE_CHECKING:
    from scraper.readers.canvas_appearances import Crops, Gallery
    from scraper.readers.canvas_lattice import PixelLattice

logger = logging.getLogger(__name__)

NAME = "pixels"
LOOKS_FOR = "a canvas with equal squares"
LEAST_CANVAS = 100
QUIET_S = 0.1
"""How long the cells must look the same, over two pictures at least."""

FIND_CANVASES = """() => {
  const found = [];
  const look = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) look(element.shadowRoot);
      if (element.localName === "canvas") found.push(element);
    }
  };
  look(document);
  return found;
}"""
PLACE = """(canvas) => {
  const box = canvas.getBoundingClientRect();
  return [box.left, box.top, box.width, box.height, canvas.isConnected && canvas.checkVisibility()];
}"""
SCROLL = "[scrollX, scrollY, innerWidth, innerHeight]"

Explains = Callable[[tuple[str, ...]], bool]


class PixelEye:
    """Sees the board on a canvas of one page; the same questions as `scraper.detection.page_script.Probe`.

    Args:
        page: a page of Playwright's.
        patience: how long to wait for what.
    """

    name = NAME

    def __init__(self, page: Page, patience: Patience) -> None:
        self._page = page
        self._patience = patience
        self._session: CDPSession | None = None
        self._canvas: ElementHandle | None = None
        self._lattice: PixelLattice | None = None
        self._gallery: Gallery | None = None
        self._size = (0.0, 0.0)
        self._grounded: bool | None = None
        """Whether plain cells are empty, whatever their colour; ``None`` until some have been seen."""
        self.frame: Frame = page.main_frame

    async def find(self) -> bool:
        """Look for a canvas that shows a board; whether there is one."""
        from scraper.readers.canvas_appearances import Gallery
        from scraper.readers.canvas_lattice import find_lattice

        for frame, canvas in await self._canvases():
            self.frame, self._canvas = frame, canvas
            with contextlib.suppress(PlaywrightError):
                lattice = find_lattice(await self._picture())
                if lattice is not None:
                    logger.info("a canvas shows %d×%d squares", lattice.rows, lattice.columns)
                    self._lattice, self._gallery = lattice, self._gallery or Gallery()
                    return True
        self._canvas = None
        return False

    async def _canvases(self) -> list[tuple[Frame, ElementHandle]]:
        found: list[tuple[float, Frame, ElementHandle]] = []
        for frame in self._page.frames:
            with contextlib.suppress(PlaywrightError):
                handles = await frame.evaluate_handle(FIND_CANVASES)
                for handle in (await handles.get_properties()).values():
                    canvas = handle.as_element()
                    if canvas is None:
                        continue
                    _, _, width, height, shown = await canvas.evaluate(PLACE)
                    if shown and min(width, height) >= LEAST_CANVAS:
                        found.append((width * height, frame, canvas))
        found.sort(key=lambda one: -one[0])
        return [(frame, canvas) for _, frame, canvas in found]

    async def buttons(self) -> list[tuple[float, float]]:
        """Where on the largest canvas buttons may be, in the window; at last its middle."""
        from scraper.readers.canvas_lattice import find_buttons

        for frame, canvas in await self._canvases():
            self.frame, self._canvas = frame, canvas
            box = await canvas.bounding_box()
            if box is not None:
                places = find_buttons(await self._picture())
                places.append((box["width"] / 2, box["height"] / 2))
                return [(box["x"] + x, box["y"] + y) for x, y in places]
        return []

    async def region(self) -> Region | None:
        """Where the board is in the window."""
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
        """Tell looks apart that differ less; False if that has been done before."""
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

    async def ask(
        self, method: str, request: Mapping[str, Any], cap: int, explains: Explains | None = None
    ) -> Answer:
        """Wait for something to be seen.

        Args:
            method: ``awaitSettled`` or ``awaitSlide``.
            request: as for `Probe.ask`; of ``awaitSlide`` the looks ``before`` the move.
            cap: how long, in milliseconds.
            explains: whether the rules explain these looks as what the move led to.

        Raises:
            PageError: the page has gone, or its canvas has.
        """
        try:
            async with asyncio.timeout((cap + self._patience.answer) / 1000):
                if method == "awaitSettled":
                    return await self._await_settled(cap, fresh=bool(request.get("fresh")))
                looks = tuple(request["looksBefore"])
                return await self._await_slide(looks, request["idle"], cap, explains)
        except PlaywrightError as error:
            raise PageError(
                f"the canvas of {self._page.url} cannot be seen any more: {first_line(error)}"
            ) from error
        except TimeoutError as error:
            raise PageError(f"{self._page.url} does not answer any more") from error

    async def _await_settled(self, cap: int, *, fresh: bool) -> Answer:
        began = time.monotonic()
        watch = _Stillness()
        while True:
            watch.see(await self._cells())
            late = time.monotonic() - began > cap / 1000
            if watch.still_for >= QUIET_S or late:
                return self._answer("settled" if watch.still_for else "moving", watch.crops, learn=True)

    async def _await_slide(
        self, before: tuple[str, ...], idle: int, cap: int, explains: Explains | None
    ) -> Answer:
        patience = self._patience
        began = time.monotonic()
        watch = _Stillness()
        while True:
            watch.see(await self._cells())
            late = time.monotonic() - began > cap / 1000
            if watch.still_for < QUIET_S and not late:
                continue
            looks = self._names(watch.crops, learn=False)
            if looks == before:
                if watch.still_for >= idle / 1000 or late:
                    return self._answer("unchanged", watch.crops, learn=False)
            elif explains is not None and explains(looks):
                return self._answer("slid", watch.crops, learn=True)
            elif watch.still_for >= patience.quiet_other / 1000 or late:
                return self._answer("other", watch.crops, learn=True)

    def _names(self, crops: Crops, *, learn: bool) -> tuple[str, ...]:
        assert self._gallery is not None
        return self._gallery.names(crops, learn=learn)

    def _answer(self, outcome: Any, crops: Crops, *, learn: bool) -> Answer:
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
        return Answer(outcome, reading, None, None, 0, NAME)

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
        scroll = await self._page.evaluate(SCROLL)
        x, y, wide, high = msgspec.convert(scroll, tuple[float, float, float, float], strict=False)
        if box is None:
            raise PageError(f"the canvas of {self._page.url} has gone: start again to go on")
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
