"""See the cells on a canvas, inside the page in the frame in which they are drawn, or in a picture of it."""

from __future__ import annotations

import base64
import contextlib
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from playwright.async_api import CDPSession, Frame, Page
from playwright.async_api import Error as PlaywrightError

from game2048.errors import PageError
from scraper.in_page.worlds import PageScripts
from scraper.readers import PIXELS
from scraper.region import Region, place_in_window

if TYPE_CHECKING:
    from scraper.readers.canvas_appearances import Crops
    from scraper.readers.canvas_lattice import PixelLattice
    from scraper.readers.drawn_numbers import NumberShape

_Window = tuple[float, float, float, float]


class _Place(msgspec.Struct, frozen=True):
    """A canvas: its number in its frame, and its position there in CSS pixels."""

    id: int
    x: float
    y: float
    width: float
    height: float


class CanvasWords(msgspec.Struct, frozen=True):
    """What the texts drawn on canvases say about the game.

    Attributes:
        score: the digits of the score.
        best: the digits of the best score.
        won: whether there is a win message.
        over: whether there is a game-over message.
    """

    score: str | None = None
    best: str | None = None
    won: bool = False
    over: bool = False


class _Cells(msgspec.Struct, frozen=True, kw_only=True):
    """The page's answer with the cells of a board."""

    cells: str | None
    closed: bool
    width: float
    height: float
    words: CanvasWords = CanvasWords()


class StillCells(_Cells, frozen=True, kw_only=True):
    """The page's answer with cells at rest; see ``canvasStill``.

    Attributes:
        frames: in how many frames in a row they have looked the same.
        ms: the same in milliseconds.
        changing: the number of frames from the first change to the last.
    """

    frames: int
    ms: float
    changing: int


class StillRequest(msgspec.Struct, frozen=True, rename="camel"):
    """A wait inside the page for cells at rest.

    Attributes:
        is_first: whether this is the first wait after a key.
        frames: in how many frames the cells must look the same after a change.
        ms: the same in milliseconds.
        idle_frames: in how many frames without any change.
        idle_ms: the same in milliseconds.
        longest: the longest wait in milliseconds.
    """

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


class CanvasView:
    """The canvas of one page that shows the board, and its cells.

    Args:
        page: a page of Playwright.
        scripts: the project's scripts in the page.

    Attributes:
        frame: the frame of the canvas.
        words: what the texts on the canvases said last.
        is_closed: whether the browser forbids the page to read the canvas.
    """

    def __init__(self, page: Page, scripts: PageScripts) -> None:
        self._page = page
        self._scripts = scripts
        self._session: CDPSession | None = None
        self._canvas: _Place | None = None
        self._cells: PixelLattice | None = None
        self.frame: Frame = page.main_frame
        self.words = CanvasWords()
        self.is_closed = False

    # -- the canvas and its cells -------------------------------------------------------------------------

    @property
    def lattice(self) -> CanvasLattice | None:
        """The cells of the board; ``None`` before it has been found."""
        if self._canvas is None or self._cells is None:
            return None
        cells = self._cells
        return CanvasLattice(
            self._canvas.id, cells.x, cells.y, cells.pitch_x, cells.pitch_y, cells.rows, cells.columns
        )

    async def find(self) -> bool:
        """Look for a canvas that shows a board, the largest first; return whether there is one."""
        from scraper.readers.canvas_lattice import find_lattice

        for frame, canvas in await self._canvases():
            self.frame, self._canvas = frame, canvas
            with contextlib.suppress(PlaywrightError):
                cells = find_lattice(await self._picture())
                if cells is not None:
                    self._cells, self.is_closed = cells, False
                    return True
        self._canvas = None
        return False

    async def is_where_it_was(self) -> bool:
        """Return whether the canvas is still there, in its old size."""
        before = self._canvas
        if before is None:
            return False
        with contextlib.suppress(PlaywrightError, PageError):
            await self._place()
            return self._canvas is not None and _is_sized_as(self._canvas, before)
        return False

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
            self.frame, self._canvas = frame, canvas
            places = find_buttons(await self._picture())
            places.append((canvas.width / 2, canvas.height / 2))
            left, top = await place_in_window(frame, canvas.x, canvas.y)
            return [(left + x, top + y) for x, y in places]
        return []

    async def region(self) -> Region | None:
        """Return where the board is in the window; ``None`` before it has been found."""
        cells = self._cells
        if self._canvas is None or cells is None:
            return None
        left, top = await self._place()
        return Region(
            left + cells.x - cells.pitch_x / 2,
            top + cells.y - cells.pitch_y / 2,
            cells.columns * cells.pitch_x,
            cells.rows * cells.pitch_y,
        )

    # -- inside the page ----------------------------------------------------------------------------------

    async def draws_numbers(self) -> bool:
        """Return whether the board shows numbers that were drawn as text."""
        cells = self.lattice
        return cells is not None and await self._scripts.call(self.frame, "drawsNumbers", cells) is True

    async def number_shapes(self) -> list[NumberShape]:
        """Return the shapes of numbers in the fonts in which the page has drawn numbers."""
        from scraper.readers.drawn_numbers import NumberShape

        if self._canvas is None:
            return []
        shapes: list[NumberShape] = await self._scripts.call(
            self.frame, "numberShapes", self._canvas.id, into=list[NumberShape]
        )
        return shapes

    async def drawn(self, side: int | None = None) -> Crops | None:
        """Read the cells inside the page, after it has drawn its next frame; ``None`` if that fails."""
        answer = await self._ask("canvasCells", side, into=_Cells)
        return None if answer is None else answer[0]

    async def still(self, wanted: StillRequest) -> tuple[Crops, StillCells] | None:
        """Read the cells inside the page, once they have come to rest; ``None`` if that fails."""
        return await self._ask("canvasStill", None, wanted, into=StillCells)

    async def _ask(
        self, method: str, side: int | None, *more: object, into: type[_Answer]
    ) -> tuple[Crops, _Answer] | None:
        from scraper.readers.canvas_appearances import CROP, unpacked

        side = side or CROP
        lattice, cells, canvas = self.lattice, self._cells, self._canvas
        if self.is_closed or lattice is None or cells is None or canvas is None:
            return None
        request = _CellsRequest(
            **msgspec.structs.asdict(lattice),
            width=cells.inner_width,
            height=cells.inner_height,
            side=side,
        )
        answer = await self._scripts.call(self.frame, method, request, *more, into=into)
        if not _is_sized_as(answer, canvas):
            await self._find_anew()
            return None
        self.is_closed, self.words = answer.closed, answer.words
        if answer.cells is None:
            return None
        return unpacked(answer.cells, cells.rows * cells.columns, side), answer

    # -- pictures of the window ---------------------------------------------------------------------------

    async def photographed(self, side: int | None = None) -> Crops:
        """Read the cells in a picture of the window."""
        from scraper.readers.canvas_appearances import CROP, crops_of

        assert self._cells is not None
        return crops_of(await self._picture(), self._cells, side or CROP)

    async def _find_anew(self) -> None:
        """Find the cells again, because the canvas has changed its size."""
        from scraper.readers.canvas_lattice import find_lattice

        await self._place()
        self._cells = find_lattice(await self._picture()) or self._cells

    async def _place(self) -> tuple[float, float]:
        """Return where the canvas is in the window now.

        Raises:
            PageError: the canvas has gone.
        """
        assert self._canvas is not None
        place = await self._scripts.call(self.frame, "canvasPlace", self._canvas.id, into=_Place | None)
        if place is None:
            url = self._page.url
            raise PageError(
                f"the canvas of {url} has gone: start again to continue", url=url, reader=PIXELS.name
            )
        self._canvas = place
        return await place_in_window(self.frame, place.x, place.y)

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
