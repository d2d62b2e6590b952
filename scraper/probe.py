"""The script inside the page: put there, asked, and put there again when the page loads anew.

What it answers is untrusted; everything is checked here or by the reader.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Annotated, Literal

import msgspec
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, JSHandle, Page

from game2048.errors import PageError
from scraper.readers import BoardReader
from scraper.readers.script import Cells
from scraper.reading import Reading

DOCUMENT_GONE = re.compile(
    r"context was destroyed|cannot find context|disposed|detached|navigat", re.IGNORECASE
)
"""What the browser driver says when a page loads anew under a question."""
MAX_ANSWER = 65_536
# As text: the browser driver takes 2 ms a move to check and wrap the same as values.
_ASK = "(probe, [method, request]) => probe[method](JSON.parse(request)).then(JSON.stringify)"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for what, in milliseconds.

    Attributes:
        load: for the page to load.
        board: for a board to appear on it.
        idle: without any change after a key, before saying that the page did not react.
        quiet: how long a board must stay as it is to be believed.
        quiet_other: the same for a board that the rules do not explain.
        cap: the most that a move may take to come to rest.
        answer: beyond all that, for the page's script to answer at all.
    """

    load: int = 30_000
    board: int = 10_000
    idle: int = 500
    quiet: int = 60
    quiet_other: int = 500
    cap: int = 2_000
    answer: int = 15_000


class Answer(msgspec.Struct, frozen=True, rename="camel"):
    """What the waits in ``page_probe.js`` resolve to; `reading` is for the reader called `name` to check."""

    outcome: Literal["settled", "moving", "gone", "slid", "unchanged", "other"]
    reading: object
    early: Cells | None
    at_key: Cells | None
    keys_seen: Annotated[int, msgspec.Meta(ge=0)]
    name: str | None


class ProbeGoneError(Exception):
    """The document that the script lived in has gone, for instance because the page loaded anew."""


class Probe:
    """The script inside one page.

    Args:
        page: a page of Playwright's.
        readers: the ways of reading boards to try, in order.
        patience: how long to wait for what.
    """

    def __init__(self, page: Page, readers: tuple[BoardReader, ...], patience: Patience) -> None:
        self._page = page
        self._readers = {reader.name: reader for reader in readers}
        self._patience = patience
        self._script = _script_of(readers)
        self._handle: JSHandle | None = None
        self._crashed = False
        self.frame: Frame = page.main_frame
        """The frame in which the board was found."""
        self.keys_seen = 0
        """How many arrow keys had reached the board's document at the last answer."""
        page.on("crash", self._note_crash)

    def _note_crash(self, page: Page) -> None:
        self._crashed = True

    def forget(self) -> None:
        """Look for the board anew before the next question."""
        self._handle = None
        self.keys_seen = 0

    async def ask(self, method: str, request: Mapping[str, object], cap: int) -> Answer:
        """Have the script wait for something.

        Args:
            method: one of its waits.
            request: for what, as `page_probe.js` says.
            cap: how long, in milliseconds.

        Raises:
            ProbeGoneError: its document has gone.
            PageError: the page has gone, or does not answer, or answers nonsense.
        """
        handle = self._handle or await self.find_board()
        question = msgspec.json.encode({**request, "cap": cap, "keys": self.keys_seen}).decode()
        try:
            async with asyncio.timeout((cap + self._patience.answer) / 1000):
                raw = await handle.evaluate(_ASK, [method, question])
        except TimeoutError as error:
            raise self.silent() from error
        except PlaywrightError as error:
            self.forget()
            if self._crashed or self._page.is_closed():
                raise self.lost(error) from error
            if DOCUMENT_GONE.search(error.message):
                raise ProbeGoneError from error
            raise PageError(
                f"reading the board of {self._page.url} failed inside the page: {first_line(error)}; "
                "its scripts interfere with reading it"
            ) from error
        answer = self._decode(raw)
        self.keys_seen = answer.keys_seen
        return answer

    def _decode(self, raw: object) -> Answer:
        try:
            if not isinstance(raw, str) or len(raw) > MAX_ANSWER:
                raise msgspec.ValidationError(f"expected at most {MAX_ANSWER} characters of JSON")
            return msgspec.json.decode(raw, type=Answer)
        except (msgspec.DecodeError, RecursionError) as error:
            raise PageError(
                f"{self._page.url} gave an answer that its board could not have: {error}; "
                "its scripts interfere with reading it"
            ) from error

    def reading(self, answer: Answer) -> Reading:
        """The reading in an answer, checked.

        Raises:
            PageError: it is none.
        """
        reader = self._readers.get(answer.name or "")
        if reader is None or answer.reading is None:
            raise self.no_board()
        return reader.reading(answer.reading)

    # -- finding the board --------------------------------------------------------------------------------

    async def find_board(self) -> JSHandle:
        """Put the script into the first frame in which a reader knows the board; wait for one to appear.

        Raises:
            PageError: none did in time, or the page has gone.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience.board / 1000
        while True:
            waiting: JSHandle | None = None
            for frame in self._page.frames:
                handle = await self._put_into(frame)
                if handle is None:
                    continue
                if await self._has_board(handle):
                    await self._take(frame, handle)
                    return handle
                waiting = waiting or handle
            if self._crashed or self._page.is_closed():
                raise PageError(f"{self._page.url} has gone: it crashed or was closed; start again to go on")
            if loop.time() >= deadline:
                raise self.no_board()
            await self._await_change(waiting)

    async def _put_into(self, frame: Frame) -> JSHandle | None:
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(2):
                return await frame.evaluate_handle(self._script)
        return None

    async def _has_board(self, handle: JSHandle) -> bool:
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(2):
                return await handle.evaluate("(probe) => probe.attach()") is True
        return False

    async def _take(self, frame: Frame, handle: JSHandle) -> None:
        self.frame, self._handle, self.keys_seen = frame, handle, 0
        if frame.parent_frame is not None:
            # Keys go to the frame that has the focus.
            with contextlib.suppress(PlaywrightError):
                await (await frame.frame_element()).focus()

    async def _await_change(self, handle: JSHandle | None) -> None:
        """Wait until the page changes; now and then look anyhow, the change may be in another frame."""
        with contextlib.suppress(PlaywrightError, TimeoutError):
            if handle is None:
                await self._page.wait_for_event("framenavigated", timeout=250)
                return
            async with asyncio.timeout(1):
                await handle.evaluate("(probe) => probe.awaitChange(250)")

    # -- errors -------------------------------------------------------------------------------------------

    def no_board(self) -> PageError:
        """The error that tells what was looked for."""
        looked_for = "; ".join(f"{reader.looks_for} ({reader.name})" for reader in self._readers.values())
        return PageError(
            f"no board of 2048 found on {self._page.url} within {self._patience.board / 1000:g} s. "
            f"Looked for: {looked_for}. Try --headed to see what the page shows"
        )

    def lost(self, error: PlaywrightError) -> PageError:
        """The error that tells that the page went away."""
        return PageError(f"{self._page.url} has gone: {first_line(error)}; start again to go on")

    def silent(self) -> PageError:
        """The error that tells that the page's own script never yields."""
        return PageError(
            f"{self._page.url} does not answer any more: its script runs without end or waits for somebody; "
            "try --headed to see what it shows"
        )


def first_line(error: PlaywrightError) -> str:
    """What an error of Playwright's says, without its log of calls."""
    lines = error.message.strip().splitlines()
    return lines[0].strip() if lines else type(error).__name__


def _script_of(readers: tuple[BoardReader, ...]) -> str:
    probe = (resources.files(__package__) / "page_probe.js").read_text(encoding="utf-8")
    finders = ",\n".join(f"{{ name: {reader.name!r}, find: ({reader.script()}) }}" for reader in readers)
    return f"() => (\n{probe}\n)([\n{finders}\n])"
