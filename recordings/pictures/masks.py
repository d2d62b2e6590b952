"""Shapes as coverage masks: pictures in mode ``L``, 0 outside to 255 inside, with smooth edges."""

from __future__ import annotations

from functools import lru_cache

from PIL import Image, ImageChops, ImageDraw, ImageFont

# Shapes are drawn this much larger and then reduced: smooth corners, and digits of an even weight.
_OVERSAMPLING = 4
_ROOM_FOR_TEXT = 0.88
_MARGIN = 1  # at both sides of a digit, for its outline
_STROKE = 0.028  # of the height; the bundled font has one weight, and an outline makes it bold

PRESENT = [0] + [255] * 255
"""Maps what is covered at all to 255."""
MOSTLY = [0] * 128 + [255] * 128
"""Maps what is covered by half or more to 255."""


def rounded_mask(size: tuple[int, int], radius: float) -> Image.Image:
    """Return the coverage of a rectangle with round corners that fills ``size``."""
    width, height = size
    mask = Image.new("L", (width * _OVERSAMPLING, height * _OVERSAMPLING))
    box = (0, 0, mask.width - 1, mask.height - 1)
    ImageDraw.Draw(mask).rounded_rectangle(box, round(radius * _OVERSAMPLING), fill=255)
    return mask.reduce(_OVERSAMPLING)


@lru_cache(maxsize=64)
def _font(pixels: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    return ImageFont.load_default(pixels)


def text_mask(text: str, size: tuple[int, int], height: float, *, at_left: bool = False) -> Image.Image:
    """Return the coverage of bold text in the middle of ``size``, made smaller where it would not fit."""
    width, tall = size[0] * _OVERSAMPLING, size[1] * _OVERSAMPLING
    mask = Image.new("L", (width, tall))
    draw = ImageDraw.Draw(mask)
    pixels = max(4, round(height * _OVERSAMPLING))
    for _ in range(3):  # rounding makes the first correction a little too small at times
        stroke = _stroke(pixels)
        left, _, right, _ = draw.textbbox((0, 0), text, font=_font(pixels), stroke_width=stroke, anchor="lm")
        if right - left <= width * _ROOM_FOR_TEXT:
            break
        pixels = max(4, int(pixels * width * _ROOM_FOR_TEXT / (right - left)))
    # Digits alone decide the height, so that no text of a line stands higher than another.
    _, top, _, bottom = draw.textbbox((0, 0), "0", font=_font(pixels), stroke_width=stroke, anchor="ls")
    x = -left if at_left else (width - (right - left)) / 2 - left
    y = (tall - (bottom - top)) / 2 - top
    draw.text((x, y), text, fill=255, font=_font(pixels), stroke_width=stroke, anchor="ls")
    return mask.reduce(_OVERSAMPLING)


def _stroke(pixels: int) -> int:
    return max(1, round(pixels * _STROKE))


class NumberMasks:
    """Draws the numbers of one box; each digit is drawn once, since a long game has tens of thousands.

    Args:
        size: width and height of the box, in pixels.
        height: the height of the font, in pixels; less where a number would not fit.
    """

    def __init__(self, size: tuple[int, int], height: float) -> None:
        self._size = size
        self._height = height
        self._digits: dict[tuple[str, int], Image.Image] = {}

    def mask(self, text: str) -> Image.Image:
        """Return the coverage of a number such as ``1,234`` in the middle of the box."""
        pixels = max(4, round(self._height))
        room = self._size[0] * _ROOM_FOR_TEXT
        while pixels > 4 and self._width(text, pixels) > room:
            pixels -= 1
        mask = Image.new("L", self._size)
        x = (self._size[0] - self._width(text, pixels)) // 2 - _MARGIN
        for letter in text:
            digit = self._digit(letter, pixels)
            place = (x, (self._size[1] - digit.height) // 2)
            box = (*place, x + digit.width, place[1] + digit.height)
            mask.paste(ImageChops.lighter(digit, mask.crop(box)), place)  # outlines may touch
            x += digit.width - 2 * _MARGIN
        return mask

    def _width(self, text: str, pixels: int) -> int:
        return sum(self._digit(letter, pixels).width - 2 * _MARGIN for letter in text)

    def _digit(self, letter: str, pixels: int) -> Image.Image:
        digit = self._digits.get((letter, pixels))
        if digit is None:
            font = _font(pixels * _OVERSAMPLING)
            stroke = _stroke(pixels * _OVERSAMPLING)
            draw = ImageDraw.Draw(Image.new("L", (1, 1)))
            _, top, _, bottom = draw.textbbox((0, 0), "0", font=font, stroke_width=stroke, anchor="ls")
            width = round(draw.textlength(letter, font=font) / _OVERSAMPLING) + 2 * _MARGIN
            tall = round((bottom - top) / _OVERSAMPLING) + pixels // 2  # room for the tail of a comma
            mask = Image.new("L", (width * _OVERSAMPLING, tall * _OVERSAMPLING))
            y = (mask.height - (bottom - top)) / 2 - top
            ImageDraw.Draw(mask).text(
                (_MARGIN * _OVERSAMPLING, y), letter, fill=255, font=font, stroke_width=stroke, anchor="ls"
            )
            digit = self._digits[letter, pixels] = mask.reduce(_OVERSAMPLING)
        return digit
