"""Click the buttons that continue a game or start a new one, and answer the dialogs of a page."""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Awaitable, Callable, Iterator

from playwright.async_api import Dialog, Frame, Locator, Page
from playwright.async_api import Error as PlaywrightError

from scraper.chromium.driver_errors import first_line
from scraper.detection.button_texts import lets_game_continue
from scraper.detection.obstacles import FoundButton, Obstacles, status_said
from scraper.reading import Status

logger = logging.getLogger(__name__)

Click = Callable[[], Awaitable[None]]
UNSAVED = "beforeunload"
"""The type of the dialog that asks before the page is left."""


class PageButtons:
    """Find and click buttons, and answer dialogs. A dialog without an answer stops the page's script.

    Args:
        page: a page of Playwright.
        obstacles: finds buttons by their texts.
        wait_ms: milliseconds that a button may take to become clickable.
    """

    def __init__(self, page: Page, obstacles: Obstacles, wait_ms: int) -> None:
        self._page = page
        self._obstacles = obstacles
        self._wait_ms = wait_ms
        self._consents = False
        self._said = self._said_before = Status.PLAYING
        page.on("dialog", self._answer)

    @property
    def said(self) -> Status:
        """The status of the game by the dialogs at the last move or after it."""
        return self._said_before if self._said is Status.PLAYING else self._said

    def note_move(self) -> None:
        """Note that the page has made a move. A dialog from this move still counts."""
        self._said_before, self._said = self._said, Status.PLAYING

    async def find(self, frame: Frame, selector: str, text: str | None, *, in_game: bool) -> Click | None:
        """Return a function that clicks the first visible button; ``None`` if there is no such button.

        Args:
            frame: the frame in which to look for the selector.
            selector: selector of the button; it is tried first.
            text: pattern for the text of the button, in any frame; ``None`` to use the selector only.
            in_game: ignore buttons that may end the game.
        """
        visible = frame.locator(selector).filter(visible=True)
        if await visible.count():
            return functools.partial(self.click, visible.first)
        found = None if text is None else await self._obstacles.find_one(text, in_game=in_game)
        return None if found is None else functools.partial(self._click_found, *found)

    async def click(self, button: Locator) -> None:
        """Click a button, if that is possible."""
        with self._consenting():
            try:
                await button.click(timeout=self._wait_ms)
            except PlaywrightError as error:
                logger.info("the button could not be clicked: %s", first_line(error))

    async def _click_found(self, frame: Frame, found: FoundButton) -> None:
        with self._consenting():
            # After one round trip the page has begun to wait for the effect of the click.
            with contextlib.suppress(PlaywrightError):
                await self._obstacles.scripts.call(frame, "readyState")
            await self._obstacles.click(frame, found)

    @contextlib.contextmanager
    def _consenting(self) -> Iterator[None]:
        """Answer "yes" to the question "start a new game?" while the block runs."""
        self._consents = True
        try:
            yield
        finally:
            self._consents = False

    async def _answer(self, dialog: Dialog) -> None:
        logger.info("the page says (%s): %s", dialog.type, dialog.message[:200])
        if dialog.type != UNSAVED:
            said = status_said(dialog.message)
            self._said = self._said if said is Status.PLAYING else said
        with contextlib.suppress(PlaywrightError):
            if dialog.type == "prompt":
                await dialog.accept(dialog.default_value or "4")
            elif dialog.type == "confirm" and not self._consents and not lets_game_continue(dialog.message):
                await dialog.dismiss()  # "yes" to "play again?" would remove the board before it is read
            else:
                await dialog.accept()
