"""Check with some moves that the board found on a page is the one to play on."""

from __future__ import annotations

import asyncio

from game2048.direction import Direction
from game2048.errors import PageError
from scraper.detection.button_texts import SIZE, START
from scraper.moves.ground_moves import GroundMoves
from scraper.moves.mover import Mover
from scraper.moves.outcome import MoveOutcome, Slid, Unchanged, Unexplained
from scraper.moves.parts import PageParts
from scraper.moves.restart import Restart
from scraper.moves.rule_variants import DOUBLED, RANKS
from scraper.readers.tile_values import FIRST_RANK
from scraper.reading import Reading, Status

MOVES = 80
"""The most moves before a game; after them, what is still unknown is guessed."""
RIVALS_MOVE_S = 1.0
"""A board that moves within this time without a key is played by the page itself, for example as a demo."""
MOST_RIVALS = 4
FRUITLESS_DIRECTIONS = 2
"""How many moves must fail by all methods on a board of elements before a canvas is tried."""
LARGEST_FIRST_TILE = MOST_FIRST_TILES = 4
ITS_OWN = "it moves by itself"


class Confirmation:
    """The unrecorded moves before a game, which show that the board is the right one.

    Args:
        parts: the parts of the page.
        mover: reads the board and makes moves.
        restart: starts new games.
    """

    def __init__(self, parts: PageParts, mover: Mover, restart: Restart) -> None:
        self._parts = parts
        self._finder = parts.finder
        self._input = parts.input
        self._values = parts.values
        self._mover = mover
        self._restart = restart

    async def started(self, reading: Reading) -> Reading:
        """Click "start" if the board cannot be a game in progress, such as a logo with a single 2048 tile."""
        if not reading.traits.any_grid or not _is_decoration(reading):
            return reading
        if await self._parts.obstacles.click_one(START, SIZE, leave=True):
            self._finder.forget_document()
            reading = await self._mover.read()
        if _is_decoration(reading) and await self._finder.skip("no game looks like that"):
            reading = await self._mover.read()
        return reading

    async def of_rivals(self, reading: Reading) -> Reading:
        """Find a board that does not move by itself, if the page has several."""
        for _ in range(MOST_RIVALS):
            if not self._values.rivals and _is_fresh(reading):
                break
            await asyncio.sleep(RIVALS_MOVE_S)
            now = await self._mover.read()
            if now.board == reading.board:
                return now
            if not await self._finder.skip(ITS_OWN):
                if self._values.rivals or not reading.traits.any_grid:
                    return now
                self._finder.give_up(reading.reader, ITS_OWN)
            reading = await self._mover.read()
        return reading

    async def played(self, reading: Reading) -> Reading:
        """Play until the values of the looks are known, or until doubtful numbers have followed the rules.

        Raises:
            PageError: the page plays another game.
        """
        if await GroundMoves(self._parts).made():
            reading = await self._mover.read()
        moves = tries = 0
        while tries < MOVES and self._values.doubts(reading, moves):
            tries += 1
            legal = reading.legal
            if not legal and not moves and self._values.book is not None:
                self._parts.give_up(reading.reader, "no move is possible on what looks like its board")
                reading = await self._mover.read()
                continue
            if not legal or reading.status is Status.OVER:
                return await self._restart.new_game()
            direction = max(legal, key=lambda d: reading.slides[d].reward)
            outcome = await self.move(reading, direction)
            if isinstance(outcome, Unchanged) and outcome.exhausted:
                why = f"{direction} on {outcome.reading.board} did nothing in any way that was tried"
                self._input.give_up()
                if moves or not await self._finder.skip(why):
                    moved = self._input.proven is not None
                    self._parts.give_up(outcome.reading.reader, why, moved=moved)
                reading, moves = await self._mover.read(), 0
                continue
            reading = outcome.reading
            if isinstance(outcome, Unexplained) and not outcome.rules and self._values.ranks:
                raise self._other_game(reading)
            if isinstance(outcome, Unexplained) and self._values.are_guessed:
                # The tiles may have changed their looks, so learn the values again from here.
                self._values.forget(moved=True)
                reading, moves = await self._mover.read(), 0
                continue
            moves += isinstance(outcome, Slid)
        if self._values.scale > 1:
            self._parts.judge.rules.adopt([DOUBLED])
        if self._values.ranks:
            self._parts.judge.rules.adopt([RANKS])
        return reading

    async def move(self, before: Reading, direction: Direction) -> MoveOutcome:
        """Make a move; if no move has ever worked, turn to another board of the page."""
        outcome = await self._mover.move(before, direction)
        if not isinstance(outcome, Unchanged) or not outcome.exhausted or self._input.proven is not None:
            return outcome
        why = f"{direction} on {before.board} did nothing on this one"
        if await self._finder.skip(why):
            self._input.begin_anew()
            return Unchanged(await self._mover.read())
        if self._input.fruitless < FRUITLESS_DIRECTIONS or not await self._finder.turn_to_canvas(
            outcome.reading.reader, why
        ):
            return outcome
        self._input.begin_anew()
        self._values.forget()
        return Unchanged(await self.played(await self._mover.read()))

    def _other_game(self, reading: Reading) -> PageError:
        url = self._parts.tab.url
        return PageError(
            f"{url} is not a game of 2048 that can be played: its tiles show {FIRST_RANK}, "
            "which is not a power of two and is not made of two 2s",
            url=url,
            reader=reading.reader,
        )


def _is_decoration(reading: Reading) -> bool:
    """Return whether the board is a single large tile; in a game each merge brings a second tile."""
    tiles = [cell for cell in reading.board.cells if cell]
    return len(tiles) == 1 and reading.board.max_tile > LARGEST_FIRST_TILE


def _is_fresh(reading: Reading) -> bool:
    """Return whether the board looks like the start of a game, or comes from a reader that needs no check."""
    tiles = [cell for cell in reading.board.cells if cell]
    return not reading.traits.any_grid or (
        1 < len(tiles) <= 4 and reading.board.max_tile <= LARGEST_FIRST_TILE
    )
