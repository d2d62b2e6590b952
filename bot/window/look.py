"""Colours, fonts and tile pictures of the window, drawn once for each size of the window."""

from __future__ import annotations

import pygame

from game2048.look.classic_look import (
    BOARD_HEX,
    DARK_TEXT_EXPONENTS,
    DARK_TEXT_HEX,
    GAP_SHARE,
    LIGHT_TEXT_HEX,
    TILE_HEXES,
)

BACKGROUND = pygame.Color("#faf8ef")
BOARD = pygame.Color(f"#{BOARD_HEX}")
DARK = pygame.Color(f"#{DARK_TEXT_HEX}")
LIGHT = pygame.Color(f"#{LIGHT_TEXT_HEX}")
HIGHLIGHT = pygame.Color("#2e6f40")
ALARM = pygame.Color("#a12b1d")
VEIL = pygame.Color(250, 248, 239, 190)

_TILE_COLOURS = [pygame.Color(f"#{code}") for code in TILE_HEXES]
_DIGIT_SHARES = {1: 0.55, 2: 0.55, 3: 0.45, 4: 0.36, 5: 0.30, 6: 0.25}
_FONTS: dict[int, pygame.font.Font] = {}


def font(pixels: int) -> pygame.font.Font:
    """Return pygame's own font at a height in pixels."""
    if pixels not in _FONTS:
        _FONTS[pixels] = pygame.font.Font(None, pixels)
    return _FONTS[pixels]


def forget_fonts() -> None:
    """Forget all fonts: they end with the screen that they were made for."""
    _FONTS.clear()


class TileSprites:
    """Pictures of tiles.

    Args:
        side: of a tile, in pixels.

    Attributes:
        side: likewise.
        gap: between two tiles, in pixels.
    """

    def __init__(self, side: int) -> None:
        self.side = side
        self.gap = max(2, round(side * GAP_SHARE))
        self._pictures: dict[tuple[int, int], pygame.Surface] = {}

    def picture(self, exponent: int, scale: float = 1.0) -> pygame.Surface:
        """Return a tile; 0 is the empty cell. Scales are rounded to whole pixels, and kept."""
        side = max(1, round(self.side * scale))
        if (exponent, side) not in self._pictures:
            self._pictures[exponent, side] = self._draw(exponent, side)
        return self._pictures[exponent, side]

    def _draw(self, exponent: int, side: int) -> pygame.Surface:
        picture = pygame.Surface((side, side), pygame.SRCALPHA)
        colour = _TILE_COLOURS[min(exponent, len(_TILE_COLOURS) - 1)]
        pygame.draw.rect(picture, colour, picture.get_rect(), border_radius=max(2, side // 24))
        if exponent:
            digits = str(1 << exponent)
            size = round(side * 1.25 * _DIGIT_SHARES.get(len(digits), 1.6 / len(digits)))
            text = font(max(6, size)).render(digits, True, DARK if exponent <= DARK_TEXT_EXPONENTS else LIGHT)
            picture.blit(text, text.get_rect(center=picture.get_rect().center))
        return picture
