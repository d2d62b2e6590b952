"""Find patches of one colour, or of colours that change slowly, in a picture. Does no I/O."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
"""uint8 [height, width, 3]: red, green and blue."""

LEAST_SIDE = 14
MOST_COLORS = 24
SMOOTH = 4
"""The most by which neighbouring pixels of one patch differ."""


@dataclass(frozen=True, slots=True)
class Blob:
    """A patch of one colour, with the box around it, in pixels."""

    left: int
    top: int
    right: int
    bottom: int
    area: int

    @property
    def width(self) -> int:
        """The width of the box."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """The height of the box."""
        return self.bottom - self.top


def patches_of_colors(picture: Picture) -> list[Blob]:
    """Return the patches of the most frequent colours."""
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
    """Return the connected patches of a mask."""
    padded = np.pad(mask.astype(np.int8), ((0, 0), (1, 1)))
    steps = np.diff(padded, axis=1)
    return _joined(steps == 1, steps == -1, mask[1:] & mask[:-1])


def smooth_patches(picture: Picture) -> list[Blob]:
    """Return the patches whose neighbouring pixels differ little: cells that shade from colour to colour."""
    values = picture.astype(np.int16)
    across = np.abs(np.diff(values, axis=1)).max(axis=2) <= SMOOTH
    down = np.abs(np.diff(values, axis=0)).max(axis=2) <= SMOOTH
    starts = np.pad(~across, ((0, 0), (1, 1)), constant_values=True)
    return _joined(starts[:, :-1], np.pad(starts[:, 1:], ((0, 0), (1, 0))), down)


class _Runs:
    """Runs of pixels, row by row, joined into groups."""

    def __init__(self) -> None:
        self._runs: list[tuple[int, int, int]] = []  # row, start, end
        self._parent: list[int] = []

    def add(self, row: int, start: int, end: int) -> int:
        self._runs.append((row, start, end))
        self._parent.append(len(self._parent))
        return len(self._parent) - 1

    def span(self, number: int) -> tuple[int, int]:
        return self._runs[number][1:]

    def join(self, one: int, other: int) -> None:
        self._parent[self._root(one)] = self._root(other)

    def _root(self, i: int) -> int:
        parent = self._parent
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    def blobs(self) -> list[Blob]:
        grouped: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        for number, run in enumerate(self._runs):
            grouped[self._root(number)].append(run)
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


def _joined(starts: NDArray[np.bool_], ends: NDArray[np.bool_], down: NDArray[np.bool_]) -> list[Blob]:
    """Join runs of pixels into patches.

    Args:
        starts: where runs start, by row.
        ends: where runs end, by row.
        down: which pixels join with the pixel below.
    """
    runs = _Runs()
    above: list[int] = []
    sums = np.pad(np.cumsum(down, axis=1, dtype=np.int32), ((0, 0), (1, 0)))
    for row in range(starts.shape[0]):
        current = []
        pointer = 0
        begins, stops = np.flatnonzero(starts[row]).tolist(), np.flatnonzero(ends[row]).tolist()
        for start, end in zip(begins, stops, strict=True):
            number = runs.add(row, start, end)
            current.append(number)
            while pointer < len(above) and runs.span(above[pointer])[1] <= start:
                pointer += 1
            for other in above[pointer:]:
                left, right = runs.span(other)
                if left >= end:
                    break
                if sums[row - 1, min(end, right)] > sums[row - 1, max(start, left)]:
                    runs.join(number, other)
        above = current
    return runs.blobs()
