"""Games as Parquet: ``NAME.parquet`` with a row a move, and ``NAME.games.parquet`` with a row a game."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from game2048.direction import DIRECTIONS
from game2048.errors import RecordError
from game2048.size import MAX_SIDE
from recordings.datasets.formats import columnar, writing
from recordings.datasets.formats.columnar import (
    OPTIONAL,
    OPTIONAL_TEXTS,
    OUTCOMES,
    GameRow,
    MoveRows,
    MoveTable,
)
from recordings.game_arrays import GameArrays
from recordings.record import INFO_FIELDS

_READ_ROWS = 1 << 16
_DIRECTION_NAMES = [direction.value for direction in DIRECTIONS]

# Columns whose values repeat so much that a dictionary is smaller than they are.
_WITH_DICTIONARY = [
    "direction",
    "outcome",
    "legal",
    "cells.list.element",
    "afterstate_cells.list.element",
    "spawn_cell",
    "spawn_exponent",
    "reward",
    "game",
    "final_score",
    "max_tile",
    "depth",
]


def _arrow() -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise writing.missing_extra("Parquet files", "pyarrow") from error
    return pyarrow, pyarrow.parquet


def move_schema() -> Any:
    """Return the columns of the table of moves."""
    pa, _ = _arrow()
    cells = pa.list_(pa.field("element", pa.uint8(), nullable=False))
    values = pa.list_(pa.field("element", pa.float64(), nullable=False), 4)
    kinds = {
        "game": pa.int64(),
        "ply": pa.int32(),
        "board": pa.uint64(),
        "cells": cells,
        "direction": pa.string(),
        "legal": pa.uint8(),
        "reward": pa.int64(),
        "score": pa.int64(),
        "afterstate": pa.uint64(),
        "afterstate_cells": cells,
        "spawn_cell": pa.int8(),
        "spawn_exponent": pa.uint8(),
        "values": values,
        "nodes": pa.int64(),
        "depth": pa.int16(),
        "return_to_go": pa.int64(),
        "final_score": pa.int64(),
        "max_tile": pa.int64(),
        "outcome": pa.string(),
    }
    return pa.schema([pa.field(name, kind, nullable=name == "outcome") for name, kind in kinds.items()])


def game_schema() -> Any:
    """Return the columns of the table of games."""
    pa, _ = _arrow()
    texts = {"timestamp", *OPTIONAL_TEXTS}
    fields = [pa.field("game", pa.int64(), nullable=False)]
    for name in INFO_FIELDS:
        kind = (
            pa.string() if name in texts else {"won": pa.bool_(), "seed": pa.uint64()}.get(name, pa.int64())
        )
        fields.append(pa.field(name, kind, nullable=name in OPTIONAL))
    fields += [pa.field(name, pa.int64(), nullable=False) for name in columnar.GAME_SHAPE]
    return pa.schema([*fields, pa.field("final_cells", pa.list_(pa.uint8()), nullable=False)])


class ParquetWriter:
    """Writes both files; they appear when it is closed."""

    def __init__(self, path: Path) -> None:
        _arrow()
        self._pair = writing.Pair(path)
        self._batcher = writing.Batcher(self._write_batch)
        self._drafts = [writing.DraftFile(file) for file in (self._pair.games, self._pair.moves)]
        self._games = self._open(self._drafts[0], game_schema(), True)
        self._moves = self._open(self._drafts[1], move_schema(), _WITH_DICTIONARY)

    @staticmethod
    def _open(draft: writing.DraftFile, schema: Any, with_dictionary: Any) -> Any:
        _, pq = _arrow()
        return pq.ParquetWriter(
            draft.file,
            schema,
            compression="zstd",
            use_dictionary=with_dictionary,
            write_statistics=["game", "ply", "score", "final_score", "max_tile"],
        )

    def write(self, games: Sequence[GameArrays]) -> None:
        """Add games."""
        self._batcher.add(games)

    def _write_batch(self, games: Sequence[GameArrays], first: int) -> None:
        pa, _ = _arrow()
        try:
            self._moves.write_table(_arrow_moves(columnar.move_table(games, first)))
            self._games.write_table(_arrow_games(columnar.game_rows(games), first))
        except OSError as error:
            raise writing.unwritable(self._pair.moves, error) from error
        except (pa.ArrowException, OverflowError) as error:
            raise RecordError(
                f"{self._pair.moves} cannot hold these games: {error}", path=self._pair.moves
            ) from error

    def close(self) -> None:
        """Finish both files and let them appear."""
        self._batcher.flush()
        try:
            self._moves.close()
            self._games.close()
        except OSError as error:
            raise writing.unwritable(self._pair.moves, error) from error
        for draft in self._drafts:
            draft.publish()

    def discard(self) -> None:
        """Drop what was written."""
        for writer in (self._moves, self._games):
            with contextlib.suppress(OSError):  # it has a footer to write
                writer.close()
        for draft in self._drafts:
            draft.discard()


def _lists(boards: npt.NDArray[np.uint8], widths: npt.NDArray[np.int32]) -> Any:
    pa, _ = _arrow()
    offsets = np.zeros(widths.size + 1, dtype=np.int32)
    np.cumsum(widths, out=offsets[1:])
    element = pa.field("element", pa.uint8(), nullable=False)
    return pa.ListArray.from_arrays(offsets, pa.array(boards.reshape(-1)), type=pa.list_(element))


def _texts(names: Sequence[str], codes: npt.NDArray[Any]) -> Any:
    pa, _ = _arrow()
    return pa.array(names, pa.string()).take(pa.array(codes, mask=codes < 0))


def _arrow_moves(table: MoveTable) -> Any:
    pa, _ = _arrow()
    schema = move_schema()
    arrays = []
    for field in schema:
        if field.name == "cells":
            array = _lists(table.cells, table.widths)
        elif field.name == "afterstate_cells":
            array = _lists(table.after, table.widths)
        elif field.name == "values":
            array = pa.FixedSizeListArray.from_arrays(
                pa.array(table.columns["values"].reshape(-1)), type=field.type
            )
        elif field.name == "direction":
            array = _texts(_DIRECTION_NAMES, table.columns["direction"].astype(np.int8))
        elif field.name == "outcome":
            array = _texts(OUTCOMES, table.columns["outcome"])
        else:
            array = pa.array(table.columns[field.name], field.type)
        arrays.append(array)
    return pa.Table.from_arrays(arrays, schema=schema)


def _arrow_games(rows: Sequence[GameRow], first: int) -> Any:
    pa, _ = _arrow()
    listed = [
        {
            "game": number,
            **columnar.fields_of(row.info),
            **{name: getattr(row, name) for name in columnar.GAME_SHAPE},
            "final_cells": list(row.final_cells),
        }
        for number, row in enumerate(rows, first)
    ]
    return pa.Table.from_pylist(listed, schema=game_schema())


# -- reading --------------------------------------------------------------------------------------------


_DAMAGE = (OSError, ValueError, TypeError, KeyError, IndexError, OverflowError, MemoryError)
_MAX_RATIO = 5000  # zstd and runs of equal values shrink columns this far


@contextlib.contextmanager
def _opened(path: Path, names: Sequence[str]) -> Iterator[Any]:
    """Open a Parquet file that has these columns."""
    pa, pq = _arrow()
    limits = {"thrift_string_size_limit": 1 << 24, "thrift_container_size_limit": 1 << 20}
    try:
        with pq.ParquetFile(path, **limits) as file:
            _check_columns(path, file, names)
            yield file
    except (pa.ArrowException, *_DAMAGE) as error:
        reason = " ".join(str(error).split())
        raise RecordError(f"{path} cannot be read as Parquet: {reason}", path=path) from error


def _check_columns(path: Path, file: Any, names: Sequence[str]) -> None:
    """Make sure that the columns are there, and claim no more than a file of this size can hold."""
    missing = [name for name in names if name not in file.schema_arrow.names]
    if missing:
        raise RecordError(
            f"{path} has no column {missing[0]!r}; expected the tables that `bot2048 records export` writes",
            path=path,
        )
    room = path.stat().st_size * _MAX_RATIO
    for group in range(file.metadata.num_row_groups):
        meta = file.metadata.row_group(group)
        for place in range(meta.num_columns):
            column = meta.column(place)
            listed = MAX_SIDE * MAX_SIDE if "." in column.path_in_schema else 1
            if not 0 <= column.num_values <= min(listed * max(meta.num_rows, 0), room) or not (
                0 <= column.total_uncompressed_size <= room
            ):
                raise ValueError(f"column {column.path_in_schema!r} claims more than the file can hold")


def read_parquet(path: Path) -> Iterator[GameArrays]:
    """Read the games of both files, one at a time.

    Raises:
        RecordError: a file is damaged, or not one of ours.
    """
    with _opened(path, _MOVE_COLUMNS) as moves:
        yield from columnar.assemble(path, parquet_rows(path), _read_moves(moves))


def parquet_rows(path: Path) -> Iterator[GameRow]:
    """Read the table of games."""
    pair = writing.Pair(path)
    pair.require()
    with _opened(pair.games, _NEEDED_OF_GAMES) as games:
        yield from _read_games(pair.games, games)


def parquet_game(path: Path, row: GameRow, number: int, start: int) -> GameArrays:
    """Read one game; only the row groups that it lies in are read.

    Args:
        path: the file of moves.
        row: its row in the table of games.
        number: its number, from 0.
        start: the number of its first row in the table of moves.
    """
    with _opened(path, _MOVE_COLUMNS) as moves:
        begin, groups = 0, []
        skipped = 0
        for group in range(moves.metadata.num_row_groups):
            end = begin + moves.metadata.row_group(group).num_rows
            if end <= start:
                skipped = end
            elif begin < start + row.plies:
                groups.append(group)
            begin = end
        mine = _between(_read_moves(moves, groups), start - skipped, row.plies)
        return next(columnar.assemble(path, [row], mine, first=number))


def _between(moves: Iterator[MoveRows], skip: int, count: int) -> Iterator[MoveRows]:
    """Yield some rows of the table of moves."""
    for piece in moves:
        rest = piece.take(min(skip, piece.count))[1]
        skip -= piece.count - rest.count
        yield rest.take(min(count, rest.count))[0]
        count -= min(count, rest.count)


_MOVE_COLUMNS = ("game", "ply", "cells", "direction", "score", "values", "nodes", "depth")
_NEEDED_OF_GAMES = [
    *(name for name in INFO_FIELDS if name not in OPTIONAL),
    *(*columnar.GAME_SHAPE, "final_cells"),
]


def _read_moves(file: Any, groups: Sequence[int] | None = None) -> Iterator[MoveRows]:
    pa, _ = _arrow()
    schema = move_schema()
    names = pa.array(_DIRECTION_NAMES)
    for batch in file.iter_batches(_READ_ROWS, row_groups=groups, columns=list(_MOVE_COLUMNS)):
        columns = {name: batch.column(name).cast(schema.field(name).type) for name in _MOVE_COLUMNS}
        codes = pa.compute.index_in(columns["direction"], names).fill_null(255)
        cells, values = columns["cells"], columns["values"]
        yield MoveRows(
            game=columns["game"].to_numpy(),
            ply=columns["ply"].to_numpy().astype(np.int64),
            flat=cells.flatten().to_numpy(),
            widths=np.diff(cells.offsets.to_numpy()).astype(np.int32),
            directions=codes.to_numpy().astype(np.uint8),
            scores=columns["score"].to_numpy(),
            values=values.flatten().to_numpy().reshape(-1, 4),
            nodes=columns["nodes"].to_numpy(),
            depths=columns["depth"].to_numpy(),
        )


def _read_games(path: Path, file: Any) -> Iterator[GameRow]:
    there = file.schema_arrow.names
    fields = [name for name in INFO_FIELDS if name in there or name not in OPTIONAL]
    names = [*fields, *columnar.GAME_SHAPE, "final_cells"]
    number = 0
    for batch in file.iter_batches(_READ_ROWS, columns=names):
        for row in batch.to_pylist():
            info = {name: row[name] for name in fields}
            shape = (row[name] for name in columnar.GAME_SHAPE)
            yield columnar.game_row(path, number, info, shape, bytes(row["final_cells"] or ()))
            number += 1
