"""Recorded games as pages replay them: any ply at once, in pieces, and curves of a thousand points."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from bot.dashboard.faults import DashboardError
from game2048.board import Board
from game2048.direction import DIRECTIONS
from game2048.errors import RecordError
from game2048.look.motion import tile_motions
from recordings.datasets.game_index import GameHead, GameIndex, open_index
from recordings.game_arrays import GameArrays

PIECE_PLIES = 512
"""The most plies of one piece."""

CURVE_POINTS = 1000

_MAX_INDICES = 16
_MAX_CELLS = 40_000_000  # of the games that are kept, a byte each


@dataclass(slots=True)
class _OpenFile:
    index: GameIndex
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class Replays:
    """The games of files, the latest few at hand."""

    def __init__(self) -> None:
        self._files: OrderedDict[Path, _OpenFile] = OrderedDict()
        self._games: OrderedDict[tuple[Path, int, int], GameArrays] = OrderedDict()

    async def heads(self, path: Path) -> tuple[list[GameHead], RecordError | None]:
        """Return what the games of a file are, and why they end early if they do.

        Raises:
            DashboardError: the file cannot be read.
        """
        file = self._file(path)
        async with file.turn:
            try:
                return list(await asyncio.to_thread(file.index.heads)), file.index.fault
            except RecordError as error:
                raise DashboardError(str(error)) from error

    async def game(self, path: Path, number: int) -> GameArrays:
        """Return a game of a file.

        Args:
            path: the file.
            number: of the game, from 0.

        Raises:
            DashboardError: there is no such game, or it cannot be read.
        """
        key = (path, await asyncio.to_thread(_stamp, path), number)
        if key in self._games:
            self._games.move_to_end(key)
            return self._games[key]
        file = self._file(path)
        async with file.turn:
            try:
                game = await asyncio.to_thread(file.index.game, number)
            except RecordError as error:
                raise DashboardError(str(error), status=404) from error
        self._games[key] = game
        while len(self._games) > 1 and sum(each.cells.size for each in self._games.values()) > _MAX_CELLS:
            self._games.popitem(last=False)
        return game

    def _file(self, path: Path) -> _OpenFile:
        if path not in self._files:
            try:
                self._files[path] = _OpenFile(open_index(path))
            except RecordError as error:
                raise DashboardError(str(error), status=404) from error
            while len(self._files) > _MAX_INDICES:
                self._files.popitem(last=False)
        self._files.move_to_end(path)
        return self._files[path]


def board_at(game: GameArrays, ply: int) -> Board:
    """Return the board before a move, or the last one.

    Args:
        game: the game.
        ply: 0 to the number of moves.
    """
    return Board(*game.size, game.cells[ply].tobytes())


def summary(game: GameArrays) -> dict[str, Any]:
    """Return what a replay begins with: the game without its plies, and the curve of its score."""
    plies = spread(game.plies, CURVE_POINTS)
    return {
        "rows": game.size.rows,
        "columns": game.size.columns,
        "plies": game.plies,
        "finalScore": game.final_score,
        "info": {name: value for name, value in msgspec.to_builtins(game.info).items() if value is not None},
        "curve": {"plies": plies.tolist(), "scores": game.scores[plies].tolist()},
        "recorded": recorded_curve(game),
    }


def recorded_curve(game: GameArrays) -> dict[str, Any] | None:
    """Return the recorded values of the moves made, thinned out; ``None`` where none were recorded."""
    if game.values is None or not game.plies:
        return None
    chosen = game.values[np.arange(game.plies), game.directions]
    known = np.flatnonzero(np.isfinite(chosen))
    if not known.size:
        return None
    kept = known[spread(known.size - 1, CURVE_POINTS)]
    return {"plies": kept.tolist(), "values": [round(float(value), 2) for value in chosen[kept]]}


def piece(game: GameArrays, begin: int, count: int) -> dict[str, Any]:
    """Return some plies of a game.

    Args:
        game: the game.
        begin: number of the first board, from 0.
        count: how many boards, at most `PIECE_PLIES`.

    Returns:
        Lists of one entry for each board from ``begin`` on: ``boards`` (exponents row by row), ``scores``;
        and for each that a move follows: ``directions`` (0 up, 1 right, 2 down, 3 left), ``motions`` (four
        numbers a tile: from cell, to cell, exponent, 1 if it merges), ``values`` as recorded.

    Raises:
        DashboardError: there are no such plies.
    """
    if not 0 <= begin <= game.plies or not 1 <= count <= PIECE_PLIES:
        raise DashboardError(
            f"{count} plies from {begin} are not in the game; "
            f"expected 0 to {game.plies}, {PIECE_PLIES} at a time"
        )
    end = min(begin + count, game.plies + 1)
    moves = range(begin, min(end, game.plies))
    return {
        "begin": begin,
        "boards": game.cells[begin:end].reshape(end - begin, -1).tolist(),
        "scores": game.scores[begin:end].tolist(),
        "directions": game.directions[moves.start : moves.stop].tolist(),
        "motions": [_motions(game, ply) for ply in moves],
        "values": None if game.values is None else [_row(game.values[ply]) for ply in moves],
    }


def spread(last: int, points: int) -> npt.NDArray[np.int64]:
    """Return whole numbers from 0 to ``last``, spread evenly: all of them, or ``points`` of them."""
    return np.unique(np.linspace(0, last, min(last + 1, points)).round().astype(np.int64))


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError as error:
        raise DashboardError(f"{path.name} cannot be read: {error.strerror or error}", status=404) from error


def _motions(game: GameArrays, ply: int) -> list[int]:
    motions = tile_motions(board_at(game, ply), DIRECTIONS[int(game.directions[ply])])
    return [int(number) for motion in motions for number in motion]


def _row(values: npt.NDArray[np.float64]) -> list[float | None]:
    return [round(float(value), 3) if np.isfinite(value) else None for value in values]
