"""Decide when to believe the board after a key press (docs/pages.md)."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from game2048.board import Board

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Trust:
    """Whether to believe a page's board as soon as it follows the rules and its reading is sure.

    A board during an animation can follow the rules too, so at first every board must stay unchanged for a
    while. A page earns trust after `MOVES_TO_EARN` moves, at least `MERGES_TO_EARN` of them with a merge, if
    the first board that followed the rules was also the final one each time. It loses trust for good at the
    first such board that changes, and at the first move that the rules do not explain.
    """

    MOVES_TO_EARN = 8
    MERGES_TO_EARN = 3

    moves: int = field(default=0, init=False)
    merges: int = field(default=0, init=False)
    revoked: bool = field(default=False, init=False)

    @property
    def earned(self) -> bool:
        """Whether to believe the page's boards at once."""
        return not self.revoked and self.moves >= self.MOVES_TO_EARN and self.merges >= self.MERGES_TO_EARN

    def note(self, early: Board | None, settled: Board, *, merged: bool) -> None:
        """Count a move: the first board that would have been believed, if any, and the final board."""
        if early is not None and early != settled:
            self.revoke()
        elif early is not None:
            self.moves += 1
            self.merges += merged

    def revoke(self) -> None:
        """Believe only boards that have stayed unchanged, from now on."""
        if not self.revoked:
            logger.info("the page's boards cannot be believed at once: reading it with more patience")
        self.revoked = True
