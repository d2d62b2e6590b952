"""When the board after a key press may be believed (docs/pages.md)."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from game2048.board import Board
from game2048.direction import Direction
from scraper.reading import Reading

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Slid:
    """The key did what the rules say: the board slid, one tile spawned, and all is at rest."""

    reading: Reading


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The page did not react. Press again; look at ``reading.status`` first, a message may have come up.

    Attributes:
        reading: what the page shows now.
        exhausted: every way of making the move has been tried.
    """

    reading: Reading
    exhausted: bool = False


@dataclass(frozen=True, slots=True)
class Unexplained:
    """The board is at rest, but it is not the slide of the old one plus one spawned tile.

    Attributes:
        reading: what the page shows now; play can go on from there.
        why: one sentence for people.
        at_key: the board as it stood when the key arrived, where that was not the board the move was chosen
            for: the page had moved on late, or the reading before had been believed too early.
            `is_slide_with_spawn` tells which.
        rules: the deviations from the rules of 2048 that do explain the board, as
            `scraper.moves.rule_variants` names them; empty where nothing does.
    """

    reading: Reading
    why: str
    at_key: Board | None = None
    rules: tuple[str, ...] = ()


MoveOutcome = Slid | Unchanged | Unexplained


def is_slide_with_spawn(before: Board, direction: Direction, after: Board) -> bool:
    """Whether ``after`` is ``before`` slid in that direction plus one spawned 2 or 4."""
    slide = before.slide(direction)
    if not slide.moved or (after.rows, after.columns) != (before.rows, before.columns):
        return False
    pairs = zip(slide.afterstate.cells, after.cells, strict=True)
    differing = [(old, new) for old, new in pairs if old != new]
    return len(differing) == 1 and differing[0] in {(0, 1), (0, 2)}


@dataclass(slots=True)
class Trust:
    """Whether a page's board may be believed as soon as it obeys the rules and nothing in it is in doubt.

    A board in passing can obey the rules, so at first every board must stay at rest for a while. A page earns
    trust when, over `MOVES_TO_EARN` moves with `MERGES_TO_EARN` among them that merged, the first board that
    would have been believed was the one that stayed. It loses trust for good at the first that did not stay,
    and at the first move that the rules do not explain.
    """

    MOVES_TO_EARN = 8
    MERGES_TO_EARN = 3

    moves: int = field(default=0, init=False)
    merges: int = field(default=0, init=False)
    revoked: bool = field(default=False, init=False)

    @property
    def earned(self) -> bool:
        """Whether the page may be believed at once."""
        return not self.revoked and self.moves >= self.MOVES_TO_EARN and self.merges >= self.MERGES_TO_EARN

    def note(self, early: Board | None, settled: Board, *, merged: bool) -> None:
        """Take in a move: the first board that would have been believed, if any, and the one that stayed."""
        if early is not None and early != settled:
            self.revoke()
        elif early is not None:
            self.moves += 1
            self.merges += merged

    def revoke(self) -> None:
        """From now on believe nothing that has not stayed."""
        if not self.revoked:
            logger.info("the page's boards cannot be believed at once: reading it with more patience")
        self.revoked = True
