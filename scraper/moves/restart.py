"""Load a page, start a new game on it, and continue a game after a win."""

from __future__ import annotations

import logging

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeoutError

from game2048.errors import PageError
from scraper.chromium.driver_errors import first_line
from scraper.detection.button_texts import (
    KEEP_GOING,
    KEEP_GOING_SELECTOR,
    NEW_GAME,
    NEW_GAME_SELECTOR,
)
from scraper.detection.buttons import Click
from scraper.moves.mover import Mover
from scraper.moves.parts import PageParts
from scraper.reading import Reading, Status

logger = logging.getLogger(__name__)


class Restart:
    """Start games on one page.

    Args:
        parts: the parts of the page.
        mover: reads the board.
    """

    def __init__(self, parts: PageParts, mover: Mover) -> None:
        self._parts = parts
        self._mover = mover
        self._url = ""

    async def load(self, url: str) -> None:
        """Load the page, and forget everything about the page before.

        Raises:
            PageError: the page does not load.
        """
        self._parts.forget()
        self._mover.forget()
        self._url = url
        waits = self._parts.waits
        try:
            response = await self._parts.tab.goto(url, wait_until="domcontentloaded", timeout=waits.load)
        except PlaywrightTimeoutError as error:
            raise PageError(
                f"{url} did not load within {waits.load / 1000:g} s; check address and network", url=url
            ) from error
        except PlaywrightError as error:
            raise PageError(
                f"{url} does not load: {first_line(error)}; "
                "check the address, and that its server is running",
                url=url,
            ) from error
        if response is not None and response.status >= 400:
            answer = f"{response.status} {response.status_text}".rstrip()
            raise PageError(f"{url} does not load: its server answered {answer}; check the address", url=url)

    async def keep_going(self) -> Reading | None:
        """Continue the game after a win; return ``None`` if the page does not continue it."""
        known = self._parts.site.buttons.keep_going
        click = await self._button(known or KEEP_GOING_SELECTOR, KEEP_GOING, in_game=True)
        if click is None:
            reading = await self._mover.read()
            return reading if reading.status is not Status.WON else None
        reading, settled = await self._mover.settled(unblocked=True, meanwhile=click())
        return reading if settled and reading.status is not Status.WON else None

    async def new_game(self, *, anew: bool = False) -> Reading:
        """Start a new game with the page's button; without such a button load the page again.

        Args:
            anew: load the page again in any case.

        Raises:
            PageError: neither starts a new game.
        """
        self._parts.judge.scores_by_rules = True
        known = self._parts.site.buttons.new_game
        click = None
        if not anew:
            click = await self._button(known or NEW_GAME_SELECTOR, NEW_GAME, in_game=False)
        if click is not None:
            reading, settled = await self._mover.settled(fresh=True, meanwhile=click())
            if settled and is_new(reading):
                return reading
        logger.info("loading the page again for a new game")
        await self.load(self._url)
        reading = await self._mover.read()
        if not is_new(reading):
            raise PageError(
                f"no new game on {self._url}: expected a button for it ({NEW_GAME_SELECTOR}, "
                f"'New game', 'Try again', …) or a new board after loading "
                f"the page again, got {reading.board}",
                url=self._url,
                reader=reading.reader,
            )
        return reading

    async def _button(self, selector: str, text: str, *, in_game: bool) -> Click | None:
        eye = await self._parts.finder.eye()
        return await self._parts.unless_lost(
            self._parts.buttons.find(eye.frame, selector, text, in_game=in_game)
        )


def is_new(reading: Reading) -> bool:
    """Return whether the reading looks like the start of a game."""
    return reading.status is Status.PLAYING and reading.board.max_tile <= 4
