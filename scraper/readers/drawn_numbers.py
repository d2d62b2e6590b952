"""Recognise numbers in pictures of cells, by the fonts in which the page draws numbers. Does no I/O.

Engines such as Phaser and Pixi draw each text on a hidden canvas and show it as a texture of WebGL. So the
fonts are known, but not which text is in which cell. The shapes of the numbers in these fonts tell that.
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from game2048.errors import PageError
from scraper.readers.canvas_appearances import Crops

LEAST_CONTRAST = 40.0
"""The least difference of digits from the tile around them, in grey levels."""
LEAST_INK = 12
"""Fewer pixels than this are not a number."""
ALIKE = 0.65
"""The least correlation of a cell with the shape of its number."""
LEAST_LEAD = 0.1
"""By how much the best number must be more like the cell than the next one."""
ASPECT = 0.3
"""The largest difference in the logarithm of the aspect ratio."""
WITHIN = 0.4
"""How far the edge of the ink may lie from the edge of a pixel."""
MOST_SHAPES = 200
PIXEL_LETTERS = 100_000
"""The most letters of base64 for the pixels of all cells."""


class NumberShape(msgspec.Struct, frozen=True):
    """The page's answer with the shape of one number in one font.

    Attributes:
        number: the number.
        aspect: its width divided by its height.
        side: the side of the square into which its ink is fitted, in pixels.
        ink: base64 of one byte a pixel.
    """

    number: Annotated[int, msgspec.Meta(ge=1, le=1 << 40)]
    aspect: float
    side: Annotated[int, msgspec.Meta(ge=4, le=64)]
    ink: Annotated[str, msgspec.Meta(max_length=8192)]

    def pixels(self) -> NDArray[np.float64]:
        """Return float64 [side, side], the ink from 0 to 1.

        Raises:
            PageError: the ink is not a square of bytes.
        """
        try:
            values = np.frombuffer(base64.b64decode(self.ink, validate=True), dtype=np.uint8)
            return values.reshape(self.side, self.side) / 255
        except ValueError as error:
            raise PageError(f"the page returned {len(self.ink)} letters for {self.side}² pixels") from error


@dataclass(frozen=True, slots=True)
class _Shape:
    number: int
    aspect: float
    ink: NDArray[np.float64]


class DrawnNumbers:
    """The numbers as the page draws them.

    Args:
        shapes: the shapes of numbers, in one or several fonts.
    """

    def __init__(self, shapes: Sequence[NumberShape]) -> None:
        self._shapes = [
            _Shape(one.number, np.log(one.aspect), _normal(one.pixels()))
            for one in shapes[:MOST_SHAPES]
            if one.aspect > 0
        ]

    def __bool__(self) -> bool:
        return bool(self._shapes)

    def read(self, crops: Crops) -> list[int | None]:
        """Return the number in each cell; ``None`` where none can be recognised with certainty.

        Args:
            crops: pictures of the cells, of any size.
        """
        return [self._number_in(crop) for crop in crops]

    def _number_in(self, crop: Crops) -> int | None:
        ink = ink_of(crop)
        if ink is None:
            return None
        fitted = {side: _fitted(ink, side) for side in {len(shape.ink) for shape in self._shapes}}
        aspect = np.log(ink.shape[1] / ink.shape[0])
        best: dict[int, float] = {}
        for shape in self._shapes:
            if abs(shape.aspect - aspect) < ASPECT:
                alike = float((fitted[len(shape.ink)] * shape.ink).mean(axis=(1, 2)).max())
                best[shape.number] = max(alike, best.get(shape.number, -1.0))
        ranked = sorted(best, key=lambda number: -best[number])
        if not ranked or best[ranked[0]] < ALIKE:
            return None
        if len(ranked) > 1 and best[ranked[0]] - best[ranked[1]] < LEAST_LEAD:
            return None
        return ranked[0]


def side_for(cells: int) -> int:
    """Return the side of the pictures of cells, so that the page's answer stays short enough."""
    return min(48, int((PIXEL_LETTERS * 0.75 / 3 / cells) ** 0.5))


def ink_of(crop: Crops) -> NDArray[np.float64] | None:
    """Return the ink within a cell, cut to the box around it; ``None`` if there is too little.

    The ink is what differs from the most frequent colour and does not touch the edge of the cell.

    Args:
        crop: float32 [side, side, 3], a picture of the cell.

    Returns:
        float64 [height, width], from 0 to 1.
    """
    off = np.abs(crop - np.median(crop, axis=(0, 1))).max(axis=-1).astype(np.float64)
    inner = off[off > LEAST_CONTRAST]
    if inner.size < LEAST_INK:
        return None
    off = np.clip(off / np.percentile(inner, 75), 0, 1)
    off[_from_edge(off > 0.25)] = 0
    inked = off > 0.5
    if inked.sum() < LEAST_INK:
        return None
    rows, columns = np.flatnonzero(inked.any(axis=1)), np.flatnonzero(inked.any(axis=0))
    return np.asarray(off[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1])


def _fitted(ink: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """Return the ink fitted into a square, with its edges at some places within a pixel.

    Returns:
        float64 [places, side, side], each with the mean 0 and the spread 1.
    """
    height, width = ink.shape
    image = Image.fromarray(np.pad(ink, 1).astype(np.float32))
    fitted = [
        image.resize((side, side), Image.Resampling.BOX, box=(1 + a, 1 + b, width + 1 - c, height + 1 - d))
        for a, b, c, d in [(0.0, 0.0, 0.0, 0.0), *itertools.product((-WITHIN, WITHIN), repeat=4)]
    ]
    return np.stack([_normal(np.asarray(one, dtype=np.float64)) for one in fitted])


def _from_edge(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the parts of a mask that touch its edge."""
    reached = np.zeros_like(mask)
    reached[[0, -1]] = mask[[0, -1]]
    reached[:, [0, -1]] = mask[:, [0, -1]]
    while True:
        wider = reached.copy()
        wider[1:] |= reached[:-1]
        wider[:-1] |= reached[1:]
        wider[:, 1:] |= reached[:, :-1]
        wider[:, :-1] |= reached[:, 1:]
        wider &= mask
        if (wider == reached).all():
            return reached
        reached = wider


def _normal(values: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = float(values.std())
    return (values - values.mean()) / spread if spread else np.zeros_like(values)
