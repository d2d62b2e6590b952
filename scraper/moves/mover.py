"""Make one try at a move: press a key, wait for the effect, and return the outcome."""

from __future__ import annotations

import asyncio
import collections
import functools
import logging
import time
from collections.abc import Awaitable, Callable

import msgspec
from playwright.async_api import Error as PlaywrightError

from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import RulesError
from scraper.chromium.driver_errors import page_lost, page_silent
from scraper.eye import DocumentGoneError, SettleQuestion, Sighting, SightKind
from scraper.moves.explain import OFFENCES
from scraper.moves.outcome import Cause, MoveOutcome, Slid, Unchanged, Unexplained
from scraper.moves.parts import PageParts
from scraper.readers import CANVAS_TEXT, PIXELS
from scraper.reading import MisreadError, NoBoardError, Ply, Reading, Status, UnreadableError

logger = logging.getLogger(__name__)

HISTORY = 60
QUICK_MOVES = 6
LEAST_IDLE_MS = 250
TRIAL_IDLE_MS = 200
WEAK_IDLE_MS = 350
ON_CANVASES = {PIXELS.name, CANVAS_TEXT.name}
"""Readers that watch each frame of a canvas; frames of a canvas that is drawn small come late."""
LOOKS_AGAIN = 6
"""How often a page may load again, or show an unreadable board, during one reading."""


class Mover:
    """Read the board of one page, and make moves on it.

    Args:
        parts: the parts of the page.

    Attributes:
        history: the last moves, for a report.
        reader: the name of the reader that saw the board last; ``None`` before the first reading.
        on_foreseen: called with the likely board of a move before the move is confirmed.
    """

    def __init__(self, parts: PageParts) -> None:
        self._parts = parts
        self._waits = parts.waits
        self._input = parts.input
        self._values = parts.values
        self._judge = parts.judge
        self.on_foreseen: Callable[[Board], None] | None = None
        self.history: collections.deque[dict[str, object]] = collections.deque(maxlen=HISTORY)
        self.forget()

    def forget(self) -> None:
        """Reset for a page that has loaded again."""
        self.reader: str | None = None
        self._slowest = self._began = 0.0
        self._attempt: tuple[Board, Direction] | None = None
        self._ply: Ply | None = None
        """The current or last move."""

    # -- reading ------------------------------------------------------------------------------------------

    async def read(self) -> Reading:
        """Return the board, once it is at rest."""
        reading, _ = await self.settled()
        return reading

    async def settled(
        self, *, fresh: bool = False, unblocked: bool = False, meanwhile: Awaitable[None] | None = None
    ) -> tuple[Reading, bool]:
        """Return the board at rest, and whether it came to rest in time and as asked.

        Args:
            fresh: wait for the board of a new game.
            unblocked: wait until the win message has gone.
            meanwhile: an action to await during the wait.

        Raises:
            PageError: there is no board, or the page has gone.
        """
        cap = self._waits.cap * (1 if meanwhile is None else 2)  # the action takes time too
        for _ in range(LOOKS_AGAIN):
            eye = await self._parts.finder.eye()
            question = SettleQuestion(
                self._waits.quiet, fresh, unblocked, self._values.labels, self._values.ranks
            )
            try:
                sighting = await while_waiting(eye.await_settled(question, cap), meanwhile)
            except DocumentGoneError:
                # The page has loaded again. Our action caused that, or has ended.
                meanwhile, fresh = None, False
                continue
            if self._values.turns_to_ranks(sighting):
                continue
            if sighting.outcome is not SightKind.GONE:
                logger.debug("the board is %s", sighting.outcome.value)
                try:
                    return self._reading_in(sighting), sighting.outcome is SightKind.SETTLED
                except UnreadableError as error:
                    if sighting.name is None:
                        raise
                    ply = self._ply if self._judge.has_slid else None
                    self._parts.give_up(sighting.name, str(error.__cause__ or error), ply=ply)
            meanwhile = None
            self._parts.finder.forget_document()
        raise self._parts.readers.no_board(self._parts.tab.url)

    def _reading_in(self, sighting: Sighting) -> Reading:
        """Return the reading in a sighting, with the learned values of looks and the scale."""
        raw = self._values.raw(sighting)
        reading = self._parts.readers.reading(sighting, raw, self._parts.tab.url)
        self.reader = reading.reader
        return self._judge.shown(reading)

    # -- moves --------------------------------------------------------------------------------------------

    async def press(self, direction: Direction) -> None:
        """Make a move by the input method that works on this page; do not wait for its effect."""
        await self._in_time(self._input.press(direction))

    async def move(self, before: Reading, direction: Direction) -> MoveOutcome:
        """Try a move once and wait for its effect; see `scraper.page.GamePage.move`."""
        ply = before.ply(direction)
        if not ply.slide.moved:
            raise RulesError(f"{direction} does not change {before.board}; expected a legal direction")
        self._ply = ply
        if (before.board, direction) != self._attempt:
            if self._input.proven is not None:
                self._input.give_up()  # the tries so far were for another move
            self._attempt = before.board, direction
        drawing = self._parts.drawing
        await (drawing.shrink() if self._needs_no_drawing(before) else drawing.restore())
        try:
            sighting = await self._asked(before, ply)
        except DocumentGoneError:
            await drawing.restore()
            return await self._loaded_anew(ply)
        if sighting.outcome is not SightKind.SLID:
            await drawing.restore()  # what follows may click, or take pictures
        outcome = await self._outcome(sighting, before, ply)
        took = time.monotonic() - self._began
        self.history.append(_noted(before, direction, outcome, took))
        if isinstance(outcome, Unchanged):
            return outcome
        self._slowest = max(self._slowest * 0.9, took)
        return await self._held_to_rules(outcome)

    def _needs_no_drawing(self, before: Reading) -> bool:
        """Return whether the next try needs neither the mouse nor the drawing of a canvas."""
        is_proven = self._input.proven is not None and self._input.moves >= QUICK_MOVES
        return is_proven and self._input.fresh and self._input.at_once and before.reader not in ON_CANVASES

    async def _asked(self, before: Reading, ply: Ply) -> Sighting:
        """Make a move by the next input method, and ask the eye for its effect."""
        idle = self._idle(weak=before.traits.weak)
        foresee = self.on_foreseen is not None
        question = self._judge.question(before, ply, self._waits, idle, foresee=foresee)
        eye = await self._parts.finder.eye()
        await self._in_time(self._input.prepare())
        self._began = time.monotonic()
        act: Awaitable[None] | None = self._in_time(self._input.move(ply.direction))
        if not self._input.at_once and act is not None:
            await act
            act = None
        explains = functools.partial(self._values.explains, ply.direction)
        foreseen = functools.partial(self._foreseen, ply)
        return await while_waiting(eye.await_slide(question, self._waits.cap, explains, foreseen), act)

    def _foreseen(self, ply: Ply, cells: list[int]) -> None:
        """Pass on the board that a move will probably make, if the rules explain it."""
        board = self._judge.foreseen(cells, ply)
        if board is not None and self.on_foreseen is not None:
            self.on_foreseen(board)

    async def _loaded_anew(self, ply: Ply) -> MoveOutcome:
        """Return the outcome of a move after which the page has loaded again."""
        outcome = self._judge.anew(await self.read(), ply)
        if isinstance(outcome, Slid) or outcome.rules:
            self._took()
        return outcome

    async def _outcome(self, sighting: Sighting, before: Reading, ply: Ply) -> MoveOutcome:
        """Return the outcome of a move from the answer of the eye."""
        if sighting.outcome is SightKind.UNCHANGED:
            await self._input.missed()
            reading = self._reading_in(sighting)
            if self._input.exhausted and reading.status is Status.PLAYING:
                reading = reading.changed(status=await self._parts.said())
            return Unchanged(reading, exhausted=self._input.exhausted)
        learned = self._values.take(sighting, ply.direction)
        if learned is False:
            self._values.take_by(self._judge.rules.own_slides(ply), sighting)
        if sighting.outcome is SightKind.SLID or learned:
            reading = self._reading_in(sighting)
            self._took()
            return self._judge.slid(sighting, reading, before, ply, learned=bool(learned))
        reading = await self.read()
        if reading.board.size != before.board.size:
            self._parts.finder.forget_document()
            reading = await self.read()  # perhaps a part of the board was hidden
        if reading.reader != sighting.name:  # the board at the key comes from another reader
            sighting = msgspec.structs.replace(sighting, at_key=None)
        at_key = self._judge.at_key(sighting, ply)
        outcome = self._judge.other(sighting, reading, ply)
        defies = isinstance(outcome, Unexplained) and not outcome.rules
        if at_key == reading.board != before.board or (defies and not self._judge.has_slid):
            await self._input.missed()  # something else changed the board, or it changed before the key
        else:
            self._took()
        return outcome

    def _took(self) -> None:
        """Note that the page has made the move."""
        self._input.took()
        self._parts.buttons.note_move()

    async def _held_to_rules(self, outcome: MoveOutcome) -> MoveOutcome:
        """Turn to another board or the next reader if too many boards in a row break the rules."""
        if not self._judge.offends(outcome):
            return outcome
        why = outcome.why if isinstance(outcome, Unexplained) else ""
        if await self._parts.finder.skip(why):
            why = "another board of the page is read from now on"
        else:
            name = outcome.reading.reader
            self._parts.give_up(name, f"{OFFENCES} boards in a row defy the rules of 2048: {why}")
            why = f"the reader {name} was given up"
        try:
            reading = await self.read()
        except NoBoardError as error:
            raise MisreadError(str(error), url=error.url, reader=error.reader) from error
        return Unexplained(reading, why, Cause.OTHER_BOARD)

    async def _in_time(self, act: Awaitable[None]) -> None:
        """Await an action of the page.

        Raises:
            PageError: the page has gone, or does not answer in time.
        """
        try:
            async with asyncio.timeout(self._waits.answer / 1000):
                await act
        except TimeoutError as error:
            raise page_silent(self._parts.tab.url) from error
        except PlaywrightError as error:
            raise page_lost(self._parts.tab.url, error) from error

    def _idle(self, *, weak: bool) -> int:
        """Return after how many milliseconds without a change a key counts as dropped; less on fast pages."""
        longest = self._waits.idle
        if self._input.proven is None and weak:
            longest = min(longest, WEAK_IDLE_MS)
        if self._input.proven is None and (self._input.misses > 1 or self._input.fruitless):
            return min(longest, TRIAL_IDLE_MS)  # one of many ways to try
        if self._input.moves < QUICK_MOVES or self._input.misses > 1:
            return longest
        return round(min(longest, max(3000 * self._slowest, LEAST_IDLE_MS)))


async def while_waiting(wait: Awaitable[Sighting], act: Awaitable[None] | None) -> Sighting:
    """Wait and act at the same time, which saves a round trip."""
    waiting = asyncio.ensure_future(wait)
    try:
        if act is not None:
            await act
        return await waiting
    finally:
        if not waiting.done():
            waiting.cancel()
        elif not waiting.cancelled():
            waiting.exception()  # read it, so that asyncio does not log it if the act failed first


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
