"""A page in a real browser, behind the seam `scraper.page.GamePage`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncIterator, Awaitable

from playwright.async_api import Browser, Dialog, Locator, Page, ViewportSize
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeoutError

from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import PageError, RulesError
from scraper.browser import BrowserOptions, open_browser
from scraper.probe import Answer, Patience, Probe, ProbeGoneError, first_line
from scraper.readers import READERS, BoardReader
from scraper.readers.script import board_of
from scraper.reading import Reading, Status
from scraper.settle import MoveOutcome, Slid, Trust, Unchanged, Unexplained, is_slide_with_spawn

logger = logging.getLogger(__name__)

KEYS = {
    Direction.UP: "ArrowUp",
    Direction.RIGHT: "ArrowRight",
    Direction.DOWN: "ArrowDown",
    Direction.LEFT: "ArrowLeft",
}
VIEWPORT: ViewportSize = {"width": 800, "height": 720}
"""Wide enough for pages not to show their form for phones; what is larger takes longer to draw."""
ANIMATION_RATE = 1000
ATTEMPTS = 3
"""How often a page may load anew while it is being read once."""
SCHEMES = ("http://", "https://", "file://")

KEEP_GOING = (".keep-playing-button", re.compile(r"^\W*(keep (going|playing)|continue)\b", re.IGNORECASE))
NEW_GAME = (
    ".restart-button, .retry-button",
    re.compile(r"^\W*(new game|restart|try again|play again|start over)\b", re.IGNORECASE),
)
CLICKABLE = "button, a, [role=button], input[type=button]"


@contextlib.asynccontextmanager
async def open_page(options: BrowserOptions | None = None) -> AsyncIterator[LivePage]:
    """A browser with one tab for one game; both closed at the end, also on Ctrl-C.

    Raises:
        PageError: there is no browser, or none that starts.
    """
    options = options or BrowserOptions()
    async with open_browser(options) as browser, live_page(browser, watched=not options.headless) as page:
        yield page


@contextlib.asynccontextmanager
async def live_page(
    browser: Browser, *, watched: bool = False, patience: Patience | None = None
) -> AsyncIterator[LivePage]:
    """A new tab with nothing of the user's in it; closed at the end.

    Args:
        browser: from `scraper.browser.open_browser`.
        watched: somebody looks at the window, so animations keep their pace.
        patience: how long to wait for what.
    """
    context = await browser.new_context(
        viewport=VIEWPORT, accept_downloads=False, reduced_motion=None if watched else "reduce"
    )
    try:
        page = await context.new_page()
        if not watched:
            # Drawing the animations takes longer than all the rest of a move; they end as they always do,
            # with their events, only sooner. The session has to stay open for that.
            session = await context.new_cdp_session(page)
            await session.send("Animation.setPlaybackRate", {"playbackRate": ANIMATION_RATE})
        context.on("page", _close_popup)
        yield LivePage(page, patience=patience)
    finally:
        with contextlib.suppress(PlaywrightError):
            await context.close()


async def _close_popup(popup: Page) -> None:
    logger.info("closing a window that the page opened")
    with contextlib.suppress(PlaywrightError):
        await popup.close()


class LivePage:
    """A game on a page of a real browser.

    Args:
        page: a page of Playwright's, not loaded yet.
        readers: the ways of reading boards to try, in order.
        patience: how long to wait for what.
    """

    def __init__(
        self, page: Page, readers: tuple[BoardReader, ...] = READERS, patience: Patience | None = None
    ) -> None:
        self._page = page
        self._patience = patience or Patience()
        self._probe = Probe(page, readers, self._patience)
        self._url = ""
        self._consents = False
        # Without an answer a dialog stops the page's script, and with it every key.
        page.on("dialog", self._answer_dialog)
        self._forget_page()

    def _forget_page(self) -> None:
        self._probe.forget()
        self._trust = Trust()
        self._scores_by_rules = True

    @property
    def url(self) -> str:
        """Where the game is played."""
        return self._url

    # -- the seam -----------------------------------------------------------------------------------------

    async def open(self, url: str) -> Reading:
        """Load a page, find its board and read it.

        Raises:
            PageError: the page does not load, or shows no board that any reader knows.
        """
        if not url.lower().startswith(SCHEMES):
            raise PageError(
                f"{url!r} is no address of a page: expected it to begin with {', '.join(SCHEMES)}"
            )
        self._forget_page()
        self._url = url
        await self._load(url)
        return await self.read()

    async def read(self) -> Reading:
        """The board, once it is at rest."""
        reading, _ = await self._settled()
        return reading

    async def press(self, direction: Direction) -> None:
        """Press the arrow key of that direction, without looking at what comes of it."""
        try:
            async with asyncio.timeout(self._patience.answer / 1000):
                await self._page.keyboard.press(KEYS[direction])
        except TimeoutError as error:
            raise self._probe.silent() from error
        except PlaywrightError as error:
            raise self._probe.lost(error) from error

    async def move(self, before: Reading, direction: Direction) -> MoveOutcome:
        """Press the arrow key of that direction and wait until the page has answered.

        Args:
            before: the last reading.
            direction: a legal direction of its board.

        Raises:
            RulesError: the direction does not change the board.
            PageError: the page has gone or does not answer.
        """
        slide = before.board.slide(direction)
        if not slide.moved:
            raise RulesError(f"{direction} does not change {before.board}: expected a legal direction")
        expects_score = before.score is not None and self._scores_by_rules
        request = {
            "before": _faces(before.board),
            "after": _faces(slide.afterstate),
            "score": str((before.score or 0) + slide.reward) if expects_score else None,
            "trusting": self._trust.earned,
            "quiet": self._patience.quiet,
            "quietOther": self._patience.quiet_other,
            "idle": self._patience.idle,
        }
        wait = self._probe.ask("awaitSlide", request, self._patience.cap)
        try:
            answer = await _while_waiting(wait, self.press(direction))
        except ProbeGoneError:
            return Unexplained(await self.read(), f"the page loaded anew after {direction} on {before.board}")
        return await self._judge(answer, before, direction)

    async def keep_going(self) -> Reading | None:
        """After a win, tell the page to go on; ``None`` if it offers no way, or none that works."""
        button = await self._button(*KEEP_GOING)
        if button is None:
            return None
        reading, settled = await self._settled(unblocked=True, meanwhile=self._click(button))
        return reading if settled and reading.status is not Status.WON else None

    async def new_game(self) -> Reading:
        """Start a new game by the page's own button, or by loading the page anew where it has none.

        Raises:
            PageError: neither leads to a new game.
        """
        self._scores_by_rules = True
        button = await self._button(*NEW_GAME)
        if button is not None:
            reading, settled = await self._settled(fresh=True, meanwhile=self._click(button))
            if settled and _is_new(reading):
                return reading
        logger.info("no button that starts a new game: loading the page anew")
        self._forget_page()
        await self._load(self._url)
        reading = await self.read()
        if not _is_new(reading):
            raise PageError(
                f"no new game on {self._url}: expected a button that says so ({NEW_GAME[0]}, 'New game', "
                f"'Try again', …) or a new board after loading the page anew, not {reading.board}"
            )
        return reading

    # -- moves --------------------------------------------------------------------------------------------

    async def _judge(self, answer: Answer, before: Reading, direction: Direction) -> MoveOutcome:
        """What a key came to, from what the page's script saw."""
        if answer.outcome == "slid":
            reading = self._probe.reading(answer)
            slide = before.board.slide(direction)
            self._trust.note(_board_like(before.board, answer.early), reading.board, merged=slide.reward > 0)
            if reading.score is not None and reading.score != (before.score or 0) + slide.reward:
                self._scores_by_rules = False
            return Slid(reading)
        if answer.outcome == "unchanged":
            return Unchanged(self._probe.reading(answer))
        # The board before may have been believed too early: have more patience from now on.
        self._trust.revoke()
        at_key = _board_like(before.board, answer.at_key)
        reading = await self.read()
        if at_key is None or at_key == before.board:
            return Unexplained(
                reading, f"{direction} on {before.board} led to {reading.board}, which no spawn explains"
            )
        then = "" if is_slide_with_spawn(at_key, direction, reading.board) else " not"
        return Unexplained(
            reading,
            f"when {direction} was pressed on {before.board} the page already showed {at_key}; "
            f"{reading.board} does{then} follow from that",
            at_key,
        )

    async def _settled(
        self, *, fresh: bool = False, unblocked: bool = False, meanwhile: Awaitable[None] | None = None
    ) -> tuple[Reading, bool]:
        """The board at rest, and whether it came to rest as wanted in time."""
        request = {"quiet": self._patience.quiet, "fresh": fresh, "unblocked": unblocked}
        cap = self._patience.cap * (1 if meanwhile is None else 2)  # what is done meanwhile has its own
        for _ in range(ATTEMPTS):
            try:
                answer = await _while_waiting(self._probe.ask("awaitSettled", request, cap), meanwhile)
            except ProbeGoneError:
                # The page has loaded anew; what we did meanwhile brought that about, or is done.
                meanwhile = None
                request["fresh"] = False
                continue
            if answer.outcome != "gone":
                logger.debug("the board is %s", answer.outcome)
                return self._probe.reading(answer), answer.outcome == "settled"
            meanwhile = None
            self._probe.forget()
        raise self._probe.no_board()

    # -- loading and clicking -----------------------------------------------------------------------------

    async def _load(self, url: str) -> None:
        try:
            response = await self._page.goto(url, wait_until="domcontentloaded", timeout=self._patience.load)
        except PlaywrightTimeoutError as error:
            raise PageError(
                f"{url} did not load within {self._patience.load / 1000:g} s: check address and network"
            ) from error
        except PlaywrightError as error:
            raise PageError(
                f"{url} does not load: {first_line(error)}; check the address, and that its server is running"
            ) from error
        if response is not None and response.status >= 400:
            raise PageError(
                f"{url} does not load: its server answered {response.status} {response.status_text}".rstrip()
                + "; check the address"
            )

    async def _button(self, selector: str, text: re.Pattern[str]) -> Locator | None:
        """The first visible thing to click that matches, by class or else by what it says."""
        by_class = self._probe.frame.locator(selector)
        by_text = self._probe.frame.locator(CLICKABLE).filter(has_text=text)
        try:
            for found in (by_class, by_text):
                visible = found.filter(visible=True)
                if await visible.count():
                    return visible.first
        except PlaywrightError as error:
            raise self._probe.lost(error) from error
        return None

    async def _click(self, button: Locator) -> None:
        self._consents = True  # a page that asks "start a new game?" after the click is told yes
        try:
            await button.click(timeout=self._patience.cap)
        except PlaywrightError as error:
            logger.info("the button could not be clicked: %s", first_line(error))
        finally:
            self._consents = False

    async def _answer_dialog(self, dialog: Dialog) -> None:
        logger.info("the page says (%s): %s", dialog.type, dialog.message[:200])
        with contextlib.suppress(PlaywrightError):
            if dialog.type == "prompt":
                await dialog.accept(dialog.default_value or "4")
            elif dialog.type == "confirm" and not self._consents:
                await dialog.dismiss()  # "play again?" would wipe the board away before it was read
            else:
                await dialog.accept()


async def _while_waiting(wait: Awaitable[Answer], act: Awaitable[None] | None) -> Answer:
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


def _is_new(reading: Reading) -> bool:
    return reading.status is Status.PLAYING and reading.board.max_tile <= 4


def _faces(board: Board) -> list[int]:
    return [1 << exponent if exponent else 0 for exponent in board.cells]


def _board_like(board: Board, cells: list[int] | None) -> Board | None:
    """The board of these face values if it has that board's size and is one at all."""
    if cells is None:
        return None
    with contextlib.suppress(RulesError):
        return board_of(cells, board.rows, board.columns)
    return None
