"""Hold the parts that play one page: its eyes, buttons and input, and its known tile values and rules."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Self, TypeVar

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from scraper.chromium.driver_errors import page_lost
from scraper.chromium.tab_setting import TabSetting
from scraper.detection.buttons import PageButtons
from scraper.detection.finder import Finder
from scraper.detection.obstacles import Obstacles
from scraper.detection.reader_list import ReaderList
from scraper.in_page.worlds import PageScripts
from scraper.input.methods import PageInput
from scraper.moves.drawing import TabDrawing
from scraper.moves.explain import Judge
from scraper.readers import BoardReader
from scraper.readers.tile_values import TileValues
from scraper.reading import Ply, Status
from scraper.site_profile import SiteProfile
from scraper.wait_times import WaitTimes

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class PageParts:
    """The parts of one page.

    Attributes:
        tab: the page of Playwright.
        scripts: the project's scripts in the page.
        site: the profile of the page's site.
        waits: how long to wait for what.
        readers: the readers of boards.
        obstacles: clicks away what covers the game.
        buttons: clicks buttons for new games and after wins, and answers dialogs.
        finder: finds the board.
        input: makes moves.
        values: knows the values of the tiles.
        judge: judges the board after each move.
        drawing: the scale at which the tab is drawn.
    """

    tab: Page
    scripts: PageScripts
    site: SiteProfile
    waits: WaitTimes
    readers: ReaderList
    obstacles: Obstacles
    buttons: PageButtons
    finder: Finder
    input: PageInput
    values: TileValues
    judge: Judge
    drawing: TabDrawing

    @classmethod
    def of(
        cls,
        tab: Page,
        scripts: PageScripts,
        readers: tuple[BoardReader, ...],
        waits: WaitTimes,
        site: SiteProfile,
        setting: TabSetting,
    ) -> Self:
        """Make the parts for a page of Playwright."""
        waits = site.wait_times(waits)
        if site.board is not None:
            readers = (site.reader(), *readers)
        listed = ReaderList(readers)
        obstacles = Obstacles(tab, scripts)
        finder = Finder(tab, scripts, listed, obstacles, waits)
        values = TileValues()
        return cls(
            tab,
            scripts,
            site,
            waits,
            listed,
            obstacles,
            PageButtons(tab, obstacles, waits.cap),
            finder,
            PageInput(tab, scripts, obstacles, finder.region, site.input, slow_mo=setting.slow_mo),
            values,
            Judge(values),
            TabDrawing(tab, scripts, allowed=setting.may_shrink),
        )

    def forget(self) -> None:
        """Reset all parts for a page that has loaded again."""
        self.finder.forget()
        self.input.forget()
        self.judge.forget()

    def give_up(self, name: str, why: str, *, moved: bool = True, ply: Ply | None = None) -> None:
        """Stop believing a reader, and forget the tile values learned with it; see `Finder.give_up`.

        Args:
            name: the name of the reader.
            why: the reason, for people.
            moved: whether the board has ever moved.
            ply: during a game, the last move; else ``None``.
        """
        self.readers.is_2048 |= ply is not None
        self.finder.give_up(name, why, moved=moved)
        self.values.forget(ply)

    async def said(self) -> Status:
        """Return the status of the game by the page's messages, or by a dialog since its last move."""
        status = await self.obstacles.says()
        return self.buttons.said if status is Status.PLAYING else status

    async def unless_lost(self, act: Awaitable[Result]) -> Result:
        """Await an action of the page, and turn the driver's errors into errors of the page.

        Raises:
            PageError: the page has gone.
        """
        try:
            return await act
        except PlaywrightError as error:
            raise page_lost(self.tab.url, error) from error
