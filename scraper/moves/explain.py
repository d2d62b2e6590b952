"""Explain the board after a move by the rules of 2048 or by the page's own rules."""

from __future__ import annotations

import contextlib

from game2048.board import Board
from game2048.errors import RulesError
from scraper.eye import Sighting, SlideQuestion, SpawnRule
from scraper.moves.outcome import Cause, MoveOutcome, Slid, Unexplained, is_slide_with_spawn
from scraper.moves.rule_variants import IDLE_SPAWN, Deviation, DeviationKind, PageRules
from scraper.moves.trust import Trust
from scraper.readers.script import board_of_faces
from scraper.readers.tile_values import TileValues
from scraper.reading import Ply, Reading
from scraper.wait_times import WaitTimes

OFFENCES = 4
"""After this many boards in a row that break the rules, the reader is not believed any more."""
FORGIVEN = 0.5
"""How many offences one move by the rules cancels."""


class Judge:
    """Judge the boards after the moves on one page.

    Args:
        values: the values of the page's tiles.

    Attributes:
        rules: the observed rules of the page.
        has_slid: whether any move has followed the rules.
    """

    def __init__(self, values: TileValues) -> None:
        self._values = values
        self.rules = PageRules()
        self.forget()

    def forget(self) -> None:
        """Reset for a page that has loaded again; keep its rules."""
        self.trust = Trust()
        self.scores_by_rules = True
        self._shows_score = True
        self._offences = 0.0
        self.has_slid = False

    def question(
        self, before: Reading, ply: Ply, waits: WaitTimes, idle: int, *, foresee: bool
    ) -> SlideQuestion:
        """Return the question about a move for the board's eye.

        Args:
            before: the last reading.
            ply: the move from that reading.
            waits: how long to wait for what.
            idle: milliseconds; if nothing changes for this long, the page dropped the key.
            foresee: whether somebody wants to know the likely board early.
        """
        expects_score = before.score is not None and self.scores_by_rules
        scale = self._values.scale
        return SlideQuestion(
            before=self._faces(before.board),
            afters=[self._faces(after) for after in self.rules.afters(ply)],
            spawn=SpawnRule(
                [(1 << value) // scale for value in sorted(self.rules.values)],
                self.rules.least,
                self.rules.most,
            ),
            score=str((before.score or 0) + ply.slide.reward) if expects_score else None,
            looks_before=self._values.looks,
            trusting=self.trust.earned,
            quiet=waits.quiet,
            quiet_other=waits.quiet_other,
            idle=idle,
            labels=self._values.labels,
            ranks=self._values.ranks,
            foresee=foresee,
        )

    def foreseen(self, cells: list[int], ply: Ply) -> Board | None:
        """Return the board of these face values if it follows from the move by the rules of 2048."""
        board = board_like(ply.before, cells, self._values.scale)
        return board if board is not None and is_slide_with_spawn(ply, board) else None

    def shown(self, reading: Reading) -> Reading:
        """Return the reading without its score, if that number has turned out to be something else."""
        return reading if self._shows_score else reading.changed(score=None)

    def slid(
        self, sighting: Sighting, reading: Reading, before: Reading, ply: Ply, *, learned: bool
    ) -> Slid | Unexplained:
        """Judge a board at rest that a slide and a spawn explain.

        Args:
            sighting: the answer of the eye.
            reading: the reading in it.
            before: the reading before the move.
            ply: the move.
            learned: whether the looks of the tiles follow from the looks before the move.
        """
        self.has_slid = True
        standard = learned or is_slide_with_spawn(ply, reading.board)
        deviations = () if standard else self.rules.explain(ply, reading.board)
        if deviations:
            return self._deviating(deviations, reading, ply)
        early = board_like(before.board, sighting.early, self._values.scale)
        self.trust.note(early, reading.board, merged=ply.slide.reward > 0)
        if reading.score is not None and reading.score != (before.score or 0) + ply.slide.reward:
            self.scores_by_rules = False
            if not reading.traits.trusts_score:
                self._shows_score = False
        return Slid(self.shown(reading))

    def other(self, sighting: Sighting, reading: Reading, ply: Ply) -> MoveOutcome:
        """Judge a board at rest that was not expected."""
        at_key = self.at_key(sighting, ply)
        if at_key is None or at_key == ply.before:
            return self._unexpected(reading, ply)
        # Perhaps the board before was believed too early, so wait longer from now on.
        self.trust.revoke()
        from_key = Ply.of(at_key, ply.direction)
        follows = is_slide_with_spawn(from_key, reading.board)
        if not follows and is_slide_with_spawn(ply, reading.board):
            return Slid(self.shown(reading))  # at the key, a tile was still growing or swinging
        if not from_key.slide.moved:
            deviations = self.rules.explain_idle(at_key, reading.board)
            if deviations:
                return self._deviating(deviations, reading, ply)
        then = "" if follows else " not"
        return Unexplained(
            reading,
            f"when {ply.direction} was pressed on {ply.before} the page already showed {at_key}; "
            f"{reading.board} does{then} follow from that",
            Cause.MOVED_BEFORE,
            at_key,
        )

    def _unexpected(self, reading: Reading, ply: Ply) -> MoveOutcome:
        deviations = self.rules.explain(ply, reading.board)
        if deviations and IDLE_SPAWN in deviations and not self.has_slid:
            deviations = None  # something other than the game, which fills up
        if deviations == ():
            self.has_slid = True
            return Slid(reading)
        if deviations and not self._are_doubtful(deviations):
            return self._deviating(deviations, reading, ply)
        self.trust.revoke()
        return Unexplained(reading, f"{ply} led to {reading.board}, which no spawn explains")

    def anew(self, reading: Reading, ply: Ply) -> Slid | Unexplained:
        """Judge a move that made the page load again. Such a page keeps its board on the server."""
        deviations = self.rules.explain(ply, reading.board)
        if deviations == ():
            self.has_slid = True
            return Slid(self.shown(reading))
        if deviations and IDLE_SPAWN not in deviations:
            return self._deviating(deviations, reading, ply)
        return Unexplained(reading, f"the page loaded again after {ply}", Cause.LOADED_ANEW)

    def at_key(self, sighting: Sighting, ply: Ply) -> Board | None:
        """Return the board at the moment when the key arrived; ``None`` if it is unknown."""
        return board_like(ply.before, sighting.at_key, self._values.scale)

    def offends(self, outcome: MoveOutcome) -> bool:
        """Count an outcome; return whether too many have broken the rules, and then start to count again."""
        if isinstance(outcome, Unexplained) and outcome.cause in (Cause.UNKNOWN, Cause.MOVED_BEFORE):
            # If the key itself did nothing, the click before it changed the board.
            self._offences += 2 if outcome.at_key == outcome.reading.board else 1
        elif isinstance(outcome, Slid):
            self._offences = max(0, self._offences - FORGIVEN)
        if self._offences < OFFENCES:
            return False
        self._offences = 0
        return True

    def _are_doubtful(self, deviations: tuple[Deviation, ...]) -> bool:
        """Return whether looks were probably confused: with looks, only spawns of 2 and 4 are believed."""
        kinds = {one.kind for one in deviations}
        return self._values.book is not None and DeviationKind.SPAWNS in kinds

    def _deviating(self, deviations: tuple[Deviation, ...], reading: Reading, ply: Ply) -> Unexplained:
        """Return the outcome of a move by the page's own rules, and adopt these rules."""
        self.rules.adopt(deviations)
        self.scores_by_rules = False
        why = f"{ply} led to {reading.board}: {'; '.join(map(str, deviations))}"
        return Unexplained(reading, why, Cause.OWN_RULE, rules=deviations)

    def _faces(self, board: Board) -> list[int]:
        return [(1 << exponent) // self._values.scale if exponent else 0 for exponent in board.cells]


def board_like(board: Board, cells: list[int] | None, scale: int) -> Board | None:
    """Return a board of the same size with these face values; ``None`` if they do not make a board."""
    if cells is None:
        return None
    with contextlib.suppress(RulesError):
        return board_of_faces([cell * scale for cell in cells], board.rows, board.columns)
    return None
