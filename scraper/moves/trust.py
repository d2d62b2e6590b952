"""When the board after a key press may be believed (docs/pages.md)."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from game2048.board import Board

logger = logging.getLogger(__name__)


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
        """Believe only boards that have stayed, from now on."""
        if not self.revoked:
            logger.info("the page's boards cannot be believed at once: reading it with more patience")
        self.revoked = True
