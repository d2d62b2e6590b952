"""How a game is drawn as an animation; apart from the drawing, which loads Pillow."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from game2048.errors import RecordError

DEFAULT_FRAMES = 200
MAX_FRAMES = 100_000

DEFAULT_FRAME_MS = 100
MIN_FRAME_MS = 20
"""Browsers slow down whatever is shorter."""
MAX_FRAME_MS = 60_000
HOLD_MS = 2500
"""How long the last frame stands."""

DEFAULT_PIXELS = 400
MIN_PIXELS = 120
MAX_PIXELS = 2000

MIN_BYTES = 1000
MAX_BYTES = 1 << 32

BEST_FRAMES = 8
"""Where only new largest tiles are shown, each stands as long as so many frames."""

_SHOW = re.compile(r"all|best|(last|every):([1-9]\d{0,7})", re.ASCII)
_BYTES = re.compile(r"(\d{1,10})([kKmM]?)", re.ASCII)


class Show(NamedTuple):
    """Which moments of a game are shown.

    Attributes:
        kind: ``all`` states; ``best``, the moments of each new largest tile; the ``last`` moves; or one state
            ``every`` so many moves.
        moves: how many, of ``last`` and ``every``.
    """

    kind: Literal["all", "best", "last", "every"] = "all"
    moves: int = 0

    @classmethod
    def parse(cls, text: str) -> Show:
        """Read ``all``, ``best``, ``last:N`` or ``every:N``.

        Raises:
            RecordError: the text is something else.
        """
        match = _SHOW.fullmatch(text)
        if match is None:
            raise RecordError(f"{text[:40]!r} cannot be shown; expected all, best, last:N or every:N")
        if match[1] is None:
            return cls("best" if text == "best" else "all")
        return cls("last" if match[1] == "last" else "every", int(match[2]))


SHOW_ALL = Show()


def parse_bytes(text: str) -> int:
    """Read a file size: bytes, or ``500k`` and ``2M`` (thousands and millions of bytes).

    Raises:
        RecordError: the text is not a size, or out of bounds.
    """
    match = _BYTES.fullmatch(text)
    size = 0 if match is None else int(match[1]) * {"": 1, "k": 1000, "m": 1_000_000}[match[2].lower()]
    if not MIN_BYTES <= size <= MAX_BYTES:
        raise RecordError(
            f"{text[:40]!r} is not a file size; expected e.g. 500k or 2M, at least {MIN_BYTES} bytes"
        )
    return size


@dataclass(frozen=True, slots=True)
class AnimationOptions:
    """How a game is drawn.

    Attributes:
        frames: the most states that are shown, spread evenly over those that ``show`` names.
        frame_ms: how long each stands, in milliseconds; GIF counts in tens.
        pixels: the width of the picture; the longest side of the board is a little less.
        moving: whether tiles slide, merge and appear in frames between the states.
        show: which moments are shown.
        max_bytes: the largest file; frames are left out until it fits. ``None`` for any size.
        hold_ms: how long the last frame stands.

    Raises:
        RecordError: a value is out of its bounds.
    """

    frames: int = DEFAULT_FRAMES
    frame_ms: int = DEFAULT_FRAME_MS
    pixels: int = DEFAULT_PIXELS
    moving: bool = False
    show: Show = SHOW_ALL
    max_bytes: int | None = None
    hold_ms: int = HOLD_MS

    def __post_init__(self) -> None:
        _check("frames", self.frames, 1, MAX_FRAMES)
        _check("milliseconds per frame", self.frame_ms, MIN_FRAME_MS, MAX_FRAME_MS)
        _check("pixels", self.pixels, MIN_PIXELS, MAX_PIXELS)
        _check("milliseconds of the last frame", self.hold_ms, MIN_FRAME_MS, MAX_FRAME_MS)
        if self.max_bytes is not None:
            _check("bytes", self.max_bytes, MIN_BYTES, MAX_BYTES)


def _check(what: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise RecordError(f"a GIF of {value} {what} cannot be made; expected {low} to {high}")
