"""Write files atomically: a kill or a full disk at any moment leaves the old file or the new one.

Every file that the project replaces as a whole is written here. The contents go to a draft beside the
target, ``.NAME.<12 hexadecimal digits>.tmp``. The draft is forced to the disk and then takes the target's
name. A draft is locked while its program lives; the next writer of NAME removes those of killed programs.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from recordings.locks import is_open_at, lock

_LONGEST_NAME = 200  # bytes; file systems take 255, and the draft's name is longer than the target's


class Draft:
    """A file in the making. Call `publish` when it is whole, else `discard`; later calls do nothing.

    A target that is a device or a pipe (``/dev/stdout``) is written directly. A symbolic link stays a link:
    the file it leads to is replaced.

    Args:
        path: the target; its folder must exist.

    Raises:
        OSError: the draft cannot be made, or the target is a folder.

    Attributes:
        file: open for writing and reading, buffered.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._target = Path(os.path.realpath(path))
        if self._target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        self._path: Path | None = None
        self.file: IO[bytes]
        if self._target.exists() and not self._target.is_file():
            self.file = self._target.open("wb")
            return
        _remove_abandoned(self._target)
        self._path, self.file = _open_draft(self._target)

    def complete(self) -> None:
        """Force the contents to the disk, so that only the name is missing.

        Raises:
            OSError: they cannot be written.
        """
        self.file.flush()
        if self._path is not None:
            os.fsync(self.file.fileno())

    def publish(self) -> None:
        """Force the contents to the disk and let them appear under the target's name, all at once.

        Raises:
            OSError: they cannot be written or renamed. The draft is removed, the target stays as it was.
        """
        if self.file.closed:
            return
        try:
            self.complete()
            if self._path is None:
                self.file.close()
                return
            with contextlib.suppress(OSError):
                self._path.chmod(self._target.stat().st_mode & 0o7777)
            if os.name == "nt":  # Windows renames no open file
                self.file.close()
            self._path.replace(self._target)
        except BaseException:
            self.discard()
            raise
        self.file.close()
        _sync_folder(self._target.parent)

    def discard(self) -> None:
        """Remove the draft."""
        with contextlib.suppress(OSError):  # what was buffered does not fit on the disk
            self.file.close()
        if self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)


@contextlib.contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that appears whole when the block ends.

    When the block raises, nothing is left of the new contents and the old file stays.

    Args:
        path: the target; its folder must exist.

    Raises:
        OSError: the file cannot be written.
    """
    draft = Draft(path)
    try:
        yield draft.file
    except BaseException:
        draft.discard()
        raise
    draft.publish()


def _stem(target: Path) -> str:
    name = os.fsencode(target.name)
    if len(name) > _LONGEST_NAME:
        return f".{hashlib.blake2b(name, digest_size=16).hexdigest()}."
    return f".{target.name}."


def _open_draft(target: Path) -> tuple[Path, IO[bytes]]:
    while True:
        path = target.with_name(f"{_stem(target)}{uuid.uuid4().hex[:12]}.tmp")
        try:
            file = path.open("x+b")
        except FileExistsError:
            continue
        lock(file, wait=True)
        if is_open_at(file, path):  # else another writer took the fresh draft for an abandoned one
            return path, file
        file.close()


def _remove_abandoned(target: Path) -> None:
    """Remove the target's drafts that no living program holds."""
    pattern = re.compile(re.escape(_stem(target)) + r"[0-9a-f]{12}\.tmp")
    with contextlib.suppress(OSError):
        for path in target.parent.iterdir():
            if pattern.fullmatch(path.name):
                with contextlib.suppress(OSError), path.open("r+b") as file:
                    if lock(file, wait=False) == "held":
                        path.unlink()


def _sync_folder(folder: Path) -> None:
    """Force a rename to the disk, where the system can (Windows opens no folders)."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
