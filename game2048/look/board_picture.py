"""A board as an SVG picture, for notebooks and documents. It uses no external resources."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from game2048.board import Board
from game2048.look.classic_look import (
    BOARD_HEX,
    DARK_TEXT_EXPONENTS,
    DARK_TEXT_HEX,
    GAP_SHARE,
    LIGHT_TEXT_HEX,
    TILE_HEXES,
)

_TILE = 56
_GAP = round(_TILE * GAP_SHARE)
_STEP = _TILE + _GAP
_DIGIT_SHARES = {1: 0.52, 2: 0.52, 3: 0.42, 4: 0.34, 5: 0.28, 6: 0.24}
_FONT = "Clear Sans, Helvetica Neue, Arial, sans-serif"


def board_svg(board: Board) -> str:
    """Return a picture of a board in the classic colours, as SVG text.

    Its title, which screen readers read aloud, is the text form of the board.
    """
    width, height = (_GAP + side * _STEP for side in (board.columns, board.rows))
    picture = ET.Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=str(width),
        height=str(height),
        role="img",
    )
    ET.SubElement(picture, "title").text = board.text()
    _add_square(picture, (0, 0), (width, height), BOARD_HEX, radius=6)
    for cell, exponent in enumerate(board.cells):
        row, column = divmod(cell, board.columns)
        corner = (_GAP + column * _STEP, _GAP + row * _STEP)
        colour = TILE_HEXES[min(exponent, len(TILE_HEXES) - 1)]
        _add_square(picture, corner, (_TILE, _TILE), colour, radius=3)
        if exponent:
            _add_number(picture, corner, exponent)
    return ET.tostring(picture, encoding="unicode")


def _add_square(
    picture: ET.Element, corner: tuple[int, int], size: tuple[int, int], colour: str, radius: int
) -> None:
    (x, y), (width, height) = corner, size
    ET.SubElement(
        picture,
        "rect",
        x=str(x),
        y=str(y),
        width=str(width),
        height=str(height),
        rx=str(radius),
        fill=f"#{colour}",
    )


def _add_number(picture: ET.Element, corner: tuple[int, int], exponent: int) -> None:
    digits = str(1 << exponent)
    size = _TILE * _DIGIT_SHARES.get(len(digits), 1.5 / len(digits))
    number = ET.SubElement(
        picture,
        "text",
        {
            "x": str(corner[0] + _TILE // 2),
            "y": str(corner[1] + _TILE // 2),
            "fill": f"#{DARK_TEXT_HEX if exponent <= DARK_TEXT_EXPONENTS else LIGHT_TEXT_HEX}",
            "font-family": _FONT,
            "font-size": f"{size:.1f}",
            "font-weight": "bold",
            "text-anchor": "middle",
            "dominant-baseline": "central",
        },
    )
    number.text = digits
