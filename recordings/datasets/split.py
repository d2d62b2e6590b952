"""Splitting a dataset by game: training, validation and test, always the same ones for a seed."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from game2048.errors import RecordError
from recordings.datasets.dataset_file import Creation, read_games
from recordings.datasets.identity import identity
from recordings.game_arrays import GameArrays

SPLITS = ("train", "validation", "test")


def split_file(
    source: Path,
    folder: Path,
    ratios: Sequence[float] = (70, 15, 15),
    *,
    seed: int = 0,
    suffix: str | None = None,
    force: bool = False,
) -> dict[str, int]:
    """Write ``train``, ``validation`` and ``test`` files of a dataset's games.

    The parts have exactly their share, rounded, of the distinct games. Which game goes where depends on the
    seed and on the games alone, not on their order; the symmetric images of a game stay together.

    Args:
        source: file or run folder. It is read twice: the shares are exact only once all games are counted.
        folder: of the new files; made when missing.
        ratios: how much goes where; a part of 0 gets no file.
        seed: of the draw.
        suffix: the extension of the new files; by default that of the source.
        force: overwrite existing files.

    Returns:
        By part, how many games were written.

    Raises:
        RecordError: the ratios are invalid, or a file cannot be read or written.
    """
    if len(ratios) != len(SPLITS) or min(ratios) < 0 or sum(ratios) <= 0:
        raise RecordError(f"ratios {list(ratios)} are invalid; expected three numbers such as 70/15/15")
    draw = _Draw(read_games(source), ratios, seed)
    suffix = suffix or (source.suffix if source.is_file() else ".jsonl")
    counts = {}
    with ExitStack() as stack:
        writers = {}
        for name, ratio in zip(SPLITS, ratios, strict=True):
            if ratio > 0:
                writers[name] = stack.enter_context(Creation(folder / f"{name}{suffix}", force=force))
                counts[name] = 0
        for game in read_games(source):
            name = draw.part(game)
            writers[name].write([game])
            counts[name] += 1
    return counts


def _draw(game: GameArrays, seed: int) -> int:
    """Return a game's place in the order of the draw."""
    name = f"{seed} {identity(game)}"
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big")


class _Draw:
    """Which game goes where: eight bytes a game."""

    def __init__(self, games: Iterable[GameArrays], ratios: Sequence[float], seed: int) -> None:
        self._seed = seed
        self._order = np.unique(np.array(array("Q", (_draw(game, seed) for game in games)), dtype=np.uint64))
        shares = np.cumsum(ratios) / sum(ratios)
        self._ends = np.round(shares * self._order.size).astype(np.int64)

    def part(self, game: GameArrays) -> str:
        """Return the name of a game's part."""
        place = np.searchsorted(self._order, np.uint64(_draw(game, self._seed)))
        return SPLITS[int(np.searchsorted(self._ends, place, side="right"))]
