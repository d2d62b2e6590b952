"""The crash-safe journal of a game being played: one short line a move, on disk before the key is pressed.

A journal is a file ``<time>-<id>.journal`` beside ``games.jsonl``. `GameJournal.finish` turns it into a line
of ``games.jsonl`` and removes it; after a crash `recordings.recovery` does. The game's ``id`` is in both, so
that a crash between the two steps does not write the game twice. A running game holds a lock on its journal,
which ends with its process.
"""

from __future__ import annotations

import datetime
import os
import uuid
from collections.abc import Sequence
from logging import getLogger
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec

from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import RecordError
from recordings.journal_contents import (
    JOURNAL_SUFFIX,
    JOURNAL_VERSION,
    JournalContents,
    JournalEnd,
    JournalEndLine,
    JournalHeader,
    remove_journal,
)
from recordings.jsonl import GAMES_FILE, MAX_LINE_BYTES, append_record, prepare_folder, write_whole
from recordings.locks import is_open_at, lock
from recordings.record import (
    MAX_RECORDED_SCORE,
    GameRecord,
    Move,
    Outcome,
    timestamp_now,
)

# What a record needs beside its moves: the header's texts and the totals.
_ROOM_FOR_TOTALS = 1 << 20
logger = getLogger(__name__)


_encode = msgspec.json.Encoder().encode


class GameJournal:
    """The journal of one game being played. Make it with `create`; not for use by several threads.

    Memory does not grow with the game: what was written stays on disk until `finish` reads it back.

    Attributes:
        path: the journal file.
        folder: the folder of the games.
        id: the id of the game.
        lines: how many moves were journaled (those that turn out not to have been made included).
    """

    def __init__(self, path: Path, file: IO[bytes], header: JournalHeader) -> None:
        self.path = path
        self.folder = path.parent
        self.id = header.id
        self._header = header
        self.lines = 0
        self._file = file
        self._size = 0
        self._ended = False
        self._last: tuple[Board, Direction, int] | None = None
        self._write(header)

    @classmethod
    def create(
        cls, folder: str | os.PathLike[str], *, source: str, solver: str, seed: int | None = None
    ) -> GameJournal:
        """Begin the journal of a game whose record will go to ``games.jsonl`` in that folder.

        Args:
            folder: made when missing; several games may be played into it at once.
            source: a url, or ``self-play``.
            solver: the engine that chooses the moves.
            seed: what a seeded game was started from.

        Raises:
            RecordError: the folder cannot be written to.
        """
        place = prepare_folder(folder)
        while True:
            game_id = uuid.uuid4().hex
            began = datetime.datetime.now(datetime.UTC)
            path = place / f"{began:%Y%m%dT%H%M%S}-{game_id[:12]}{JOURNAL_SUFFIX}"
            try:
                file = path.open("xb", buffering=0)
            except FileExistsError:
                continue
            except OSError as error:
                raise _unwritable(path, error) from error
            lock(file, wait=True)
            if is_open_at(file, path):  # a recover that ran just now took the empty file for a dead one
                return cls(path, file, JournalHeader(JOURNAL_VERSION, game_id, source, solver, seed))
            file.close()

    def append(self, board: Board, direction: Direction, score: int | None) -> int:
        """Put a move on disk. Call it before the key is pressed; a killed process loses nothing after it.

        A move journaled again for the very same board replaces the one before: a legal move followed by
        its spawn always changes the board, so the earlier one was never made.

        Args:
            board: the board before the move.
            direction: the move.
            score: the score before the move; ``None`` where the page shows none: it is then counted from
                the merges, beginning at 0.

        Returns:
            The score that was journaled.

        Raises:
            RecordError: the disk does not take it, or the game is too long for one record.
        """
        counted = self._score(board, score)
        if self._size > MAX_LINE_BYTES - _ROOM_FOR_TOTALS:
            raise RecordError(
                f"the game is too long for one record ({self.lines} moves): finish it as stopped; "
                "--max-moves ends games earlier",
                path=self.path,
            )
        self._write(Move.of(board, direction, counted))
        self._last = (board, direction, counted)
        self.lines += 1
        return counted

    def finish(
        self, final_board: Board, final_score: int | None, outcome: Outcome, rules: Sequence[str] = ()
    ) -> GameRecord:
        """End the game: append its record to ``games.jsonl``, then remove the journal.

        A last move that left the board as it was (the key was never taken) is left out of the record.

        Args:
            final_board: the board as it stands.
            final_score: the score as it stands, or ``None`` as for `append`.
            outcome: how the game ended.
            rules: in what the rules of the page differ from those of 2048.

        Raises:
            RecordError: ``games.jsonl`` cannot be written; the journal stays, and `finish` or `recover` can
                try again: the first end that reached the disk is the one recorded.
        """
        score = self._score(final_board, final_score)
        tried_before = self._ended
        if not tried_before:
            end = JournalEnd(final_board.tiles(), score, outcome, timestamp_now(), list(rules) or None)
            self._write(JournalEndLine(end))
            self._ended = True
        try:
            contents = JournalContents.read(self.path, check_boards=False)
        except OSError as error:
            raise RecordError(
                f"the journal {self.path} cannot be read: {error.strerror or error}", path=self.path
            ) from error
        if contents.end is None:
            raise RecordError(
                f"another program changed the journal {self.path}; it is left as it is", path=self.path
            )
        record = contents.record()
        append_record(self.folder / GAMES_FILE, record, once=tried_before)
        self.discard()
        return record

    def anew(self) -> GameJournal:
        """Return an empty journal in place of this one, which is removed: its moves are not to be kept.

        Raises:
            RecordError: the folder cannot be written to.
        """
        header = self._header
        begun = GameJournal.create(self.folder, source=header.source, solver=header.solver, seed=header.seed)
        self.discard()
        return begun

    def discard(self) -> None:
        """Remove the journal without a record: the game is not to be kept."""
        self.close()
        remove_journal(self.path)

    def close(self) -> None:
        """Leave the journal as it is, for `recover`."""
        self._file.close()

    def __enter__(self) -> GameJournal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _score(self, board: Board, shown: int | None) -> int:
        """Return the score shown at ``board``, or else the one counted on from the last journaled move."""
        if shown is not None:
            if not 0 <= shown <= MAX_RECORDED_SCORE:
                raise RecordError(
                    f"score {shown} cannot be recorded; expected 0 to {MAX_RECORDED_SCORE}", path=self.path
                )
            return shown
        if self._last is None:
            return 0
        before, direction, score = self._last
        return score if board == before else score + before.slide(direction).reward

    def _write(self, line: JournalHeader | Move | JournalEndLine) -> None:
        try:
            data = _encode(line) + b"\n"
            write_whole(self._file, data)
        except OSError as error:
            raise _unwritable(self.path, error) from error
        except (OverflowError, UnicodeEncodeError) as error:
            raise RecordError(
                f"the journal {self.path} cannot hold this as JSON: {error}", path=self.path
            ) from error
        self._size += len(data)


def _unwritable(path: Path, error: OSError) -> RecordError:
    return RecordError(f"the journal {path} cannot be written: {error.strerror or error}", path=path)
