"""Finding the cells of a board in a picture of it, and comparing their looks. Sans I/O."""

from __future__ import annotations

import io
import itertools
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from game2048.board import MAX_SIDE, MIN_SIDE

Picture = NDArray[np.uint8]
"""[height, width, 3], red, green and blue."""
Crops = NDArray[np.float32]
"""[cells, CROP, CROP, 3]: each cell, made small."""

CROP = 16
MARKED_PIXELS = CROP * CROP // 10
LEAST_SIDE = 14
MOST_COLORS = 24
MEAN, MARKED = 3.0, 14.0
"""Differences, in grey levels, that make two pictures: of whole cells, and of the tenth that differs most."""
SAME = 1.0
"""`difference` of two crops below which they are the same picture."""
SMOOTH = 4
"""The most by which neighbouring pixels of one patch differ."""
CLOSER = 0.4
"""The same where `SAME` led to contradictions."""
STILL = 0.35
"""The same for one cell at two moments."""


@dataclass(frozen=True, slots=True)
class Blob:
    """A patch of one colour, by the box around it."""

    left: int
    top: int
    right: int
    bottom: int
    area: int

    @property
    def width(self) -> int:
        """Of the box."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """Of the box."""
        return self.bottom - self.top


@dataclass(frozen=True, slots=True)
class PixelLattice:
    """Where the cells are in a picture: the centre of the first, the pitch, the size of a cell."""

    x: float
    y: float
    pitch_x: float
    pitch_y: float
    width: float
    height: float
    rows: int
    columns: int

    def boxes(self) -> list[tuple[float, float, float, float]]:
        """Of each cell, row by row, the box within its edge: left, top, right, bottom."""
        w, h = self.width * 0.42, self.height * 0.42
        return [
            (x - w, y - h, x + w, y + h)
            for y in (self.y + row * self.pitch_y for row in range(self.rows))
            for x in (self.x + column * self.pitch_x for column in range(self.columns))
        ]


def decode(png: bytes) -> Picture:
    """The picture in a PNG file."""
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))


def crops_of(picture: Picture, lattice: PixelLattice) -> Crops:
    """Every cell made small by averaging, so that a fraction of a pixel matters little."""
    image = Image.fromarray(picture)
    small = [image.resize((CROP, CROP), Image.Resampling.BOX, box=box) for box in _within(picture, lattice)]
    return np.stack([np.asarray(crop, dtype=np.float32) for crop in small])


def _within(picture: Picture, lattice: PixelLattice) -> list[tuple[float, float, float, float]]:
    height, width = picture.shape[:2]
    return [
        (max(left, 0), max(top, 0), min(right, width), min(bottom, height))
        for left, top, right, bottom in lattice.boxes()
    ]


def difference(a: Crops, b: Crops) -> NDArray[np.float32]:
    """How much each pair of crops differs: by 1 or more they are two looks."""
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

    def names(self, crops: Crops, *, learn: bool) -> tuple[str, ...]:
        """The look of every cell; "?" with a number for new ones that are not to be learned."""
        names = []
        new: list[Crops] = []
        for crop in crops:
            known = self._nearest(crop, self._crops)
            if known is not None:
                names.append(f"p{known}")
                continue
            if learn:
                names.append(f"p{len(self._crops)}")
                self._crops.append(crop)
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


# -- finding the cells ---------------------------------------------------------------------------------------


def find_lattice(picture: Picture) -> PixelLattice | None:
    """The board in a picture that shows little else: equal patches in an evenly spaced rectangle."""
    width = picture.shape[1]
    return (
        _lattice_among(_blobs(picture), width)
        or _lattice_among(_blobs(picture & np.uint8(0xF0)), width)
        or _lattice_among(_smooth_patches(picture), width)
    )


def _lattice_among(patches: list[Blob], total: int) -> PixelLattice | None:
    blobs = [
        blob
        for blob in patches
        if blob.width >= LEAST_SIDE
        and blob.height >= LEAST_SIDE
        and 0.7 <= blob.width / blob.height <= 1.43
        and blob.width < 0.6 * total
        and blob.area >= 0.4 * blob.width * blob.height
    ]
    best: tuple[int, float, PixelLattice] | None = None
    for seed in sorted({(blob.width, blob.height) for blob in blobs}):
        alike = [
            blob
            for blob in blobs
            if abs(blob.width - seed[0]) <= max(2, 0.06 * seed[0])
            and abs(blob.height - seed[1]) <= max(2, 0.06 * seed[1])
        ]
        lattice = _lattice_of(alike)
        if lattice is not None:
            rank = (len(alike), lattice.width, lattice)
            if best is None or rank[:2] > best[:2]:
                best = rank
    return best[2] if best else None


def _lattice_of(blobs: list[Blob]) -> PixelLattice | None:
    if len(blobs) < MIN_SIDE * MIN_SIDE - 1:
        return None
    width = float(np.median([blob.width for blob in blobs]))
    height = float(np.median([blob.height for blob in blobs]))
    across = _axis([(blob.left + blob.right) / 2 for blob in blobs], width)
    down = _axis([(blob.top + blob.bottom) / 2 for blob in blobs], height)
    if across is None or down is None:
        return None
    (x, pitch_x, columns), (y, pitch_y, rows) = across, down
    if len(blobs) < 0.45 * rows * columns:
        return None
    return PixelLattice(x, y, pitch_x, pitch_y, width, height, rows, columns)


def _axis(centres: list[float], side: float) -> tuple[float, float, int] | None:
    """First centre, pitch and count along one axis, if the centres are evenly spaced."""
    places: list[list[float]] = []
    for centre in sorted(centres):
        if places and centre - places[-1][0] <= 0.2 * side:
            places[-1].append(centre)
        else:
            places.append([centre])
    means = [sum(place) / len(place) for place in places]
    gaps = [b - a for a, b in itertools.pairwise(means)]
    if not gaps or min(gaps) < 0.95 * side or min(gaps) > 1.6 * side:
        return None
    count = round((means[-1] - means[0]) / min(gaps)) + 1
    if not MIN_SIDE <= count <= MAX_SIDE:
        return None
    pitch = (means[-1] - means[0]) / (count - 1)
    off = [abs((mean - means[0]) / pitch - round((mean - means[0]) / pitch)) for mean in means]
    return (means[0], pitch, count) if max(off) < 0.1 else None


def _blobs(picture: Picture) -> list[Blob]:
    """The patches of the commonest colours."""
    packed = picture.astype(np.uint32)
    colors = (packed[..., 0] << 16) | (packed[..., 1] << 8) | packed[..., 2]
    values, counts = np.unique(colors, return_counts=True)
    common = values[np.argsort(counts)[::-1][:MOST_COLORS]]
    least = max(60, colors.size // 2000)
    blobs: list[Blob] = []
    for color, count in zip(common, np.sort(counts)[::-1][:MOST_COLORS], strict=True):
        if count >= least:
            blobs += _patches(colors == color)
    return blobs


def _patches(mask: NDArray[np.bool_]) -> list[Blob]:
    """The connected patches of a mask."""
    padded = np.pad(mask.astype(np.int8), ((0, 0), (1, 1)))
    steps = np.diff(padded, axis=1)
    return _joined(steps == 1, steps == -1, mask[1:] & mask[:-1])


def _smooth_patches(picture: Picture) -> list[Blob]:
    """The patches within which neighbouring pixels differ little: cells that shade from colour to colour."""
    values = picture.astype(np.int16)
    across = np.abs(np.diff(values, axis=1)).max(axis=2) <= SMOOTH
    down = np.abs(np.diff(values, axis=0)).max(axis=2) <= SMOOTH
    starts = np.pad(~across, ((0, 0), (1, 1)), constant_values=True)
    return _joined(starts[:, :-1], np.pad(starts[:, 1:], ((0, 0), (1, 0))), down)


def _joined(starts: NDArray[np.bool_], ends: NDArray[np.bool_], down: NDArray[np.bool_]) -> list[Blob]:
    """Patches of runs of pixels: where the runs start and end, and where pixels join with those below."""
    parent: list[int] = []

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    runs: list[tuple[int, int, int]] = []  # row, start, end
    above: list[int] = []
    sums = np.pad(np.cumsum(down, axis=1, dtype=np.int32), ((0, 0), (1, 0)))
    for row in range(starts.shape[0]):
        current = []
        pointer = 0
        begins, stops = np.flatnonzero(starts[row]).tolist(), np.flatnonzero(ends[row]).tolist()
        for start, end in zip(begins, stops, strict=True):
            number = len(runs)
            runs.append((row, start, end))
            parent.append(number)
            while pointer < len(above) and runs[above[pointer]][2] <= start:
                pointer += 1
            other = pointer
            while other < len(above) and runs[above[other]][1] < end:
                left, right = max(start, runs[above[other]][1]), min(end, runs[above[other]][2])
                if sums[row - 1, right] > sums[row - 1, left]:
                    parent[root(number)] = root(above[other])
                other += 1
            current.append(number)
        above = current
    grouped: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for number, run in enumerate(runs):
        grouped[root(number)].append(run)
    return [
        Blob(
            min(run[1] for run in group),
            group[0][0],
            max(run[2] for run in group),
            group[-1][0] + 1,
            sum(run[2] - run[1] for run in group),
        )
        for group in grouped.values()
        if len(group) >= LEAST_SIDE
    ]
