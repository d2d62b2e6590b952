"""What the writers of several formats share: files in the making, pairs of files, batches, errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from game2048.errors import RecordError
from recordings.atomic import Draft
from recordings.datasets.formats.columnar import BATCH_PLIES
from recordings.game_arrays import GameArrays

GAMES_INFIX = ".games"


def missing_extra(what: str, package: str, extra: str = "data") -> RecordError:
    """Make the error for a package that an extra installs."""
    return RecordError(
        f"{what} need the package {package}, which is not installed; try `pip install 'bot2048[{extra}]'`"
    )


def unwritable(path: Path, error: OSError) -> RecordError:
    """Make the error for a file that cannot be written."""
    return RecordError(f"{path} cannot be written: {error.strerror or error}", path=path)


class DraftFile(Draft):
    """A file in the making whose errors are `RecordError`.

    Raises:
        RecordError: it cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self._name = path
        try:
            super().__init__(path)
        except OSError as error:
            raise unwritable(path, error) from error

    def publish(self) -> None:
        """Let the finished file appear under its name, all at once.

        Raises:
            RecordError: it cannot be renamed or forced to the disk.
        """
        try:
            super().publish()
        except OSError as error:
            raise unwritable(self._name, error) from error


class Pair:
    """The two files of a dataset whose tables are files of their own.

    Attributes:
        moves: the table of moves, ``NAME.ext``.
        games: the table of games beside it, ``NAME.games.ext``.
    """

    def __init__(self, path: Path) -> None:
        self.moves = path
        self.games = path.with_name(path.stem + GAMES_INFIX + path.suffix)

    def require(self) -> None:
        """Make sure that the table of games is there.

        Raises:
            RecordError: it is not.
        """
        if not self.games.exists():
            raise RecordError(
                f"{self.moves} has no table of games beside it; "
                f"expected {self.games.name}, which was written with it",
                path=self.moves,
            )


class Batcher:
    """Collects games for a writer until there are enough for one piece of its file.

    Args:
        write: takes the games of a piece and the number of the first of them.
    """

    def __init__(self, write: Callable[[Sequence[GameArrays], int], None]) -> None:
        self._write = write
        self._games: list[GameArrays] = []
        self._plies = 0
        self._first = 0

    def add(self, games: Sequence[GameArrays]) -> None:
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
