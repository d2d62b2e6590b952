"""A dataset file that grows game by game, in the order of its run, and survives a kill at any moment.

Lines of JSON are appended to the file itself. The other formats are readable only once they are finished, so
their games go to a working file first (``NAME.part``, `recordings.datasets.formats.chunks`), from which the
file is written at the end; then the working file is removed. Games that are finished before their turn wait
in ``NAME.ahead``. The writer holds a lock on that file, since a second program would write to it first.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Literal

from game2048.errors import RecordError
from recordings.datasets import dataset_file
from recordings.datasets.formats import chunks, json_text, writing
from recordings.datasets.formats.chunks import Chunk, SpoolWriter
from recordings.game_arrays import GameArrays
from recordings.jsonl import LINES_SUFFIX, mend_tail, prepare_folder, write_whole
from recordings.locks import is_open_at, lock

AHEAD_SUFFIX = ".ahead"

Mode = Literal["new", "overwrite", "resume"]

_SYNC_SECONDS = 1.0


def working_files(path: Path) -> tuple[Path, Path]:
    """Return where the games of an unfinished dataset are: those in order, and those before their turn."""
    return path.with_name(path.name + chunks.PART_SUFFIX), path.with_name(path.name + AHEAD_SUFFIX)


class GrowingDataset:
    """A dataset in the making; use it as a context, which leaves everything on disk for a later ``resume``.

    Args:
        path: of the finished file; its extension names the format.
        mode: ``new`` refuses what is there, finished or not; ``overwrite`` drops it; ``resume`` continues it.

    Raises:
        RecordError: a file is in the way, another program writes the dataset, or it cannot be written.

    Attributes:
        path: of the finished file.
    """

    def __init__(self, path: Path, mode: Mode) -> None:
        self.path = path
        self._part, self._ahead_path = working_files(path)
        self._resumes = mode == "resume"
        dataset_file.format_of(path, to_write=True)
        prepare_folder(path.parent)
        if mode == "new":
            self._refuse_what_is_there()
        self._lock = _locked(self._ahead_path)
        self._lines: IO[bytes] | None = None
        self._spool: SpoolWriter | None = None
        self._ahead: SpoolWriter | None = None
        self._synced = 0.0
        if mode == "overwrite":
            self._part.unlink(missing_ok=True)
            os.truncate(self._ahead_path, 0)
            if self._in_lines:
                path.unlink(missing_ok=True)

    @property
    def _in_lines(self) -> bool:
        return self.path.suffix.lower() == LINES_SUFFIX

    def _refuse_what_is_there(self) -> None:
        dataset_file.check_free(self.path, force=False)
        if self._part.exists() or self._ahead_path.exists():
            raise RecordError(
                f"{self.path} was begun and not finished; expected --resume to continue it, "
                "or --force to drop it",
                path=self.path,
            )

    # -- what is there -------------------------------------------------------------------------------------

    def games(self) -> Iterator[GameArrays]:
        """Yield the games that are there, in order; read them before the first `append`."""
        if self._part.exists():
            yield from chunks.read_part(self._part)
        elif self._resumes and self.path.exists():
            yield from dataset_file.read_games(self.path)

    def waiting(self) -> dict[int, Chunk]:
        """Return the chunks that were finished before their turn, by the number of their first game."""
        if chunks.has_no_chunks(self._ahead_path):
            return {}
        return {chunk.first: chunk for chunk in chunks.read_chunks(self._ahead_path)}

    # -- growing -------------------------------------------------------------------------------------------

    def append(self, chunk: Chunk) -> None:
        """Add games whose turn it is; they survive a kill from now on."""
        if self._in_lines:
            self._append_lines(chunk.games)
        elif chunk.games:
            if self._spool is None:
                self._adopt_finished_file()
                self._spool = _reopened(self._part)
            self._spool.append(chunks.encode_chunk(chunk))

    def _adopt_finished_file(self) -> None:
        """Make a working file of a finished dataset that is to grow on."""
        if self._part.exists() or not (self._resumes and self.path.exists()):
            return
        writer = chunks.PartWriter(self._part)
        adopted = False
        try:
            for game in dataset_file.read_games(self.path):
                writer.write([game])
            writer.close()
            adopted = True
        finally:
            if not adopted:
                writer.discard()

    def _append_lines(self, games: list[GameArrays], *, sync: bool = False) -> None:
        try:
            if self._lines is None:
                self._lines = self.path.open("a+b", buffering=0)
                mend_tail(self._lines, self.path)
            if games:
                write_whole(self._lines, b"".join(map(json_text.line_of, games)))
            if sync or time.monotonic() > self._synced + _SYNC_SECONDS:
                os.fsync(self._lines.fileno())
                self._synced = time.monotonic()
        except OSError as error:
            raise writing.unwritable(self.path, error) from error

    def set_aside(self, chunk: Chunk) -> None:
        """Keep games whose turn has not come; the caller appends them in their turn."""
        if self._ahead is None:
            self._ahead = _reopened(self._ahead_path)
        self._ahead.append(chunks.encode_chunk(chunk))

    @property
    def bytes_aside(self) -> int:
        """How much room takes what was set aside since it was last cleared."""
        return self._ahead_path.stat().st_size

    def clear_aside(self) -> None:
        """Forget what was set aside: all of it has been appended, or is not needed."""
        if self._ahead is not None:
            self._ahead.clear()
        elif not chunks.has_no_chunks(self._ahead_path):
            os.truncate(self._ahead_path, 0)

    # -- the end -------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Write the finished file and remove the working file; what was set aside stays for a ``resume``."""
        if self._in_lines:
            self._append_lines([], sync=True)
        elif self._part.exists() or not (self._resumes and self.path.exists()):
            with dataset_file.Creation(self.path, force=True) as writer:
                if self._part.exists():
                    for game in chunks.read_part(self._part):
                        writer.write([game])
        self._part.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Leave the games as they are, for a later ``resume``."""
        if self._lock.closed:
            return
        for file in (self._lines, self._spool, self._ahead):
            if file is not None:
                file.close()
        done = chunks.has_no_chunks(self._ahead_path)
        if done:
            # While it is locked, so that nobody's fresh lock is on a removed file; Windows wants it closed.
            with contextlib.suppress(PermissionError):
                self._ahead_path.unlink()
        self._lock.close()
        if done and os.name == "nt":
            self._ahead_path.unlink(missing_ok=True)

    def __enter__(self) -> GrowingDataset:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _reopened(path: Path) -> SpoolWriter:
    """Open a working file behind its last whole chunk."""
    keep = 0
    if path.exists():
        for _, end in chunks.scan_chunks(path):
            keep = end
    return SpoolWriter.at(path, keep)


def _locked(path: Path) -> IO[bytes]:
    """Open and lock the file that the writer of a dataset holds."""
    while True:
        try:
            file = path.open("a+b", buffering=0)
            if lock(file, wait=False) == "busy":
                file.close()
                raise RecordError(
                    f"{path.with_suffix('')} is being written by another program; expected one at a time",
                    path=path.with_suffix(""),
                )
            with contextlib.suppress(FileNotFoundError):  # its owner finished just now
                if is_open_at(file, path):
                    return file
            file.close()
        except OSError as error:
            raise writing.unwritable(path, error) from error
