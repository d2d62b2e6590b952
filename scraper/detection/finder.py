"""Find the board of a page: with which reader, behind which obstacles, in which frame or canvas."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from game2048.errors import PageError
from scraper.detection.button_texts import CONSENT, GAME, MODE, NEW_GAME, SIZE, START
from scraper.detection.obstacles import Obstacles
from scraper.detection.page_script import ScriptEye
from scraper.detection.reader_list import ReaderList
from scraper.detection.traffic import LONGEST_LOAD_S, Traffic
from scraper.eye import BoardEye
from scraper.in_page.worlds import PageScripts
from scraper.readers import CANVAS_TEXT, PIXELS
from scraper.readers.canvas import CanvasEye
from scraper.region import Region
from scraper.wait_times import WaitTimes

logger = logging.getLogger(__name__)

Act = Callable[[], Awaitable[bool]]

SETTLED_S = 0.6
"""For so long the readers that cannot be mistaken look alone, before anything is clicked or guessed."""
DECIDED_S = 2.0
"""So long a board of another game may still turn into one of 2048."""
MOST_SKIPS = 5
"""So many boards of a page are looked at."""
STILL_S = 2.0
LOADS_STILL_S = 2.5
"""How much longer where it only says so: nothing is fetched, and nothing has changed for `STILL_S`."""
LIFELESS_AFTER_S = 1.0
"""A page without a board on which nothing has changed for so long is waited for less."""
LIFELESS = 0.7
"""How much less."""
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


class Finder:
    """Find what sees the board of one page, and find something else when that proved wrong.

    Args:
        page: a page of Playwright.
        scripts: ours, in the page.
        readers: the ways of reading boards to try.
        obstacles: what may stand before the game.
        waits: how long to wait for what.
    """

    def __init__(
        self,
        page: Page,
        scripts: PageScripts,
        readers: ReaderList,
        obstacles: Obstacles,
        waits: WaitTimes,
    ) -> None:
        self._page = page
        self._scripts = scripts
        self._readers = readers
        self._obstacles = obstacles
        self._waits = waits
        self._script = ScriptEye(page, scripts, readers, waits)
        self._canvas = CanvasEye(page, scripts, waits)
        self._eye: BoardEye = self._script
        """What sees the board, or saw it last."""
        self._skips = 0
        self._anew = False
        """Whether a board is looked for on a page on which one was found before."""
        self._changed_at = 0.0
        self._traffic = Traffic(page)

    def forget(self) -> None:
        """Look for the board anew before the next question."""
        self._look_at_elements()
        self._skips = 0
        self._anew = False
        self._obstacles.forget()

    def forget_document(self) -> None:
        """Look for the board anew, without anything else having changed."""
        self._script.forget()

    def _look_at_elements(self) -> None:
        self._script.forget()
        self._canvas.forget()
        self._eye = self._script

    def give_up(self, name: str, why: str, *, moved: bool = True) -> None:
        """Believe this reader no more.

        Args:
            name: the reader.
            why: the reason, for people.
            moved: whether anything ever moved on the board; then only its looks may have been confused.
        """
        eye = self._eye
        self._look_at_elements()
        if moved and eye.look_closer():
            return
        logger.warning("the reader %s is given up: %s", name, why)
        self._readers.exclude(name, why)
        self._anew = True

    async def turn_to_canvas(self, name: str, why: str) -> bool:
        """Leave a board of elements that takes no moves for one on a canvas; return whether there is one."""
        if self._canvas.has_board or not await self._find_on_canvas():
            return False
        logger.info("the board of %s is left for one on a canvas: %s", name, why)
        self._readers.exclude(name, why)
        if self._eye is self._canvas:
            self._script.forget()
        return True

    async def skip(self, why: str) -> bool:
        """Look at another board that the same reader sees; return whether there is one."""
        if self._skips >= MOST_SKIPS or not await self._eye.skip():
            return False
        self._skips += 1
        logger.info("looking at another board of the page: %s", why)
        return True

    async def eye(self) -> BoardEye:
        """Return what sees the board; it is found now if it is not known.

        Raises:
            PageError: there is no board, or the page has gone.
        """
        if not self._eye.has_board:
            self._eye = self._script
            await self._find()
        return self._eye

    @property
    def sees_window(self) -> bool:
        """Whether the board is seen in pictures of the window."""
        return self._eye is self._canvas and self._canvas.sees_window

    @property
    def frame(self) -> Frame:
        """The frame in which the board was last found."""
        return self._eye.frame

    async def region(self) -> Region | None:
        """Return where the board is in the window; it is scrolled to if it is out of sight."""
        with contextlib.suppress(PlaywrightError):
            return await self._eye.region()
        return None

    async def _find(self) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        calm_since = self._changed_at = began
        obstacles: list[Act] = [
            lambda: self._obstacles.click_one(CONSENT),
            lambda: self._obstacles.click_one(START, SIZE, leave=True),
            lambda: self._obstacles.click_one(GAME),
        ]
        last_resorts = self._last_resorts()
        # A page that was looked at before has settled, and what stood before its game has been clicked away.
        calm = 0.0 if self._anew else min(SETTLED_S, self._waits.board / 2000)
        while True:
            if await self._script.seek(weak=False):
                break
            if self._script.is_gone:
                raise PageError(
                    f"{self._page.url} has gone: it crashed or was closed; start again to continue",
                    url=self._page.url,
                )
            now = loop.time()
            if now - calm_since >= calm and await self._is_loaded(now - began):
                if await self._first_of(obstacles):
                    calm_since = loop.time()
                    # What has been started may take its time to load.
                    began = max(began, calm_since + STARTED_S - self._waits.board / 1000)
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
                raise self._readers.no_board(self._page.url)
            if await self._script.await_change():
                self._changed_at = loop.time()
        self._anew = False
        await self._focus_frame()

    def _last_resorts(self) -> list[Act]:
        return [
            self._obstacles.give_name,
            self._obstacles.choose_size,
            lambda: self._obstacles.click_one(MODE, GAME, leave=True),
            lambda: self._obstacles.click_one(NEW_GAME),
            lambda: self._press_unseen("ArrowLeft"),
            lambda: self._press_unseen("ArrowUp"),
            lambda: self._click_on_canvas(0),
            lambda: self._press("Enter"),
            lambda: self._click_on_canvas(1),
            lambda: self._press("Space"),
            lambda: self._click_on_canvas(2),
        ]

    @staticmethod
    async def _first_of(acts: list[Act]) -> bool:
        for act in acts:
            if await act():
                return True
        return False

    async def _seek_weakly(self) -> bool:
        if self._readers.numbers_refuted:
            return False
        if await self._find_on_canvas():
            return True
        return self._readers.weak_may_see and await self._script.seek(weak=True)

    async def _prefer_better(self) -> None:
        """A board that came up just now may be one for the readers that cannot be mistaken."""
        if await self._script.seek(weak=False):
            self._eye = self._script
        elif self._canvas.has_board:
            await self._look_at_canvas()
        else:
            await self._script.seek(weak=True)

    async def _find_on_canvas(self) -> bool:
        if PIXELS.name in self._readers.given_up or not await self._canvas.find():
            return False
        await self._look_at_canvas()
        return True

    async def _look_at_canvas(self) -> None:
        """Read the board that was found on a canvas: by the texts drawn on it, else by its pixels."""
        lattice = self._canvas.lattice
        assert lattice is not None
        is_text = CANVAS_TEXT.name not in self._readers.given_up and await self._script.read_canvas(
            self._canvas.frame, lattice
        )
        self._eye = self._script if is_text else self._canvas
        if is_text:
            logger.info("the board is read by %s", CANVAS_TEXT.name)

    async def _is_late(self, waited: float, *, tries_on: bool) -> bool:
        """Whether no board is going to come any more."""
        longest = self._waits.board / 1000
        if self._anew:
            longest = min(longest, SETTLED_S / 2)
        elif self._readers.reasons:
            longest = min(longest, DECIDED_S)
        elif tries_on:
            longest += LONGEST_LOAD_S  # for a menu that is slow to be drawn
        elif not await self._is_lively():
            longest *= LIFELESS
        if longest <= waited < longest + LONGEST_LOAD_S and await self._still_loads(waited):
            return False
        return waited >= longest

    async def _is_lively(self) -> bool:
        """Whether a board may still come up: something changes, or moves, or is drawn without notice."""
        if asyncio.get_running_loop().time() - self._changed_at < LIFELESS_AFTER_S:
            return True
        with contextlib.suppress(PlaywrightError):
            return await self._scripts.call(self._page.main_frame, "isLively") is True
        return True

    async def _still_loads(self, waited: float) -> bool:
        """Whether more of the page is on its way, or it says so."""
        if self._anew or self._readers.reasons:
            return False
        if self._traffic.is_busy or not await self._is_loaded(waited):
            return True
        now = time.monotonic()
        is_still = now - max(self._changed_at, self._traffic.ended_at) > STILL_S
        if is_still and waited > self._waits.board / 1000 + LOADS_STILL_S:
            return False
        for frame in self._page.frames:
            with contextlib.suppress(PlaywrightError):
                if await self._scripts.call(frame, "saysLoading", LOADING, MOST_BESIDE_LOADING):
                    return True
        return False

    async def _is_loaded(self, waited: float) -> bool:
        """Whether the page has loaded, but for what other sites owe it for too long."""
        with contextlib.suppress(PlaywrightError):
            state = await self._scripts.call(self._page.main_frame, "readyState")
            return state == "complete" or (
                state == "interactive" and waited > OWED_S and not self._traffic.is_busy
            )
        return False

    async def _press(self, key: str) -> bool:
        with contextlib.suppress(PlaywrightError):
            await self._page.keyboard.press(key)
            return True
        return False

    async def _press_unseen(self, key: str) -> bool:
        """Press a key on a page that says that it is 2048: some show nothing until the first move."""
        with contextlib.suppress(PlaywrightError):
            if await self._scripts.call(self._page.main_frame, "says", "2048") is True:
                return await self._press(key)
        return False

    async def _click_on_canvas(self, turn: int) -> bool:
        """Click on what looks like a button on a canvas; games that draw their menus have such."""
        with contextlib.suppress(PlaywrightError):
            buttons = await self._canvas.buttons()
            if turn < len(buttons):
                await self._page.mouse.click(*buttons[turn])
                return True
        return False

    async def _focus_frame(self) -> None:
        """Keys go to the frame that has the focus."""
        frame = self._eye.frame
        if frame.parent_frame is not None:
            with contextlib.suppress(PlaywrightError):
                await (await frame.frame_element()).focus()
