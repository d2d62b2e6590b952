"""Comparing the looks of a board's cells in pictures. Sans I/O."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from game2048.errors import PageError
from scraper.readers.appearances import GROUND
from scraper.readers.canvas_lattice import Picture, PixelLattice

Crops = NDArray[np.float32]
"""[cells, CROP, CROP, 3]: each cell, made small."""

CROP = 16
MARKED_PIXELS = CROP * CROP // 10
MEAN, MARKED = 3.0, 14.0
"""Differences, in grey levels, that make two pictures: of whole cells, and of the tenth that differs most."""
SAME = 1.0
"""`difference` of two crops below which they are the same picture."""
CLOSER = 0.4
"""The same where `SAME` led to contradictions."""
STILL = 0.35
"""The same for one cell at two moments."""
PLAIN = 8.0
"""The most, in grey levels, by which the marked pixels of a plain cell differ from an even shading."""


def crops_of(picture: Picture, lattice: PixelLattice) -> Crops:
    """Every cell made small by averaging, so that a fraction of a pixel matters little."""
    image = Image.fromarray(picture)
    small = [image.resize((CROP, CROP), Image.Resampling.BOX, box=box) for box in _within(picture, lattice)]
    return np.stack([np.asarray(crop, dtype=np.float32) for crop in small])


def unpacked(cells: str, count: int) -> Crops:
    """Return the crops that the page has made: base64 of red, green and blue.

    Raises:
        PageError: there are more or fewer.
    """
    try:
        values = np.frombuffer(base64.b64decode(cells, validate=True), dtype=np.uint8)
        return values.reshape(count, CROP, CROP, 3).astype(np.float32)
    except ValueError as error:
        raise PageError(f"the page returned {len(cells)} letters for the pixels of {count} cells") from error


def _within(picture: Picture, lattice: PixelLattice) -> list[tuple[float, float, float, float]]:
    height, width = picture.shape[:2]
    return [
        (max(left, 0), max(top, 0), min(right, width), min(bottom, height))
        for left, top, right, bottom in lattice.boxes()
    ]


def are_plain(crops: Crops) -> NDArray[np.bool_]:
    """Return which cells show only one colour, or one shading into another, within their middle."""
    side = (np.arange(CROP) - (CROP - 1) / 2) / (CROP / 2)
    x, y = (grid.ravel() for grid in np.meshgrid(side, side))
    middle = x**2 + y**2 <= 1
    shading = np.stack([np.ones_like(x), x, y, x * y, x**2, y**2], axis=1)[middle]
    values = crops.reshape(len(crops), -1, 3)[:, middle].astype(np.float64)
    fitted = shading @ (np.linalg.pinv(shading) @ values)
    off = np.abs(values - fitted).max(axis=2)
    count = len(shading) // 12
    return np.asarray(np.partition(off, -count, axis=1)[:, -count:].mean(axis=1) < PLAIN)


def without_ground(crops: Crops) -> Crops:
    """Return the crops with all plain cells made alike: what is left are the tiles, on any ground."""
    return np.where(are_plain(crops)[:, None, None, None], np.float32(0), crops)


def difference(a: Crops, b: Crops) -> NDArray[np.float32]:
    """Return how much each pair of crops differs: 1 or more makes two looks."""
    by_pixel = np.abs(a - b).mean(axis=-1)
    flat = by_pixel.reshape(*by_pixel.shape[:-2], -1)
    most = np.partition(flat, -MARKED_PIXELS, axis=-1)[..., -MARKED_PIXELS:].mean(axis=-1)
    return np.asarray(np.maximum(flat.mean(axis=-1) / MEAN, most / MARKED), dtype=np.float32)


class Gallery:
    """The looks seen on one board; each is named at its first sight.

    Args:
        same: the difference below which two crops are the same look.
    """

    def __init__(self, same: float = SAME) -> None:
        self.same = same
        self._crops: list[Crops] = []
        self._names: list[str] = []
        self._count = 0

    @property
    def is_known(self) -> bool:
        """Whether any look has been named."""
        return bool(self._names)

    def teach(self, crops: Crops, names: Sequence[str]) -> None:
        """Give looks that are seen in another way the names that they have."""
        for crop, name in zip(crops, names, strict=True):
            if crop.any() and name != GROUND and self._nearest(crop, self._crops) is None:
                self._crops.append(crop)
                self._names.append(name)

    def names(self, crops: Crops, *, learn: bool) -> tuple[str, ...]:
        """Return the look of every cell; "?" with a number for new ones that are not to be learned."""
        names = []
        new: list[Crops] = []
        for crop in crops:
            if not crop.any():
                names.append(GROUND)
                continue
            known = self._nearest(crop, self._crops)
            if known is not None:
                names.append(self._names[known])
                continue
            if learn:
                names.append(f"p{self._count}")
                self._crops.append(crop)
                self._names.append(names[-1])
                self._count += 1
                continue
            fresh = self._nearest(crop, new)
            if fresh is None:
                fresh = len(new)
                new.append(crop)
            names.append(f"?{fresh}")
        return tuple(names)

    def _nearest(self, crop: Crops, known: list[Crops]) -> int | None:
        if not known:
            return None
        distances = difference(np.stack(known), crop)
        nearest = int(distances.argmin())
        return nearest if distances[nearest] < self.same else None
