"""The loop of one game: read the page, ask the solver, press the key, confirm, record."""

from __future__ import annotations

import asyncio
import collections
import logging
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from bot.variant_search import Solver as Solver
from bot.variant_search import SpawnedTiles, ranked_directions
from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import PageError
from recordings.journal import GameJournal
from recordings.record import GameRecord, Outcome
from scraper.page import GamePage, Reading, Slid, Status, Unchanged

log = logging.getLogger(__name__)

PRESSES = 16
"""How often a move is tried before the page is said not to react."""

UNEXPLAINED = 20
"""How many boards in a row may defy the rules before the page is given up."""


STUBBORN_PRESSES = (PRESSES, 2, 1, 1)
"""The same for a direction that did nothing so many times where another one moved the board; then none."""

FRUITLESS = 2
"""So many directions are tried on a page that has never moved."""

IGNORES_MOVES = "a legal move does nothing now and then"
"""What is recorded of a page on which that happened."""


class KeyIgnoredError(PageError):
    """A key that should have moved the board did nothing, however often it was pressed."""


@dataclass(frozen=True, slots=True)
class Goal:
    """When a game is stopped before it is over.

    Attributes:
        until_tile: as soon as this tile is on the board.
        max_moves: after so many moves.
        moves_per_second: no faster than this; ``None`` for as fast as it goes.
    """

    until_tile: int | None = None
    max_moves: int | None = None
    moves_per_second: float | None = None

    def reached(self, board: Board, moves: int) -> bool:
        """Whether the game is to be stopped now."""
        if self.until_tile is not None and board.max_tile >= self.until_tile:
            return True
        return self.max_moves is not None and moves >= self.max_moves


@dataclass(frozen=True, slots=True)
class Progress:
    """How a game stands after a move.

    Attributes:
        moves: made in this game.
        score: the page's, else counted.
        board: as it stands.
    """

    moves: int
    score: int
    board: Board


class GamePlayer:
    """Plays one game on a page, from the board as it stands, and records it.

    Args:
        page: where the game is played.
        solver: what chooses.
        journal: where each move is written before its key is pressed.
        goal: when to stop.

    Attributes:
        record: what was recorded, once the game has ended; ``None`` if not a single move was made.
    """

    def __init__(
        self,
        page: GamePage,
        solver: Solver,
        journal: GameJournal,
        goal: Goal,
    ) -> None:
        self._page = page
        self._solver = solver
        self._journal = journal
        self._goal = goal
        self.record: GameRecord | None = None
        self._moves = 0
        self._progress: Progress | None = None
        self._defiant = 0
        self._due = 0.0
        self._asked_to_go_on = False
        self._rules: list[str] = []
        self._spawned = SpawnedTiles()
        self._stubborn: collections.Counter[Direction] = collections.Counter()

    async def play(self, reading: Reading) -> AsyncGenerator[Progress, None]:
        """Play until the game is over, the goal is reached, or something breaks.

        However it ends (a lost page, a lost solver, Ctrl-C, a consumer that stops early), the moves made are
        recorded first; what broke it is raised after. A consumer that may stop early closes the generator
        (`contextlib.aclosing`).

        Args:
            reading: the board as it stands.

        Yields:
            How the game stands, after each move.

        Raises:
            PageError: the page went away, does not react, or does not play 2048.
            SolverError: the solver cannot be reached any more.
            RecordError: the disk does not take the record.
        """
        self._reading = reading
        self._note_rules(self._page.rules)
        outcome: Outcome | None = None
        try:
            while (outcome := await self._turn()) is None:
                if self._progress is not None:
                    progress, self._progress = self._progress, None
                    yield progress
        finally:
            self.record = self._finish(outcome or "interrupted")

    async def _turn(self) -> Outcome | None:
        """Make one move, where one is to be made; how the game ended, once it has."""
        reading = self._reading
        if not reading.board.legal_directions():
            return "game_over"
        if self._goal.reached(reading.board, self._moves):
            return "stopped"
        if reading.status is Status.OVER:
            log.warning("the page says that the game is over, on a board that has moves left")
            return "stopped"
        if reading.status is Status.WON:
            await self._go_on()
        board = self._spawned.as_if_of_2(self._reading.board)
        directions = await ranked_directions(self._solver, self._page, board)
        if not directions:
            return "game_over"
        await self._wait_for_turn()
        try:
            await self._move_somehow(directions)
        except KeyIgnoredError:
            if self._reading.status is not Status.WON:
                raise
            log.warning("the page ends the game at the win")
            return "stopped"
        return None

    async def _move_somehow(self, directions: list[Direction]) -> None:
        """Make the first of these moves that the page takes.

        Raises:
            KeyIgnoredError: it takes none of them.
        """
        before = self._reading
        ignored: list[Direction] = []
        doubtful = [direction for direction in directions if self._stubborn[direction]]
        # Those that did nothing before are tried shortly in their turn, and with all patience at the end.
        attempts = [(direction, self._patience(direction)) for direction in directions]
        attempts += [(direction, PRESSES) for direction in doubtful]
        for direction, presses in attempts:
            if len(ignored) >= FRUITLESS and not self._moves:
                break
            if not presses:
                continue
            try:
                await self._move(direction, presses)
            except KeyIgnoredError as error:
                ignored.append(direction)
                if self._reading.status is Status.WON:
                    raise  # the message of the win stands before the game
                if self._reading.board != before.board or self._reading.status is not before.status:
                    return  # something else happened meanwhile: look at it anew
                log.info("%s; trying another direction", error)
                continue
            if ignored and self._reading.board != before.board:
                self._stubborn.update(ignored)
                self._note_rules((IGNORES_MOVES,))
            if self._reading.board != before.board:
                del self._stubborn[direction]
            return
        raise KeyIgnoredError(
            f"the page does not react: {', '.join(dict.fromkeys(map(str, ignored)))} did nothing on "
            f"{before.board.text()}, however often pressed; expected keys, a mouse, a finger or buttons to "
            "play the game (is there a dialog in front of it?)"
        )

    async def _go_on(self) -> None:
        """After a win, have the page go on. Pages without a way to say so mostly take keys all the same."""
        if self._asked_to_go_on:
            return
        self._asked_to_go_on = True
        resumed = await self._page.keep_going()
        if resumed is not None:
            self._reading = resumed

    def _patience(self, direction: Direction) -> int:
        """How often to press for a direction in its turn."""
        times = self._stubborn[direction]
        return STUBBORN_PRESSES[times] if times < len(STUBBORN_PRESSES) else 0

    async def _move(self, direction: Direction, presses: int) -> None:
        """Press a key until the page has moved."""
        before = self._reading
        score = self._journal.append(before.board, direction, before.score)
        for press in range(presses):
            outcome = await self._page.move(before, direction)
            if not isinstance(outcome, Unchanged):
                break
            if press and outcome.reading.status is not before.status:
                break  # a message came up instead
            self._reading = outcome.reading
            if outcome.reading.board != before.board:
                return  # the page has moved on by itself, or another board of it is looked at
            if outcome.exhausted:
                raise KeyIgnoredError(f"{direction} did nothing on {before.board} in any way that was tried")
            log.info("%s did nothing on %s: pressing it again", direction, before.board)
        else:
            raise KeyIgnoredError(
                f"{direction} was pressed {presses} times on {before.board} and nothing moved"
            )
        self._reading = outcome.reading
        if isinstance(outcome, Unchanged):
            return
        self._moves += 1
        if isinstance(outcome, Slid) or outcome.rules:
            self._note_spawn(before.board, direction)
        if isinstance(outcome, Slid):
            self._defiant = 0
            counted = score + before.board.slide(direction).reward
        elif outcome.rules:
            self._defiant = 0
            counted = score + before.board.slide(direction).reward
            self._note_rules(outcome.rules)
        else:
            counted = score
            self._take_note(outcome.why)
        shown = self._reading.score
        self._progress = Progress(self._moves, counted if shown is None else shown, self._reading.board)

    def _note_spawn(self, before: Board, direction: Direction) -> None:
        """Learn from a move what spawns on this page."""
        afterstate = self._page.afterstate(before, direction)
        if len(afterstate.cells) == len(self._reading.board.cells):
            self._spawned.note(afterstate, self._reading.board)

    def _note_rules(self, rules: tuple[str, ...]) -> None:
        """Say once in what the page's rules differ; they are recorded with the game."""
        for rule in rules:
            if rule not in self._rules:
                self._rules.append(rule)
                log.warning("this page plays by a rule of its own: %s", rule)

    def _take_note(self, why: str) -> None:
        """Bear with a board that defies the rules, for a while."""
        self._defiant += 1
        if self._defiant >= UNEXPLAINED:
            raise PageError(
                f"the page does not play 2048: {UNEXPLAINED} boards in a row defy its rules; {why}"
            )
        log.warning("%s; playing on", why)

    async def _wait_for_turn(self) -> None:
        """Keep to the rate asked for."""
        rate = self._goal.moves_per_second
        if rate is None:
            return
        now = time.monotonic()
        if self._due > now:
            await asyncio.sleep(self._due - now)
        self._due = max(now, self._due) + 1 / rate

    def _finish(self, outcome: Outcome) -> GameRecord | None:
        if not self._moves:
            self._journal.discard()
            return None
        return self._journal.finish(self._reading.board, self._reading.score, outcome, self._rules)
