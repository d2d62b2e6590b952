"""What the writers of several formats share: temporary names, atomic appearance, errors."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from game2048.errors import RecordError
from recordings.datasets.formats.columnar import BATCH_PLIES
from recordings.datasets.game_arrays import GameColumns

GAMES_INFIX = ".games"


def missing_extra(what: str, package: str, extra: str = "data") -> RecordError:
    """The error for a package that an extra brings."""
    return RecordError(
        f"{what} need the package {package}, which is not installed: "
        f"`pip install 'bot2048[{extra}]'` brings it"
    )


def unwritable(path: Path, error: OSError) -> RecordError:
    """The error for a file that cannot be written."""
    return RecordError(f"{path} cannot be written: {error.strerror or error}")


def temporary(path: Path) -> Path:
    """Where a file is written before it appears under its name."""
    return path.with_name(path.name + ".tmp")


def publish(path: Path) -> None:
    """Let a finished temporary file appear under its name, all at once.

    Raises:
        RecordError: it cannot be renamed or forced to the disk.
    """
    try:
        with temporary(path).open("rb") as file:
            os.fsync(file.fileno())
        temporary(path).replace(path)
    except OSError as error:
        raise unwritable(path, error) from error


class Pair:
    """The two files of a dataset whose tables are files of their own.

    Attributes:
        moves: the table of moves, ``NAME.ext``.
        games: the table of games beside it, ``NAME.games.ext``.
    """

    def __init__(self, path: Path) -> None:
        self.moves = path
        self.games = path.with_name(path.stem + GAMES_INFIX + path.suffix)
        self.moves_tmp = temporary(self.moves)
        self.games_tmp = temporary(self.games)

    def publish(self) -> None:
        """Let both finished files appear; the one that people name comes last."""
        publish(self.games)
        publish(self.moves)

    def discard(self) -> None:
        """Remove the unfinished files."""
        self.moves_tmp.unlink(missing_ok=True)
        self.games_tmp.unlink(missing_ok=True)

    def require(self) -> None:
        """Make sure that the table of games is there.

        Raises:
            RecordError: it is not.
        """
        if not self.games.exists():
            raise RecordError(
                f"{self.moves} has no table of games beside it: "
                f"expected {self.games.name}, which was written with it"
            )


class Batcher:
    """Collects games for a writer until there are enough for one piece of its file.

    Args:
        write: takes the games of a piece and the number of the first of them.
    """

    def __init__(self, write: Callable[[Sequence[GameColumns], int], None]) -> None:
        self._write = write
        self._games: list[GameColumns] = []
        self._plies = 0
        self._first = 0

    def add(self, games: Sequence[GameColumns]) -> None:
        """Take games; where pieces are cut depends on the games alone, not on how they come in."""
        for game in games:
            self._games.append(game)
            self._plies += game.plies
            if self._plies >= BATCH_PLIES or len(self._games) >= BATCH_PLIES:
                self.flush()

    def flush(self) -> None:
        """Write what was collected."""
        if self._games:
            self._write(self._games, self._first)
            self._first += len(self._games)
            self._games, self._plies = [], 0
