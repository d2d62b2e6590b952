"""Finding the board of a page: with which reader, behind which gates, in which frame or canvas."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Request, Response

from game2048.errors import PageError
from scraper.detection.obstacles import CONSENT, GAME, MODE, NEW, SIZE, START, Gates
from scraper.detection.page_script import Patience, Probe
from scraper.input.methods import Region
from scraper.readers.canvas import PixelEye

logger = logging.getLogger(__name__)

Act = Callable[[], Awaitable[bool]]

SETTLED_S = 0.6
"""For so long the readers that cannot be mistaken look alone, before anything is clicked or guessed."""
DECIDED_S = 2.0
"""For so long a board that is none of 2048 may still turn into one."""
MOST_SKIPS = 5
"""So many boards of a page are looked at."""
LONGEST_LOAD_S = 12.0
"""How much longer a page that is still loading is waited for."""
STILL_S = 2.0
LOADS_STILL_S = 2.5
"""How much longer where it only says so: nothing is fetched, and nothing has changed for `STILL_S`."""
QUIET_S = 1.0
"""A page without a board on which nothing has changed for so long is waited for less."""
LIFELESS = 0.7
"""How much less."""
LIVELY = """() => {
  const isEndless = (animation) =>
    animation.playState === "running" && animation.effect?.getComputedTiming().endTime === Infinity;
  return document.querySelector("canvas, iframe, video, object, embed") !== null ||
    document.getAnimations().some(isEndless);
}"""
STARTED_S = 2.5
"""So long what has been clicked away may take to give way to a board."""
OWED_S = 1.5
"""After so long a page is taken for loaded that lacks only pictures, fonts and the like of other sites."""
LOADING = (
    r"^\W*(now )?(loading|please wait|preparing|lädt|laden|chargement|cargando|carregando|caricamento|"
    "загрузка|加载|載入|読み込み|ロード|로딩)"
)
MOST_BESIDE_LOADING = 400
"""Where more letters are shown, what is loading is something beside the game."""
SAYS_LOADING = """([pattern, most]) => {
  if ((document.body?.innerText ?? "").length > most) return false;
  const word = new RegExp(pattern, "iu");
  const seen = { opacityProperty: true, visibilityProperty: true };
  const says = (element) =>
    element.localName === "progress" ||
    (element.childElementCount <= 2 && element.textContent.length < 60 &&
      word.test(element.textContent.trim()));
  return [...document.querySelectorAll("body, body *:not(script, style)")].some(
    (element) => says(element) && element.checkVisibility(seen));
}"""


class Traffic:
    """What a page is still fetching of its own site, and scripts of any.

    What has been under way for long does not count: streams, polls, sites that never answer.
    """

    KINDS = frozenset({"document", "script", "stylesheet", "image", "font", "fetch", "xhr"})
    UNANSWERED_S = 4.0
    LONG_S = 8.0
    """What a server has begun to answer may take so long to arrive."""
    POLLS = frozenset({"fetch", "xhr"})
    POLL_S = 2.5
    """What a script asks for may be told only when something happens, unless much of it is on its way."""
    MUCH = 100_000

    def __init__(self, page: Page) -> None:
        self._page = page
        self._pending: dict[Request, float] = {}
        """Until when each counts."""
        self.ended_at = 0.0
        """When something arrived last."""
        page.on("request", self._begin)
        page.on("response", self._arrive)
        page.on("requestfinished", self._end)
        page.on("requestfailed", self._end)

    def _begin(self, request: Request) -> None:
        sites = {urlsplit(frame.url).netloc for frame in self._page.frames}
        is_own = urlsplit(request.url).netloc in sites
        if request.resource_type == "script" or (is_own and request.resource_type in self.KINDS):
            lasts = self.POLL_S if request.resource_type in self.POLLS else self.UNANSWERED_S
            self._pending[request] = time.monotonic() + lasts

    def _arrive(self, response: Response) -> None:
        request = response.request
        if request not in self._pending:
            return
        length = response.headers.get("content-length", "")
        if length.isdecimal() and int(length) >= self.MUCH:
            self._pending[request] = time.monotonic() + LONGEST_LOAD_S
        elif request.resource_type not in self.POLLS:
            self._pending[request] = time.monotonic() + self.LONG_S

    def _end(self, request: Request) -> None:
        if self._pending.pop(request, None) is not None:
            self.ended_at = time.monotonic()

    @property
    def is_busy(self) -> bool:
        """Whether something has been asked for lately that has not come yet."""
        return any(time.monotonic() < until for until in self._pending.values())


class Finder:
    """Finds what sees the board of one page, and finds something else when that proved wrong.

    Args:
        page: a page of Playwright's.
        probe: the readers of elements.
        gates: what may stand before the game.
        patience: how long to wait for what.
    """

    def __init__(self, page: Page, probe: Probe, gates: Gates, patience: Patience) -> None:
        self._page = page
        self._probe = probe
        self._gates = gates
        self._patience = patience
        self._pixels = PixelEye(page, patience)
        self._sees_pixels = False
        self._skips = 0
        self._anew = False
        """Whether a board is looked for on a page on which one was found before."""
        self._changed_at = 0.0
        self._traffic = Traffic(page)

    def forget(self) -> None:
        """Look for the board anew before the next question."""
        self._probe.forget()
        self._sees_pixels = False
        self._skips = 0
        self._anew = False
        self._gates.forget()

    def give_up(self, name: str, why: str, *, moved: bool = True) -> None:
        """Believe this reader no more.

        Args:
            name: the reader.
            why: for people.
            moved: whether anything ever moved on the board: then looks may only have been told apart wrongly.
        """
        self._sees_pixels = False
        if name == self._pixels.name and moved and self._pixels.look_closer():
            return
        logger.warning("the reader %s is given up: %s", name, why)
        self._probe.exclude(name, why)
        self._anew = True

    async def turn_to_canvas(self, name: str, why: str) -> bool:
        """Leave a board of elements that takes no moves for one on a canvas; whether there is one."""
        if self._sees_pixels or not await self._find_pixels():
            return False
        logger.info("the board of %s is left for one on a canvas: %s", name, why)
        self._probe.exclude(name, why)
        return True

    async def skip(self, why: str) -> bool:
        """Look at another board that the same reader sees; whether there is one."""
        if self._sees_pixels or self._skips >= MOST_SKIPS or not await self._probe.skip():
            return False
        self._skips += 1
        logger.info("looking at another board of the page: %s", why)
        return True

    async def eye(self) -> Probe | PixelEye:
        """What sees the board; found now if it is not known.

        Raises:
            PageError: there is no board, or the page has gone.
        """
        if self._sees_pixels:
            return self._pixels
        if not self._probe.attached:
            await self._find()
        return self._pixels if self._sees_pixels else self._probe

    async def region(self) -> Region | None:
        """Where the board is in the window; scrolled to if it is out of sight."""
        with contextlib.suppress(PlaywrightError):
            if self._sees_pixels:
                return await self._pixels.region()
            box = await self._probe.region()
            if box is None:
                return None
            x, y, width, height = box
            frame = self._probe.frame
            if frame.parent_frame is not None:
                outer = await (await frame.frame_element()).bounding_box()
                if outer is not None:
                    x, y = x + outer["x"], y + outer["y"]
            return Region(x, y, width, height)
        return None

    async def _find(self) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        calm_since = self._changed_at = began
        gates: list[Act] = [
            lambda: self._gates.open_one(CONSENT),
            lambda: self._gates.open_one(START, SIZE, leave=True),
            lambda: self._gates.open_one(GAME),
        ]
        last_resorts = self._last_resorts()
        # A page that was looked at before has settled, and what stood before its game has been clicked away.
        calm = 0.0 if self._anew else min(SETTLED_S, self._patience.board / 2000)
        while True:
            if await self._probe.seek(weak=False):
                break
            if self._probe.is_gone:
                raise PageError(f"{self._page.url} has gone: it crashed or was closed; start again to go on")
            now = loop.time()
            if now - calm_since >= calm and await self._is_loaded(now - began):
                if await self._first_of(gates):
                    calm_since = loop.time()
                    # What has been started may take its time to load.
                    began = max(began, calm_since + STARTED_S - self._patience.board / 1000)
                    continue
                if await self._seek_weakly():
                    await self._prefer_better()
                    break
                while last_resorts:
                    resort = last_resorts.pop(0)
                    if await resort():
                        calm_since = loop.time() - SETTLED_S / 2
                        break
            if await self._is_late(loop.time() - began, tries_on=bool(last_resorts)):
                raise self._probe.no_board()
            if await self._probe.await_change():
                self._changed_at = loop.time()
        self._anew = False
        await self._focus_frame()

    def _last_resorts(self) -> list[Act]:
        return [
            self._gates.give_name,
            self._gates.choose_size,
            lambda: self._gates.open_one(MODE, GAME, leave=True),
            lambda: self._gates.open_one(NEW),
            lambda: self._click_on_canvas(0),
            lambda: self._press("Enter"),
            lambda: self._click_on_canvas(1),
            lambda: self._press("Space"),
            lambda: self._click_on_canvas(2),
        ]

    @staticmethod
    async def _first_of(gates: list[Act]) -> bool:
        for gate in gates:
            if await gate():
                return True
        return False

    async def _seek_weakly(self) -> bool:
        if {"position-classes", "lattice-text"} & set(self._probe.given_up):
            return False  # a board with numbers was seen, and is none of 2048
        if await self._find_pixels():
            return True
        return not self._probe.reasons and await self._probe.seek(weak=True)

    async def _prefer_better(self) -> None:
        """A board that came up just now may be one for the readers that cannot be mistaken."""
        if await self._probe.seek(weak=False):
            self._sees_pixels = False
        elif not self._sees_pixels:
            await self._probe.seek(weak=True)

    async def _find_pixels(self) -> bool:
        if self._pixels.name in self._probe.given_up:
            return False
        self._sees_pixels = await self._pixels.find()
        return self._sees_pixels

    async def _is_late(self, waited: float, *, tries_on: bool) -> bool:
        """Whether no board is going to come any more."""
        longest = self._patience.board / 1000
        if self._anew:
            longest = min(longest, SETTLED_S / 2)
        elif self._probe.reasons:
            longest = min(longest, DECIDED_S)
        elif tries_on:
            longest += LONGEST_LOAD_S  # for a menu that is slow to be drawn
        elif not await self._is_lively():
            longest *= LIFELESS
        if longest <= waited < longest + LONGEST_LOAD_S and await self._still_loads(waited):
            return False
        return waited >= longest

    async def _is_lively(self) -> bool:
        """Whether a board may yet come up: something changes, or moves, or is drawn without telling."""
        if asyncio.get_running_loop().time() - self._changed_at < QUIET_S:
            return True
        with contextlib.suppress(PlaywrightError):
            return await self._page.evaluate(LIVELY) is True
        return True

    async def _still_loads(self, waited: float) -> bool:
        """Whether more of the page is on its way, or it says so."""
        if self._anew or self._probe.reasons:
            return False
        if self._traffic.is_busy or not await self._is_loaded(waited):
            return True
        now = time.monotonic()
        is_still = now - max(self._changed_at, self._traffic.ended_at) > STILL_S
        if is_still and waited > self._patience.board / 1000 + LOADS_STILL_S:
            return False
        for frame in self._page.frames:
            with contextlib.suppress(PlaywrightError):
                if await frame.evaluate(SAYS_LOADING, [LOADING, MOST_BESIDE_LOADING]):
                    return True
        return False

    async def _is_loaded(self, waited: float) -> bool:
        """Whether the page has loaded, but for what other sites owe it for too long."""
        with contextlib.suppress(PlaywrightError):
            state = await self._page.evaluate("document.readyState")
            return state == "complete" or (
                state == "interactive" and waited > OWED_S and not self._traffic.is_busy
            )
        return False

    async def _press(self, key: str) -> bool:
        with contextlib.suppress(PlaywrightError):
            await self._page.keyboard.press(key)
            return True
        return False

    async def _click_on_canvas(self, turn: int) -> bool:
        """Click on what looks like a button on a canvas; games that draw their menus have such."""
        with contextlib.suppress(PlaywrightError):
            buttons = await self._pixels.buttons()
            if turn < len(buttons):
                await self._page.mouse.click(*buttons[turn])
                return True
        return False

    async def _focus_frame(self) -> None:
        """Keys go to the frame that has the focus."""
        frame = self._pixels.frame if self._sees_pixels else self._probe.frame
        if frame.parent_frame is not None:
            with contextlib.suppress(PlaywrightError):
                await (await frame.frame_element()).focus()
