"""Find the board of a page: choose the reader and the frame or canvas, and remove obstacles."""

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
"""How long only the reliable readers look for a board, before the finder clicks or guesses."""
DECIDED_S = 2.0
"""How long a board of another game may take to turn into one of 2048."""
MOST_SKIPS = 5
"""The most boards that the finder skips on one page."""
STILL_S = 2.0
LOADS_STILL_S = 2.5
"""How much longer to wait if a page says "loading" but fetches nothing and has not changed for `STILL_S`."""
LIFELESS_AFTER_S = 1.0
"""If a page without a board has not changed for this long, the wait is shorter, by `LIFELESS`."""
LIFELESS = 0.7
"""The factor for the shorter wait."""
STARTED_S = 2.5
"""How long the board may take to appear after a click on an obstacle."""
OWED_S = 1.5
"""After this time a page counts as loaded even if files from other sites, such as pictures, are missing."""
LOADING = (
    r"^\W*(now )?(loading|please wait|preparing|lädt|laden|chargement|cargando|carregando|caricamento|"
    "загрузка|加载|載入|読み込み|ロード|로딩)"
)
MOST_BESIDE_LOADING = 400
"""If a page shows more letters than this, its word "loading" is not about the game."""


class Finder:
    """Find the eye that sees the board of one page, and another one if the first was wrong.

    Args:
        page: a page of Playwright.
        scripts: the project's scripts in the page.
        readers: the readers to try.
        obstacles: clicks away what covers the game.
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
        """The eye that sees the board, or saw it last."""
        self._skips = 0
        self._anew = False
        """Whether the page has shown a board before."""
        self._changed_at = 0.0
        self._traffic = Traffic(page)

    def forget(self) -> None:
        """Forget the board and all clicks; look for the board again before the next question."""
        self._look_at_elements()
        self._skips = 0
        self._anew = False
        self._obstacles.forget()

    def forget_document(self) -> None:
        """Look for the board of elements again before the next question; keep everything else."""
        self._script.forget()

    def _look_at_elements(self) -> None:
        self._script.forget()
        self._canvas.forget()
        self._eye = self._script

    def give_up(self, name: str, why: str, *, moved: bool = True) -> None:
        """Stop believing a reader.

        Args:
            name: the name of the reader.
            why: the reason, for people.
            moved: whether the board has ever moved; if so, perhaps only its looks were confused.
        """
        eye = self._eye
        self._look_at_elements()
        if moved and eye.look_closer():
            return
        logger.warning("the reader %s is given up: %s", name, why)
        self._readers.exclude(name, why)
        self._anew = True

    async def turn_to_canvas(self, name: str, why: str) -> bool:
        """Replace a board of elements that ignores moves by one on a canvas; return whether there is one."""
        if self._canvas.has_board or not await self._find_on_canvas():
            return False
        logger.info("the board of %s is left for one on a canvas: %s", name, why)
        self._readers.exclude(name, why)
        if self._eye is self._canvas:
            self._script.forget()
        return True

    async def skip(self, why: str) -> bool:
        """Turn to another board that the same reader sees; return whether there is one."""
        if self._skips >= MOST_SKIPS or not await self._eye.skip():
            return False
        self._skips += 1
        logger.info("looking at another board of the page: %s", why)
        return True

    async def eye(self) -> BoardEye:
        """Return the eye that sees the board; find the board first if it is unknown.

        Raises:
            PageError: there is no board, or the page has gone.
        """
        if not self._eye.has_board:
            self._eye = self._script
            await self._find()
        return self._eye

    @property
    def sees_window(self) -> bool:
        """Whether the board is read from pictures of the window."""
        return self._eye is self._canvas and self._canvas.sees_window

    @property
    def cluttered_canvas(self) -> CanvasEye | None:
        """The eye of the canvas, if its empty cells may look like tiles; else ``None``."""
        return self._canvas if self._eye is self._canvas and self._canvas.is_cluttered else None

    @property
    def frame(self) -> Frame:
        """The frame in which the board was last found."""
        return self._eye.frame

    async def region(self) -> Region | None:
        """Return where the board is in the window; scroll to it if it is out of sight."""
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
        # If the page has shown a board before, it has settled, and its obstacles have been clicked away.
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
                    # The game that was started may need time to load.
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
        """Ask the reliable readers once more, because the board may have appeared just now."""
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
        """Choose how to read the board on a canvas: by the texts drawn on it, else by its pixels."""
        lattice = self._canvas.lattice
        assert lattice is not None
        is_text = CANVAS_TEXT.name not in self._readers.given_up and await self._script.read_canvas(
            self._canvas.frame, lattice
        )
        self._eye = self._script if is_text else self._canvas
        if is_text:
            logger.info("the board is read by %s", CANVAS_TEXT.name)

    async def _is_late(self, waited: float, *, tries_on: bool) -> bool:
        """Return whether it is too late for a board to appear."""
        longest = self._waits.board / 1000
        if self._anew:
            longest = min(longest, SETTLED_S / 2)
        elif self._readers.reasons:
            longest = min(longest, DECIDED_S)
        elif tries_on:
            longest += LONGEST_LOAD_S  # a menu may be slow to appear
        elif not await self._is_lively():
            longest *= LIFELESS
        if longest <= waited < longest + LONGEST_LOAD_S and await self._still_loads(waited):
            return False
        return waited >= longest

    async def _is_lively(self) -> bool:
        """Return whether a board may still appear: something changes or moves, or may be drawn unseen."""
        if asyncio.get_running_loop().time() - self._changed_at < LIFELESS_AFTER_S:
            return True
        with contextlib.suppress(PlaywrightError):
            return await self._scripts.call(self._page.main_frame, "isLively") is True
        return True

    async def _still_loads(self, waited: float) -> bool:
        """Return whether the page is still loading, or says that it is."""
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
        """Return whether the page has loaded, apart from slow files of other sites."""
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
        """Press a key on a page that names 2048: some pages show no board before the first move."""
        with contextlib.suppress(PlaywrightError):
            if await self._scripts.call(self._page.main_frame, "says", "2048") is True:
                return await self._press(key)
        return False

    async def _click_on_canvas(self, turn: int) -> bool:
        """Click on a shape on a canvas that looks like a button; some games draw their menus."""
        with contextlib.suppress(PlaywrightError):
            buttons = await self._canvas.buttons()
            if turn < len(buttons):
                await self._page.mouse.click(*buttons[turn])
                return True
        return False

    async def _focus_frame(self) -> None:
        """Focus the frame of the board, because keys go to the focused frame."""
        frame = self._eye.frame
        if frame.parent_frame is not None:
            with contextlib.suppress(PlaywrightError):
                await (await frame.frame_element()).focus()
