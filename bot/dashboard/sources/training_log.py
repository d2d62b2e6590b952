"""The log of a training run, read while it is written, and the series of its charts."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

CHART_POINTS = 600
_LONGEST_LOG = 256 << 20
_LONGEST_LINE = 1 << 16


class TrainingRow(msgspec.Struct, frozen=True):
    """One line of ``training.jsonl``: the games of one interval.

    Attributes:
        episode: games so far.
        moves: so far.
        seconds: learned so far.
        mean: score of the games of the interval.
        median: of the same.
        max: of the same.
        reach: by tile, the share of these games that reached it.
    """

    episode: int
    moves: int
    seconds: float
    mean: float
    median: float
    max: int
    reach: dict[str, float]


_decode = msgspec.json.Decoder(TrainingRow).decode

Measure = Literal["mean", "median", "max", "speed"] | str
"""``speed`` is moves a second; a tile, as ``2048``, is the share of games that reached it."""


class TrainingLog:
    """The rows of a training log; each call reads only the new ones.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows: list[TrainingRow] = []
        self._file: tuple[int, int] | None = None
        self._end = 0

    def rows(self) -> list[TrainingRow]:
        """Return all whole rows; the list is shared. A damaged line ends them."""
        try:
            with self.path.open("rb") as file:
                status = self.path.stat()
                if self._file != (status.st_dev, status.st_ino) or status.st_size < self._end:
                    # A run that continues from a checkpoint drops rows and writes the file again.
                    self._rows, self._end = [], 0
                    self._file = (status.st_dev, status.st_ino)
                if status.st_size > _LONGEST_LOG:
                    return self._rows
                file.seek(self._end)
                while (line := file.readline(_LONGEST_LINE)).endswith(b"\n"):
                    self._rows.append(_decode(line))
                    self._end += len(line)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            pass
        return self._rows


def series(rows: list[TrainingRow], measure: Measure) -> list[tuple[int, float]]:
    """Return points of a chart: games so far, and the measure of the interval; thinned out where many.

    Args:
        rows: of one run.
        measure: see `Measure`.
    """
    if measure == "speed":
        points = _speeds(rows)
    elif measure in {"mean", "median", "max"}:
        points = [(row.episode, float(getattr(row, measure))) for row in rows]
    else:
        points = [(row.episode, row.reach.get(measure, 0.0)) for row in rows]
    step = -(-len(points) // CHART_POINTS) or 1
    # Counted from the end, so that the newest row is always there.
    return points[::-1][::step][::-1]


def _speeds(rows: list[TrainingRow]) -> list[tuple[int, float]]:
    points = []
    moves, seconds = 0, 0.0
    for row in rows:
        if row.seconds > seconds:
            points.append((row.episode, round((row.moves - moves) / (row.seconds - seconds), 1)))
        moves, seconds = row.moves, row.seconds
    return points
