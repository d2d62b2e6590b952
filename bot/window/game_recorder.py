"""Record the games of the window. The current game is on disk after each move and each undo."""

from __future__ import annotations

import time
from pathlib import Path

from bot.options import GameSummary
from bot.window.desktop_game import DesktopGame, WindowTurn
from recordings.journal import GameJournal
from recordings.record import GameRecord, Outcome

WINDOW_SOURCE = "window"
PERSON = "person"


class GameRecorder:
    """Writes the games of a window to ``games.jsonl`` in a folder.

    A journal can only grow. After an undo it is therefore written again, once the next move is made.

    Args:
        folder: of the recordings; made with the first move.
        engine: what the record calls the engine.

    Attributes:
        folder: see above.
        summaries: the games that were recorded, in order.
    """

    def __init__(self, folder: Path, engine: str) -> None:
        self.folder = folder
        self.summaries: list[GameSummary] = []
        self._began = time.monotonic()
        self._engine = engine
        self._journal: GameJournal | None = None
        self._solver = ""
        self._by_engine: set[bool] = set()
        self._version = (0, 0)

    def add(self, game: DesktopGame) -> None:
        """Put the last move of the game on disk.

        Raises:
            RecordError: the disk does not take it.
        """
        if not self._continues(game, game.moves - 1) or game.turns[-1].by_engine not in self._by_engine:
            self._write_again(game)
        else:
            self._append(game.turns[-1])

    def finish(self, game: DesktopGame, outcome: Outcome) -> GameRecord | None:
        """Record the game in its current state; return ``None`` for a game without a move.

        Raises:
            RecordError: the disk does not take it; the journal stays for ``bot2048 records recover``.
        """
        if not game.turns:
            self._discard()
            return None
        if not self._continues(game, game.moves):
            self._write_again(game)
        assert self._journal is not None
        record = self._journal.finish(game.board, game.score, outcome)
        self._journal = None
        self.summaries.append(GameSummary(record, time.monotonic() - self._began, None))
        return record

    def close(self) -> None:
        """Keep an unfinished journal for ``bot2048 records recover``."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _continues(self, game: DesktopGame, moves: int) -> bool:
        """Return whether the journal holds exactly this number of moves, the first of the game."""
        journal = self._journal
        return journal is not None and journal.lines == moves and self._version == _version_of(game)

    def _write_again(self, game: DesktopGame) -> None:
        old = self._journal
        if old is None:
            self._began = time.monotonic()
        self._by_engine = {turn.by_engine for turn in game.turns}
        players = [self._engine] * (True in self._by_engine) + [PERSON] * (False in self._by_engine)
        self._journal = GameJournal.create(self.folder, source=WINDOW_SOURCE, solver=" and ".join(players))
        self._version = _version_of(game)
        for turn in game.turns:
            self._append(turn)
        if old is not None:  # only now is the game on disk again
            old.discard()

    def _append(self, turn: WindowTurn) -> None:
        assert self._journal is not None
        self._journal.append(turn.before, turn.direction, turn.score)

    def _discard(self) -> None:
        if self._journal is not None:
            self._journal.discard()
            self._journal = None


def _version_of(game: DesktopGame) -> tuple[int, int]:
    """Return what changes whenever the past of the game does."""
    return game.number, game.undos
