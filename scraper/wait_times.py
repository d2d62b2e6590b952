"""How long to wait for what on a page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WaitTimes:
    """How long to wait for what, in milliseconds.

    Attributes:
        load: for the page to load.
        board: for a board to appear on it.
        idle: without any change after a key, before the page is said not to have reacted.
        quiet: how long a board must stay as it is to be believed.
        quiet_other: the same for a board that the rules do not explain.
        cap: the longest time that a move may take to come to rest.
        answer: beyond all that, for the page's script to answer at all.
    """

    load: int = 30_000
    board: int = 3_500
    idle: int = 500
    quiet: int = 60
    quiet_other: int = 500
    cap: int = 2_500
    answer: int = 15_000
