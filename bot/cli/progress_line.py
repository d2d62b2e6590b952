"""The progress line of `play` and `demo`."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from bot.progress import Progress
from command_line.progress import progress_bar

if TYPE_CHECKING:
    from command_line.progress import Bar


class ProgressLine:
    """One line on standard error: moves, rate, score, largest tile."""

    def __init__(self, games: int) -> None:
        self._games = games
        self._game = 1
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        self._bar = self._new_bar()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def _new_bar(self) -> Bar:
        return progress_bar("playing" if self._games == 1 else f"game {self._game}/{self._games}", "moves")

    def show(self, progress: Progress) -> None:
        """Show the state of the game after a move."""
        if self._bar is None:
            self._bar = self._new_bar()
        self._bar.set_postfix_str(f"score {progress.score:,}, tile {progress.board.max_tile}", refresh=False)
        self._bar.update(1)

    def end_game(self) -> None:
        """Note that a game has ended."""
        self._game += 1
        if self._bar is not None:
            self._bar.close()
            self._bar = None
