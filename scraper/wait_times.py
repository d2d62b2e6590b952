"""The times that the program waits for a page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WaitTimes:
    """How long to wait for what, in milliseconds.

    Attributes:
        load: for the page to load.
        board: for a board to appear on it.
        idle: if nothing changes for this long after a key, the page did not react.
        quiet: how long a board must stay unchanged before it is believed.
        quiet_other: the same for a board that the rules do not explain.
        cap: the longest time that the board may take to come to rest after a move.
        answer: extra time, after the waits above, for the page's script to answer.
    """

    load: int = 30_000
    board: int = 3_500
    idle: int = 500
    quiet: int = 60
    quiet_other: int = 500
    cap: int = 2_500
    answer: int = 15_000
