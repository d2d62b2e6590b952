"""Think about the likely board of a move while the page still confirms the move."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass

from bot.variant_search import Ranking, Solver, SpawnedTiles, ranked_directions
from game2048.board import Board, Slide
from game2048.direction import Direction
from game2048.errors import SolverError
from scraper.page import GamePage

MOST_MISTAKES = 3
"""After this many boards that did not come, the player thinks about confirmed boards only."""
WORTH_S = 0.003
"""If a ranking takes less time than this, to begin it early costs more than it saves."""
LATEST_SHARE = 0.25
"""The weight of the latest ranking in the mean time of a ranking."""


@dataclass(frozen=True, slots=True)
class _Thought:
    """A question to the solver about a board that is not confirmed yet."""

    board: Board
    rules: int
    task: asyncio.Task[Ranking]


class Foresight:
    """Rank the directions of boards. With a slow engine, begin as soon as the page can tell the next board.

    Args:
        solver: gives the values of boards.
        page: the page whose rules count.
        spawned: the smallest tile that spawns on the page.
    """

    def __init__(self, solver: Solver, page: GamePage, spawned: SpawnedTiles) -> None:
        self._solver = solver
        self._page = page
        self._spawned = spawned
        self._thought: _Thought | None = None
        self._mistakes = 0
        self._seconds = 0.0
        """The mean time of a ranking."""
        self._listens = False

    async def end(self) -> None:
        """Drop what is under way; the page tells no more boards."""
        self._listen(wanted=False)
        if (thought := self._dropped()) is not None:
            with contextlib.suppress(asyncio.CancelledError, SolverError):
                await thought.task

    def _note(self, board: Board) -> None:
        self._dropped()
        shown = self._spawned.as_if_of_2(board)
        task = asyncio.create_task(self._timed(shown, shown.slides()))
        task.add_done_callback(_read)
        self._thought = _Thought(shown, len(self._page.rules), task)

    def _dropped(self) -> _Thought | None:
        thought, self._thought = self._thought, None
        if thought is not None:
            thought.task.cancel()
        return thought

    async def ranking(self, board: Board, slides: Mapping[Direction, Slide]) -> Ranking:
        """Rank the directions of a confirmed board; see `bot.variant_search.ranked_directions`.

        Args:
            board: the current board, as the solver sees it.
            slides: the slide of each direction by the rules of 2048.

        Raises:
            SolverError: the solver does not answer any more.
        """
        thought = self._thought
        if thought is not None and thought.board == board and thought.rules == len(self._page.rules):
            self._thought = None
            return await thought.task
        if self._dropped() is not None:
            self._mistakes += 1
        return await self._timed(board, slides)

    async def _timed(self, board: Board, slides: Mapping[Direction, Slide]) -> Ranking:
        """Rank the directions of a board; let the page tell boards if that takes long enough."""
        begun = time.perf_counter()
        ranking = await ranked_directions(self._solver, self._page, board, slides)
        self._seconds += LATEST_SHARE * (time.perf_counter() - begun - self._seconds)
        self._listen(wanted=self._seconds >= WORTH_S and self._mistakes < MOST_MISTAKES)
        return ranking

    def _listen(self, *, wanted: bool) -> None:
        if wanted is not self._listens:
            self._listens = wanted
            self._page.foresee(self._note if wanted else None)


def _read(task: asyncio.Task[Ranking]) -> None:
    """Read the error of a ranking that nobody awaits, so that asyncio does not log it."""
    if not task.cancelled():
        task.exception()
