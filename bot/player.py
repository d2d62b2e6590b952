"""Play one game: read the page, ask the solver, press the key, check the effect, record the move."""

from __future__ import annotations

import collections
import logging
from collections.abc import AsyncGenerator

from bot.attempts import Ignored, Made, Overtaken, Stall
from bot.foresight import Foresight
from bot.progress import Goal, Progress
from bot.rate_limit import RateLimit
from bot.variant_search import Solver as Solver
from bot.variant_search import SpawnedTiles
from game2048.direction import Direction
from game2048.errors import PageError
from game2048.wire.messages import DecisionMessage
from recordings.journal import GameJournal
from recordings.record import GameRecord, Outcome
from scraper.moves.rule_variants import IGNORED_MOVES, ending_at, resized_after, unexplained_from
from scraper.page import (
    Cause,
    Deviation,
    GamePage,
    MisreadError,
    NoBoardError,
    Reading,
    Slid,
    Status,
    Unchanged,
    Unexplained,
    UnreadableError,
)

logger = logging.getLogger(__name__)

PRESSES = 16
"""How often the player tries a move before it says that the page does not react."""
UNEXPLAINED = 20
"""The player gives up after this many boards in a row that break the rules."""
STUBBORN_PRESSES = (PRESSES, 2, 1, 1)
"""The same for a direction that failed 0, 1, 2 or 3 times while another direction moved the board."""
FRUITLESS = 2
"""How many directions the player tries on a page that has never moved."""
FEW_MOVES = 8
"""If the player refuses a page after this many moves or fewer, it leaves no record."""
LEAST_LAST_TILE = 32
"""The smallest tile at which the player believes that a page ends the game."""


class KeyIgnoredError(PageError):
    """The page did not react to a legal move, although the player tried it many times."""


class OtherGameError(PageError):
    """The page plays another game: too many boards in a row break the rules of 2048."""


class GamePlayer:
    """Play one game on a page, from the current board, and record it.

    Args:
        page: the page with the game.
        solver: chooses the moves.
        journal: the player writes each move here before it presses the key.
        goal: when to stop.

    Attributes:
        record: the record, after the game has ended; ``None`` if the game had no move.
    """

    def __init__(self, page: GamePage, solver: Solver, journal: GameJournal, goal: Goal) -> None:
        self._page = page
        self._journal = journal
        self._goal = goal
        self.record: GameRecord | None = None
        self._moves = 0
        self._defiant = 0
        self._has_defied = self._is_refused = False
        self._last: Made | None = None
        self._decision: DecisionMessage | None = None
        self._stall = Stall()
        self._asked_to_continue = False
        self._rate = RateLimit(goal.moves_per_second)
        self._deviations: list[Deviation] = []
        self._spawned = SpawnedTiles()
        self._foresight = Foresight(solver, page, self._spawned)
        self._stubborn: collections.Counter[Direction] = collections.Counter()

    async def play(self, reading: Reading) -> AsyncGenerator[Progress, None]:
        """Play until the game is over, the goal is reached, or something breaks.

        If the page or the solver is lost, or Ctrl-C ends the game, the player records the moves first and
        then raises the error. A consumer that may stop early must close the generator
        (`contextlib.aclosing`). The player records nothing if the page turns out to be another game, or if
        it stops reacting or shows no board after `FEW_MOVES` moves or fewer: the reader may have misread
        those boards. If another reader or another board of the page takes over, the record begins again
        there. If the board changes its size, the record ends before that.

        Args:
            reading: the current board.

        Yields:
            The state of the game after each move.

        Raises:
            PageError: the page went away, does not react, or does not play 2048.
            SolverError: the solver does not answer any more.
            RecordError: the disk does not take the record.
        """
        self._reading = reading
        self._note_rules(self._page.rules)
        self._stall.end()
        outcome: Outcome | None = None
        try:
            while (outcome := self._why_over()) is None:
                attempt = await self._turn()
                if attempt is None:
                    outcome = "game_over"
                    break
                if isinstance(attempt, Made) and self._is_misread(attempt):
                    self._begin_anew(attempt)
                    continue
                if attempt.reading.board.size != self._reading.board.size:
                    self._note_rules((resized_after(self._moves),))
                    outcome = "stopped"
                    break
                self._reading = attempt.reading
                if isinstance(attempt, Made):
                    yield self._progress(attempt)
                    continue
                self._stall.turns += 1
                self._stall.won |= attempt.reading.status is Status.WON
                if isinstance(attempt, Ignored):
                    outcome = self._ended_by_page(attempt)
                    break
        except (OtherGameError, MisreadError):
            self._is_refused = True
            raise
        except (KeyIgnoredError, NoBoardError, UnreadableError):
            self._is_refused = self._moves <= FEW_MOVES
            raise
        finally:
            self.record = self._finish(outcome or "interrupted")
            await self._foresight.end()

    def _is_misread(self, made: Made) -> bool:
        """Return whether the boards before this move were probably read wrongly."""
        if isinstance(made.outcome, Unexplained) and made.outcome.cause is Cause.OTHER_BOARD:
            return True
        is_resized = made.reading.board.size != made.ply.before.size
        return is_resized and (self._has_defied or self._moves <= FEW_MOVES)

    def _begin_anew(self, made: Made) -> None:
        """Drop the moves so far, and begin the record again with the board that the page shows now."""
        logger.warning(
            "the boards so far were read wrongly; the record begins again with %s", made.reading.board
        )
        self._journal = self._journal.anew()
        self._moves = self._defiant = 0
        self._has_defied = False
        self._last = self._decision = None
        self._deviations = list(self._page.rules)
        self._spawned.forget()
        self._stubborn.clear()
        self._stall.end()
        self._reading = made.reading

    def _why_over(self) -> Outcome | None:
        """Return the outcome of the game; ``None`` while it continues."""
        reading = self._reading
        if not reading.legal:
            return "game_over"
        if self._goal.reached(reading.board, self._moves):
            return "stopped"
        if reading.status is Status.OVER:
            logger.warning("the page says that the game is over, on a board that has moves left")
            return "stopped"
        if self._stall.is_hopeless:
            return self._ended_by_page(Ignored(reading, reading.legal))
        return None

    async def _turn(self) -> Made | Ignored | Overtaken | None:
        """Make one move; return ``None`` where no move is legal."""
        if self._reading.status is Status.WON:
            await self._continue_after_win()
        reading = self._reading
        board = self._spawned.as_if_of_2(reading.board)
        slides = reading.slides if board is reading.board else board.slides()
        ranking = await self._foresight.ranking(board, slides)
        if not ranking.directions:
            return None
        self._decision = ranking.decision
        await self._rate.turn()
        return await self._first_taken(reading, ranking.directions)

    async def _first_taken(self, before: Reading, directions: list[Direction]) -> Made | Ignored | Overtaken:
        """Try these moves in order until the page takes one."""
        ignored: list[Direction] = []
        now = before
        for direction, presses in self._attempts(directions):
            if (len(ignored) >= FRUITLESS and not self._moves) or self._stall.is_late:
                break
            attempt = await self._attempt(before, direction, presses)
            now = attempt.reading
            if not isinstance(attempt, Ignored):
                if now.board != before.board:
                    self._note_stubborn(ignored, direction)
                return attempt
            ignored.append(direction)
            if now.status is Status.WON:
                break  # the win message covers the game
            if now.status is not before.status:
                return Overtaken(now)
            logger.info("%s did nothing on %s: trying another direction", direction, before.board)
        return Ignored(now, tuple(dict.fromkeys(ignored)))

    def _attempts(self, directions: list[Direction]) -> list[tuple[Direction, int]]:
        """Return the directions to try, each with the number of presses.

        A direction that failed before gets few presses in its turn, and many at the end.
        """
        longest = len(STUBBORN_PRESSES)
        times = {direction: self._stubborn[direction] for direction in directions}
        attempts = [
            (direction, STUBBORN_PRESSES[times[direction]])
            for direction in directions
            if times[direction] < longest
        ]
        return attempts + [(direction, PRESSES) for direction in directions if times[direction]]

    def _note_stubborn(self, ignored: list[Direction], taken: Direction) -> None:
        """Remember the directions that did nothing while another one moved the board."""
        if ignored:
            self._stubborn.update(ignored)
            self._note_rules((IGNORED_MOVES,))
        del self._stubborn[taken]

    async def _attempt(
        self, before: Reading, direction: Direction, presses: int
    ) -> Made | Ignored | Overtaken:
        """Press one direction until the board moves, or the presses are used up."""
        score = self._journal.append(before.board, direction, before.score)
        now = before
        for press in range(presses):
            outcome = await self._page.move(before, direction)
            if not isinstance(outcome, Unchanged):
                return Made(before.ply(direction), outcome, score)
            now = outcome.reading
            if now.board != before.board or (press and now.status is not before.status):
                return Overtaken(now)
            if outcome.exhausted or self._stall.is_late:
                break
            logger.info("%s did nothing on %s: pressing it again", direction, before.board)
        return Ignored(now, (direction,))

    def _ended_by_page(self, ignored: Ignored) -> Outcome:
        """Return the outcome "stopped" if the page has ended the game.

        Raises:
            KeyIgnoredError: nothing shows that the page ended the game.
        """
        board = ignored.reading.board
        is_new = self._last is not None and self._last.ply.before.max_tile < board.max_tile
        if self._moves and (self._stall.won or (is_new and board.max_tile >= LEAST_LAST_TILE)):
            self._note_rules((ending_at(board.max_tile),))
            return "stopped"
        raise KeyIgnoredError(
            f"the page does not react: {', '.join(map(str, ignored.directions))} did nothing on "
            f"{board.text()}, although tried many times; expected a page that takes keys, a mouse, "
            "touch or buttons; try --headed to see whether something covers the game",
            url=self._page.url,
            reader=ignored.reading.reader,
        )

    async def _continue_after_win(self) -> None:
        """Ask the page to continue after a win. Most pages without a button for that still take keys."""
        self._stall.won = True
        if self._asked_to_continue and not self._stall.turns:
            return
        self._asked_to_continue = True
        continued = await self._page.keep_going()
        if continued is not None:
            self._reading = continued

    def _progress(self, made: Made) -> Progress:
        """Count a move, and return the state of the game."""
        before, after = made.ply.before, made.reading.board
        self._last = made
        self._moves += 1
        if after != before:
            self._stall.end()
        counted = made.score
        if isinstance(made.outcome, Slid) or made.outcome.rules:
            self._defiant = 0
            counted += made.ply.slide.reward
            afterstate = self._page.afterstate(made.ply)
            if afterstate.size == after.size:
                self._spawned.note(afterstate, after)
        if isinstance(made.outcome, Unexplained):
            self._note_rules(made.outcome.rules)
            if not made.outcome.rules:
                self._bear(made.outcome.why)
        shown = made.reading.score
        score = counted if shown is None else shown
        decision = self._decision
        if decision is not None and made.ply.direction.value != decision.direction:
            decision = None  # the page did not take the solver's move, but another one
        return Progress(self._moves, score, after, decision)

    def _note_rules(self, deviations: tuple[Deviation, ...]) -> None:
        """Log each deviation from the rules once; the record lists them all."""
        for one in deviations:
            if one not in self._deviations:
                self._deviations.append(one)
                logger.warning("this page has its own rule: %s", one)

    def _bear(self, why: str) -> None:
        """Accept a board that breaks the rules, but not `UNEXPLAINED` in a row; note the first one."""
        self._note_rules((unexplained_from(self._moves),) if not self._has_defied else ())
        self._has_defied = True
        self._defiant += 1
        if self._defiant >= UNEXPLAINED:
            raise OtherGameError(
                f"the page does not play 2048: {UNEXPLAINED} boards in a row break its rules; {why}",
                url=self._page.url,
                reader=self._reading.reader,
            )
        logger.warning("%s; playing on", why)

    def _finish(self, outcome: Outcome) -> GameRecord | None:
        if self._is_refused or not self._moves:
            self._journal.discard()
            return None
        rules = [str(one) for one in self._deviations]
        return self._journal.finish(self._reading.board, self._reading.score, outcome, rules)
