"""The folder of runs: what files are in it, and which of them may be served."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from bot.dashboard.faults import DashboardError
from recordings.journal_contents import JOURNAL_SUFFIX

Kind = Literal["weights", "games", "picture", "log", "journal"]

GAMES_SUFFIXES = (".jsonl", ".json", ".csv", ".parquet", ".h5", ".hdf5")
WEIGHTS_SUFFIXES = (".n2048", ".w", ".w.xz", ".w.gz")
PICTURE_SUFFIXES = (".gif", ".webp")
TRAINING_LOG = "training.jsonl"

_MAX_DEPTH = 6
MAX_FILES = 5000
_LONGEST_NAME = 400
_FRESH_SECONDS = 1.0
_RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class RunFile:
    """One file of a run.

    Attributes:
        name: its path inside the folder of runs, with ``/``.
        kind: what it is, by its name.
        size: in bytes.
        modified: when it was last written to, in seconds since 1970.
    """

    name: str
    kind: Kind
    size: int
    modified: float


class RunFolders:
    """The files in the folder of runs, down to some depth. Symbolic links are neither followed nor served.

    Args:
        root: the folder; made when missing.

    Raises:
        DashboardError: it cannot be made or read.
    """

    def __init__(self, root: Path) -> None:
        try:
            root.mkdir(parents=True, exist_ok=True)
            self.root = root.resolve(strict=True)
            next(self.root.iterdir(), None)
        except OSError as error:
            raise DashboardError(
                f"the folder of runs {root} cannot be read: {error.strerror or error}; try --runs FOLDER"
            ) from error
        self._files: list[RunFile] = []
        self._listed = 0.0

    def files(self, kind: Kind) -> list[RunFile]:
        """Return the files of one kind, the latest first; at most `MAX_FILES` are looked at."""
        if time.monotonic() - self._listed > _FRESH_SECONDS:
            self._files = sorted(self._walk(), key=lambda file: (-file.modified, file.name))
            self._listed = time.monotonic()
        return [file for file in self._files if file.kind == kind]

    def look_again(self) -> None:
        """Forget the list, because a file was added."""
        self._listed = 0.0

    def file(self, name: str, *kinds: Kind) -> Path:
        """Return the path of a file that may be served.

        Args:
            name: its path inside the folder of runs, as `RunFile.name`.
            kinds: the kinds that are expected.

        Raises:
            DashboardError: the name leads out of the folder, to nothing, or to a file of another kind.
        """
        path = self.path(name)
        if kind_of(PurePosixPath(name).name) not in kinds:
            raise DashboardError(f"{_short(name)} is not one of {', '.join(kinds)}", status=404)
        if not path.is_file():
            raise DashboardError(f"there is no file {_short(name)} among the runs", status=404)
        return path

    def path(self, name: str) -> Path:
        """Return the path that a name inside the folder of runs stands for; it need not exist.

        Raises:
            DashboardError: the name leads out of the folder, or through a symbolic link.
        """
        parts = PurePosixPath(name).parts
        if (
            not parts
            or len(name) > _LONGEST_NAME
            or len(parts) > _MAX_DEPTH + 1
            or not _is_plain(name)
            or any(part.startswith((".", "/")) for part in parts)
        ):
            raise DashboardError(f"{_short(name)} is not the name of a file among the runs", status=404)
        path = self.root.joinpath(*parts)
        if Path(os.path.realpath(path)) != path:
            raise DashboardError(f"{_short(name)} leads out of the folder of runs", status=404)
        return path

    def new_run(self, name: str) -> Path:
        """Return the folder for a new run of that name.

        Raises:
            DashboardError: the name is not usable, or taken.
        """
        if not _RUN_NAME.fullmatch(name):
            raise DashboardError(
                f"{_short(name)} is not usable as the name of a run; "
                "expected letters, digits, dots, lines, beginning with a letter or digit, 64 at most"
            )
        path = self.path(name)
        if path.exists():
            raise DashboardError(f"the run {name} exists; expected a new name")
        return path

    def _walk(self) -> Iterator[RunFile]:
        folders = [(self.root, "", 0)]
        seen = 0
        while folders:
            folder, prefix, depth = folders.pop()
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError:  # removed meanwhile, or not ours to read
                continue
            for entry in entries:
                seen += 1
                if seen > MAX_FILES:
                    return
                if entry.name.startswith(".") or entry.is_symlink():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if depth < _MAX_DEPTH:
                        folders.append((Path(entry.path), f"{prefix}{entry.name}/", depth + 1))
                elif (file := _described(entry, prefix)) is not None:
                    yield file


def kind_of(name: str) -> Kind | None:
    """Return what a file is, by its name; ``None`` for what the dashboard does not show."""
    lower = name.lower()
    if lower == TRAINING_LOG:
        return "log"
    if lower.endswith(JOURNAL_SUFFIX):
        return "journal"
    if lower.endswith(WEIGHTS_SUFFIXES):
        return "weights"
    if lower.endswith(PICTURE_SUFFIXES):
        return "picture"
    if lower.endswith(GAMES_SUFFIXES) and ".games." not in lower:  # the second file of a pair
        return "games"
    return None


def _is_plain(name: str) -> bool:
    """Return whether a name has no character with a special meaning for a system or shell."""
    return name.isprintable() and not any(sign in name for sign in '\\:"')


def _described(entry: os.DirEntry[str], prefix: str) -> RunFile | None:
    kind = kind_of(entry.name)
    if kind is None or not _is_plain(entry.name):
        return None
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return RunFile(prefix + entry.name, kind, status.st_size, status.st_mtime)


def _short(name: str) -> str:
    return repr(name if len(name) <= 80 else f"{name[:79]}…")
