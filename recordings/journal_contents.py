"""What is in a journal file: its lines, and the game they tell.

A journal is text, a JSON object a line: a header, a `Move` for every move, and an end once the game is over.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from logging import getLogger
from pathlib import Path
from typing import Any

import msgspec

from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import RecordError, RulesError
from recordings.record import Count, GameRecord, Move, Outcome, Tiles, build_record, new_info, timestamp_of

JOURNAL_SUFFIX = ".journal"
JOURNAL_VERSION = 1

logger = getLogger(__name__)

# A journal line beyond this is damage: a header with its url and a move are far shorter.
_LONGEST_LINE = 16 << 20


class JournalHeader(msgspec.Struct, frozen=True):
    """The first line; ``journal`` is the version, the other fields are those of `GameInfo`."""

    journal: int
    id: str
    source: str
    solver: str
    seed: int | None = None


class JournalEnd(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """How the game ended; the fields are those of `GameRecord`."""

    final_board: Tiles
    final_score: Count
    outcome: Outcome
    timestamp: str
    rules: list[str] | None = None


class JournalEndLine(msgspec.Struct, frozen=True):
    """The last line."""

    end: JournalEnd


_decode_header = msgspec.json.Decoder(JournalHeader).decode
_decode_move = msgspec.json.Decoder(Move).decode
_decode_end = msgspec.json.Decoder(JournalEndLine).decode


@dataclass(slots=True)
class JournalContents:
    """What is in a journal.

    Attributes:
        header: ``None`` when even that was not finished.
        moves: the moves journaled.
        end: how the game ended, if it did.
        modified: when the journal was last written to.
        damaged_line: number of the first finished line that is damaged; what follows is not read.
    """

    header: JournalHeader | None = None
    moves: list[Move] = field(default_factory=list)
    end: JournalEnd | None = None
    modified: str = ""
    damaged_line: int | None = None

    @classmethod
    def read(cls, path: Path, *, check_boards: bool) -> JournalContents:
        """Read a journal up to its end or to the first line that is damaged or cut off.

        Args:
            path: the journal.
            check_boards: take an invalid board for damage; not needed where this process wrote it.
        """
        contents = cls()
        with path.open("rb") as file:
            moment = datetime.datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, datetime.UTC)
            contents.modified = timestamp_of(moment)
            number = 0
            while contents.end is None and (line := file.readline(_LONGEST_LINE)):
                number += 1
                if not line.endswith(b"\n") and len(line) < _LONGEST_LINE:
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
        """Return the record of the journaled game; there must be moves or an end.

        Raises:
            RecordError: the journal has no header.
        """
        header = self.header
        if header is None:
            raise RecordError("the journal has no header; expected it as the first line")
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

    def _end_by_slide(self) -> JournalEnd:
        last = self.moves[-1]
        slide = Board.from_tiles(last.board).slide(Direction.parse(last.direction))
        return JournalEnd(slide.afterstate.tiles(), last.score + slide.reward, "interrupted", self.modified)


def _made(moves: Sequence[Move], final_board: list[Any]) -> list[Move]:
    """Return the moves without those after which the board is still the same: they were never made."""
    after = [*(move.board for move in moves), final_board][1:]
    return [move for move, board in zip(moves, after, strict=True) if move.board != board]


def remove_journal(path: Path) -> None:
    """Remove a journal whose game is recorded; a failure is logged."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        logger.warning("%s cannot be removed: %s; its game is already recorded", path, error)
