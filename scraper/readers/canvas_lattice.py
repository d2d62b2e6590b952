"""Find the cells of a board in a picture. Does no I/O."""

from __future__ import annotations

import dataclasses
import io
import itertools
import operator
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image

from game2048.size import MAX_SIDE, MIN_SIDE
from scraper.readers.canvas_edges import cells_between_edges
from scraper.readers.canvas_patches import LEAST_SIDE, Blob, Picture, patches_of_colors, smooth_patches

LEAST_SHARE = 0.3
"""The least share of the picture's width that a board fills, unless it is at least `LEAST_WIDTH` wide."""
LEAST_WIDTH = 200
INNER = 0.84
"""The share of a cell's width that is read; the rest is its edge."""


@dataclass(frozen=True, slots=True)
class PixelLattice:
    """The cells in a picture: the centre of the first, the pitch, the size of a cell; all in pixels."""

    x: float
    y: float
    pitch_x: float
    pitch_y: float
    width: float
    height: float
    rows: int
    columns: int

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.rows, self.columns

    @property
    def inner_width(self) -> float:
        """The width of the part of a cell within its edge."""
        return self.width * INNER

    @property
    def inner_height(self) -> float:
        """The height of the part of a cell within its edge."""
        return self.height * INNER

    def boxes(self) -> list[tuple[float, float, float, float]]:
        """Return the box of each cell without its edge, row by row: left, top, right, bottom."""
        w, h = self.inner_width / 2, self.inner_height / 2
        return [
            (x - w, y - h, x + w, y + h)
            for y in (self.y + row * self.pitch_y for row in range(self.rows))
            for x in (self.x + column * self.pitch_x for column in range(self.columns))
        ]


def decode(png: bytes) -> Picture:
    """Decode the picture in a PNG file."""
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))


# -- finding the cells ---------------------------------------------------------------------------------------


def find_lattice(picture: Picture) -> PixelLattice | None:
    """Find the board in a picture of little else: equal patches in an evenly spaced rectangle.

    If the board draws no cells, the box around its tiles is divided evenly.
    """
    height, width = picture.shape[:2]
    exact = patches_of_colors(picture)
    found = (
        _lattice_among(exact, width)
        or _lattice_among(patches_of_colors(picture & np.uint8(0xF0)), width)
        or _lattice_among(smooth_patches(picture), width)
    )
    if found:
        return _made_square(found, width, height)
    return _lattice_of_edges(picture) or _loose_lattice(exact, width, height)


def _lattice_of_edges(picture: Picture) -> PixelLattice | None:
    found = cells_between_edges(picture)
    if found is None:
        return None
    across, down = found
    return PixelLattice(
        across.start + across.side / 2,
        down.start + down.side / 2,
        across.pitch,
        down.pitch,
        across.side,
        down.side,
        down.count,
        across.count,
    )


def _made_square(lattice: PixelLattice, width: int, height: int) -> PixelLattice:
    """Add a row or column that was not seen, if the board is centred only with it."""
    x, y, rows, columns = lattice.x, lattice.y, lattice.rows, lattice.columns
    if rows == columns - 1:
        y -= lattice.pitch_y if y + (rows - 1) / 2 * lattice.pitch_y > height / 2 else 0
        rows = columns
    elif columns == rows - 1:
        x -= lattice.pitch_x if x + (columns - 1) / 2 * lattice.pitch_x > width / 2 else 0
        columns = rows
    last_x, last_y = x + (columns - 1) * lattice.pitch_x, y + (rows - 1) * lattice.pitch_y
    edges = [x - lattice.width / 2, width - last_x - lattice.width / 2]
    edges += [y - lattice.height / 2, height - last_y - lattice.height / 2]
    if max(edges) - min(edges) > 0.06 * lattice.pitch_x or min(edges) < -1:
        return lattice
    return dataclasses.replace(lattice, x=x, y=y, rows=rows, columns=columns)


def _loose_lattice(patches: list[Blob], width: int, height: int) -> PixelLattice | None:
    tiles = [
        blob
        for blob in patches
        if min(blob.width, blob.height) >= 1.5 * LEAST_SIDE
        and 0.8 <= blob.width / blob.height <= 1.25
        and blob.width < 0.45 * width
        and blob.area >= 0.5 * blob.width * blob.height
    ]
    around = [b for b in patches if b.width > 0.3 * width and b.height > 0.3 * height and b not in tiles]
    around.append(Blob(0, 0, width, height, width * height))
    for seed in sorted(tiles, key=lambda blob: -blob.area):
        alike = [b for b in tiles if max(abs(b.width - seed.width), abs(b.height - seed.height)) <= 2]
        if len(alike) < 2:
            continue
        for box in sorted(around, key=lambda blob: blob.width * blob.height):
            across = divided(box.left, box.width, seed.width, [(b.left + b.right) / 2 for b in alike])
            down = divided(box.top, box.height, seed.height, [(b.top + b.bottom) / 2 for b in alike])
            if across is not None and down is not None:
                (x, pitch_x, columns), (y, pitch_y, rows) = across, down
                return PixelLattice(x, y, pitch_x, pitch_y, seed.width, seed.height, rows, columns)
    return None


def divided(
    start: float, length: float, side: float, centres: list[float]
) -> tuple[float, float, int] | None:
    """Divide a length evenly into cells; return first centre, pitch and count if they fit the centres."""
    counts = range(min(MAX_SIDE, int(length / side + 0.05)), MIN_SIDE, -1)
    even = [(count, gap) for count in counts for gap in _even_gaps(count, length - count * side)]
    padded = [(count, gap / 2) for count in counts for gap in range(int(0.6 * side))]
    middle = start + length / 2
    for count, gap in even + padded:
        pitch = side + gap
        edge = (length - count * side - (count - 1) * gap) / 2
        if not -0.02 * side <= gap <= 0.35 * side or not -1 <= edge <= 0.6 * side:
            continue
        places = [(centre - middle) / pitch + (count - 1) / 2 for centre in centres]
        if not all(abs(place - round(place)) < 0.06 and -0.3 < place < count - 0.7 for place in places):
            continue
        # The middle is known. The tiles give the pitch more exactly than the assumed gaps.
        steps = [round(place) - (count - 1) / 2 for place in places]
        if any(steps):
            offs = [centre - middle for centre in centres]
            pitch = sum(map(operator.mul, steps, offs)) / sum(step**2 for step in steps)
        return middle - (count - 1) / 2 * pitch, pitch, count
    return None


def _even_gaps(count: int, spare: float) -> tuple[float, float, float]:
    """Return the gaps for three layouts: gaps around and between, only between, half gaps around."""
    return spare / (count + 1), spare / (count - 1), spare / count


def find_buttons(picture: Picture) -> list[tuple[float, float]]:
    """Return the centres of at most three patches with the shape of a button, the largest first."""
    height, width = picture.shape[:2]
    shaped = [
        blob
        for blob in patches_of_colors(picture)
        if 1.3 <= blob.width / blob.height <= 8
        and blob.height >= 20
        and 0.08 * width <= blob.width <= 0.8 * width
        and blob.height <= 0.3 * height
        and blob.area >= 0.5 * blob.width * blob.height
    ]
    shaped.sort(key=lambda blob: -blob.width * blob.height)
    return [((blob.left + blob.right) / 2, (blob.top + blob.bottom) / 2) for blob in shaped[:3]]


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
        alike, lattice = _without_strays(alike)
        if lattice is not None and lattice.columns * lattice.pitch_x >= min(LEAST_SHARE * total, LEAST_WIDTH):
            rank = (len(alike), lattice.width, lattice)
            if best is None or rank[:2] > best[:2]:
                best = rank
    return best[2] if best else None


def _without_strays(blobs: list[Blob]) -> tuple[list[Blob], PixelLattice | None]:
    """Find the lattice of these patches; drop patches that stand apart, such as a logo or a score."""
    while len(blobs) >= MIN_SIDE * MIN_SIDE:
        lattice = _lattice_of(blobs)
        if lattice is not None:
            return blobs, lattice
        lines = [_lines(blobs, operator.attrgetter(edge)) for edge in ("left", "top")]
        fewest = min((line for axis in lines for line in axis), key=len)
        if len(fewest) == max(len(line) for axis in lines for line in axis):
            break
        blobs = [blob for blob in blobs if blob not in fewest]
    return blobs, _lattice_of(blobs)


def _lines(blobs: list[Blob], edge: Callable[[Blob], int]) -> list[list[Blob]]:
    """Group the patches into columns or rows by one of their edges."""
    lines: list[list[Blob]] = []
    for blob in sorted(blobs, key=edge):
        if lines and edge(blob) - edge(lines[-1][0]) <= 0.2 * blob.width:
            lines[-1].append(blob)
        else:
            lines.append([blob])
    return lines


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
    """Return the first centre, pitch and count along one axis, if the centres are evenly spaced."""
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
