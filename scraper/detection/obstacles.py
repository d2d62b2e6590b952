"""Find and click what covers the game: start buttons, guides, banners, win messages."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import msgspec
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from scraper.detection.button_texts import (
    ANY_LABEL,
    LISTED_SIZE,
    NEVER,
    NEVER_IN_GAME,
    OVER,
    WON,
)
from scraper.in_page.worlds import PageScripts
from scraper.reading import Status
from scraper.region import place_in_window

logger = logging.getLogger(__name__)

MOST_PAGES = 8
"""The most pages of a guide that covers the game."""
PLAYER_NAME = "Player"
MOST_TEXT = 20_000
"""The most letters of a page that are read for its messages."""


class _Place(msgspec.Struct, frozen=True):
    x: float
    y: float


class FoundButton(msgspec.Struct, frozen=True):
    """A thing to click: its text, and its centre in the coordinates of its frame."""

    key: str
    text: str
    x: float
    y: float
    inner: int


@dataclass(slots=True)
class Obstacles:
    """The obstacles of one page. Nothing is clicked twice."""

    page: Page
    scripts: PageScripts
    taken: list[str] = field(default_factory=list)

    def forget(self) -> None:
        """Forget all clicks, because the page has loaded again."""
        self.taken.clear()

    async def click_one(
        self, *patterns: str, in_game: bool = False, modal: bool = False, leave: bool = False
    ) -> bool:
        """Click the first thing whose text fits a pattern; return whether there was one.

        Args:
            patterns: patterns of the text, the preferred ones first.
            in_game: do not click what may end the game.
            modal: only click buttons of dialogs that cover the page.
            leave: also click links to other pages of the site.
        """
        async for frame, found in self._all(patterns, in_game=in_game, modal=modal, leave=leave):
            if await self.click(frame, found):
                return True
        return False

    async def find_one(self, pattern: str, *, in_game: bool = False) -> tuple[Frame, FoundButton] | None:
        """Return the first thing whose text fits a pattern, in any frame, even if it was clicked before."""
        self.taken.clear()
        async for found in self._all((pattern,), in_game=in_game, modal=False, leave=True):
            return found
        return None

    async def _all(
        self, patterns: tuple[str, ...], *, in_game: bool, modal: bool, leave: bool
    ) -> AsyncIterator[tuple[Frame, FoundButton]]:
        taboo = NEVER_IN_GAME if in_game else NEVER
        if in_game:
            self.taken.clear()  # a message may come back
        for pattern in patterns:
            for frame in self.page.frames:
                for found in await self._find(frame, pattern, taboo, modal=modal, leave=leave):
                    yield frame, found

    async def leaf_through(self, *, in_game: bool = False) -> None:
        """Click away dialogs that cover the page, with any text on the button, and all pages of a guide."""
        before = list(self.taken)
        for _ in range(MOST_PAGES):
            self.taken.clear()  # each page has the same button
            if not await self.click_one(ANY_LABEL, in_game=in_game, modal=True):
                break
        self.taken += before

    async def give_name(self) -> bool:
        """Fill in the only field of the page, which may ask for a name; return whether there was one."""
        for frame in self.page.frames:
            with contextlib.suppress(PlaywrightError):
                place: _Place | None = await self.scripts.call(frame, "loneField", into=_Place | None)
                if place is not None:
                    await self.page.mouse.click(*await place_in_window(frame, place.x, place.y))
                    await self.page.keyboard.insert_text(PLAYER_NAME)
                    self.taken.clear()
                    return True
        return False

    async def choose_size(self) -> bool:
        """Choose the size 4×4 from a list, unless it is chosen; return whether a choice was made."""
        for frame in self.page.frames:
            with contextlib.suppress(PlaywrightError):
                if await self.scripts.call(frame, "choose", LISTED_SIZE) is True:
                    self.taken.clear()
                    return True
        return False

    async def says(self) -> Status:
        """Return the status of the game by the messages on the page."""
        text = ""
        for frame in self.page.frames:
            with contextlib.suppress(PlaywrightError):
                text += "\n" + await self.scripts.call(frame, "pageText", MOST_TEXT, into=str)
        return status_said(text)

    async def _find(
        self, frame: Frame, pattern: str, taboo: str, *, modal: bool, leave: bool
    ) -> list[FoundButton]:
        with contextlib.suppress(PlaywrightError, msgspec.DecodeError):
            wanted = {"pattern": pattern, "taboo": taboo, "taken": self.taken, "modal": modal, "leave": leave}
            found: list[FoundButton] = await self.scripts.call(
                frame, "findObstacles", wanted, into=list[FoundButton]
            )
            return found
        return []

    async def click(self, frame: Frame, found: FoundButton) -> bool:
        """Click what was found; return whether that was possible."""
        self.taken.append(found.key)
        with contextlib.suppress(PlaywrightError):
            x, y = await place_in_window(frame, found.x, found.y)
            logger.info("clicking %r", found.text)
            await self.page.mouse.click(x, y)
            return True
        return False


def status_said(text: str) -> Status:
    """Return the status that a message names. A win comes before an end, because pages end games at wins."""
    if WON.search(text):
        return Status.WON
    return Status.OVER if OVER.search(text) else Status.PLAYING
