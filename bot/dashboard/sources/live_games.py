"""Follow running games: read their journals while they are written."""

from __future__ import annotations

import collections
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec

from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import RulesError
from recordings.journal_contents import JournalHeader
from recordings.record import Move

QUIET_SECONDS = 15.0
"""If a journal has not changed for this long, its game waits or was killed."""

_RATE_SECONDS = 5.0
_LONGEST_LINE = 16 << 20
_MOST_AT_ONCE = 8 << 20  # bytes of one look

_decode_header = msgspec.json.Decoder(JournalHeader).decode
_decode_move = msgspec.json.Decoder(Move).decode
_DAMAGED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, RulesError)


@dataclass(frozen=True, slots=True)
class LiveGame:
    """The state of a running game.

    Attributes:
        name: of its journal.
        source: the page.
        solver: the engine that plays.
        board: before the last move.
        direction: of the last move.
        score: before the last move.
        moves: so far.
        moves_per_second: over the last seconds.
        quiet_seconds: since the last move.
    """

    name: str
    source: str
    solver: str
    board: Board
    direction: Direction
    score: int
    moves: int
    moves_per_second: float
    quiet_seconds: float

    @property
    def is_quiet(self) -> bool:
        """Whether the game has had no move for long."""
        return self.quiet_seconds > QUIET_SECONDS


class JournalTail:
    """Follows the journal of one game.

    Args:
        path: the journal.
        name: what people see of it.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._name = name
        self._at = 0
        self._header: JournalHeader | None = None
        self._last: bytes | None = None
        self._moves = 0
        self._counts: collections.deque[tuple[float, int]] = collections.deque()
        self._damaged = False

    def look(self) -> LiveGame | None:
        """Read the new lines; return the state of the game, ``None`` before its first move.

        Raises:
            FileNotFoundError: the game has ended, and is in the file of games.
        """
        with self._path.open("rb") as file:
            modified = self._path.stat().st_mtime
            file.seek(self._at)
            taken = 0
            while not self._damaged and taken < _MOST_AT_ONCE:
                line = file.readline(_LONGEST_LINE)
                if not line.endswith(b"\n"):
                    break
                taken += len(line)
                self._take(line)
            self._at += taken
        self._note_rate()
        return self._standing(time.time() - modified)

    def _take(self, line: bytes) -> None:
        if self._header is None:
            try:
                self._header = _decode_header(line)
            except _DAMAGED:
                self._damaged = True
        elif not line.startswith(b'{"end"'):
            self._last = line  # decoded only when somebody looks: a fast game has thousands a second
            self._moves += 1

    def _note_rate(self) -> None:
        now = time.monotonic()
        self._counts.append((now, self._moves))
        while len(self._counts) > 2 and now - self._counts[0][0] > _RATE_SECONDS:
            self._counts.popleft()

    def _standing(self, quiet: float) -> LiveGame | None:
        if self._header is None or self._last is None:
            return None
        try:
            move = _decode_move(self._last)
            board = Board.from_tiles(move.board)
        except _DAMAGED:
            return None
        (began, first), (ended, last) = self._counts[0], self._counts[-1]
        rate = (last - first) / (ended - began) if ended > began else 0.0
        return LiveGame(
            self._name,
            self._header.source,
            self._header.solver,
            board,
            Direction(move.direction),
            move.score,
            self._moves,
            rate,
            max(quiet, 0.0),
        )


class LiveGames:
    """All running games of the folder of runs."""

    def __init__(self) -> None:
        self._tails: dict[str, JournalTail] = {}

    def look(self, journals: dict[str, Path]) -> list[LiveGame]:
        """Return the states of the games of some journals, the latest move first.

        Args:
            journals: path by name.
        """
        self._tails = {
            name: self._tails.get(name) or JournalTail(path, name) for name, path in journals.items()
        }
        found = []
        for name in list(self._tails):
            try:
                game = self._tails[name].look()
            except OSError:  # ended meanwhile
                del self._tails[name]
                continue
            if game is not None:
                found.append(game)
        return sorted(found, key=lambda game: game.quiet_seconds)
