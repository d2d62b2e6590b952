"""What a move came to: by the rules of 2048, by rules of the page's own, or by none."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import RulesError
from scraper.detection.page_script import Answer, Patience
from scraper.moves.outcome import MoveOutcome, Slid, Trust, Unexplained, is_slide_with_spawn
from scraper.moves.rule_variants import IDLE_SPAWN, PageRules, spawned_values
from scraper.readers.script import board_of
from scraper.readers.tile_values import Learner
from scraper.reading import Reading

OFFENCES = 4
"""So many boards in a row that defy the rules, and the reader is not believed any more."""
FORGIVEN = 0.5
"""How much of an offence one move by the rules makes good."""


class Judge:
    """Judges the moves made on one page.

    Args:
        learner: what is known of the page's tiles.

    Attributes:
        rules: the rules that the page was seen to follow.
        has_slid: whether any move was one by the rules.
    """

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self.rules = PageRules()
        self.forget()

    def forget(self) -> None:
        """The page has loaded anew; its rules stay."""
        self.trust = Trust()
        self.scores_by_rules = True
        self._shows_score = True
        self._offences = 0.0
        self.has_slid = False

    def question(
        self, before: Reading, direction: Direction, patience: Patience, idle: int
    ) -> dict[str, Any]:
        """What to ask the page's script before a move; see ``awaitSlide`` in ``page_probe.js``."""
        expects_score = before.score is not None and self.scores_by_rules
        reward = before.board.slide(direction).reward
        return {
            "before": self._faces(before.board),
            "afters": [self._faces(after) for after in self.rules.afters(before.board, direction)],
            "spawn": {
                "values": [(1 << value) // self._learner.scale for value in sorted(self.rules.values)],
                "least": self.rules.least,
                "most": self.rules.most,
            },
            "score": str((before.score or 0) + reward) if expects_score else None,
            "looksBefore": self._learner.looks,
            "trusting": self.trust.earned,
            "quiet": patience.quiet,
            "quietOther": patience.quiet_other,
            "idle": idle,
        }

    def shown(self, reading: Reading) -> Reading:
        """The reading, without a number that was taken for the score and is not."""
        return reading if self._shows_score else dataclasses.replace(reading, score=None)

    def slid(
        self, answer: Answer, reading: Reading, before: Reading, direction: Direction, *, learned: bool
    ) -> MoveOutcome:
        """A board at rest that some slide and spawn explain.

        Args:
            answer: of the page's script.
            reading: what is in it.
            before: the last reading.
            direction: of the move.
            learned: whether the looks of the tiles follow from those before.
        """
        self.has_slid = True
        slide = before.board.slide(direction)
        standard = learned or is_slide_with_spawn(before.board, direction, reading.board)
        names = () if standard else self.rules.explain(before.board, direction, reading.board)
        if names:
            return self._deviating(names, reading, before, direction)
        early = board_like(before.board, answer.early, self._learner.scale)
        self.trust.note(early, reading.board, merged=slide.reward > 0)
        if reading.score is not None and reading.score != (before.score or 0) + slide.reward:
            self.scores_by_rules = False
            if reading.reader != "position-classes":
                self._shows_score = False
        return Slid(self.shown(reading))

    def other(self, answer: Answer, reading: Reading, before: Reading, direction: Direction) -> MoveOutcome:
        """A board at rest that was not expected."""
        at_key = self.at_key(answer, before)
        if at_key is None or at_key == before.board:
            names = self.rules.explain(before.board, direction, reading.board)
            if names and IDLE_SPAWN in names and not self.has_slid:
                names = None  # something that fills up beside the game
            if names == ():
                self.has_slid = True
                return Slid(reading)
            if names:
                return self._deviating(names, reading, before, direction)
            self.trust.revoke()
            return Unexplained(
                reading, f"{direction} on {before.board} led to {reading.board}, which no spawn explains"
            )
        # The board before may have been believed too early: have more patience from now on.
        self.trust.revoke()
        follows = is_slide_with_spawn(at_key, direction, reading.board)
        if not follows and is_slide_with_spawn(before.board, direction, reading.board):
            return Slid(self.shown(reading))  # what was seen at the key was a tile that still grew or swung
        if not at_key.slide(direction).moved:
            names = self.rules.explain_idle(at_key, reading.board)
            if names:
                return self._deviating(names, reading, before, direction)
        then = "" if follows else " not"
        return Unexplained(
            reading,
            f"when {direction} was pressed on {before.board} the page already showed {at_key}; "
            f"{reading.board} does{then} follow from that",
            at_key,
        )

    def anew(self, reading: Reading, before: Reading, direction: Direction) -> Slid | Unexplained:
        """A move at which the page loaded anew, as one does whose server keeps the board."""
        names = self.rules.explain(before.board, direction, reading.board)
        if names == ():
            self.has_slid = True
            return Slid(self.shown(reading))
        if names and IDLE_SPAWN not in names:
            return self._deviating(names, reading, before, direction)
        return Unexplained(reading, f"the page loaded anew after {direction} on {before.board}")

    def at_key(self, answer: Answer, before: Reading) -> Board | None:
        """The board as it stood when the key arrived, where that is known."""
        return board_like(before.board, answer.at_key, self._learner.scale)

    def offends(self, outcome: MoveOutcome) -> bool:
        """Whether with this outcome too many have defied the rules; they are counted anew then."""
        if isinstance(outcome, Unexplained) and not outcome.rules and "loaded anew" not in outcome.why:
            # Where the key itself did nothing, it was the click before it that changed something.
            self._offences += 2 if outcome.at_key == outcome.reading.board else 1
        elif isinstance(outcome, Slid):
            self._offences = max(0, self._offences - FORGIVEN)
        if self._offences < OFFENCES:
            return False
        self._offences = 0
        return True

    def _deviating(
        self, names: tuple[str, ...], reading: Reading, before: Reading, direction: Direction
    ) -> Unexplained:
        """A move by rules of the page's own."""
        self.rules.adopt(names, spawned_values(names))
        self.scores_by_rules = False
        why = f"{direction} on {before.board} led to {reading.board}: {'; '.join(names)}"
        return Unexplained(reading, why, rules=names)

    def _faces(self, board: Board) -> list[int]:
        return [(1 << exponent) // self._learner.scale if exponent else 0 for exponent in board.cells]


def board_like(board: Board, cells: list[int] | None, scale: int) -> Board | None:
    """The board of these face values if it has that board's size and is one at all."""
    if cells is None:
        return None
    with contextlib.suppress(RulesError):
        return board_of([cell * scale for cell in cells], board.rows, board.columns)
    return None
