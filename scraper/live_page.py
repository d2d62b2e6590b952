"""A page in a real browser, behind the seam `scraper.page.GamePage`."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import functools
import logging
import re
import time
from collections.abc import Awaitable
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Locator, Page
from playwright.async_api import TimeoutError as PlaywrightTimeoutError

from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import PageError, RulesError
from scraper.detection.buttons import KEEP_GOING, NEW_GAME, Controls
from scraper.detection.confirmation import Opening
from scraper.detection.finder import Finder
from scraper.detection.obstacles import GO_ON, NEW, Gates
from scraper.detection.page_script import Answer, Patience, Probe, ProbeGoneError, first_line, while_waiting
from scraper.input.methods import Hands, Region
from scraper.moves.explain import OFFENCES, Judge
from scraper.moves.outcome import MoveOutcome, Slid, Unchanged, Unexplained
from scraper.readers import PIXELS, READERS, BoardReader
from scraper.readers.canvas import PixelEye
from scraper.readers.tile_values import Learner
from scraper.reading import Reading, Status, UnreadableError
from scraper.site_profile import SiteProfile

logger = logging.getLogger(__name__)

HISTORY = 60
QUICK_MOVES = 6
LEAST_IDLE_MS = 250
TRIAL_IDLE_MS = 200
WEAK_IDLE_MS = 350
WEAK = {reader.name for reader in (*READERS, PIXELS) if reader.weak}
ATTEMPTS = 3
"""How often a page may load anew while it is being read once."""
FRUITLESS = 2
"""So many moves are tried in all ways on a board of elements before a canvas is looked at."""
SCHEMES = ("http://", "https://", "file://")


class LivePage:
    """A game on a page of a real browser.

    Args:
        page: a page of Playwright's, not loaded yet.
        readers: the ways of reading boards to try, in order.
        patience: how long to wait for what.
        site: what is known of the page's site; its board is looked for before all else.
    """

    def __init__(
        self,
        page: Page,
        readers: tuple[BoardReader, ...] = READERS,
        patience: Patience | None = None,
        site: SiteProfile | None = None,
    ) -> None:
        self._page = page
        self._site = site or SiteProfile()
        self._patience = self._site.patience(patience or Patience())
        if self._site.board is not None:
            readers = (self._site.reader(), *readers)
        self.history: collections.deque[dict[str, object]] = collections.deque(maxlen=HISTORY)
        """The last moves, for a report."""
        self._probe = Probe(page, readers, self._patience)
        self._gates = Gates(page)
        self._controls = Controls(page, self._patience.cap)
        self._finder = Finder(page, self._probe, self._gates, self._patience)
        self._hands = Hands(page, self._gates, self._site.input)
        self._hands.region = self._finder.region
        self._learner = Learner()
        self._judge = Judge(self._learner)
        self._opening = Opening(self, self._finder, self._hands, self._learner, self._judge.rules)
        self._url = ""
        self._forget_page()

    def _forget_page(self) -> None:
        self._finder.forget()
        self._hands.forget()
        self._judge.forget()
        self._slowest = self._began = 0.0
        self._attempt: tuple[Board, Direction] | None = None

    @property
    def url(self) -> str:
        """Where the game is played."""
        return self._url

    @property
    def rules(self) -> tuple[str, ...]:
        """In what the page's rules were seen to differ from those of 2048."""
        return tuple(self._judge.rules.names)

    def afterstate(self, board: Board, direction: Direction) -> Board:
        """What a move slides to on this page, by its own rules where they are known to differ."""
        return self._judge.rules.afterstate(board, direction)

    @property
    def played_with(self) -> str | None:
        """The way of making moves that works on the page, once one has."""
        return self._hands.proven

    @property
    def tried(self) -> tuple[tuple[str, str], ...]:
        """The readers that were given up on this page, each with the reason."""
        return tuple(self._probe.given_up.items())

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
        for selector in self._site.buttons.start:
            await self._controls.click(self._page.locator(selector).first)
        return await self._opening.played(await self._opening.of_rivals(await self.read()))

    async def read(self) -> Reading:
        """The board, once it is at rest."""
        reading, _ = await self._settled()
        return reading

    async def press(self, direction: Direction) -> None:
        """Make a move in the way that works on this page, without looking at what comes of it."""
        try:
            async with asyncio.timeout(self._patience.answer / 1000):
                await self._hands.press(direction)
        except TimeoutError as error:
            raise self._probe.silent() from error
        except PlaywrightError as error:
            raise self._probe.lost(error) from error

    async def move(self, before: Reading, direction: Direction) -> MoveOutcome:
        """Make a move and wait until the page has answered.

        Args:
            before: the last reading.
            direction: a legal direction of its board.

        Raises:
            RulesError: the direction does not change the board.
            PageError: the page has gone or does not answer.
        """
        if not before.board.slide(direction).moved:
            raise RulesError(f"{direction} does not change {before.board}: expected a legal direction")
        if (before.board, direction) != self._attempt:
            if self._hands.proven is not None:
                self._hands.give_up()  # what was missed so far was another move
            self._attempt = before.board, direction
        try:
            answer = await self._asked(before, direction)
        except ProbeGoneError:
            return await self._loaded_anew(before, direction)
        outcome = await self._outcome(answer, before, direction)
        self.history.append(_noted(before, direction, outcome, time.monotonic() - self._began))
        if not isinstance(outcome, Unchanged):
            self._slowest = max(self._slowest * 0.9, time.monotonic() - self._began)
        if isinstance(outcome, Unchanged) and outcome.exhausted and self._hands.proven is None:
            return await self._another_board(
                outcome, f"{direction} on {before.board} did nothing on this one"
            )
        return await self._held_to_rules(outcome)

    async def _asked(self, before: Reading, direction: Direction) -> Answer:
        """Make a move in the way whose turn it is, and have the page's script look at what comes of it."""
        question = self._judge.question(
            before, direction, self._patience, self._idle(weak=before.reader in WEAK)
        )
        eye = await self._finder.eye()
        await self._within(self._hands.prepare())
        self._began = time.monotonic()
        act: Awaitable[None] | None = self._within(self._hands.move(direction))
        if not self._hands.at_once and act is not None:
            await act
            act = None
        wait = self._ask(eye, "awaitSlide", question, self._patience.cap, direction)
        return await while_waiting(wait, act)

    async def _loaded_anew(self, before: Reading, direction: Direction) -> MoveOutcome:
        """What a move came to after which the page has loaded anew."""
        outcome = self._judge.anew(await self.read(), before, direction)
        if isinstance(outcome, Slid) or outcome.rules:
            self._hands.took()
        return outcome

    async def _another_board(self, outcome: Unchanged, why: str) -> Unchanged:
        """Where no move has ever worked: the board that is played may be another."""
        if await self._finder.skip(why):
            self._hands.give_up()
            self._hands.fruitless = 0
            return Unchanged(await self.read())
        if self._hands.fruitless < FRUITLESS or not await self._finder.turn_to_canvas(
            outcome.reading.reader, why
        ):
            return outcome
        self._hands.give_up()
        self._hands.fruitless = 0
        self._learner.forget()
        return Unchanged(await self._opening.played(await self.read()))

    async def _within(self, act: Awaitable[None]) -> None:
        """Do something with the page, which must answer."""
        try:
            async with asyncio.timeout(self._patience.answer / 1000):
                await act
        except TimeoutError as error:
            raise self._probe.silent() from error
        except PlaywrightError as error:
            raise self._probe.lost(error) from error

    def _idle(self, *, weak: bool) -> int:
        """How long without any change tells that a key was dropped; less on pages known to be quick."""
        longest = self._patience.idle
        if self._hands.proven is None and weak:
            longest = min(longest, WEAK_IDLE_MS)
        if self._hands.proven is None and (self._hands.misses > 1 or self._hands.fruitless):
            return min(longest, TRIAL_IDLE_MS)  # one of many ways to try
        if self._hands.moves < QUICK_MOVES or self._hands.misses > 1:
            return longest
        return round(min(longest, max(3000 * self._slowest, LEAST_IDLE_MS)))

    async def _ask(
        self,
        eye: Probe | PixelEye,
        method: str,
        request: dict[str, Any],
        cap: int,
        direction: Direction | None = None,
    ) -> Answer:
        if isinstance(eye, Probe):
            eye.labels, eye.ranks = self._learner.labels, self._learner.ranks
            return await eye.ask(method, request, cap)
        explains = None if direction is None else functools.partial(self._learner.explains, direction)
        return await eye.ask(method, request, cap, explains)

    async def keep_going(self) -> Reading | None:
        """After a win, tell the page to go on; ``None`` if it offers no way, or none that works."""
        await self._finder.eye()
        button = await self._button(KEEP_GOING, self._site.buttons.keep_going)
        if button is None:
            await self._gates.open_one(GO_ON, in_game=True)
            reading = await self.read()
            return reading if reading.status is not Status.WON else None
        reading, settled = await self._settled(unblocked=True, meanwhile=self._controls.click(button))
        return reading if settled and reading.status is not Status.WON else None

    async def new_game(self) -> Reading:
        """Start a new game by the page's own button, or by loading the page anew where it has none.

        Raises:
            PageError: neither leads to a new game.
        """
        self._judge.scores_by_rules = True
        await self._finder.eye()
        button = await self._button(NEW_GAME, self._site.buttons.new_game)
        if button is not None:
            reading, settled = await self._settled(fresh=True, meanwhile=self._controls.click(button))
            if settled and _is_new(reading):
                return reading
        self._gates.forget()
        with self._controls.consenting():
            clicked = await self._gates.open_one(NEW)
        if clicked:
            reading, settled = await self._settled(fresh=True)
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

    async def _outcome(self, answer: Answer, before: Reading, direction: Direction) -> MoveOutcome:
        """What a key came to, from what the page's script saw."""
        if answer.outcome == "unchanged":
            await self._hands.missed()
            reading = self._read(answer)
            if self._hands.exhausted and reading.status is Status.PLAYING:
                reading = dataclasses.replace(reading, status=await self._gates.says())
            return Unchanged(reading, exhausted=self._hands.exhausted)
        learned = self._learner.take(answer, direction)
        if answer.outcome == "slid" or learned:
            reading = self._read(answer)
            self._hands.took()
            return self._judge.slid(answer, reading, before, direction, learned=bool(learned))
        reading = await self.read()
        at_key = self._judge.at_key(answer, before)
        outcome = self._judge.other(answer, reading, before, direction)
        defies = isinstance(outcome, Unexplained) and not outcome.rules
        if at_key == reading.board != before.board or (defies and not self._judge.has_slid):
            await self._hands.missed()  # what changed the board was no move, or one before the key
        else:
            self._hands.took()
        return outcome

    async def _held_to_rules(self, outcome: MoveOutcome) -> MoveOutcome:
        """Believe a reader only while the rules are obeyed; else another board, else the next reader."""
        if not self._judge.offends(outcome):
            return outcome
        why = outcome.why if isinstance(outcome, Unexplained) else ""
        if await self._finder.skip(why):
            return Unexplained(await self.read(), "another board of the page is looked at")
        name = outcome.reading.reader
        self._finder.give_up(name, f"{OFFENCES} boards in a row defy the rules of 2048: {why}")
        self._learner.forget()
        return Unexplained(await self.read(), f"the reader {name} was given up")

    def _read(self, answer: Answer) -> Reading:
        """The reading in an answer, with what was learned of looks and scale."""
        return self._judge.shown(self._probe.reading(answer, self._learner.raw(answer)))

    async def _settled(
        self, *, fresh: bool = False, unblocked: bool = False, meanwhile: Awaitable[None] | None = None
    ) -> tuple[Reading, bool]:
        """The board at rest, and whether it came to rest as wanted in time."""
        request = {"quiet": self._patience.quiet, "fresh": fresh, "unblocked": unblocked}
        cap = self._patience.cap * (1 if meanwhile is None else 2)  # what is done meanwhile has its own
        for _ in range(ATTEMPTS):
            try:
                wait = self._ask(await self._finder.eye(), "awaitSettled", request, cap)
                answer = await while_waiting(wait, meanwhile)
            except ProbeGoneError:
                # The page has loaded anew; what we did meanwhile brought that about, or is done.
                meanwhile = None
                request["fresh"] = False
                continue
            if self._learner.turns_to_ranks(answer):
                continue
            if answer.outcome != "gone":
                logger.debug("the board is %s", answer.outcome)
                try:
                    return self._read(answer), answer.outcome == "settled"
                except UnreadableError as error:
                    if self._judge.has_slid or answer.name is None:
                        raise
                    self._finder.give_up(answer.name, str(error.__cause__ or error))
                    self._learner.forget()
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

    async def region(self) -> Region | None:
        """Where the board is in the window, once it has been found."""
        return await self._finder.region()

    @property
    def frame(self) -> Frame:
        """The frame that the board was last found in."""
        return self._probe.frame

    @property
    def tab(self) -> Page:
        """The page of Playwright's."""
        return self._page

    async def _button(self, known: tuple[str, re.Pattern[str]], told: str | None) -> Locator | None:
        selector, text = known
        try:
            return await self._controls.find(self._probe.frame, told or selector, text)
        except PlaywrightError as error:
            raise self._probe.lost(error) from error


def _noted(before: Reading, direction: Direction, outcome: MoveOutcome, seconds: float) -> dict[str, object]:
    return {
        "before": before.board.text(),
        "direction": direction.value,
        "outcome": type(outcome).__name__,
        "after": outcome.reading.board.text(),
        "reader": outcome.reading.reader,
        "why": outcome.why if isinstance(outcome, Unexplained) else None,
        "ms": round(1000 * seconds),
    }


def _is_new(reading: Reading) -> bool:
    return reading.status is Status.PLAYING and reading.board.max_tile <= 4
