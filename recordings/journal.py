"""The crash-safe journal of a game being played: one short line a move, on disk before the key is pressed.

A journal is a file ``<time>-<id>.journal`` beside ``games.jsonl``: a header line, a line for each move, and
an end line once the game is over. `GameJournal.finish` turns it into a line of ``games.jsonl`` and removes
it; after a crash `recover` does. The game's ``id`` is in both, so that a crash between the two steps does not
write the game twice. A running game holds a lock on its journal, which ends with its process.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from logging import getLogger
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import msgspec

from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import RecordError, RulesError
from recordings.jsonl import GAMES_FILE, MAX_LINE_BYTES, append_record, prepare_folder, write_whole
from recordings.locks import is_open_at, lock
from recordings.record import (
    Count,
    GameRecord,
    Move,
    Outcome,
    Tiles,
    build_record,
    new_info,
    now,
    timestamp_of,
)

JOURNAL_SUFFIX = ".journal"
JOURNAL_VERSION = 1

MAX_SCORE = (1 << 53) - 1

# A journal line beyond this is damage: a header with its url and a move are far shorter.
_MAX_JOURNAL_LINE = 16 << 20
# What a record needs beside its moves: the header's texts and the totals.
_ROOM_FOR_TOTALS = 1 << 20
# Where the file system knows no locks, a journal written to so lately is taken for a running game's.
_QUIET_SECONDS = 600

logger = getLogger(__name__)


class _Header(msgspec.Struct, frozen=True):
    journal: int
    id: str
    source: str
    solver: str
    seed: int | None = None


class _End(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    final_board: Tiles
    final_score: Count
    outcome: Outcome
    timestamp: str
    rules: list[str] | None = None


class _EndLine(msgspec.Struct, frozen=True):
    end: _End


_encode = msgspec.json.Encoder().encode
_decode_header = msgspec.json.Decoder(_Header).decode
_decode_move = msgspec.json.Decoder(Move).decode
_decode_end = msgspec.json.Decoder(_EndLine).decode


class GameJournal:
    """The journal of one game being played. Make it with `create`; not for use by several threads.

    Memory does not grow with the game: what was written stays on disk until `finish` reads it back.

    Attributes:
        path: the journal file.
        folder: the folder of the games.
        id: the id of the game.
        lines: how many moves were journaled (those that turn out not to have been made included).
    """

    def __init__(self, path: Path, file: IO[bytes], header: _Header) -> None:
        self.path = path
        self.folder = path.parent
        self.id = header.id
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
                return cls(path, file, _Header(JOURNAL_VERSION, game_id, source, solver, seed))
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
                "--max-moves ends games earlier"
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
            end = _End(final_board.tiles(), score, outcome, now(), list(rules) or None)
            self._write(_EndLine(end))
            self._ended = True
        try:
            contents = _Contents.read(self.path, check_boards=False)
        except OSError as error:
            raise RecordError(f"the journal {self.path} cannot be read: {error.strerror or error}") from error
        if contents.end is None:
            raise RecordError(f"the journal {self.path} was changed by another program: left as it is")
        record = contents.record()
        append_record(self.folder / GAMES_FILE, record, once=tried_before)
        self.discard()
        return record

    def discard(self) -> None:
        """Remove the journal without a record: the game is not to be kept."""
        self.close()
        _remove(self.path)

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
        """The score shown at ``board``, or else the one counted on from the last journaled move."""
        if shown is not None:
            if not 0 <= shown <= MAX_SCORE:
                raise RecordError(f"score {shown} cannot be recorded: expected 0 to {MAX_SCORE}, or None")
            return shown
        if self._last is None:
            return 0
        before, direction, score = self._last
        return score if board == before else score + before.slide(direction).reward

    def _write(self, line: _Header | Move | _EndLine) -> None:
        try:
            data = _encode(line) + b"\n"
            write_whole(self._file, data)
        except OSError as error:
            raise _unwritable(self.path, error) from error
        except (OverflowError, UnicodeEncodeError) as error:
            raise RecordError(f"the journal {self.path} cannot hold this as JSON: {error}") from error
        self._size += len(data)


def _unwritable(path: Path, error: OSError) -> RecordError:
    return RecordError(f"the journal {path} cannot be written: {error.strerror or error}")


# -- recovery ------------------------------------------------------------------------------------------------


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
            raise RecordError(f"{target} is no journal: expected a run folder or a file *{JOURNAL_SUFFIX}")
    except OSError as error:
        raise RecordError(f"{target} cannot be recovered: {error.strerror or error}") from error
    return [game for game in games if game is not None]


def _recover_one(path: Path) -> GameRecord | None:
    """The game of a left-over journal, once it is written; ``None`` if there is none, or none to write."""
    with path.open("r+b") as file:
        state = lock(file, wait=False)
        if state == "busy" or (state == "unsupported" and _is_recent(file)):
            logger.warning("%s belongs to a game that is being played: left alone", path)
            return None
        if not is_open_at(file, path):
            return None  # its game ended meanwhile
        contents = _Contents.read(path, check_boards=True)
        game = contents.record() if contents.moves or contents.end is not None else None
        if game is not None and not append_record(path.parent / GAMES_FILE, game, once=True):
            game = None  # killed between writing the game and removing the journal
    if contents.damaged_line is None:
        _remove(path)
    else:
        aside = path.with_name(path.name + ".damaged")
        path.replace(aside)
        logger.warning("%s is damaged from line %d on: kept as %s", path, contents.damaged_line, aside)
    return game


@dataclass(slots=True)
class _Contents:
    """What is in a journal.

    Attributes:
        header: ``None`` when even that was not finished.
        moves: the moves journaled.
        end: how the game ended, if it did.
        modified: when the journal was last written to.
        damaged_line: number of the first finished line that is none of ours; what follows is not read.
    """

    header: _Header | None = None
    moves: list[Move] = field(default_factory=list)
    end: _End | None = None
    modified: str = ""
    damaged_line: int | None = None

    @classmethod
    def read(cls, path: Path, *, check_boards: bool) -> _Contents:
        """Read a journal up to its end or to the first line that is damaged or cut off.

        Args:
            path: the journal.
            check_boards: take a board that is none for damage; needless where this process wrote it.
        """
        contents = cls()
        with path.open("rb") as file:
            moment = datetime.datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, datetime.UTC)
            contents.modified = timestamp_of(moment)
            number = 0
            while contents.end is None and (line := file.readline(_MAX_JOURNAL_LINE)):
                number += 1
                if not line.endswith(b"\n") and len(line) < _MAX_JOURNAL_LINE:
                    break  # cut off by the kill: the key was not pressed yet
                if not contents._take(line, check_boards):
                    contents.damaged_line = number
                    break
        return contents

    def _take(self, line: bytes, check_boards: bool) -> bool:
        """Add what a line says; whether it could be read."""
        try:
            if self.header is None:
                self.header = _decode_header(line)
                return self.header.journal == JOURNAL_VERSION
            if line.startswith(b'{"end"'):
                end = _decode_end(line).end
                Board.from_tiles(end.final_board)
                self.end = end
            else:
                move = _decode_move(line)
                if check_boards:
                    Board.from_tiles(move.board)
                self.moves.append(move)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, RulesError):
            return False
        return True

    def record(self) -> GameRecord:
        """The record of the journaled game; there must be moves or an end.

        Raises:
            RecordError: the journal has no header.
        """
        header = self.header
        if header is None:
            raise RecordError("the journal has no header: expected it as the first line")
        end = self.end or self._end_by_slide()
        return build_record(
            _made(self.moves, end.final_board),
            Board.from_tiles(end.final_board),
            end.final_score,
            new_info(
                source=header.source,
                solver=header.solver,
                outcome=end.outcome,
                timestamp=end.timestamp,
                seed=header.seed,
                id=header.id,
                rules=end.rules or None,
            ),
        )

    def _end_by_slide(self) -> _End:
        last = self.moves[-1]
        slide = Board.from_tiles(last.board).slide(Direction.parse(last.direction))
        return _End(slide.afterstate.tiles(), last.score + slide.reward, "interrupted", self.modified)


def _made(moves: Sequence[Move], final_board: list[Any]) -> list[Move]:
    """The moves without those after which the board is still the same: they were never made."""
    after = [*(move.board for move in moves), final_board][1:]
    return [move for move, board in zip(moves, after, strict=True) if move.board != board]


def _is_recent(file: IO[bytes]) -> bool:
    return time.time() - os.fstat(file.fileno()).st_mtime < _QUIET_SECONDS


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        logger.warning("%s cannot be removed: %s; its game is already recorded", path, error)
