"""Find the cells in a picture by the straight lines along their edges. Does no I/O.

If a drawing shows through the cells, they have no colour of their own. But along an edge all pixels become
lighter, or all become darker, while the lines of a drawing go to and fro.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from game2048.size import MAX_SIDE
from scraper.readers.canvas_patches import Picture

LEAST_COUNT = 3
"""Fewer cells than this in a line may be anything."""
LEAST_CELL = 24
LEAST_STEP = 4.0
"""The least mean step along an edge, in grey levels."""
ABOVE = 4.0
"""The least step along an edge, as a multiple of the usual step."""
MOST_EDGES = 40
OFF = 1.5
"""How far an edge may be off its place, in pixels."""
LEAST_GAP, MOST_GAP = 0.02, 0.35
"""The gap between cells, as a share of a cell."""
SQUARE = 1.12
"""The largest ratio of the two sides of a cell."""


@dataclass(frozen=True, slots=True)
class EvenCells:
    """Cells along one axis: the edge of the first, their side, the pitch and the count; in pixels."""

    start: float
    side: float
    pitch: float
    count: int


def cells_between_edges(picture: Picture) -> tuple[EvenCells, EvenCells] | None:
    """Return the cells across and down; ``None`` if the picture shows no edges of equal squares."""
    values = picture.astype(np.float32)
    across = _spans(np.diff(values, axis=1).mean(axis=0))
    down = _spans(np.diff(values, axis=0).mean(axis=1))
    pairs = [
        (one, other)
        for one in across
        for other in down
        if 1 / SQUARE <= one.side / other.side <= SQUARE and 1 / SQUARE <= one.pitch / other.pitch <= SQUARE
    ]
    return max(pairs, key=lambda pair: pair[0].count * pair[1].count * pair[0].side, default=None)


def _spans(steps: NDArray[np.float32]) -> list[EvenCells]:
    """Return the even cells whose edges are all seen.

    Args:
        steps: float32 [pixels - 1, 3], the mean step from each line of pixels to the next.
    """
    edges = _edges(np.abs(steps).max(axis=1))
    found = []
    for i, start in enumerate(edges):
        for j in range(i + 1, len(edges)):
            side = edges[j] - start
            if side < LEAST_CELL:
                continue
            for k in range(j + 1, len(edges)):
                pitch = edges[k] - start
                if pitch - side > MOST_GAP * side:
                    break
                if pitch - side < max(1.0, LEAST_GAP * side):
                    continue
                cells = _followed(edges, start, side, pitch)
                if cells is not None:
                    found.append(cells)
    return found


def _followed(edges: list[float], start: float, side: float, pitch: float) -> EvenCells | None:
    """Follow even cells from the first one as far as both edges of each are seen."""
    known = np.asarray(edges)

    def nearest(place: float) -> float | None:
        edge = float(known[np.abs(known - place).argmin()])
        return edge if abs(edge - place) <= OFF else None

    count, last = 1, start
    while count < MAX_SIDE:
        left, right = nearest(last + pitch), nearest(last + pitch + side)
        if left is None or right is None:
            break
        count, last = count + 1, left
    if count < LEAST_COUNT or nearest(start - pitch) is not None:
        return None
    return EvenCells(start, side, (last - start) / (count - 1), count)


def _edges(steps: NDArray[np.float32]) -> list[float]:
    """Return the places of the strongest steps, each between two pixels."""
    least = max(LEAST_STEP, ABOVE * float(np.median(steps)))
    padded = np.pad(steps, 1)
    peaks = np.flatnonzero((steps >= least) & (steps >= padded[:-2]) & (steps > padded[2:]))
    strongest = peaks[np.argsort(-steps[peaks])[:MOST_EDGES]]
    return sorted(float(peak) + 1 for peak in strongest)
