"""Games as JSON: one line a game (``.jsonl``), or one array of such lines (``.json``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from game2048.direction import DIRECTIONS
from game2048.errors import RecordError
from recordings.datasets.formats import writing
from recordings.game_arrays import GameArrays, arrays_of, record_of, tiles_of
from recordings.jsonl import MAX_LINE_BYTES, read_records
from recordings.record import GameRecord, decode_record, encode_record

_NO_MOVES = b'"moves":[]'
_DIRECTION_TEXTS = [f'],"direction":"{direction.value}","score":' for direction in DIRECTIONS]


def line_of(game: GameArrays) -> bytes:
    """Encode a game as its line: `encode_record` of its record, without an object for every tile.

    Raises:
        RecordError: it would be longer than what is read again.
    """
    if game.plies == 0 or any(array is not None for array in (game.values, game.nodes, game.depths)):
        line = encode_record(record_of(game))
    else:
        # A text cannot hold the mark: its quotes would be escaped.
        whole = encode_record(_without_moves(game))
        head, tail = whole.rsplit(_NO_MOVES, 1)
        line = b"".join((head, b'"moves":[', _moves_text(game).encode(), b"]", tail))
    if len(line) > MAX_LINE_BYTES:
        raise RecordError(f"a game of {len(line)} bytes is too long; expected at most {MAX_LINE_BYTES}")
    return line


def _without_moves(game: GameArrays) -> GameRecord:
    return GameRecord(
        final_score=game.final_score,
        final_board=tiles_of(game.cells[-1]),
        moves=[],
        **msgspec.structs.asdict(game.info),
    )


def _moves_text(game: GameArrays) -> str:
    rows, columns = game.size
    # Boards repeat few rows: each distinct one is spelled once.
    wide = np.zeros((game.plies * rows, 8), dtype=np.uint8)
    wide[:, :columns] = game.cells[:-1].reshape(-1, columns)
    distinct, which = np.unique(wide.view(np.uint64)[:, 0], return_inverse=True)
    tiles = tiles_of(distinct[:, np.newaxis].view(np.uint8)[:, :columns])
    texts = ["[" + ",".join(map(str, row)) + "]" for row in tiles]
    spelled = [texts[i] for i in which.tolist()]
    boards = zip(*[iter(spelled)] * rows, strict=True)
    directions = [_DIRECTION_TEXTS[i] for i in game.directions.tolist()]
    moves = zip(boards, directions, game.scores.tolist(), strict=False)  # the last score is the final one
    return ",".join(
        [f'{{"board":[{",".join(board)}{direction}{score}}}' for board, direction, score in moves]
    )


# -- writing --------------------------------------------------------------------------------------------


class LinesWriter:
    """Writes a file of lines, which appears when it is closed."""

    opening, between, closing = b"", b"", b""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = writing.DraftFile(path)
        self._draft.file.write(self.opening)  # into its buffer
        self._count = 0

    def write(self, games: Sequence[GameArrays]) -> None:
        """Add games."""
        try:
            for game in games:
                if self._count:
                    self._draft.file.write(self.between)
                self._count += 1
                self._draft.file.write(self._text(game))
        except OSError as error:
            raise writing.unwritable(self._path, error) from error

    def _text(self, game: GameArrays) -> bytes:
        return line_of(game)

    def close(self) -> None:
        """Finish the file and let it appear."""
        try:
            self._draft.file.write(self.closing)
        except OSError as error:
            raise writing.unwritable(self._path, error) from error
        self._draft.publish()

    def discard(self) -> None:
        """Drop what was written."""
        self._draft.discard()


class ArrayWriter(LinesWriter):
    """Writes one JSON array, a game a line."""

    opening, between, closing = b"[\n", b",\n", b"\n]\n"

    def _text(self, game: GameArrays) -> bytes:
        return line_of(game).rstrip(b"\n")


# -- reading --------------------------------------------------------------------------------------------


def read_lines(path: Path) -> Iterator[GameArrays]:
    """Read the games of a file of lines; one cut off at the end is left out with a warning."""
    for number, record in enumerate(read_records(path, skip_torn=True), 1):
        yield _columns(path, number, record)


def read_json_array(path: Path) -> Iterator[GameArrays]:
    """Read the games of a JSON array: one at a time where each has a line, else all at once."""
    number = 0
    try:
        with path.open("rb") as file:
            if file.readline(8).strip() != b"[":
                yield from _read_whole(path)
                return
            while (line := file.readline(MAX_LINE_BYTES + 3).strip()) != b"]":
                try:
                    record = decode_record(line.removesuffix(b","))
                except RecordError as error:
                    if number == 0:
                        yield from _read_whole(path)
                        return
                    raise RecordError(f"{path}, game {number + 1}: {error}", path=path) from error
                number += 1
                yield _columns(path, number, record)
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror or error}", path=path) from error


def has_a_game_a_line(path: Path) -> bool:
    """Tell whether a JSON array is laid out as bot2048 writes it, with a line for each game."""
    try:
        with path.open("rb") as file:
            return file.readline(8).strip() == b"[" and file.readline(2).startswith((b"{", b"]"))
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror or error}", path=path) from error


def _read_whole(path: Path) -> Iterator[GameArrays]:
    try:
        games = msgspec.json.decode(path.read_bytes(), type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordError(f"{path} is not a JSON array of games: {error}", path=path) from error
    for number, game in enumerate(games, 1):
        try:
            record = decode_record(bytes(game))
        except RecordError as error:
            raise RecordError(f"{path}, game {number}: {error}", path=path) from error
        yield _columns(path, number, record)


def _columns(path: Path, number: int, record: GameRecord) -> GameArrays:
    try:
        return arrays_of(record)
    except RecordError as error:
        raise RecordError(f"{path}, game {number}: {error}", path=path) from error
