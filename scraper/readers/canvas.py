"""The eye for boards on a canvas: it shrinks the pictures of the cells, and the rules give their values.

A picture of the window shows where the cells are. After that the cells are read inside the page, in the
frame in which they are drawn. If that is impossible, the eye takes more pictures of the window.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import dataclasses
import logging
import time
from collections import Counter
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from playwright.async_api import CDPSession, Frame, Page
from playwright.async_api import Error as PlaywrightError

from game2048.direction import Direction
from game2048.errors import PageError
from scraper.chromium.driver_errors import first_line, page_silent
from scraper.eye import Explains, Foreseen, SettleQuestion, Sighting, SightKind, SlideQuestion
from scraper.in_page.worlds import PageScripts
from scraper.readers import PIXELS
from scraper.readers.appearances import GROUND, LookBook
from scraper.readers.stillness import STILL_FOR_S, STILL_FRAMES, Stillness
from scraper.region import Region, place_in_window
from scraper.wait_times import WaitTimes

if TYPE_CHECKING:
    from scraper.readers.canvas_appearances import Crops, Gallery
    from scraper.readers.canvas_grounds import Grounds
    from scraper.readers.canvas_lattice import PixelLattice

logger = logging.getLogger(__name__)

_Window = tuple[float, float, float, float]
LEAST_CANVAS = 100
CROP = 16
"""Pixels across the picture of a cell, which is compared with the looks."""
TRUSTED_S, TRUSTED_FRAMES = 0.016, 2
"""How long and in how many frames the cells must look the same before the page is asked what they show."""
MOST_CHANGING = 60
"""After this many frames of changes without rest, frames are compared without the grounds of the cells."""
SPREAD = 0.4
"""If cells of one look differ by more, they may be empty cells with a drawing behind them."""
SAMES = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8)
"""The limits to try for the difference of equal looks on a drawing; the rules show which are right."""
FIRST_TILES, FIRST_LOOKS = 4, 2
"""The most tiles at the start of a game, and the most looks that they have."""


class _Place(msgspec.Struct, frozen=True):
    """A canvas: its number in its frame, and its position there in CSS pixels."""

    id: int
    x: float
    y: float
    width: float
    height: float


class _Cells(msgspec.Struct, frozen=True):
    """The page's answer with the cells of a board."""

    cells: str | None
    closed: bool
    width: float
    height: float


class _StillCells(_Cells, frozen=True):
    """The page's answer with cells at rest; see ``canvasStill``."""

    frames: int
    ms: float
    changing: int


class _StillRequest(msgspec.Struct, frozen=True, rename="camel"):
    """For how long the cells must look the same after a change, or without one; times in milliseconds."""

    is_first: bool
    frames: int
    ms: float
    idle_frames: int
    idle_ms: float
    longest: float


_Answer = TypeVar("_Answer", bound=_Cells)


class CanvasLattice(msgspec.Struct, frozen=True, rename="camel"):
    """The cells of a board on a canvas, in CSS pixels within it.

    Attributes:
        canvas: the number of the canvas in its frame.
        x: the centre of the first cell, from the left.
        y: the centre of the first cell, from the top.
        pitch_x: the distance from one column to the next.
        pitch_y: the distance from one row to the next.
        rows: number of rows.
        columns: number of columns.
    """

    canvas: int
    x: float
    y: float
    pitch_x: float
    pitch_y: float
    rows: int
    columns: int


class _CellsRequest(CanvasLattice, frozen=True, rename="camel", kw_only=True):
    width: float
    height: float
    side: int


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
        self._scripts = scripts
        self._waits = waits
        self._session: CDPSession | None = None
        self._canvas: _Place | None = None
        self._lattice: PixelLattice | None = None
        self._gallery: Gallery | None = None
        self._from_window = True
        """Whether the last cells came from a picture of the window."""
        self._is_closed = False
        """Whether the browser forbids the page to read the canvas."""
        self._grounded: bool | None = None
        """Whether plain cells of any colour are empty; ``None`` until some have been seen."""
        self._grounds: Grounds | None = None
        """What each cell shows while it is empty, if moves have shown it."""
        self._numbers: dict[str, int] = {}
        """The numbers on the looks, where the page's fonts show them; 0 for looks without a number."""
        self._looks: tuple[str, ...] = ()
        """The looks of the last sighting."""
        self._spread = 0.0
        """How much cells of one look differed then."""
        self._is_restless = False
        """Whether the cells never look the same in two frames; then only Python sees the tiles at rest."""
        self._frame: Frame = page.main_frame
        self._found = False
        self._keeps_cells = False
        """Whether to keep the cells when the board is looked for again, because only looks were confused."""
        self._longest = 0
        """The most pictures in which one move of this page has changed the cells."""

    @property
    def frame(self) -> Frame:
        """The frame of the canvas."""
        return self._frame

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
        if self._canvas is None or self._lattice is None:
            return None
        found = self._lattice
        return CanvasLattice(
            self._canvas.id, found.x, found.y, found.pitch_x, found.pitch_y, found.rows, found.columns
        )

    @property
    def sees_window(self) -> bool:
        """Whether the board is read from pictures of the window, because the canvas cannot be read."""
        return self._from_window

    async def find(self) -> bool:
        """Look for a canvas that shows a board; return whether there is one."""
        from scraper.readers.canvas_appearances import Gallery
        from scraper.readers.canvas_lattice import find_lattice

        if self._keeps_cells and await self._is_where_it_was():
            self._keeps_cells, self._found = False, True
            return True
        for frame, canvas in await self._canvases():
            self._frame, self._canvas = frame, canvas
            with contextlib.suppress(PlaywrightError):
                lattice = find_lattice(await self._picture())
                if lattice is not None:
                    logger.info("a canvas shows %d×%d squares", lattice.rows, lattice.columns)
                    if self._lattice and (lattice.rows, lattice.columns) != self._lattice.size:
                        self._grounds = None
                    self._lattice, self._gallery = lattice, self._gallery or Gallery()
                    self._found, self._is_closed = True, False
                    return True
        self._canvas, self._found = None, False
        return False

    async def _is_where_it_was(self) -> bool:
        """Return whether the canvas is still there, in its old size."""
        before = self._canvas
        with contextlib.suppress(PlaywrightError, PageError):
            await self._place()
        return self._canvas is not None and before is not None and _is_sized_as(self._canvas, before)

    async def _canvases(self) -> list[tuple[Frame, _Place]]:
        found: list[tuple[Frame, _Place]] = []
        for frame in self._page.frames:
            with contextlib.suppress(PlaywrightError, msgspec.DecodeError):
                places = await self._scripts.call(frame, "canvasPlaces", into=list[_Place])
                found += [(frame, place) for place in places]
        found.sort(key=lambda one: -one[1].width * one[1].height)
        return found

    async def buttons(self) -> list[tuple[float, float]]:
        """Return points in the window where the largest canvas may have buttons; its middle comes last."""
        from scraper.readers.canvas_lattice import find_buttons

        for frame, canvas in await self._canvases():
            self._frame, self._canvas = frame, canvas
            places = find_buttons(await self._picture())
            places.append((canvas.width / 2, canvas.height / 2))
            left, top = await place_in_window(frame, canvas.x, canvas.y)
            return [(left + x, top + y) for x, y in places]
        return []

    async def region(self) -> Region | None:
        """Return where the board is in the window; ``None`` before it has been found."""
        lattice = self._lattice
        if self._canvas is None or lattice is None:
            return None
        left, top = await self._place()
        return Region(
            left + lattice.x - lattice.pitch_x / 2,
            top + lattice.y - lattice.pitch_y / 2,
            lattice.columns * lattice.pitch_x,
            lattice.rows * lattice.pitch_y,
        )

    def look_closer(self) -> bool:
        """Compare looks more closely from now on; return False if that is already the case."""
        from scraper.readers.canvas_appearances import CLOSER, Gallery

        if self._gallery is None or self._gallery.same <= CLOSER:
            return False
        self._keeps_cells = True
        if self._grounded and self._grounds is None:
            logger.info("the looks of the canvas contradict the rules: plain cells may be tiles")
            self._grounded, self._gallery, self._numbers = False, Gallery(), {}
            return True
        logger.info("the looks of the canvas contradict the rules: looking closer")
        self._gallery, self._numbers = Gallery(CLOSER), {}
        return True

    # -- the grounds of the cells ---------------------------------------------------------------------

    @property
    def is_cluttered(self) -> bool:
        """Whether empty cells may look like tiles: a new game has fewer tiles, and equal ones look alike."""
        if self._grounds is not None or not self._looks:
            return False
        most, count = Counter(self._looks).most_common(1)[0]
        empty = GROUND if GROUND in self._looks else most if count > 1 else None
        tiles = [look for look in self._looks if look != empty]
        return len(tiles) > FIRST_TILES or len(set(tiles)) > FIRST_LOOKS or self._spread > SPREAD

    async def draws_numbers(self) -> bool:
        """Return whether the board shows numbers that were drawn as text."""
        cells = self.lattice
        return cells is not None and await self._scripts.call(self._frame, "drawsNumbers", cells) is True

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
            watch.see(await self._raw_cells())
            changed = before is not None and bool(difference(before, watch.crops).max() >= STILL)
            passed = 1000 * (time.monotonic() - began)
            if watch.is_still and (changed or before is None or passed >= idle):
                return watch.crops, changed
            if passed >= self._waits.cap:
                return watch.crops, changed

    def learn_grounds(
        self, pictures: list[Crops], directions: list[Direction]
    ) -> list[tuple[str, ...]] | None:
        """Learn the ground of each cell from moves.

        Args:
            pictures: the cells at rest before the first move, and after each move.
            directions: the directions of the moves.

        Returns:
            The looks in each picture; ``None`` if the moves do not show the grounds.
        """
        from scraper.readers.canvas_appearances import Gallery
        from scraper.readers.canvas_grounds import grounds_of

        lattice = self._lattice
        assert lattice is not None
        grounds = grounds_of(pictures, directions, *lattice.size)
        if grounds is None:
            return None
        for covering in (True, False):
            grounds = dataclasses.replace(grounds, covered=covering)
            tiles = [grounds.tiles(cells) for cells in pictures]
            fitting: list[tuple[Gallery, list[tuple[str, ...]]]] = []
            for same in SAMES:
                gallery = Gallery(same)
                looks = [gallery.names(crops, learn=True) for crops in tiles]
                if LookBook.of_moves(*lattice.size, looks, directions) is not None:
                    fitting.append((gallery, looks))
            if fitting:
                logger.info("the grounds of the cells are known")
                self._grounds, self._numbers = grounds, {}
                self._gallery, found = fitting[len(fitting) // 2]
                return found
        return None

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
            watch.see(await self._cells())
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
            looks = self._names(watch.crops, learn=False)
            is_same = looks == question.looks_before
            is_explained = not is_same and explains(looks)
            if is_explained and early is None and all(look in question.labels for look in looks):
                early = [question.labels[look] for look in looks]
            if is_explained and (watch.is_still or late or (question.trusting and early is not None)):
                if self._doubts(watch.crops):
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
        if self._is_restless or self._is_closed or self._from_window:
            watch.see(await self._cells())
            return
        wanted = _StillRequest(
            watch.crops is None, TRUSTED_FRAMES, 1000 * TRUSTED_S, idle_frames, idle_ms, longest
        )
        answer = await self._ask_cells("canvasStill", CROP, wanted, into=_StillCells)
        if answer is None:
            watch.see(await self._cells())
            return
        crops, said = answer
        self._is_restless = said.changing >= MOST_CHANGING
        watch.take(self._without_ground(crops), said.ms / 1000, said.frames, said.changing)

    def _doubts(self, crops: Crops) -> bool:
        assert self._gallery is not None
        return self._grounds is None and self._gallery.doubts(crops)

    def _names(self, crops: Crops, *, learn: bool) -> tuple[str, ...]:
        assert self._gallery is not None
        return self._gallery.names(crops, learn=learn)

    async def _sighting(
        self, outcome: SightKind, crops: Crops, *, learn: bool, early: list[int] | None = None
    ) -> Sighting:
        from scraper.readers.canvas_appearances import spread

        lattice = self._lattice
        assert lattice is not None
        self._looks = self._names(crops, learn=learn)
        self._spread = spread(crops, self._looks)
        if learn:
            await self._read_numbers()
        reading = {
            "rows": lattice.rows,
            "columns": lattice.columns,
            "cells": [],
            "looks": list(self._looks),
            "unsure": self._doubts(crops),
            "numbers": {look: self._numbers[look] for look in self._looks if self._numbers.get(look)},
            "score": None,
            "best": None,
            "won": False,
            "over": False,
        }
        return Sighting(outcome, reading, early, None, 0, self.name)

    async def _read_numbers(self) -> None:
        """Read the numbers on looks that are new, if the page has drawn numbers in fonts that it uses."""
        from scraper.readers.drawn_numbers import DrawnNumbers, NumberShape, side_for

        new = {look for look in self._looks if look != GROUND} - self._numbers.keys()
        if not new or self._canvas is None:
            return
        shapes = await self._scripts.call(
            self._frame, "numberShapes", self._canvas.id, into=list[NumberShape]
        )
        if not shapes:
            return
        side = side_for(len(self._looks))
        crops = await self._photographed(side) if self._from_window else await self._drawn(side)
        if crops is None:
            return
        numbers = DrawnNumbers(shapes).read(crops)
        for look in new:
            seen = {number for number, other in zip(numbers, self._looks, strict=True) if other == look}
            self._numbers[look] = seen.pop() or 0 if len(seen) == 1 else 0
        logger.debug("the page's fonts show these numbers: %s", self._numbers)

    # -- pictures -----------------------------------------------------------------------------------------

    async def _cells(self) -> Crops:
        """Return pictures of the tiles in the cells, without the ground."""
        return self._without_ground(await self._raw_cells())

    async def _raw_cells(self) -> Crops:
        """Return pictures of the cells, read inside the page or else from a picture of the window."""
        crops = await self._drawn()
        if crops is None:
            self._from_window = True
            return await self._photographed()
        if self._from_window and self._gallery is not None and self._gallery.is_known:
            crops = await self._compared(crops)
        else:
            self._from_window = False
        return crops

    async def _compared(self, drawn: Crops) -> Crops:
        """Give the cells read inside the page the names of the same cells in a picture of the window."""
        from scraper.readers.canvas_appearances import STILL, difference

        photographed = await self._photographed()
        again = await self._drawn()
        if again is None or float(difference(drawn, again).max()) >= STILL:
            return photographed
        assert self._gallery is not None
        names = self._gallery.names(self._without_ground(photographed), learn=True)
        self._gallery.teach(self._without_ground(again), names)
        self._from_window = False
        return again

    async def _drawn(self, side: int = CROP) -> Crops | None:
        """Read the cells inside the page, after it has drawn its next frame; ``None`` if that fails."""
        answer = await self._ask_cells("canvasCells", side, into=_Cells)
        return None if answer is None else answer[0]

    async def _ask_cells(
        self, method: str, side: int, *more: object, into: type[_Answer]
    ) -> tuple[Crops, _Answer] | None:
        """Ask the page for the cells; return them with the whole answer, or ``None`` if there are none."""
        from scraper.readers.canvas_appearances import unpacked

        lattice, found, canvas = self.lattice, self._lattice, self._canvas
        if self._is_closed or lattice is None or found is None or canvas is None:
            return None
        request = _CellsRequest(
            **msgspec.structs.asdict(lattice),
            width=found.inner_width,
            height=found.inner_height,
            side=side,
        )
        answer = await self._scripts.call(self._frame, method, request, *more, into=into)
        if not _is_sized_as(answer, canvas):
            await self._find_anew()
            return None
        self._is_closed = answer.closed
        if answer.cells is None:
            return None
        return unpacked(answer.cells, found.rows * found.columns, side), answer

    async def _find_anew(self) -> None:
        """Find the cells again, because the canvas has changed its size."""
        from scraper.readers.canvas_lattice import find_lattice

        await self._place()
        self._lattice = find_lattice(await self._picture()) or self._lattice

    async def _photographed(self, side: int = CROP) -> Crops:
        from scraper.readers.canvas_appearances import crops_of

        assert self._lattice is not None
        return crops_of(await self._picture(), self._lattice, side)

    def _without_ground(self, crops: Crops) -> Crops:
        from scraper.readers.canvas_appearances import are_plain, without_ground

        if self._grounds is not None:
            return self._grounds.tiles(crops)
        if self._grounded is None:
            plain = are_plain(crops)
            self._grounded = bool(plain.any() and not plain.all()) or None
        return without_ground(crops) if self._grounded else crops

    async def _place(self) -> tuple[float, float]:
        """Return where the canvas is in the window now.

        Raises:
            PageError: the canvas has gone.
        """
        assert self._canvas is not None
        place = await self._scripts.call(self._frame, "canvasPlace", self._canvas.id, into=_Place | None)
        if place is None:
            url = self._page.url
            raise PageError(
                f"the canvas of {url} has gone: start again to continue", url=url, reader=self.name
            )
        self._canvas = place
        return await place_in_window(self._frame, place.x, place.y)

    async def _picture(self) -> Any:
        from scraper.readers.canvas_lattice import decode

        if self._session is None:
            self._session = await self._page.context.new_cdp_session(self._page)
        left, top = await self._place()
        x, y, wide, high = await self._scripts.call(self._page.main_frame, "scrolling", into=_Window)
        assert self._canvas is not None
        width, height = round(self._canvas.width), round(self._canvas.height)
        clip = {"x": round(left + x), "y": round(top + y), "width": width, "height": height, "scale": 1}
        # For a picture beyond the window the browser enlarges the window, and pages notice that.
        beyond = left < 0 or top < 0 or left + width > wide or top + height > high
        answer = await self._session.send(
            "Page.captureScreenshot",
            {"format": "png", "clip": clip, "optimizeForSpeed": True, "captureBeyondViewport": beyond},
        )
        return decode(base64.b64decode(answer["data"]))


def _is_sized_as(one: _Place | _Cells, other: _Place) -> bool:
    return abs(one.width - other.width) <= 1 and abs(one.height - other.height) <= 1
