"""Recovery: bring the games of killed programs back from their journals; read a journal as it stands."""

from __future__ import annotations

import contextlib
import os
import time
from logging import getLogger
from pathlib import Path
from typing import IO

from game2048.errors import RecordError
from recordings.journal_contents import JOURNAL_SUFFIX, JournalContents, remove_journal
from recordings.jsonl import GAMES_FILE, append_record
from recordings.locks import is_open_at, lock
from recordings.record import GameRecord

# Where the file system knows no locks, a journal written to so lately is taken for a running game's.
_QUIET_SECONDS = 600

logger = getLogger(__name__)


def recover(target: str | os.PathLike[str]) -> list[GameRecord]:
    """Bring the games of left-over journals into ``games.jsonl`` beside them, and remove the journals.

    A journal without its end gives a game ``interrupted`` with every move that was journaled; the board
    after the last one is not known, so the final board is that of the slide, without a spawn. The journals
    of running games are left alone.

    Args:
        target: a run folder, or one journal.

    Returns:
        The games that were written, the oldest first.

    Raises:
        RecordError: the folder cannot be read, or ``games.jsonl`` cannot be written.
    """
    place = Path(target)
    games = []
    try:
        if place.is_dir():
            for path in sorted(place.glob("*" + JOURNAL_SUFFIX)):
                with contextlib.suppress(FileNotFoundError):  # a game that ended meanwhile
                    games.append(_recover_one(path))
        elif place.suffix == JOURNAL_SUFFIX:
            games.append(_recover_one(place))
        else:
            raise RecordError(
                f"{target} is not a journal; expected a run folder or a file *{JOURNAL_SUFFIX}", path=place
            )
    except OSError as error:
        raise RecordError(f"{target} cannot be recovered: {error.strerror or error}", path=place) from error
    return [game for game in games if game is not None]


def read_journal(path: str | os.PathLike[str]) -> GameRecord:
    """Return the game of a journal as it stands, running or not; the journal is left as it is.

    Raises:
        RecordError: the file cannot be read, or holds no move and no end.
    """
    place = Path(path)
    try:
        contents = JournalContents.read(place, check_boards=True)
    except OSError as error:
        raise RecordError(f"{place} cannot be read: {error.strerror or error}", path=place) from error
    if contents.header is None or not (contents.moves or contents.end):
        raise RecordError(
            f"{place} has no readable move; expected a journal that bot2048 wrote",
            path=place,
            line=contents.damaged_line,
        )
    return contents.record()


def _recover_one(path: Path) -> GameRecord | None:
    """Write the game of a left-over journal and return it; ``None`` where there is nothing to write."""
    with path.open("r+b") as file:
        state = lock(file, wait=False)
        if state == "busy" or (state == "unsupported" and _is_recent(file)):
            logger.warning("%s belongs to a game that is being played: left alone", path)
            return None
        if not is_open_at(file, path):
            return None  # its game ended meanwhile
        contents = JournalContents.read(path, check_boards=True)
        game = contents.record() if contents.moves or contents.end is not None else None
        if game is not None and not append_record(path.parent / GAMES_FILE, game, once=True):
            game = None  # killed between writing the game and removing the journal
    if contents.damaged_line is None:
        remove_journal(path)
    else:
        aside = path.with_name(path.name + ".damaged")
        path.replace(aside)
        logger.warning("%s is damaged from line %d on: kept as %s", path, contents.damaged_line, aside)
    return game


def _is_recent(file: IO[bytes]) -> bool:
    return time.time() - os.fstat(file.fileno()).st_mtime < _QUIET_SECONDS
