"""The classic colours of 2048, and one palette for all pictures of a game.

The palette is worked out beforehand instead of being guessed from pictures. Each pair of colours that can
meet (a digit on its tile, the corner of a tile on the board, …) gets a ramp of blends, and shapes are drawn
as coverage masks that map onto those ramps. So the colour of every tile is exact, and the pictures of one
game compress well against each other.
"""

from __future__ import annotations

from game2048.look.classic_look import (
    BOARD_HEX,
    DARK_TEXT_EXPONENTS,
    DARK_TEXT_HEX,
    LIGHT_TEXT_HEX,
    TILE_HEXES,
)

Colour = tuple[int, int, int]


def _rgb(code: str) -> Colour:
    return (int(code[0:2], 16), int(code[2:4], 16), int(code[4:6], 16))


PAGE_COLOUR = _rgb("faf8ef")
BOARD_COLOUR = _rgb(BOARD_HEX)
DARK_TEXT = _rgb(DARK_TEXT_HEX)
LIGHT_TEXT = _rgb(LIGHT_TEXT_HEX)
LABEL = _rgb("eee4da")
WHITE = _rgb("ffffff")
TILE_COLOURS = tuple(_rgb(code) for code in TILE_HEXES)

_TEXT_STEPS = 10
_CORNER_STEPS = 6

TRANSPARENT = 255
"""The palette index that no picture uses."""


class Palette:
    """The colours of a game's pictures, at most 255, and the ramps between them."""

    def __init__(self) -> None:
        self._indices: dict[Colour, int] = {}

    def index(self, colour: Colour) -> int:
        """Return the index of a colour, which is added when new."""
        return self._indices.setdefault(colour, len(self._indices))

    def ramp(self, ground: Colour, ink: Colour, steps: int) -> list[int]:
        """Return for each coverage 0 to 255 of ``ink`` on ``ground`` the index of its blend."""
        blends = []
        for step in range(steps + 1):
            red, green, blue = (round(g + (i - g) * step / steps) for g, i in zip(ground, ink, strict=True))
            blends.append(self.index((red, green, blue)))
        return [blends[round(coverage * steps / 255)] for coverage in range(256)]

    def __len__(self) -> int:
        return len(self._indices)

    def rgb(self) -> list[int]:
        """Return 256 colours as 768 numbers; unused ones are black."""
        used = [part for colour in self._indices for part in colour]
        return used + [0] * (768 - len(used))


class Ramps:
    """All ramps of the pictures, on one palette: lists of palette indices by coverage 0 to 255."""

    def __init__(self) -> None:
        palette = Palette()
        self.palette = palette
        self.page = palette.index(PAGE_COLOUR)
        self.on_page = palette.ramp(PAGE_COLOUR, BOARD_COLOUR, _CORNER_STEPS)
        self.title = palette.ramp(PAGE_COLOUR, DARK_TEXT, _TEXT_STEPS)
        self.label = palette.ramp(BOARD_COLOUR, LABEL, _TEXT_STEPS)
        self.value = palette.ramp(BOARD_COLOUR, WHITE, _TEXT_STEPS)
        self.corners = [palette.ramp(BOARD_COLOUR, tile, _CORNER_STEPS) for tile in TILE_COLOURS]
        self.digits = [
            palette.ramp(tile, DARK_TEXT if look <= DARK_TEXT_EXPONENTS else LIGHT_TEXT, _TEXT_STEPS)
            for look, tile in enumerate(TILE_COLOURS)
        ]
