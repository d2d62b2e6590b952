"""A page's own buttons for going on and starting anew, and its dialogs."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterator

from playwright.async_api import Dialog, Frame, Locator, Page
from playwright.async_api import Error as PlaywrightError

from scraper.detection.page_script import first_line

logger = logging.getLogger(__name__)

KEEP_GOING = (".keep-playing-button", re.compile(r"^\W*(keep (going|playing)|continue)\b", re.IGNORECASE))
NEW_GAME = (
    ".restart-button, .retry-button",
    re.compile(r"^\W*(new game|restart|try again|play again|start over)\b", re.IGNORECASE),
)
"""Each a selector, and else what such a button says."""
GOES_ON = re.compile(
    r"\b(keep|continue|go(ing)? on|play on|endless|weiter|continuer|continuar|продолж)|继续|続け",
    re.IGNORECASE,
)
BEGINS_ANEW = re.compile(r"\b(again|new|restart|reset|replay|retry|neu|nouvelle|nuev[oa]|нов)", re.IGNORECASE)
CLICKABLE = "button, a, [role=button], input[type=button]"


class Controls:
    """Finds and clicks buttons, and answers dialogs: without an answer they stop the page's script.

    Args:
        page: a page of Playwright's.
        patience_ms: how long a button may take to become clickable.
    """

    def __init__(self, page: Page, patience_ms: int) -> None:
        self._patience_ms = patience_ms
        self._consents = False
        page.on("dialog", self._answer)

    async def find(self, frame: Frame, selector: str, text: re.Pattern[str]) -> Locator | None:
        """The first visible thing to click that matches, by selector or else by what it says."""
        by_selector = frame.locator(selector)
        by_text = frame.locator(CLICKABLE).filter(has_text=text)
        for found in (by_selector, by_text):
            visible = found.filter(visible=True)
            if await visible.count():
                return visible.first
        return None

    async def click(self, button: Locator) -> None:
        """Click something, if it lets itself be clicked."""
        with self.consenting():
            try:
                await button.click(timeout=self._patience_ms)
            except PlaywrightError as error:
                logger.info("the button could not be clicked: %s", first_line(error))

    @contextlib.contextmanager
    def consenting(self) -> Iterator[None]:
        """Meanwhile a page that asks "start a new game?" is told yes."""
        self._consents = True
        try:
            yield
        finally:
            self._consents = False

    async def _answer(self, dialog: Dialog) -> None:
        logger.info("the page says (%s): %s", dialog.type, dialog.message[:200])
        with contextlib.suppress(PlaywrightError):
            if dialog.type == "prompt":
                await dialog.accept(dialog.default_value or "4")
            elif dialog.type == "confirm" and not self._consents and not goes_on(dialog.message):
                await dialog.dismiss()  # "play again?" would wipe the board away before it was read
            else:
                await dialog.accept()


def goes_on(question: str) -> bool:
    """Whether a yes to this lets the game go on."""
    return bool(GOES_ON.search(question)) and not BEGINS_ANEW.search(question)
