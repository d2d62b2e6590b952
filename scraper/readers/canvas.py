"""The eye for boards on a canvas: the looks of its cells, to which the rules give values.

A picture of the window shows where the cells are. After that the cells are read inside the page, in the
frame in which they are drawn. If that is impossible, the eye takes more pictures of the window.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING

import msgspec
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from game2048.direction import Direction
from game2048.errors import PageError
from game2048.size import Size
from scraper.chromium.driver_errors import first_line, page_silent
from scraper.eye import Explains, Foreseen, SettleQuestion, Sighting, SightKind, SlideQuestion
from scraper.in_page.worlds import PageScripts
from scraper.readers import PIXELS
from scraper.readers.appearances import Looks
from scraper.readers.canvas_view import CanvasLattice, CanvasView, StillRequest
from scraper.readers.stillness import STILL_FOR_S, STILL_FRAMES, Stillness
from scraper.region import Region
from scraper.wait_times import WaitTimes

if TYPE_CHECKING:
    from scraper.readers.canvas_appearances import Crops
    from scraper.readers.canvas_looks import CanvasLooks

logger = logging.getLogger(__name__)

TRUSTED_S, TRUSTED_FRAMES = 0.016, 2
"""How long and in how many frames the cells must look the same before the page is asked what they show."""
MOST_CHANGING = 60
"""After this many frames of changes without rest, frames are compared without the grounds of the cells."""


class CanvasEye:
    """Sees the board on a canvas of one page, by the looks of its cells.

    Args:
        page: a page of Playwright.
        scripts: the project's scripts in the page.
        waits: how long to wait for what.
    """

    name = PIXELS.name

    def __init__(self, page: Page, scripts: PageScripts, waits: WaitTimes) -> None:
        self._page = page
        self._waits = waits
        self._view = CanvasView(page, scripts)
        self._looks: CanvasLooks | None = None
        self._from_window = True
        """Whether the last cells came from a picture of the window."""
        self._is_restless = False
        """Whether the cells never look the same in two frames; then only Python sees the tiles at rest."""
        self._found = False
        self._keeps_cells = False
        """Whether to keep the cells when the board is looked for again, because only looks were confused."""
        self._longest = 0
        """The most pictures in which one move of this page has changed the cells."""

    @property
    def frame(self) -> Frame:
        """The frame of the canvas."""
        return self._view.frame

    @property
    def has_board(self) -> bool:
        """Whether a canvas with a board has been found."""
        return self._found

    def forget(self) -> None:
        """Look for a canvas again before the next question; keep the known looks."""
        self._found = False

    async def skip(self) -> bool:
        """Return False, because only the largest canvas with a board is read."""
        return False

    @property
    def lattice(self) -> CanvasLattice | None:
        """The cells of the board; ``None`` before it has been found."""
        return self._view.lattice

    @property
    def sees_window(self) -> bool:
        """Whether the board is read from pictures of the window, because the canvas cannot be read."""
        return self._from_window

    @property
    def _size(self) -> Size:
        lattice = self._view.lattice
        assert lattice is not None
        return Size(lattice.rows, lattice.columns)

    @property
    def _known(self) -> CanvasLooks:
        assert self._looks is not None
        return self._looks

    async def find(self) -> bool:
        """Look for a canvas that shows a board; return whether there is one."""
        from scraper.readers.canvas_looks import CanvasLooks

        if self._keeps_cells and await self._view.is_where_it_was():
            self._keeps_cells, self._found = False, True
            return True
        before = self._size if self._view.lattice else None
        self._found = await self._view.find()
        if not self._found:
            return False
        logger.info("a canvas shows %d×%d squares", *self._size)
        self._looks = self._looks or CanvasLooks()
        if before not in (None, self._size):
            self._looks.forget_grounds()
        return True

    async def buttons(self) -> list[tuple[float, float]]:
        """Return points in the window where the largest canvas may have buttons; its middle comes last."""
        return await self._view.buttons()

    async def region(self) -> Region | None:
        """Return where the board is in the window; ``None`` before it has been found."""
        return await self._view.region()

    def look_closer(self) -> bool:
        """Compare looks more closely from now on; return False if that is already the case."""
        self._keeps_cells = self._looks is not None and self._looks.look_closer()
        return self._keeps_cells

    # -- the grounds of the cells -------------------------------------------------------------------------

    @property
    def is_cluttered(self) -> bool:
        """Whether empty cells may look like tiles: a new game has fewer tiles, and equal ones look alike."""
        return self._looks is not None and self._looks.is_cluttered

    async def draws_numbers(self) -> bool:
        """Return whether the board shows numbers that were drawn as text."""
        return await self._view.draws_numbers()

    async def rest(self, before: Crops | None, idle: int) -> tuple[Crops, bool]:
        """Return the cells at rest, and whether they differ from those before.

        Args:
            before: the cells before a key; ``None`` for no key.
            idle: milliseconds; if nothing changes for this long, the page dropped the key.
        """
        from scraper.readers.canvas_appearances import STILL, difference

        began = time.monotonic()
        watch = Stillness()
        while True:
            watch.see(await self._cells())
            changed = before is not None and bool(difference(before, watch.crops).max() >= STILL)
            passed = 1000 * (time.monotonic() - began)
            if watch.is_still and (changed or before is None or passed >= idle):
                return watch.crops, changed
            if passed >= self._waits.cap:
                return watch.crops, changed

    def learn_grounds(self, pictures: list[Crops], directions: list[Direction]) -> list[Looks] | None:
        """Learn the ground of each cell from moves.

        Args:
            pictures: the cells at rest before the first move, and after each move.
            directions: the directions of the moves.

        Returns:
            The looks in each picture; ``None`` if the moves do not show the grounds.
        """
        return self._known.learn_grounds(self._size, pictures, directions)

    # -- questions ----------------------------------------------------------------------------------------

    async def await_settled(self, question: SettleQuestion, cap: int) -> Sighting:
        """Wait for the board to come to rest; see `BoardEye`."""
        return await self._in_time(self._settled(cap), cap)

    async def await_slide(
        self, question: SlideQuestion, cap: int, explains: Explains, foreseen: Foreseen
    ) -> Sighting:
        """Wait for the effect of a move; see `BoardEye`."""
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
        watch = Stillness()
        while True:
            watch.see(self._known.tiles(await self._cells()))
            late = time.monotonic() - began > cap / 1000
            if watch.is_still or late:
                outcome = SightKind.SETTLED if watch.still_for else SightKind.MOVING
                return await self._sighting(outcome, watch.crops, learn=True)

    async def _slid(self, question: SlideQuestion, cap: int, explains: Explains) -> Sighting:
        began = time.monotonic()
        watch = Stillness()
        early: list[int] | None = None
        idle_frames, idle_ms = STILL_FRAMES, float(question.idle)
        while True:
            left = cap - 1000 * (time.monotonic() - began)
            await self._watch(watch, idle_frames, idle_ms, max(0.0, left))
            late = time.monotonic() - began > cap / 1000
            if not watch.is_still_for(TRUSTED_S, TRUSTED_FRAMES) and not late:
                continue
            looks = self._known.names(watch.crops, learn=False)
            is_same = looks == question.looks_before
            is_explained = not is_same and explains(looks)
            if is_explained and early is None and all(look in question.labels for look in looks):
                early = [question.labels[look] for look in looks]
            if is_explained and (watch.is_still or late or (question.trusting and early is not None)):
                if self._known.doubts(watch.crops):
                    return await self._sighting(SightKind.OTHER, watch.crops, learn=True)
                self._longest = max(self._longest, watch.changing)
                return await self._sighting(SightKind.SLID, watch.crops, learn=True, early=early)
            if is_explained:
                idle_frames, idle_ms = STILL_FRAMES, 1000 * STILL_FOR_S
            elif is_same:
                idle_frames, idle_ms = STILL_FRAMES, float(question.idle)
            else:
                idle_frames, idle_ms = max(STILL_FRAMES, self._longest), float(question.quiet_other)
            if not watch.is_still and not late:
                continue
            if is_same:
                if watch.still_for >= question.idle / 1000 or late:
                    return await self._sighting(SightKind.UNCHANGED, watch.crops, learn=False)
            elif not is_explained and (watch.outlasts(question.quiet_other / 1000, self._longest) or late):
                return await self._sighting(SightKind.OTHER, watch.crops, learn=True)

    async def _watch(self, watch: Stillness, idle_frames: int, idle_ms: float, longest: float) -> None:
        """Watch the next frames until the cells look the same, inside the page if possible.

        Args:
            watch: takes in what was seen.
            idle_frames: in how many frames the cells must look the same if they do not change.
            idle_ms: the same for milliseconds.
            longest: the longest wait in milliseconds.
        """
        answer = None
        if not (self._is_restless or self._view.is_closed or self._from_window):
            is_first = watch.crops is None
            answer = await self._view.still(
                StillRequest(is_first, TRUSTED_FRAMES, 1000 * TRUSTED_S, idle_frames, idle_ms, longest)
            )
        if answer is None:
            watch.see(self._known.tiles(await self._cells()))
            return
        cells, said = answer
        self._is_restless = said.changing >= MOST_CHANGING
        watch.take(self._known.tiles(cells), said.ms / 1000, said.frames, said.changing)

    async def _sighting(
        self, outcome: SightKind, tiles: Crops, *, learn: bool, early: list[int] | None = None
    ) -> Sighting:
        looks = self._known.see(tiles, learn=learn)
        if outcome is SightKind.SETTLED and self._known.without_numbers:
            await self._read_numbers()  # after a move the rules give the values
        reading = {
            "rows": self._size.rows,
            "columns": self._size.columns,
            "cells": [],
            "looks": list(looks),
            "unsure": self._known.doubts(tiles),
            "numbers": self._known.numbers,
            **msgspec.structs.asdict(self._view.words),
        }
        return Sighting(outcome, reading, early, None, 0, self.name)

    async def _read_numbers(self) -> None:
        """Read the numbers in the cells, if the page has drawn numbers in some font."""
        from scraper.readers.drawn_numbers import DrawnNumbers, side_for

        shapes = await self._view.number_shapes()
        if not shapes:
            return
        side = side_for(self._size.rows * self._size.columns)
        cells = await (self._view.photographed(side) if self._from_window else self._view.drawn(side))
        if cells is not None:
            self._known.note_numbers(DrawnNumbers(shapes), cells)

    async def _cells(self) -> Crops:
        """Return pictures of the cells, read inside the page or else from a picture of the window."""
        cells = await self._view.drawn()
        if cells is None:
            self._from_window = True
            return await self._view.photographed()
        if self._from_window and not self._known.is_empty:
            return await self._compared(cells)
        self._from_window = False
        return cells

    async def _compared(self, drawn: Crops) -> Crops:
        """Learn how the known looks are drawn, where pictures of the window showed them so far."""
        from scraper.readers.canvas_appearances import STILL, difference

        photographed = await self._view.photographed()
        again = await self._view.drawn()
        if again is None or float(difference(drawn, again).max()) >= STILL:
            return photographed
        self._known.compare(photographed, again)
        self._from_window = False
        return again
