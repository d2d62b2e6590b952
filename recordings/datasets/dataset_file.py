"""Datasets: files of games in any format, read and written a game at a time.

The format follows from the extension: ``.jsonl``, ``.json``, ``.csv``, ``.parquet``, ``.h5``; a folder means
its ``games.jsonl``. `GameArrays` is what all of them hold, so that converting between them loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol

from game2048.errors import RecordError
from recordings.datasets.formats import chunks, csv_text, hdf5, json_text, parquet, writing
from recordings.game_arrays import GameArrays
from recordings.jsonl import GAMES_FILE, prepare_folder


class GameWriter(Protocol):
    """A file in the making; it appears under its name when it is closed, whole or not at all."""

    def write(self, games: Sequence[GameArrays]) -> None:
        """Add games."""
        ...

    def close(self) -> None:
        """Finish the file and let it appear."""
        ...

    def discard(self) -> None:
        """Drop what was written."""
        ...


class Format(NamedTuple):
    """One format.

    Attributes:
        read: the games of a file.
        create: a writer.
        paired: whether the table of games is a file of its own beside it.
    """

    read: Callable[[Path], Iterator[GameArrays]]
    create: Callable[[Path], GameWriter]
    paired: bool = False


FORMATS: dict[str, Format] = {
    ".jsonl": Format(json_text.read_lines, json_text.LinesWriter),
    ".json": Format(json_text.read_json_array, json_text.ArrayWriter),
    ".csv": Format(csv_text.read_csv, csv_text.CsvWriter, paired=True),
    ".parquet": Format(parquet.read_parquet, parquet.ParquetWriter, paired=True),
    ".h5": Format(hdf5.read_hdf5, hdf5.Hdf5Writer),
}
"""The formats by extension."""

READABLE_FORMATS = FORMATS | {
    ".hdf5": FORMATS[".h5"],
    chunks.PART_SUFFIX: Format(chunks.read_part, chunks.PartWriter),
}


def format_of(path: Path, *, to_write: bool = False) -> Format:
    """Return the format of a file by its extension.

    Raises:
        RecordError: the extension is unknown.
    """
    known = FORMATS if to_write else READABLE_FORMATS
    try:
        return known[path.suffix.lower()]
    except KeyError:
        raise RecordError(
            f"{path}: the extension {path.suffix!r} is not known; expected one of {', '.join(FORMATS)}",
            path=path,
        ) from None


def games_file(path: Path) -> Path:
    """Return the file of games that a path stands for: itself, or ``games.jsonl`` of a run folder.

    Raises:
        RecordError: the file does not exist.
    """
    file = path / GAMES_FILE if path.is_dir() else path
    if not file.exists():
        kind = "a run folder with it" if path.is_dir() else "a file of games or a run folder"
        raise RecordError(f"{file} does not exist; expected {kind}", path=file)
    return file


def read_games(path: str | Path) -> Iterator[GameArrays]:
    """Read the games of a file or run folder, one at a time.

    Raises:
        RecordError: the file cannot be read, or holds what is not a game; names file, game and fault.
    """
    file = games_file(Path(path))
    yield from format_of(file).read(file)


def check_free(path: Path, *, force: bool) -> None:
    """Make sure that nothing is overwritten unasked.

    Raises:
        RecordError: a file of the dataset is there and ``force`` is not given.
    """
    paired = format_of(path, to_write=True).paired
    for file in (path, *((writing.Pair(path).games,) if paired else ())):
        if file.exists() and not force:
            raise RecordError(f"{file} exists; expected a new name, or --force to overwrite it", path=file)


class Creation:
    """A writer as a context: closed at its end, discarded when it is left by an exception."""

    def __init__(self, path: Path, *, force: bool = False) -> None:
        check_free(path, force=force)
        prepare_folder(path.parent)
        self._writer = format_of(path, to_write=True).create(path)

    def __enter__(self) -> GameWriter:
        return self._writer

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        closed = False
        try:
            if error is None:
                self._writer.close()
                closed = True
        finally:
            if not closed:
                self._writer.discard()


def write_games(path: str | Path, games: Iterable[GameArrays], *, force: bool = False) -> int:
    """Write games to a file, a game at a time.

    Args:
        path: its extension names the format; the folder is made when missing.
        games: any iterable of them.
        force: overwrite an existing file.

    Returns:
        How many games were written.

    Raises:
        RecordError: the file exists or cannot be written; nothing is left of it then.
    """
    count = 0
    with Creation(Path(path), force=force) as writer:
        for game in games:
            writer.write([game])
            count += 1
    return count
