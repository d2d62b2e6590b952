"""The `scraper.page.GamePage` of a real browser."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import FloatRect, Frame, Page

from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import PageError
from scraper.chromium.tab_setting import TabSetting
from scraper.in_page.worlds import PageScripts
from scraper.moves.confirmation import Confirmation
from scraper.moves.mover import Mover
from scraper.moves.outcome import MoveOutcome
from scraper.moves.parts import PageParts
from scraper.moves.restart import Restart
from scraper.moves.rule_variants import Deviation
from scraper.readers import READERS, BoardReader
from scraper.reading import Ply, Reading
from scraper.region import Region
from scraper.site_profile import SiteProfile
from scraper.wait_times import WaitTimes

SCHEMES = ("http://", "https://", "file://")


class LivePage:
    """A game on a page of a real browser.

    Args:
        page: a page of Playwright, not loaded yet.
        readers: the ways of reading boards to try, in order.
        waits: how long to wait for what.
        site: the profile of the page's site; its board is tried first.
        question: the name of the event that asks for drawn texts; see `scraper.in_page.worlds`.
        setting: how the tab may be driven.
    """

    def __init__(
        self,
        page: Page,
        readers: tuple[BoardReader, ...] = READERS,
        waits: WaitTimes | None = None,
        site: SiteProfile | None = None,
        question: str = "",
        setting: TabSetting | None = None,
    ) -> None:
        self._tab = page
        scripts = PageScripts(page, question)
        self._parts = PageParts.of(
            page, scripts, readers, waits or WaitTimes(), site or SiteProfile(), setting or TabSetting()
        )
        self._mover = Mover(self._parts)
        self._restart = Restart(self._parts, self._mover)
        self._confirmation = Confirmation(self._parts, self._mover, self._restart)
        self._url = ""

    @property
    def url(self) -> str:
        """The address of the page."""
        return self._url

    @property
    def rules(self) -> tuple[Deviation, ...]:
        """The observed differences between the page's rules and the rules of 2048."""
        return tuple(self._parts.judge.rules.deviations)

    def afterstate(self, ply: Ply) -> Board:
        """Return the afterstate of a move by the page's rules, as far as they are known."""
        return self._parts.judge.rules.afterstate(ply)

    # -- for reports and tests ----------------------------------------------------------------------------

    @property
    def played_with(self) -> str | None:
        """The input method that works on the page; ``None`` until one has worked."""
        return self._parts.input.proven

    @property
    def tried(self) -> tuple[tuple[str, str], ...]:
        """The readers that failed on this page, each with the reason."""
        return tuple(self._parts.readers.given_up.items())

    @property
    def sees_window(self) -> bool:
        """Whether the board is read from pictures of the window, because the canvas cannot be read."""
        return self._parts.finder.sees_window

    @property
    def history(self) -> Sequence[dict[str, object]]:
        """The last moves."""
        return self._mover.history

    @property
    def frame(self) -> Frame:
        """The frame in which the board was last found."""
        return self._parts.finder.frame

    @property
    def tab(self) -> Page:
        """The page of Playwright."""
        return self._tab

    @property
    def scripts(self) -> PageScripts:
        """The project's scripts in the page."""
        return self._parts.scripts

    async def region(self) -> Region | None:
        """Return where the board is in the window; ``None`` before it has been found."""
        await self._parts.drawing.restore()
        return await self._parts.finder.region()

    async def picture(self) -> bytes | None:
        """Return a picture of the board as PNG; ``None`` if it cannot be taken."""
        await self._parts.drawing.restore(for_picture=True)
        region = await self.region()
        if region is None:
            return None
        clip: FloatRect = {"x": region.x, "y": region.y, "width": region.width, "height": region.height}
        try:
            return await self.tab.screenshot(clip=clip)
        except PlaywrightError:
            return None

    # -- for players --------------------------------------------------------------------------------------

    async def open(self, url: str) -> Reading:
        """Load a page, find its board and read it.

        Raises:
            PageError: the page does not load, or no reader finds a board of 2048 on it.
        """
        if not url.lower().startswith(SCHEMES):
            raise PageError(
                f"{url!r} is not an address of a page; expected it to begin with {', '.join(SCHEMES)}",
                url=url,
            )
        self._url = url
        with self._named():
            await self._parts.drawing.restore()
            await self._restart.load(url)
            for selector in self._parts.site.buttons.start:
                await self._parts.buttons.click(self._tab.locator(selector).first)
            reading = await self._confirmation.started(await self.read())
            reading = await self._confirmation.of_rivals(reading)
            return await self._confirmation.played(reading)

    async def read(self) -> Reading:
        """Return the board, once it is at rest."""
        with self._named():
            await self._parts.drawing.restore()
            return await self._mover.read()

    async def press(self, direction: Direction) -> None:
        """Make a move by the input method that works on this page; do not wait for its effect."""
        with self._named():
            await self._parts.drawing.restore()
            await self._mover.press(direction)

    async def move(self, before: Reading, direction: Direction) -> MoveOutcome:
        """Make a move and wait for its effect.

        Args:
            before: the last reading.
            direction: a legal direction of its board.

        Raises:
            RulesError: the direction does not change the board.
            PageError: the page has gone, or does not answer.
        """
        with self._named():
            return await self._confirmation.move(before, direction)

    def foresee(self, note: Callable[[Board], None] | None) -> None:
        """Call a function with the likely board of each move before the move is confirmed.

        Args:
            note: the function; ``None`` to stop that.
        """
        self._mover.on_foreseen = note

    async def keep_going(self) -> Reading | None:
        """Continue the game after a win; return ``None`` if the page does not continue it."""
        with self._named():
            await self._parts.drawing.restore()
            return await self._restart.keep_going()

    async def new_game(self, *, anew: bool = False) -> Reading:
        """Start a new game with the page's button; without such a button load the page again.

        Args:
            anew: load the page again in any case.

        Raises:
            PageError: neither starts a new game.
        """
        with self._named():
            await self._parts.drawing.restore()
            return await self._restart.new_game(anew=anew)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Add to each error of the page its address, and the reader that saw its board last."""
        try:
            yield
        except PageError as error:
            error.url = error.url or self._url
            error.reader = error.reader or self._mover.reader
            raise
