"""The live view of ``play --watch``: the board in colour, the score, and what the engine thinks."""

from __future__ import annotations

import logging
import sys
import time
from collections import deque
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from bot.progress import Progress
from command_line.board_view import coloured_board, opinion
from command_line.decision_words import found_by_words
from game2048.wire.messages import DecisionMessage

_FRAMES_PER_SECOND = 10
_RATE_OVER_MOVES = 50


class WatchView:
    """Draws the games of a run on standard error, in place.

    Args:
        games: how many are played.
    """

    def __init__(self, games: int) -> None:
        self._games = games
        self._game = 1
        self._last: Progress | None = None
        self._times: deque[float] = deque(maxlen=_RATE_OVER_MOVES)
        console = Console(stderr=True)
        self._live = Live(
            console=console,
            refresh_per_second=_FRAMES_PER_SECOND,
            get_renderable=self.picture,
            redirect_stdout=False,
        )
        self._handlers: list[tuple[logging.StreamHandler[Any], Any]] = []

    def __enter__(self) -> Self:
        before = sys.stderr
        self._live.start()
        for handler in logging.getLogger().handlers:
            # Lines of the log appear above the board, through the stream that the view puts in place.
            if isinstance(handler, logging.StreamHandler) and handler.stream is before:
                handler.setStream(sys.stderr)
                self._handlers.append((handler, before))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()
        for handler, stream in self._handlers:
            handler.setStream(stream)

    def show(self, progress: Progress) -> None:
        """Show the state of the game after a move."""
        self._last = progress
        self._times.append(time.monotonic())

    def end_game(self) -> None:
        """Note that a game has ended; its last board stays on the screen above the next one."""
        self._live.console.print(self.picture())
        self._game += 1
        self._last = None
        self._times.clear()

    def picture(self) -> RenderableType:
        """Return the current picture of the view."""
        title = "" if self._games == 1 else f"game {self._game} of {self._games}   "
        if self._last is None:
            return Text(f"{title}opening the page…")
        progress = self._last
        head = f"{title}score {progress.score:,}   {progress.moves:,} moves{self._rate()}"
        parts: list[RenderableType] = [Text(head, style="bold"), coloured_board(progress.board)]
        if progress.decision is not None:
            parts += _opinion_of(progress.decision)
        return Group(*parts)

    def _rate(self) -> str:
        if len(self._times) < 2:
            return ""
        return f"   {(len(self._times) - 1) / max(self._times[-1] - self._times[0], 1e-9):.0f} moves/s"


def _opinion_of(decision: DecisionMessage) -> list[RenderableType]:
    found = found_by_words(
        decision.found_by, depth=decision.depth, nodes=decision.nodes, elapsed_ms=decision.elapsed_ms
    )
    table = opinion(decision.by_direction, decision.chosen)
    return [Text(f"last move by {decision.engine}: {found}"), table]
