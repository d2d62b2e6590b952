"""Tell when the cells of a canvas have come to rest."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scraper.readers.canvas_appearances import Crops

STILL_FOR_S = 0.1
"""How long the cells must look the same before the board is at rest."""
STILL_FRAMES = 3
"""The number of equal pictures in a row before the board is at rest."""


class Stillness:
    """Watches the pictures of the cells during one wait.

    Attributes:
        crops: the last picture of the cells; ``None`` before the first.
        still_for: for how many seconds the cells have looked the same.
        frames: in how many pictures in a row.
        changing: the number of pictures from the first change to the last.
    """

    def __init__(self) -> None:
        self.crops: Any = None
        self._since = 0.0
        self.still_for = 0.0
        self.frames = 0
        self._seen = 0
        self._first: int | None = None
        self.changing = 0

    @property
    def is_still(self) -> bool:
        """Whether the board is at rest."""
        return self.is_still_for(STILL_FOR_S, STILL_FRAMES)

    def is_still_for(self, seconds: float, frames: int) -> bool:
        """Return whether the cells have looked the same for this time and in this number of pictures."""
        return self.still_for >= seconds and self.frames >= frames

    def outlasts(self, seconds: float, frames: int) -> bool:
        """Return whether nothing has changed for this time and for this number of pictures."""
        return self.is_still_for(seconds, max(STILL_FRAMES, frames))

    def take(self, crops: Crops, still_for: float, frames: int, changing: int) -> None:
        """Take in what the page has watched by itself.

        Args:
            crops: the last picture of the cells.
            still_for: for how many seconds they have looked the same.
            frames: in how many frames in a row.
            changing: the number of frames from the first change to the last.
        """
        self.crops = crops
        self.still_for, self.frames = still_for, frames
        self.changing = max(self.changing, changing)

    def see(self, crops: Crops) -> None:
        """Take in the next picture of the cells."""
        from scraper.readers.canvas_appearances import STILL, difference

        now = time.monotonic()
        self._seen += 1
        if self.crops is None:
            self._since = now
        elif float(difference(self.crops, crops).max()) >= STILL:
            self._since, self.frames = now, 0
            self._first = self._first or self._seen
            self.changing = self._seen - self._first + 1
        self.frames += 1
        self.crops = crops
        self.still_for = now - self._since
