"""Find any game of a file at once: what its games are, and one game by its number.

Lines of JSON are indexed by their offsets, and only what was added since the last look is read. The other
formats have a table of games; one game is then read by its place. A journal is a file of one game.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from game2048.board import Board
from game2048.errors import RecordError, RulesError
from game2048.size import Size
from recordings.datasets.dataset_file import games_file, read_games
from recordings.datasets.formats import chunks, csv_text, hdf5, json_text, parquet
from recordings.datasets.formats.columnar import GameRow
from recordings.game_arrays import GameArrays, arrays_of
from recordings.journal_contents import JOURNAL_SUFFIX
from recordings.jsonl import MAX_LINE_BYTES, UTF8_MARK
from recordings.record import GameInfo, Tiles, decode_record
from recordings.recovery import read_journal


class GameHead(NamedTuple):
    """What a list of games shows of one.

    Attributes:
        info: all that is recorded beside boards, moves and scores.
        final_score: the score after the last move.
        size: rows and columns of the board.
    """

    info: GameInfo
    final_score: int
    size: Size


class GameIndex(ABC):
    """The games of one file, numbered from 0. Make one with `open_index`; not for use by several threads.

    Attributes:
        path: the file.
        fault: why the games end early, where one cannot be read; ``None`` when all can.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fault: RecordError | None = None
        self._heads: list[GameHead] = []
        self._stamp: tuple[int, ...] | None = None

    def heads(self) -> list[GameHead]:
        """Return what the games of the file are, the latest state of it; the list is shared.

        Raises:
            RecordError: the file cannot be read.
        """
        try:
            status = self.path.stat()
            stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            if stamp != self._stamp:
                before, self._stamp = self._stamp, None
                grown = before is not None and before[:2] == stamp[:2] and before[2] <= stamp[2]
                self.fault = None
                self._scan(grown)
                self._stamp = stamp
        except OSError as error:
            raise _unreadable(self.path, error) from error
        return self._heads

    def game(self, number: int) -> GameArrays:
        """Return one game; every ply of it is at hand by its index.

        Args:
            number: the number of the game, from 0.

        Raises:
            RecordError: there is no such game, or it cannot be read.
        """
        count = len(self.heads())
        if not 0 <= number < count:
            raise self.fault or RecordError(
                f"{self.path} has no game {number + 1}; expected 1 to {count}", path=self.path
            )
        try:
            return self._read(number)
        except OSError as error:
            raise _unreadable(self.path, error) from error

    @abstractmethod
    def _scan(self, grown: bool) -> None:
        """Bring ``_heads`` up to date; ``grown``: the same file, which only became longer."""

    @abstractmethod
    def _read(self, number: int) -> GameArrays:
        """Read a game that is there."""


def _unreadable(path: Path, error: OSError) -> RecordError:
    return RecordError(f"{path} cannot be read: {error.strerror or error}", path=path)


class _LineHead(GameInfo, frozen=True, rename="camel", kw_only=True):
    """A line without its moves, which are passed over."""

    final_score: int
    final_board: Tiles


_decode_head = msgspec.json.Decoder(_LineHead).decode
_DAMAGED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, RulesError)


class _LinesIndex(GameIndex):
    """Lines of JSON: ``games.jsonl``, or a JSON array with a game a line."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._places: list[tuple[int, int]] = []
        self._end = 0
        self._lines = 0

    def _scan(self, grown: bool) -> None:
        if not grown:
            self._heads, self._places, self._end, self._lines = [], [], 0, 0
        with self.path.open("rb") as file:
            file.seek(self._end)
            while self.fault is None and (line := file.readline(MAX_LINE_BYTES + 1)):
                if not line.endswith(b"\n") and len(line) <= MAX_LINE_BYTES and not self._is_whole(line):
                    break  # cut off, or still being written
                self._take(line)

    def _is_whole(self, line: bytes) -> bool:
        try:
            _decode_head(_text_of(line))
        except _DAMAGED:
            return False
        return True

    def _take(self, line: bytes) -> None:
        self._lines += 1
        text = _text_of(line)
        if text:
            try:
                head = _decode_head(text)
                board = Board.from_tiles(head.final_board)
            except _DAMAGED as error:
                self.fault = RecordError(
                    f"{self.path}, line {self._lines}: {error}", path=self.path, line=self._lines
                )
                return
            self._heads.append(GameHead(_info_of(head), head.final_score, Size(board.rows, board.columns)))
            self._places.append((self._end, len(line)))
        self._end += len(line)

    def _read(self, number: int) -> GameArrays:
        offset, length = self._places[number]
        with self.path.open("rb") as file:
            file.seek(offset)
            line = file.read(length)
        try:
            return arrays_of(decode_record(_text_of(line)))
        except RecordError as error:
            raise RecordError(f"{self.path}, game {number + 1}: {error}", path=self.path) from error


def _text_of(line: bytes) -> bytes:
    """Return the object of a line; empty for the brackets of an array."""
    text = line.removeprefix(UTF8_MARK).strip().removesuffix(b",")
    return b"" if text in (b"[", b"]") else text


def _info_of(head: _LineHead) -> GameInfo:
    return GameInfo(**{name: getattr(head, name) for name in GameInfo.__struct_fields__})


class _TablesIndex(GameIndex):
    """Formats with a table of games."""

    def __init__(
        self,
        path: Path,
        rows: Callable[[Path], Iterator[GameRow]],
        read: Callable[[Path, GameRow, int, int], GameArrays],
    ) -> None:
        super().__init__(path)
        self._rows_of, self._game_of = rows, read
        self._rows: list[GameRow] = []
        self._starts: list[int] = []

    def _scan(self, grown: bool) -> None:
        self._heads, self._rows, self._starts = [], [], []
        start = 0
        for row in self._rows_of(self.path):
            self._rows.append(row)
            self._starts.append(start)
            self._heads.append(GameHead(row.info, row.final_score, Size(row.rows, row.columns)))
            start += row.plies

    def _read(self, number: int) -> GameArrays:
        return self._game_of(self.path, self._rows[number], number, self._starts[number])


def _csv_game(path: Path, row: GameRow, number: int, start: int) -> GameArrays:
    """Return a game of a CSV file: all lines before it are read too."""
    return next(islice(read_games(path), number, None))


class _PartIndex(GameIndex):
    """A working file: games in chunks."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._places: list[tuple[int, int]] = []

    def _scan(self, grown: bool) -> None:
        self._heads, self._places = [], []
        for begin, chunk in chunks.read_chunk_places(self.path):
            for place, game in enumerate(chunk.games):
                self._heads.append(GameHead(game.info, game.final_score, game.size))
                self._places.append((begin, place))

    def _read(self, number: int) -> GameArrays:
        begin, place = self._places[number]
        return chunks.read_chunk_at(self.path, begin).games[place]


class _SequentialIndex(GameIndex):
    """A file that is only read from its beginning, such as one JSON array in any layout."""

    def __init__(self, path: Path, read: Callable[[Path], Iterator[GameArrays]]) -> None:
        super().__init__(path)
        self._games_of = read

    def _scan(self, grown: bool) -> None:
        self._heads = [GameHead(game.info, game.final_score, game.size) for game in self._games_of(self.path)]

    def _read(self, number: int) -> GameArrays:
        return next(islice(self._games_of(self.path), number, None))


def _journal_game(path: Path) -> Iterator[GameArrays]:
    yield arrays_of(read_journal(path))


def _json_index(path: Path) -> GameIndex:
    if json_text.has_a_game_a_line(path):
        return _LinesIndex(path)
    return _SequentialIndex(path, json_text.read_json_array)


_INDICES: dict[str, Callable[[Path], GameIndex]] = {
    ".jsonl": _LinesIndex,
    ".json": _json_index,
    ".csv": lambda path: _TablesIndex(path, csv_text.csv_rows, _csv_game),
    ".parquet": lambda path: _TablesIndex(path, parquet.parquet_rows, parquet.parquet_game),
    ".h5": lambda path: _TablesIndex(path, hdf5.hdf5_rows, hdf5.hdf5_game),
    ".hdf5": lambda path: _TablesIndex(path, hdf5.hdf5_rows, hdf5.hdf5_game),
    chunks.PART_SUFFIX: _PartIndex,
    JOURNAL_SUFFIX: lambda path: _SequentialIndex(path, _journal_game),
}


def open_index(path: str | Path) -> GameIndex:
    """Return the index of a file of games, a run folder, or the journal of a game.

    Raises:
        RecordError: there is no such file, or its extension is not known.
    """
    file = games_file(Path(path))
    try:
        return _INDICES[file.suffix.lower()](file)
    except KeyError:
        known = ", ".join(_INDICES)
        raise RecordError(
            f"{file}: the extension {file.suffix!r} is not known; expected one of {known}", path=file
        ) from None
