"""The colours of the original game, as hexadecimal RGB, for every picture of a board."""

from __future__ import annotations

BOARD_HEX = "bbada0"
DARK_TEXT_HEX = "776e65"
LIGHT_TEXT_HEX = "f9f6f2"

# Index 0 is the empty cell. Tiles above 2048 all look like 4096.
_CODES = "cdc1b4 eee4da ede0c8 f2b179 f59563 f67c5f f65e3b edcf72 edcc61 edc850 edc53f edc22e 3c3a32"

TILE_HEXES = tuple(_CODES.split())
"""Colours of tiles by exponent; the last one is for all larger tiles."""

DARK_TEXT_EXPONENTS = 2
"""Tiles up to this exponent (2 and 4) have dark digits, larger ones light digits."""

GAP_SHARE = 15 / 106.25
"""The space between two tiles, in sides of a tile: 15 px and 106.25 px on the original page."""
