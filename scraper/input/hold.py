"""Learn how long a key must be held on a page that looks at its keys only now and then."""

from __future__ import annotations


class KeyHold:
    """The shortest hold that a page sees, in frames and milliseconds.

    Pages look at their keys in some frames, or by a timer, so both grow and shrink together. A hold that the
    page ignored is doubled. After some moves a shorter one is tried, but not one that was ignored before.
    """

    FRAMES, MS = 2, 40
    """The first hold. A page must see the key in at least two frames."""
    MOST = 16.0
    """The longest hold, as a multiple of the first one."""
    TRIES_AFTER = 5
    """A shorter hold is tried after this many moves; after each one that was ignored, after twice as many."""
    TRIAL = 0.6
    NEAR = 0.2
    """A hold is short enough if it is at most this share longer than an ignored one."""
    FADES = 0.9

    def __init__(self) -> None:
        self._length = 1.0
        self._ignored, self._seen = 0.0, float("inf")
        """The longest hold that was ignored, and the shortest that was seen."""
        self._taken = 0
        self._tries_after = self.TRIES_AFTER

    @property
    def frames(self) -> int:
        """The number of frames of the page that must begin during the hold."""
        return max(self.FRAMES, round(self.FRAMES * self._length))

    @property
    def ms(self) -> float:
        """The least time of the hold, in milliseconds."""
        return self.MS * self._length

    @property
    def is_reliable(self) -> bool:
        """Whether holds of this length have worked, so that an ignored key has another reason."""
        return self._taken > 1

    def note(self, *, taken: bool) -> None:
        """Learn whether the page saw the key."""
        if taken:
            self._note_seen()
        elif self.is_reliable:
            self._taken = 0  # if the next one is ignored too, it was the hold after all
        else:
            self._note_ignored()

    def _note_seen(self) -> None:
        self._seen = min(self._seen, self._length)
        self._taken += 1
        if self._taken < self._tries_after:
            return
        self._taken = 0
        if self._seen - self._ignored > self.NEAR * self._seen:
            self._length = self._ignored + self.TRIAL * (self._seen - self._ignored)
        else:
            self._ignored *= self.FADES

    def _note_ignored(self) -> None:
        self._taken = 0
        self._ignored = max(self._ignored, self._length)
        if self._seen > self._length:
            self._tries_after *= 1 if self._seen == float("inf") else 2
        else:
            self._seen = float("inf")
        self._length = self._seen if self._seen < float("inf") else min(self.MOST, 2 * self._length)
