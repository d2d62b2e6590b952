"""The script inside the page: put there, asked, and put there again when the page loads anew.

What it answers is untrusted; everything is checked here or by the reader.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Annotated, Literal

import msgspec
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, JSHandle, Page

from game2048.errors import PageError
from scraper.readers import PIXELS, BoardReader
from scraper.readers.script import Cells
from scraper.reading import Reading

logger = logging.getLogger(__name__)

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
    board: int = 3_500
    idle: int = 500
    quiet: int = 60
    quiet_other: int = 500
    cap: int = 2_500
    answer: int = 15_000


class Answer(msgspec.Struct, frozen=True, rename="camel"):
    """What the waits in ``page_probe.js`` resolve to; `reading` is for the reader called `name` to check."""

    outcome: Literal["settled", "moving", "gone", "slid", "unchanged", "other"]
    reading: object
    early: Cells | None
    at_key: Cells | None
    keys_seen: Annotated[int, msgspec.Meta(ge=0)]
    name: str | None


class _Sought(msgspec.Struct, frozen=True):
    found: bool
    reasons: dict[str, Annotated[str, msgspec.Meta(max_length=300)]]


class _Box(msgspec.Struct, frozen=True):
    x: float
    y: float
    width: float
    height: float


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
        self.labels: dict[str, int] = {}
        """The face values of looks, as far as they are known."""
        self.ranks = False
        """Whether the tiles show the power to which 2 is raised."""
        self.reasons: dict[str, str] = {}
        """Why readers that saw a board took it for none of 2048."""
        self.given_up: dict[str, str] = {}
        """The readers that are not believed any more, each with the reason."""
        self._watching: JSHandle | None = None
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
        handle = self._handle
        if handle is None:
            raise ProbeGoneError
        question = msgspec.json.encode(
            {**request, "cap": cap, "keys": self.keys_seen, "labels": self.labels, "ranks": self.ranks}
        ).decode()
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

    def reading(self, answer: Answer, raw: object = None) -> Reading:
        """The reading in an answer, checked.

        Args:
            answer: of `ask`.
            raw: what to take for its reading instead.

        Raises:
            PageError: it is none.
        """
        reader = self._readers.get(answer.name or "") or (PIXELS if answer.name == PIXELS.name else None)
        if reader is None or answer.reading is None:
            raise self.no_board()
        return reader.reading(answer.reading if raw is None else raw)

    # -- finding the board --------------------------------------------------------------------------------

    @property
    def attached(self) -> bool:
        """Whether a board has been found, and its document is not known to have gone."""
        return self._handle is not None

    @property
    def readers(self) -> tuple[BoardReader, ...]:
        """The readers to try, in order."""
        return tuple(self._readers.values())

    def exclude(self, name: str, why: str) -> None:
        """Do not believe this reader any more on this page."""
        self.given_up[name] = why
        self.forget()

    async def seek(self, *, weak: bool) -> bool:
        """Look once for a board, with the readers that cannot be mistaken or else with the others.

        The readers come before the frames: the best evidence anywhere on the page decides.
        """
        names = [
            reader.name for reader in self.readers if reader.weak is weak and reader.name not in self.given_up
        ]
        if not names:
            return False
        if not weak:
            self.reasons.clear()
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
                if await self._has_board(handle, name):
                    self.frame, self._handle, self.keys_seen = frame, handle, 0
                    return name
        return None

    async def _put_into(self, frame: Frame) -> JSHandle | None:
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(2):
                return await frame.evaluate_handle(self._script)
        return None

    async def _has_board(self, handle: JSHandle, name: str) -> bool:
        with contextlib.suppress(PlaywrightError, TimeoutError, msgspec.ValidationError):
            async with asyncio.timeout(2):
                raw = await handle.evaluate("(probe, name) => probe.attachTo([name])", name)
                sought = msgspec.convert(raw, _Sought)
                self.reasons.update(sought.reasons)
                return sought.found
        return False

    async def region(self) -> tuple[float, float, float, float] | None:
        """Where the board is in its frame: x, y, width, height; ``None`` if its reader cannot tell."""
        with contextlib.suppress(PlaywrightError, TimeoutError, msgspec.ValidationError):
            async with asyncio.timeout(2):
                raw = await self._handle.evaluate("(probe) => probe.region()") if self._handle else None
                box = msgspec.convert(raw, _Box, strict=False) if raw is not None else None
                return (box.x, box.y, box.width, box.height) if box else None
        return None

    async def skip(self) -> bool:
        """Leave this board for another that the same reader sees; whether there is one."""
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(2):
                return self._handle is not None and bool(
                    await self._handle.evaluate("(probe) => probe.skip()")
                )
        return False

    async def await_change(self) -> bool:
        """Wait until the page changes; now and then look anyhow, the change may be in another frame.

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

    @property
    def is_gone(self) -> bool:
        """Whether the page itself has gone."""
        return self._crashed or self._page.is_closed()

    # -- errors -------------------------------------------------------------------------------------------

    def no_board(self) -> PageError:
        """The error that tells what was looked for, or why what was found is not 2048."""
        if self.given_up:
            name, why = next(iter(self.given_up.items()))
            return PageError(f"{self._page.url} is no game of 2048 as far as {name} can tell: {why}")
        if self.reasons:
            why = next(iter(self.reasons.values()))
            return PageError(f"{self._page.url} is no game of 2048 that can be played: {why}")
        looked_for = ", ".join(f"{reader.looks_for} ({reader.name})" for reader in self._readers.values())
        return PageError(
            f"no board of 2048 found on {self._page.url}: "
            f"looked for {looked_for}; try --headed to see what the page shows"
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


async def while_waiting(wait: Awaitable[Answer], act: Awaitable[None] | None) -> Answer:
    """Wait and act at once, which saves a round trip; the wait looks first, so it may begin after the act."""
    waiting = asyncio.ensure_future(wait)
    try:
        if act is not None:
            await act
        return await waiting
    finally:
        if not waiting.done():
            waiting.cancel()
        elif not waiting.cancelled():
            waiting.exception()  # taken note of, should the act have failed first


def first_line(error: PlaywrightError) -> str:
    """What an error of Playwright's says, without its log of calls."""
    lines = error.message.strip().splitlines()
    return lines[0].strip() if lines else type(error).__name__


def _script_of(readers: tuple[BoardReader, ...]) -> str:
    probe = (resources.files(__package__) / "page_script.js").read_text(encoding="utf-8")
    finders = ",\n".join(f"{{ name: {reader.name!r}, find: ({reader.script()}) }}" for reader in readers)
    return f"() => (\n{probe}\n)([\n{finders}\n])"
