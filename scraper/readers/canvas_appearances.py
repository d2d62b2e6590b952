"""Compare the looks of cells in pictures. Does no I/O."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from game2048.errors import PageError
from scraper.readers.appearances import GROUND
from scraper.readers.canvas_lattice import PixelLattice
from scraper.readers.canvas_patches import Picture

Crops = NDArray[np.float32]
"""float32 [cells, CROP, CROP, 3]: small pictures of the cells, in grey levels from 0 to 255."""

CROP = 16
MARKED_PIXELS = CROP * CROP // 10
MEAN, MARKED = 3.0, 14.0
"""The differences, in grey levels, that make two looks: of all pixels, and of the most different tenth."""
SAME = 1.0
"""Two crops with a smaller `difference` have the same look."""
CLOSER = 0.4
"""The same limit after `SAME` has led to contradictions."""
STILL = 0.35
"""The same limit for one cell at two moments."""
UNSURE = 1.2
"""If a second look is less than this many times as far away as the nearest one, the cell may show either."""
PLAIN = 8.0
"""The most grey levels by which the marked pixels of a plain cell differ from an even shading."""


def crops_of(picture: Picture, lattice: PixelLattice, side: int = CROP) -> Crops:
    """Return the crops of all cells. They are averages, so that a fraction of a pixel matters little."""
    image = Image.fromarray(picture)
    small = [image.resize((side, side), Image.Resampling.BOX, box=box) for box in _within(picture, lattice)]
    return np.stack([np.asarray(crop, dtype=np.float32) for crop in small])


def unpacked(cells: str, count: int, side: int = CROP) -> Crops:
    """Decode the crops that the page has made.

    Args:
        cells: base64 of red, green and blue bytes.
        count: how many cells to expect.
        side: pixels across a crop.

    Raises:
        PageError: the text holds another number of cells, or is not base64.
    """
    try:
        values = np.frombuffer(base64.b64decode(cells, validate=True), dtype=np.uint8)
        return values.reshape(count, side, side, 3).astype(np.float32)
    except ValueError as error:
        raise PageError(f"the page returned {len(cells)} letters for the pixels of {count} cells") from error


def _within(picture: Picture, lattice: PixelLattice) -> list[tuple[float, float, float, float]]:
    height, width = picture.shape[:2]
    return [
        (max(left, 0), max(top, 0), min(right, width), min(bottom, height))
        for left, top, right, bottom in lattice.boxes()
    ]


def are_plain(crops: Crops) -> NDArray[np.bool_]:
    """Return which cells are plain: their middle shows one colour, or one colour that shades into another."""
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
    """Return the crops with all plain cells set to 0, so that only the tiles remain."""
    return np.where(are_plain(crops)[:, None, None, None], np.float32(0), crops)


def difference(a: Crops, b: Crops) -> NDArray[np.float32]:
    """Return how much each pair of crops differs; with 1 or more they have two looks."""
    by_pixel = np.abs(a - b).mean(axis=-1)
    flat = by_pixel.reshape(*by_pixel.shape[:-2], -1)
    most = np.partition(flat, -MARKED_PIXELS, axis=-1)[..., -MARKED_PIXELS:].mean(axis=-1)
    return np.asarray(np.maximum(flat.mean(axis=-1) / MEAN, most / MARKED), dtype=np.float32)


def spread_of(crops: Crops, names: Sequence[str]) -> float:
    """Return the largest difference between two cells of one look, each compared with the first one."""
    first: dict[str, int] = {}
    pairs = [(first.setdefault(name, cell), cell) for cell, name in enumerate(names)]
    firsts = np.asarray([one for one, _ in pairs])
    return float(difference(crops[firsts], crops).max())


class Gallery:
    """The looks of one board; each gets a name when it is first seen.

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

    def doubts(self, crops: Crops) -> bool:
        """Return whether a cell is nearly as much like a second known look as like its own."""
        if len(self._crops) < 2:
            return False
        known = np.stack(self._crops)
        for crop in crops:
            if not crop.any():
                continue
            distances = difference(known, crop)
            own = int(distances.argmin())
            others = [d for d, name in zip(distances, self._names, strict=True) if name != self._names[own]]
            if (
                others
                and distances[own] < self.same
                and min(others) < min(self.same, UNSURE * distances[own])
            ):
                return True
        return False

    def teach(self, crops: Crops, names: Sequence[str]) -> None:
        """Store crops of known looks that were read in another way, under the known names."""
        for crop, name in zip(crops, names, strict=True):
            if crop.any() and name != GROUND and self._nearest(crop, self._crops) is None:
                self._crops.append(crop)
                self._names.append(name)

    def names(self, crops: Crops, *, learn: bool) -> tuple[str, ...]:
        """Return the name of each cell's look; unless ``learn``, new looks are named "?" with a number."""
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
