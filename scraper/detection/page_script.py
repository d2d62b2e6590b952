"""Ask the script inside the page for the board, and install it again after the page loads again.

Its answers are untrusted: this module or the reader checks them all.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Annotated

import msgspec
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from game2048.errors import PageError
from scraper.chromium.driver_errors import first_line, page_lost, page_silent
from scraper.detection.reader_list import ReaderList
from scraper.eye import (
    DocumentGoneError,
    Explains,
    Foreseen,
    SettleQuestion,
    Sighting,
    SlideQuestion,
)
from scraper.in_page.worlds import DocumentLostError, FrameScripts, PageScripts
from scraper.readers.canvas_view import CanvasLattice
from scraper.reading import TileFaces
from scraper.region import Region, place_in_window
from scraper.wait_times import WaitTimes

logger = logging.getLogger(__name__)

QUICK_S = 2
"""How long a question may take that the script answers at once."""


class _Sought(msgspec.Struct, frozen=True):
    found: bool
    reasons: dict[str, Annotated[str, msgspec.Meta(max_length=300)]]


class _Box(msgspec.Struct, frozen=True):
    x: float
    y: float
    width: float
    height: float


class ScriptEye:
    """Sees boards made of elements, with a script inside one page.

    Args:
        page: a page of Playwright.
        scripts: the project's scripts in the page.
        readers: the readers to try.
        waits: how long to wait for what.
    """

    name = "the page's elements"

    def __init__(self, page: Page, scripts: PageScripts, readers: ReaderList, waits: WaitTimes) -> None:
        self._page = page
        self._scripts = scripts
        self._readers = readers
        self._waits = waits
        self._board: FrameScripts | None = None
        """The scripts in the document with the board."""
        self._crashed = False
        self._frame: Frame = page.main_frame
        self._keys_seen = 0
        """How many keys had reached the board's document by the last answer."""
        self._foreseen: Foreseen = lambda cells: None
        self._hint: asyncio.Task[None] | None = None
        """The question about the board of the next move, before it is confirmed."""
        self._watching: FrameScripts | None = None
        page.on("crash", self._note_crash)

    def _note_crash(self, page: Page) -> None:
        self._crashed = True

    @property
    def frame(self) -> Frame:
        """The frame in which the board was found."""
        return self._frame

    @property
    def has_board(self) -> bool:
        """Whether a board has been found, and its document is not known to have gone."""
        return self._board is not None

    @property
    def is_gone(self) -> bool:
        """Whether the page itself has gone."""
        return self._crashed or self._page.is_closed()

    def forget(self) -> None:
        """Look for the board again before the next question."""
        self._board = None
        self._keys_seen = 0

    def look_closer(self) -> bool:
        """Return False, because looks of elements are exact."""
        return False

    # -- questions ----------------------------------------------------------------------------------------

    async def await_settled(self, question: SettleQuestion, cap: int) -> Sighting:
        """Wait for the board to come to rest; see `BoardEye`."""
        return await self._ask("awaitSettled", question, cap)

    async def await_slide(
        self, question: SlideQuestion, cap: int, explains: Explains, foreseen: Foreseen
    ) -> Sighting:
        """Wait for the effect of a move; see `BoardEye`."""
        self._foreseen = foreseen
        sighting = await self._ask("awaitSlide", question, cap)
        if sighting.foreseen and self._board is not None:
            # The question about the next move leaves now: on its way with a key, it would arrive too late.
            self._hint = asyncio.ensure_future(self._tell_foreseen(self._board))
        return sighting

    async def _tell_foreseen(self, board: FrameScripts) -> None:
        """Tell the board that the next move will probably make; end with that move."""
        with contextlib.suppress(PlaywrightError, msgspec.DecodeError):
            cells: TileFaces | None = await board.call("awaitForeseen", into=TileFaces | None)
            if cells is not None:
                self._foreseen(cells)

    async def _ask(self, method: str, question: SettleQuestion | SlideQuestion, cap: int) -> Sighting:
        board = self._board
        if board is None:
            raise DocumentGoneError
        request = msgspec.to_builtins(question) | {"cap": cap, "keys": self._keys_seen}
        try:
            async with asyncio.timeout((cap + self._waits.answer) / 1000):
                sighting: Sighting = await board.call(method, request, into=Sighting)
        except TimeoutError as error:
            raise page_silent(self._page.url) from error
        except PlaywrightError as error:
            self.forget()
            if self.is_gone:
                raise page_lost(self._page.url, error) from error
            if isinstance(error, DocumentLostError):
                raise DocumentGoneError from error
            raise PageError(
                f"reading the board of {self._page.url} failed inside the page: {first_line(error)}",
                url=self._page.url,
            ) from error
        except msgspec.DecodeError as error:
            raise PageError(
                f"{self._page.url} shows a board that cannot be one of 2048: {error}", url=self._page.url
            ) from error
        self._keys_seen = sighting.keys_seen
        return sighting

    # -- finding the board --------------------------------------------------------------------------------

    async def seek(self, *, weak: bool) -> bool:
        """Look once for a board; return whether there is one.

        The best reader that sees a board in any frame wins.

        Args:
            weak: whether to use the weak readers or the reliable ones.
        """
        names = self._readers.names(weak=weak)
        if not names:
            return False
        if not weak:
            self._readers.reasons.clear()
        documents = [
            (frame, scripts) for frame in self._page.frames if (scripts := await self._scripts_in(frame))
        ]
        seen = await self._first_to_see(names, documents)
        if seen not in (None, names[0]):
            # The page may have drawn its board after the better readers looked.
            seen = await self._first_to_see(names, documents)
        if seen is None:
            self._watching = documents[0][1] if documents else None
            return False
        logger.info("the board is read by %s", seen)
        return True

    async def read_canvas(self, frame: Frame, lattice: CanvasLattice) -> bool:
        """Read a canvas with known cells; return whether the texts on it make a board."""
        with contextlib.suppress(PlaywrightError, TimeoutError, msgspec.DecodeError):
            async with asyncio.timeout(QUICK_S):
                scripts = await self._scripts.of(frame)
                if await scripts.call("attachToCanvas", lattice) is True:
                    self._frame, self._board, self._keys_seen = frame, scripts, 0
                    return True
        return False

    async def _first_to_see(
        self, names: list[str], documents: list[tuple[Frame, FrameScripts]]
    ) -> str | None:
        """Try the readers in order, each in all frames; return the first one that sees a board."""
        for name in names:
            for frame, scripts in documents:
                if await self._sees_board(scripts, name):
                    self._frame, self._board, self._keys_seen = frame, scripts, 0
                    return name
        return None

    async def _scripts_in(self, frame: Frame) -> FrameScripts | None:
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(QUICK_S):
                return await self._scripts.of(frame)
        return None

    async def _sees_board(self, scripts: FrameScripts, name: str) -> bool:
        with contextlib.suppress(PlaywrightError, TimeoutError, msgspec.DecodeError):
            async with asyncio.timeout(QUICK_S):
                site = self._readers.profile_for(name)
                sought: _Sought = await scripts.call("attachTo", name, site, into=_Sought)
                self._readers.reasons.update(sought.reasons)
                return sought.found
        return False

    async def region(self) -> Region | None:
        """Return where the board is in the window; ``None`` if its reader does not know."""
        with contextlib.suppress(PlaywrightError, TimeoutError, msgspec.DecodeError):
            async with asyncio.timeout(QUICK_S):
                box: _Box | None = await self._board.call("region", into=_Box | None) if self._board else None
            if box is None:
                return None
            x, y = await place_in_window(self._frame, box.x, box.y)
            return Region(x, y, box.width, box.height)
        return None

    async def skip(self) -> bool:
        """Turn to another board that the same reader sees; return whether there is one."""
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(QUICK_S):
                return self._board is not None and await self._board.call("skip") is True
        return False

    async def await_change(self) -> bool:
        """Wait until the page changes, at most a quarter of a second, because another frame may change.

        Returns:
            Whether the page is known to have changed.
        """
        with contextlib.suppress(PlaywrightError, TimeoutError):
            if self._watching is None:
                await self._page.wait_for_event("framenavigated", timeout=250)
                return True
            async with asyncio.timeout(1):
                return await self._watching.call("awaitChange", 250) is True
        return False
