"""What may be asked of a GIF, and what it is by default; apart from `gif`, which loads Pillow."""

from __future__ import annotations

DEFAULT_FRAMES = 200
MAX_FRAMES = 100_000

DEFAULT_FRAME_MS = 100
MIN_FRAME_MS = 20
"""Browsers slow down whatever is shorter."""
MAX_FRAME_MS = 60_000
HOLD_MS = 2500
"""How long the last frame stands."""

DEFAULT_SIZE = 400
MIN_SIZE = 120
MAX_SIZE = 2000
