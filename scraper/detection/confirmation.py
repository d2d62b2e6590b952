"""Making sure, by some moves, that what was found on a page is the board that is played on it."""

from __future__ import annotations

import asyncio
from typing import Protocol

from game2048.direction import Direction
from game2048.errors import PageError
from scraper.detection.finder import Finder
from scraper.input.methods import Hands
from scraper.moves.outcome import MoveOutcome, Slid, Unchanged, Unexplained
from scraper.moves.rule_variants import DOUBLED, RANKS, PageRules
from scraper.readers.tile_values import FIRST_RANK, Learner
from scraper.reading import Reading, Status

MOVES = 80
"""After so many moves what is not known by then is guessed."""
RIVALS_MOVE_S = 1.0
"""Of several boards the ones that move within this time, with no key pressed, are played by somebody else."""
MOST_RIVALS = 4
ITS_OWN = "it moves by itself"
NUMBERED = frozenset({"lattice-text", "lattice-classes"})


class Playable(Protocol):
    """A page that can be looked at and played."""

    @property
    def url(self) -> str:
        """Where it is."""
        ...

    async def read(self) -> Reading:
        """The board, once it is at rest."""
        ...

    async def move(self, before: Reading, direction: Direction) -> MoveOutcome:
        """Make a move and wait until the page has answered."""
        ...

    async def new_game(self) -> Reading:
        """Start a new game."""
        ...


class Opening:
    """The moves before a game that are not recorded.

    Args:
        page: where they are made.
        finder: what found the board.
        hands: what makes the moves.
        learner: what is known of the tiles.
        rules: the page's.
    """

    def __init__(
        self, page: Playable, finder: Finder, hands: Hands, learner: Learner, rules: PageRules
    ) -> None:
        self._page = page
        self._finder = finder
        self._hands = hands
        self._learner = learner
        self._rules = rules

    async def of_rivals(self, reading: Reading) -> Reading:
        """Where there are several boards: one that does not move by itself."""
        for _ in range(MOST_RIVALS):
            if not self._learner.rivals and _is_fresh(reading):
                break
            await asyncio.sleep(RIVALS_MOVE_S)
            now = await self._page.read()
            if now.board == reading.board:
                return now
            if not await self._finder.skip(ITS_OWN):
                if self._learner.rivals or reading.reader not in NUMBERED:
                    return now
                self._finder.give_up(reading.reader, ITS_OWN)
            reading = await self._page.read()
        return reading

    async def played(self, reading: Reading) -> Reading:
        """Play until it is known what looks are worth, or that doubtful numbers obey the rules.

        Raises:
            PageError: it is another game.
        """
        moves = tries = 0
        while tries < MOVES and self._learner.doubts(reading, moves):
            tries += 1
            legal = reading.board.legal_directions()
            if not legal and not moves and self._learner.book is not None:
                self._finder.give_up(reading.reader, "no move is possible on what looks like its board")
                self._learner.forget()
                reading = await self._page.read()
                continue
            if not legal or reading.status is Status.OVER:
                return await self._page.new_game()
            slides = {direction: reading.board.slide(direction) for direction in legal}
            direction = max(legal, key=lambda d: slides[d].reward)
            outcome = await self._page.move(reading, direction)
            if isinstance(outcome, Unchanged) and outcome.exhausted:
                why = f"{direction} on {outcome.reading.board} did nothing in any way that was tried"
                self._hands.give_up()
                if moves or not await self._finder.skip(why):
                    self._give_up(outcome.reading, why)
                reading, moves = await self._page.read(), 0
                continue
            reading = outcome.reading
            if isinstance(outcome, Unexplained) and not outcome.rules and self._learner.ranks:
                raise PageError(
                    f"{self._page.url} is no game of 2048 that can be played: its tiles show {FIRST_RANK}, "
                    "which is no power of two and is not made of two 2s"
                )
            moves += isinstance(outcome, Slid)
        if self._learner.scale > 1:
            self._rules.adopt([DOUBLED])
        if self._learner.ranks:
            self._rules.adopt([RANKS])
        return reading

    def _give_up(self, reading: Reading, why: str) -> None:
        self._finder.give_up(reading.reader, why, moved=self._hands.proven is not None)
        self._learner.forget()


def _is_fresh(reading: Reading) -> bool:
    """Whether this looks like the start of a game; otherwise it may be another game, or one under way."""
    tiles = [cell for cell in reading.board.cells if cell]
    return reading.reader not in NUMBERED or (1 < len(tiles) <= 4 and reading.board.max_tile <= 4)
