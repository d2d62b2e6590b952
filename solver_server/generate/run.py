"""Run self-play into a file: give chunks of games to workers, and write them in order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from game2048.errors import RecordError
from recordings.datasets.formats.chunks import Chunk, decode_chunk
from recordings.datasets.resumable import GrowingDataset
from recordings.datasets.statistics import GameTally
from recordings.game_arrays import GameArrays
from solver_server.generate.plan import Plan, encode_plan
from solver_server.workers import Crew

_CHUNK_SECONDS = 0.1
"""Least time of a chunk, so that the transfer costs nothing beside it."""

_MAX_CHUNK_GAMES = 4096
_SLOW_SECONDS = 1.0
_MAX_BYTES_AHEAD = 64 << 20


class Interrupts:
    """Ctrl-C and SIGTERM end a run at once, but never in the middle of a write.

    Use it as a context in the main thread; elsewhere it does nothing.
    """

    def __init__(self) -> None:
        self._shielded = False
        self._pending = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: object) -> None:
        if not self._shielded:
            raise KeyboardInterrupt
        self._pending = True

    @contextmanager
    def shield(self) -> Iterator[None]:
        """Delay a signal to the end of this context."""
        self._shielded = True
        try:
            yield
        finally:
            self._shielded = False
        if self._pending:
            self._pending = False
            raise KeyboardInterrupt


def take_stock(dataset: GrowingDataset, plan: Plan, tally: GameTally, *, others: bool) -> int:
    """Count the games that a dataset has already.

    Args:
        dataset: the dataset to continue.
        plan: plan of the run.
        tally: counts the games.
        others: whether games of other runs are allowed.

    Returns:
        The number of the first game of the run that is not played yet.

    Raises:
        RecordError: the dataset has games of another run, and they are not allowed.
    """
    first = 0
    for number, game in enumerate(dataset.games(), 1):
        difference = plan.difference(game.info, game.size)
        if difference is None and game.info.game_number is not None:
            first = game.info.game_number + 1
        elif not others:
            raise RecordError(
                f"game {number} of {dataset.path} is of another run ({difference}); "
                "expected the same options; try --append to add to games of other runs",
                path=dataset.path,
            )
        tally.add(game)
    return first


class Run:
    """Plays a plan's games and appends them to a dataset.

    Args:
        plan: the plan.
        dataset: the dataset to write.
        crew: workers of `players.play_chunk`.
        interrupts: signals of the program.
        on_chunk: called after each chunk is written, in order.
    """

    def __init__(
        self,
        plan: Plan,
        dataset: GrowingDataset,
        crew: Crew,
        interrupts: Interrupts,
        on_chunk: Callable[[Chunk], None],
    ) -> None:
        self._plan = plan
        self._message = encode_plan(plan)
        self._dataset = dataset
        self._crew = crew
        self._interrupts = interrupts
        self._on_chunk = on_chunk
        self._ready: dict[int, Chunk] = {}
        self._bytes: dict[int, int] = {}
        self._outstanding = 0
        self._chunk_games = 1

    def play(self, first: int, last: int) -> None:
        """Play the games from number ``first`` to before ``last``."""
        self._ready = {
            number: chunk
            for number, chunk in self._dataset.waiting().items()
            if number >= first and chunk.games and all(map(self._is_mine, chunk.games))
        }
        turn = to_ask = first
        while turn < last:
            to_ask = self._hand_out(max(turn, to_ask), last)
            if turn not in self._ready:
                self._receive(turn)
                continue
            chunk = self._ready.pop(turn)
            self._bytes.pop(turn, None)
            with self._interrupts.shield():
                self._dataset.append(chunk)
                self._tidy_aside()
                self._on_chunk(chunk)
            turn += chunk.played
        self._dataset.clear_aside()

    def _tidy_aside(self) -> None:
        """Drop the chunks that were set aside and are appended by now, once these are all, or many."""
        if not self._ready:
            self._dataset.clear_aside()
        elif self._dataset.bytes_aside > _MAX_BYTES_AHEAD:
            self._dataset.clear_aside()
            for chunk in self._ready.values():
                self._dataset.set_aside(chunk)

    def _is_mine(self, game: GameArrays) -> bool:
        return self._plan.difference(game.info, game.size) is None

    def _hand_out(self, to_ask: int, last: int) -> int:
        """Keep every worker busy with one chunk and another waiting; return the next game to ask for."""
        while to_ask < last and self._outstanding < 2 * self._crew.size:
            if to_ask in self._ready:
                to_ask += self._ready[to_ask].played
                continue
            if sum(self._bytes.values()) > _MAX_BYTES_AHEAD:
                break
            known = min((number for number in self._ready if number > to_ask), default=last)
            count = min(self._chunk_games, last - to_ask, known - to_ask)
            self._crew.submit(self._message, to_ask, count)
            self._outstanding += 1
            to_ask += count
        return to_ask

    def _receive(self, turn: int) -> None:
        """Wait for a chunk. Slow games that arrive before their turn are kept on disk, too."""
        message = self._crew.result()
        self._outstanding -= 1
        chunk = decode_chunk(message)
        if chunk.first != turn and chunk.seconds > _SLOW_SECONDS:
            with self._interrupts.shield():
                self._dataset.set_aside(chunk)
        self._ready[chunk.first] = chunk
        self._bytes[chunk.first] = len(message)
        if chunk.seconds < _CHUNK_SECONDS:
            self._chunk_games = min(max(self._chunk_games, 2 * chunk.played), _MAX_CHUNK_GAMES)
        elif chunk.seconds > 4 * _CHUNK_SECONDS:
            self._chunk_games = min(self._chunk_games, max(1, chunk.played // 2))
