"""The script inside the page: put there, asked, and put there again when the page loads anew.

What it answers is untrusted; everything is checked here or by the reader.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from importlib import resources
from typing import Annotated

import msgspec
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, JSHandle, Page

from game2048.errors import PageError
from scraper.chromium.driver_errors import first_line, page_lost, page_silent
from scraper.detection.reader_list import ReaderList
from scraper.eye import DocumentGoneError, Explains, SettleQuestion, Sighting, SlideQuestion
from scraper.readers import BoardReader
from scraper.region import Region
from scraper.wait_times import WaitTimes

logger = logging.getLogger(__name__)

DOCUMENT_GONE = re.compile(
    r"context was destroyed|cannot find context|disposed|detached|navigat", re.IGNORECASE
)
"""What the browser driver says when a page loads anew under a question; it has no other sign of it."""
MAX_ANSWER = 65_536
QUICK_S = 2
"""How long a question that needs no waiting may take."""
# As text: the browser driver takes 2 ms a move to check and wrap the same as values.
_ASK = "(probe, [method, request]) => probe[method](JSON.parse(request)).then(JSON.stringify)"


class _Sought(msgspec.Struct, frozen=True):
    found: bool
    reasons: dict[str, Annotated[str, msgspec.Meta(max_length=300)]]


class _Box(msgspec.Struct, frozen=True):
    x: float
    y: float
    width: float
    height: float


class ScriptEye:
    """Sees boards made of elements, by a script inside one page.

    Args:
        page: a page of Playwright.
        readers: the ways of reading boards to try.
        waits: how long to wait for what.
    """

    name = "the page's elements"

    def __init__(self, page: Page, readers: ReaderList, waits: WaitTimes) -> None:
        self._page = page
        self._readers = readers
        self._waits = waits
        self._script = _script_of(readers.of_elements)
        self._handle: JSHandle | None = None
        self._crashed = False
        self._frame: Frame = page.main_frame
        self._keys_seen = 0
        """How many keys had reached the board's document at the last answer."""
        self._watching: JSHandle | None = None
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
        return self._handle is not None

    @property
    def is_gone(self) -> bool:
        """Whether the page itself has gone."""
        return self._crashed or self._page.is_closed()

    def forget(self) -> None:
        """Look for the board anew before the next question."""
        self._handle = None
        self._keys_seen = 0

    def look_closer(self) -> bool:
        """Return False: looks of elements are exact."""
        return False

    # -- questions ----------------------------------------------------------------------------------------

    async def await_settled(self, question: SettleQuestion, cap: int) -> Sighting:
        """Wait for the board to come to rest; see `BoardEye`."""
        return await self._ask("awaitSettled", question, cap)

    async def await_slide(self, question: SlideQuestion, cap: int, explains: Explains) -> Sighting:
        """Wait for what a move does; see `BoardEye`."""
        return await self._ask("awaitSlide", question, cap)

    async def _ask(self, method: str, question: SettleQuestion | SlideQuestion, cap: int) -> Sighting:
        handle = self._handle
        if handle is None:
            raise DocumentGoneError
        request = msgspec.to_builtins(question) | {"cap": cap, "keys": self._keys_seen}
        try:
            async with asyncio.timeout((cap + self._waits.answer) / 1000):
                raw = await handle.evaluate(_ASK, [method, msgspec.json.encode(request).decode()])
        except TimeoutError as error:
            raise page_silent(self._page.url) from error
        except PlaywrightError as error:
            self.forget()
            if self.is_gone:
                raise page_lost(self._page.url, error) from error
            if DOCUMENT_GONE.search(error.message):
                raise DocumentGoneError from error
            raise PageError(
                f"reading the board of {self._page.url} failed inside the page: {first_line(error)}; "
                "its scripts interfere with reading it",
                url=self._page.url,
            ) from error
        sighting = self._decode(raw)
        self._keys_seen = sighting.keys_seen
        return sighting

    def _decode(self, raw: object) -> Sighting:
        try:
            if not isinstance(raw, str) or len(raw) > MAX_ANSWER:
                raise msgspec.ValidationError(f"expected at most {MAX_ANSWER} characters of JSON")
            return msgspec.json.decode(raw, type=Sighting)
        except (msgspec.DecodeError, RecursionError) as error:
            raise PageError(
                f"{self._page.url} gave an answer that its board could not have: {error}; "
                "its scripts interfere with reading it",
                url=self._page.url,
            ) from error

    # -- finding the board --------------------------------------------------------------------------------

    async def seek(self, *, weak: bool) -> bool:
        """Look once for a board, with the readers that cannot be mistaken or else with the others.

        The readers come before the frames: the best evidence anywhere on the page decides.
        """
        names = self._readers.names(weak=weak)
        if not names:
            return False
        if not weak:
            self._readers.reasons.clear()
        handles = [(frame, handle) for frame in self._page.frames if (handle := await self._put_into(frame))]
        seen = await self._first_to_see(names, handles)
        if seen not in (None, names[0]):
            # The page may have drawn its board after the better readers were asked.
            seen = await self._first_to_see(names, handles)
        if seen is None:
            self._watching = handles[0][1] if handles else None
            return False
        logger.info("the board is read by %s", seen)
        return True

    async def _first_to_see(self, names: list[str], handles: list[tuple[Frame, JSHandle]]) -> str | None:
        """Ask readers in their order, each in all frames, and stay with the first one that sees a board."""
        for name in names:
            for frame, handle in handles:
                if await self._sees_board(handle, name):
                    self._frame, self._handle, self._keys_seen = frame, handle, 0
                    return name
        return None

    async def _put_into(self, frame: Frame) -> JSHandle | None:
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(QUICK_S):
                return await frame.evaluate_handle(self._script)
        return None

    async def _sees_board(self, handle: JSHandle, name: str) -> bool:
        with contextlib.suppress(PlaywrightError, TimeoutError, msgspec.ValidationError):
            async with asyncio.timeout(QUICK_S):
                raw = await handle.evaluate("(probe, name) => probe.attachTo([name])", name)
                sought = msgspec.convert(raw, _Sought)
                self._readers.reasons.update(sought.reasons)
                return sought.found
        return False

    async def region(self) -> Region | None:
        """Return where the board is in the window; ``None`` if its reader cannot tell."""
        with contextlib.suppress(PlaywrightError, TimeoutError, msgspec.ValidationError):
            async with asyncio.timeout(QUICK_S):
                raw = await self._handle.evaluate("(probe) => probe.region()") if self._handle else None
                if raw is None:
                    return None
                box = msgspec.convert(raw, _Box, strict=False)
            x, y = await place_in_window(self._frame, box.x, box.y)
            return Region(x, y, box.width, box.height)
        return None

    async def skip(self) -> bool:
        """Leave this board for another that the same reader sees; return whether there is one."""
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(QUICK_S):
                return self._handle is not None and bool(
                    await self._handle.evaluate("(probe) => probe.skip()")
                )
        return False

    async def await_change(self) -> bool:
        """Wait until the page changes; look now and then all the same, the change may be in another frame.

        Returns:
            Whether the page itself is known to have changed.
        """
        with contextlib.suppress(PlaywrightError, TimeoutError):
            if self._watching is None:
                await self._page.wait_for_event("framenavigated", timeout=250)
                return True
            async with asyncio.timeout(1):
                return await self._watching.evaluate("(probe) => probe.awaitChange(250)") is True
        return False


async def place_in_window(frame: Frame, x: float, y: float) -> tuple[float, float]:
    """Return a point of a frame in the coordinates of the page's window."""
    if frame.parent_frame is not None:
        box = await (await frame.frame_element()).bounding_box()  # in the window's coordinates, however deep
        if box is not None:
            return x + box["x"], y + box["y"]
    return x, y


def _script_of(readers: tuple[BoardReader, ...]) -> str:
    script = (resources.files(__package__) / "page_script.js").read_text(encoding="utf-8")
    finders = ",\n".join(f"{{ name: {reader.name!r}, find: ({reader.script()}) }}" for reader in readers)
    return f"() => (\n{script}\n)([\n{finders}\n])"
