"""Learn how soon after a move a page takes the next key."""

from __future__ import annotations


class KeyPace:
    """The shortest gap between a move and the next key. Pages may drop keys during their animations.

    The gap lies between the longest time after which a key was dropped and the shortest after which one was
    taken. Trials narrow this range. They stay near its upper end, because a dropped key costs more than some
    milliseconds.
    """

    TRIAL = 0.6
    NEAR = 0.12
    NEAR_S = 0.008
    LONGEST_S = 0.6
    """If a key is dropped later than this, it has another reason."""
    LASTS = 60
    """After this many moves an earlier key is tried; the next time after twice as many moves."""
    FORGOTTEN = 0.7

    def __init__(self) -> None:
        self._dropped = 0.0
        self._taken = float("inf")
        self._moved: float | None = None
        self._pressed = 0.0
        self._moves = 0
        self._lasts = self.LASTS

    @property
    def gap(self) -> float:
        """The time between a move and the next key, in seconds."""
        if not self._dropped:
            return 0.0
        if self._taken == float("inf"):
            return self._dropped * (1 + self.NEAR) + self.NEAR_S
        between = self._taken - self._dropped
        if between <= max(self.NEAR * self._taken, self.NEAR_S):
            return self._taken
        return self._dropped + self.TRIAL * between

    def left(self, now: float) -> float:
        """Return how many seconds are left to wait before the next key."""
        return 0.0 if self._moved is None else max(0.0, self._moved + self.gap - now)

    def press(self, now: float) -> None:
        """Note the time of a key press."""
        self._pressed = now

    def note(self, *, taken: bool, first: bool) -> None:
        """Learn whether the page took the key; a dropped key only counts at the first press of a move."""
        since = float("inf") if self._moved is None else self._pressed - self._moved
        if taken:
            self._moved = self._pressed
            if self._dropped:
                if since <= self.LONGEST_S:  # a key after a long pause says nothing
                    self._taken = min(self._taken, since)
                self._forget_in_time()
        elif first and since < self.LONGEST_S:
            self._dropped = max(self._dropped, since)
            self._moves = 0
        if self._taken <= self._dropped:
            self._taken = float("inf")

    def _forget_in_time(self) -> None:
        self._moves += 1
        if self._moves >= self._lasts:
            self._moves, self._lasts = 0, 2 * self._lasts
            self._dropped *= self.FORGOTTEN
