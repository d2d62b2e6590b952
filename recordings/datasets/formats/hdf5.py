"""Games as HDF5: the groups ``moves`` and ``games``, a dataset a column."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from game2048.direction import DIRECTIONS
from game2048.errors import RecordError
from game2048.size import MAX_SIDE
from recordings.datasets.formats import columnar, writing
from recordings.datasets.formats.columnar import OPTIONAL_NUMBERS, OUTCOMES, GameRow, MoveRows
from recordings.game_arrays import MISSING, GameArrays

_READ_ROWS = 1 << 16
_CHUNK_ROWS = 1 << 13
_DIRECTION_NAMES = {direction.value: direction.index for direction in DIRECTIONS}
_OUTCOME_NAMES = {"not_recorded": MISSING, **{name: code for code, name in enumerate(OUTCOMES)}}
_TEXTS = ("timestamp", "source", "solver", "outcome", "id", "weights", "rules")
_GAME_NUMBERS = ("total_moves", "max_tile", "game_number", "depth", "symmetry", "schema_version")


def _h5py() -> ModuleType:
    try:
        import h5py
    except ImportError as error:
        raise writing.missing_extra("HDF5 files", "h5py") from error
    module: ModuleType = h5py
    return module


class _Disk:
    """A file for the HDF5 library, which cannot recover from a failed write: it fails again at every close.

    The first error is kept in ``error`` and later writes go nowhere; the caller looks at it.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file: Any = file.raw  # type: ignore[attr-defined]  # a buffer would fail again at every seek
        self.error: OSError | None = None
        self.seek = self._file.seek
        self.tell = self._file.tell
        self.read, self.readinto = self._file.read, self._file.readinto

    def write(self, data: Any) -> int:
        rest = memoryview(data)
        while rest and self.error is None:
            try:
                rest = rest[self._file.write(rest) :]
            except OSError as error:
                self.error = error
        return len(data)

    def truncate(self, size: int) -> None:
        try:
            self._file.truncate(size)
        except OSError as error:
            self.error = self.error or error

    def flush(self) -> None:
        pass  # nothing is buffered


class Hdf5Writer:
    """Writes the file, which appears when it is closed."""

    def __init__(self, path: Path) -> None:
        h5py = _h5py()
        self._path = path
        self._batcher = writing.Batcher(self._write_batch)
        self._draft = writing.DraftFile(path)
        # No time stamps inside: the same games give the same bytes.
        self._disk = _Disk(self._draft.file)
        self._file = h5py.File(self._disk, "w", libver="v110", track_order=True)
        self._file.create_group("moves", track_order=True)
        self._file.create_group("games", track_order=True)

    def write(self, games: Sequence[GameArrays]) -> None:
        """Add games."""
        self._batcher.add(games)

    def _write_batch(self, games: Sequence[GameArrays], first: int) -> None:
        try:
            self._add("moves", _move_arrays(games, first))
            self._add("games", _game_arrays(columnar.game_rows(games), first))
            self._check_disk()
        except OSError as error:
            raise writing.unwritable(self._path, error) from error
        except (OverflowError, UnicodeEncodeError, ValueError) as error:
            raise RecordError(f"{self._path} cannot hold these games: {error}", path=self._path) from error

    def _add(self, group: str, arrays: dict[str, npt.NDArray[Any]]) -> None:
        place = self._file[group]
        for name, array in arrays.items():
            if name not in place:
                place.create_dataset(
                    name,
                    shape=(0, *array.shape[1:]),
                    maxshape=(None, *(None for _ in array.shape[1:])),
                    chunks=(_CHUNK_ROWS, *(max(side, 1) for side in array.shape[1:])),
                    dtype=array.dtype,
                    compression="gzip",
                    compression_opts=1,
                    shuffle=True,
                )
            data = place[name]
            before = data.shape[0]
            # Boards are as wide as the largest; smaller ones are filled up with zeros.
            data.resize((before + len(array), *np.maximum(data.shape[1:], array.shape[1:])))
            data[(slice(before, None), *(slice(side) for side in array.shape[1:]))] = array

    def _check_disk(self) -> None:
        if self._disk.error is not None:
            raise self._disk.error

    def close(self) -> None:
        """Finish the file and let it appear."""
        self._batcher.flush()
        try:
            self._file.close()
            self._check_disk()
        except OSError as error:
            raise writing.unwritable(self._path, error) from error
        self._draft.publish()

    def discard(self) -> None:
        """Drop what was written."""
        self._file.close()
        self._draft.discard()


def _move_arrays(games: Sequence[GameArrays], first: int) -> dict[str, npt.NDArray[Any]]:
    h5py = _h5py()
    table = columnar.move_table(games, first)
    columns = dict(table.columns)
    directions = columns["direction"].astype(h5py.enum_dtype(_DIRECTION_NAMES, basetype="u1"))
    outcomes = columns["outcome"].astype(h5py.enum_dtype(_OUTCOME_NAMES, basetype="i1"))
    return {
        **columns,
        "direction": directions,
        "outcome": outcomes,
        "cells": columnar.padded(table.cells, table.widths),
        "afterstate_cells": columnar.padded(table.after, table.widths),
    }


def _game_arrays(rows: Sequence[GameRow], first: int) -> dict[str, npt.NDArray[Any]]:
    text = _h5py().string_dtype()
    infos = [columnar.fields_of(row.info) for row in rows]
    widths = np.array([len(row.final_cells) for row in rows], dtype=np.int32)
    finals = np.frombuffer(b"".join(row.final_cells for row in rows), dtype=np.uint8)
    seeds = [info["seed"] for info in infos]
    return {
        "game": np.arange(first, first + len(rows)),
        **{name: np.array([info[name] or "" for info in infos], dtype=text) for name in _TEXTS},
        **{name: _numbers([info[name] for info in infos]) for name in _GAME_NUMBERS},
        "won": np.array([info["won"] for info in infos], dtype=np.bool_),
        "has_seed": np.array([seed is not None for seed in seeds], dtype=np.bool_),
        "seed": np.array([seed or 0 for seed in seeds], dtype=np.uint64),
        **{name: _numbers([getattr(row, name) for row in rows]) for name in columnar.GAME_SHAPE},
        "final_cells": columnar.padded(finals, widths),
    }


def _numbers(numbers: Sequence[int | None]) -> npt.NDArray[np.int64]:
    return np.array([MISSING if number is None else number for number in numbers], dtype=np.int64)


# -- reading --------------------------------------------------------------------------------------------

# What the library may raise at a damaged file. Only its calls are within reach of this.
_DAMAGE = (
    *(OSError, RuntimeError, KeyError, IndexError, TypeError, ValueError, AttributeError),
    *(OverflowError, MemoryError, NotImplementedError, SystemError, ZeroDivisionError),
)
_MAX_CHUNK_BYTES = 1 << 25
_MAX_RATIO = 2000  # deflate reaches 1032
_MOVE_COLUMNS = {
    **dict.fromkeys(("game", "ply", "direction", "score", "nodes", "depth"), ("iu", 1)),
    "cells": ("iu", 2),
    "values": ("f", 2),
}
_GAME_COLUMNS = {
    **dict.fromkeys(("game", *_GAME_NUMBERS, *columnar.GAME_SHAPE, "seed"), ("iu", 1)),
    **dict.fromkeys(("won", "has_seed"), ("biu", 1)),
    **dict.fromkeys(_TEXTS, ("O", 1)),
    "final_cells": ("iu", 2),
}


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The open file, its columns checked; ``None`` for a dataset without games."""
    h5py = _h5py()
    try:
        with h5py.File(path, "r") as file:
            if len(file["games"]) == len(file["moves"]) == 0:
                yield None
                return
            _check_columns(path, file["moves"], _MOVE_COLUMNS)
            _check_columns(path, file["games"], _GAME_COLUMNS)
            yield file
    except _DAMAGE as error:
        reason = " ".join(str(error).split())
        raise RecordError(
            f"{path} cannot be read as HDF5: {reason or type(error).__name__}; "
            "expected the groups that `bot2048 records export` writes",
            path=path,
        ) from error


def _check_columns(path: Path, group: Any, kinds: dict[str, tuple[str, int]]) -> None:
    """Make sure that columns are what they should be, before anything is allocated for them."""
    count: int | None = None
    room = path.stat().st_size * _MAX_RATIO
    for name, (kind, dimensions) in kinds.items():
        if name in columnar.OPTIONAL and name not in group:
            continue
        data = group[name]
        shape, dtype, chunks = data.shape, data.dtype, data.chunks or ()
        count = shape[0] if count is None else count
        if dtype.kind not in kind or len(shape) != dimensions or shape[0] != count:
            raise ValueError(f"column {name!r} is of another kind or length than was written")
        if (
            max(shape[1:], default=0) > MAX_SIDE * MAX_SIDE
            or math.prod(chunks) * dtype.itemsize > _MAX_CHUNK_BYTES
            or math.prod(shape) * min(dtype.itemsize, 8) > room
        ):
            raise ValueError(f"column {name!r} claims more than the file can hold")


def read_hdf5(path: Path) -> Iterator[GameArrays]:
    """Read the games of a file, one at a time.

    Raises:
        RecordError: the file is damaged, or not one of ours.
    """
    with _opened(path) as file:
        if file is not None:
            moves = _read_moves(path, file, 0, file["moves"]["game"].shape[0])
            yield from columnar.assemble(path, _read_games(path, file), moves)


def hdf5_rows(path: Path) -> Iterator[GameRow]:
    """Read the table of games."""
    with _opened(path) as file:
        if file is not None:
            yield from _read_games(path, file)


def hdf5_game(path: Path, row: GameRow, number: int, start: int) -> GameArrays:
    """Read one game.

    Args:
        path: the file.
        row: its row in the table of games.
        number: its number, from 0.
        start: the number of its first row in the table of moves.
    """
    with _opened(path) as file:
        moves = _read_moves(path, file, start, start + row.plies)
        return next(columnar.assemble(path, [row], moves, first=number))


def _read_moves(path: Path, file: Any, begin: int, end: int) -> Iterator[MoveRows]:
    moves, games = file["moves"], file["games"]
    sizes, ends = games["rows"][:] * games["columns"][:], np.cumsum(games["plies"][:])
    total = min(end, moves["game"].shape[0])
    for start in range(begin, total, _READ_ROWS):
        rows = slice(start, min(start + _READ_ROWS, total))
        which = np.searchsorted(ends, np.arange(rows.start, rows.stop), side="right")
        if which.max(initial=0) >= sizes.size:
            raise RecordError(f"{path} has moves of games that its table of games does not know", path=path)
        cells = moves["cells"][rows]
        widths = np.clip(sizes[which], 0, 1 << 30).astype(np.int32)
        if widths.max(initial=0) > cells.shape[1]:
            raise RecordError(
                f"{path} has boards of {cells.shape[1]} cells; expected {widths.max()}", path=path
            )
        yield MoveRows(
            game=moves["game"][rows].astype(np.int64),
            ply=moves["ply"][rows].astype(np.int64),
            flat=cells[np.arange(cells.shape[1]) < widths[:, np.newaxis]].astype(np.uint8),
            widths=widths,
            directions=moves["direction"][rows].astype(np.uint8),
            scores=moves["score"][rows].astype(np.int64),
            values=moves["values"][rows].astype(np.float64),
            nodes=moves["nodes"][rows].astype(np.int64),
            depths=moves["depth"][rows].astype(np.int16),
        )


def _read_games(path: Path, file: Any) -> Iterator[GameRow]:
    games = file["games"]
    total = games["game"].shape[0]
    for start in range(0, total, _READ_ROWS):
        rows = slice(start, min(start + _READ_ROWS, total))
        numbers = [name for name in _GAME_NUMBERS if name in games or name not in columnar.OPTIONAL]
        others = (*columnar.GAME_SHAPE, "won", "has_seed", "seed")
        columns = {name: games[name][rows].tolist() for name in (*numbers, *others)}
        texts = {name: games[name].asstr()[rows].tolist() for name in _TEXTS if name in games}
        finals = games["final_cells"][rows].astype(np.uint8)
        for i in range(rows.stop - rows.start):
            info: dict[str, Any] = {name: column[i] or None for name, column in texts.items()}
            for name in numbers:
                number = columns[name][i]
                info[name] = None if name in OPTIONAL_NUMBERS and number == MISSING else number
            info["won"] = bool(columns["won"][i])
            info["seed"] = columns["seed"][i] if columns["has_seed"][i] else None
            shape = [columns[name][i] for name in columnar.GAME_SHAPE]
            final = finals[i, : shape[0] * shape[1]].tobytes()
            yield columnar.game_row(path, start + i, info, shape, final)
