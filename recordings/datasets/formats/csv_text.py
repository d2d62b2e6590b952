"""Games as CSV: ``NAME.csv`` with a row a move, and ``NAME.games.csv`` with a row a game.

Boards are texts as `Board.text` writes them, directions are names, and what is missing is an empty field.
"""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from game2048.board import Board
from game2048.direction import DIRECTIONS, Direction
from game2048.errors import RecordError, RulesError
from recordings.datasets.formats import columnar, writing
from recordings.datasets.formats.columnar import OUTCOMES, GameRow, MoveRows, MoveTable
from recordings.game_arrays import MISSING, GameArrays, tiles_of
from recordings.record import GameInfo

_READ_ROWS = 1 << 13
_NAMES = [direction.value for direction in DIRECTIONS]
_VALUE_COLUMNS = [f"value_{name}" for name in _NAMES]
MOVE_COLUMNS = [
    *("game", "ply", "board", "direction", "legal", "reward", "score", "afterstate"),
    *("spawn_cell", "spawn_tile", *_VALUE_COLUMNS, "nodes", "depth", "return_to_go"),
    *("final_score", "max_tile", "outcome"),
]
GAME_COLUMNS = ["game", *GameInfo.__struct_fields__, "plies", "final_score", "final_board"]
_LEGAL_TEXTS = [" ".join(name for i, name in enumerate(_NAMES) if mask >> i & 1) for mask in range(16)]
_BOOLEANS = {"true": True, "false": False}


class CsvWriter:
    """Writes both files; they appear when it is closed."""

    def __init__(self, path: Path) -> None:
        self._pair = writing.Pair(path)
        self._batcher = writing.Batcher(self._write_batch)
        self._drafts = [writing.DraftFile(file) for file in (self._pair.games, self._pair.moves)]
        self._games_file, self._moves_file = (
            io.TextIOWrapper(draft.file, encoding="utf-8", newline="") for draft in self._drafts
        )
        self._moves = csv.writer(self._moves_file, lineterminator="\n")
        self._games = csv.writer(self._games_file, lineterminator="\n")
        self._moves.writerow(MOVE_COLUMNS)
        self._games.writerow(GAME_COLUMNS)

    def write(self, games: Sequence[GameArrays]) -> None:
        """Add games."""
        self._batcher.add(games)

    def _write_batch(self, games: Sequence[GameArrays], first: int) -> None:
        try:
            self._moves.writerows(_move_lines(games, columnar.move_table(games, first)))
            self._games.writerows(
                _game_line(row, number) for number, row in enumerate(columnar.game_rows(games), first)
            )
        except OSError as error:
            raise writing.unwritable(self._pair.moves, error) from error
        except UnicodeEncodeError as error:
            raise RecordError(
                f"{self._pair.moves} cannot hold these games: {error}", path=self._pair.moves
            ) from error

    def close(self) -> None:
        """Finish both files and let them appear."""
        self._batcher.flush()
        for file, draft in zip((self._games_file, self._moves_file), self._drafts, strict=True):
            try:
                file.flush()
            except OSError as error:
                raise writing.unwritable(self._pair.moves, error) from error
            draft.publish()

    def discard(self) -> None:
        """Drop what was written."""
        for draft in self._drafts:
            draft.discard()


def _move_lines(games: Sequence[GameArrays], table: MoveTable) -> Iterable[Sequence[Any]]:
    columns = table.columns
    spawns = columns["spawn_exponent"]
    texts: dict[str, list[Any]] = {
        **{name: column.tolist() for name, column in columns.items() if name != "values"},
        "board": [text for game in games for text in _board_texts(game.cells[:-1])],
        "afterstate": [text for boards in _afterstates(games, table) for text in _board_texts(boards)],
        "direction": [_NAMES[i] for i in columns["direction"].tolist()],
        "legal": [_LEGAL_TEXTS[mask] for mask in columns["legal"].tolist()],
        "reward": _or_empty(columns["reward"]),
        "spawn_cell": _or_empty(columns["spawn_cell"]),
        "spawn_tile": [1 << e if e else "" for e in spawns.tolist()],
        "nodes": _or_empty(columns["nodes"]),
        "depth": _or_empty(columns["depth"]),
        "outcome": [OUTCOMES[code] if code >= 0 else "" for code in columns["outcome"].tolist()],
    }
    for i, name in enumerate(_VALUE_COLUMNS):
        texts[name] = ["" if value != value else repr(value) for value in columns["values"][:, i].tolist()]
    return zip(*(texts[name] for name in MOVE_COLUMNS), strict=True)


def _afterstates(games: Sequence[GameArrays], table: MoveTable) -> Iterator[npt.NDArray[np.uint8]]:
    flat = table.after.reshape(-1)
    at = 0
    for game in games:
        shape = (game.plies, *game.size)
        size = game.plies * game.cells[0].size
        yield flat[at : at + size].reshape(shape)
        at += size


def _board_texts(cells: npt.NDArray[np.uint8]) -> Iterator[str]:
    for board in tiles_of(cells):
        yield " / ".join(" ".join(map(str, row)) for row in board)


def _or_empty(column: npt.NDArray[Any]) -> list[Any]:
    return ["" if number == MISSING else number for number in column.tolist()]


def _game_line(row: GameRow, number: int) -> list[Any]:
    infos = columnar.fields_of(row.info).values()
    board = Board(row.rows, row.columns, row.final_cells).text()
    return [number, *(_game_field(value) for value in infos), row.plies, row.final_score, board]


def _game_field(value: Any) -> Any:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value


# -- reading --------------------------------------------------------------------------------------------


def read_csv(path: Path) -> Iterator[GameArrays]:
    """Read the games of both files, one at a time."""
    pair = writing.Pair(path)
    with _opened(pair.moves) as moves:
        yield from columnar.assemble(path, csv_rows(path), _read_moves(path, moves))


def csv_rows(path: Path) -> Iterator[GameRow]:
    """Read the table of games."""
    pair = writing.Pair(path)
    pair.require()
    with _opened(pair.games) as games:
        yield from _read_games(pair.games, games)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield file
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RecordError(f"{path} cannot be read as CSV: {error}", path=path) from error


def _rows(path: Path, file: Any, expected: Sequence[str]) -> Iterator[list[str]]:
    """Yield the rows, with the fields in the order of ``expected``; empty where a column may be missing."""
    reader = csv.reader(file)
    header = next(reader, [])
    missing = [name for name in expected if name not in header and name not in columnar.OPTIONAL]
    if missing:
        raise RecordError(
            f"{path} has no column {missing[0]!r}; expected the tables that `bot2048 records export` writes",
            path=path,
        )
    places = [header.index(name) if name in header else -1 for name in expected]
    for row in reader:
        if len(row) != len(header):
            raise RecordError(
                f"{path}, line {reader.line_num}: {len(row)} fields; expected {len(header)} as in the header",
                path=path,
                line=reader.line_num,
            )
        yield [row[place] if place >= 0 else "" for place in places]


_READ = ("game", "ply", "board", "direction", "score", "nodes", "depth", *_VALUE_COLUMNS)


def _read_moves(path: Path, file: Any) -> Iterator[MoveRows]:
    rows = _rows(path, file, _READ)
    line = 1
    while piece := list(islice(rows, _READ_ROWS)):
        try:
            yield _move_rows(piece)
        except (ValueError, OverflowError, TypeError) as error:
            raise RecordError(
                f"{path}, in lines {line + 1} to {line + len(piece)}: {error}; expected a row a move",
                path=path,
                line=line + 1,
            ) from error
        line += len(piece)


def _move_rows(piece: list[list[str]]) -> MoveRows:
    game, ply, board, direction, score, nodes, depth, *values = zip(*piece, strict=True)
    boards = [Board.from_text(text).cells for text in board]
    return MoveRows(
        game=np.array(game, dtype=np.int64),
        ply=np.array(ply, dtype=np.int64),
        flat=np.frombuffer(b"".join(boards), dtype=np.uint8),
        widths=np.array([len(cells) for cells in boards], dtype=np.int32),
        directions=np.array([Direction.parse(name).index for name in direction], dtype=np.uint8),
        scores=np.array(score, dtype=np.int64),
        values=np.array([[float(text or "nan") for text in column] for column in values]).T.copy(),
        nodes=np.array([text or MISSING for text in nodes], dtype=np.int64),
        depths=np.array([text or MISSING for text in depth], dtype=np.int16),
    )


def _read_games(path: Path, file: Any) -> Iterator[GameRow]:
    fields = GameInfo.__struct_fields__
    for number, line in enumerate(_rows(path, file, GAME_COLUMNS)):
        row = dict(zip(GAME_COLUMNS, line, strict=True))
        try:
            board = Board.from_text(row["final_board"])
            info = {name: _parsed(name, row[name]) for name in fields}
            shape = (board.rows, board.columns, int(row["plies"]), int(row["final_score"]))
        except (RulesError, ValueError) as error:
            raise RecordError(f"{path}, game {number + 1}: {error}", path=path) from error
        yield columnar.game_row(path, number, info, shape, board.cells)


_TEXTS = {"timestamp", *columnar.OPTIONAL_TEXTS}


def _parsed(name: str, text: str) -> Any:
    if name in _TEXTS:
        return text or None
    if text == "":
        return None
    return _BOOLEANS.get(text.lower(), text) if name == "won" else int(text)
