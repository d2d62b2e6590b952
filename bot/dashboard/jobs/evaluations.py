"""Evaluations that run in the background: `bot2048 evaluate` as a job, and its figures so far."""

from __future__ import annotations

import collections
import statistics
from dataclasses import dataclass, field

import msgspec

from bot.dashboard.jobs.job_book import Job, JobBook
from bot.dashboard.jobs.job_commands import evaluate_words
from game2048.solver_options import SolverOptions

REACH_TILES = tuple(1 << exponent for exponent in range(11, 18))
_MAX_KEPT = 20


class _GameLine(msgspec.Struct, frozen=True, rename="camel"):
    score: int
    max_tile: int
    moves: int


class FinalFigures(msgspec.Struct, frozen=True):
    """The fields of the last line of ``evaluate --json-lines`` that are shown.

    Attributes:
        games: how many were played.
        ci95: half the width of the mean's 95 % confidence interval.
        moves_per_second: over all threads.
        ms_per_move: of one thread.
    """

    games: int
    ci95: float
    moves_per_second: float
    ms_per_move: float


_decode_game = msgspec.json.Decoder(_GameLine).decode
_decode_figures = msgspec.json.Decoder(FinalFigures).decode


@dataclass(slots=True, eq=False)
class Evaluation:
    """One evaluation.

    Attributes:
        title: what is evaluated.
        games: how many games are asked for.
        scores: of the games so far.
        tiles: by largest tile, the number of games so far that ended with it.
        final: the figures of a finished evaluation.
        job: its process; ``None`` before it has begun.
    """

    title: str
    games: int
    scores: list[int] = field(default_factory=list)
    tiles: collections.Counter[int] = field(default_factory=collections.Counter)
    final: FinalFigures | None = None
    job: Job | None = None

    @property
    def played(self) -> int:
        """How many games have ended."""
        return len(self.scores)

    @property
    def mean(self) -> float:
        """Mean score so far; 0 before the first game."""
        return statistics.fmean(self.scores) if self.scores else 0.0

    @property
    def median(self) -> float:
        """Median score so far; 0 before the first game."""
        return statistics.median(self.scores) if self.scores else 0.0

    def reach(self, tile: int) -> float:
        """Return the share of the games so far that reached a tile."""
        reached = sum(count for top, count in self.tiles.items() if top >= tile)
        return reached / self.played if self.played else 0.0

    def take(self, line: bytes) -> None:
        """Read a line of the command's output."""
        try:
            game = _decode_game(line)
        except msgspec.DecodeError:
            try:
                self.final = _decode_figures(line)
            except msgspec.DecodeError:
                return
            return
        self.scores.append(game.score)
        self.tiles[game.max_tile] += 1


class Evaluations:
    """The evaluations of this dashboard, the latest first.

    Args:
        jobs: where they run.
    """

    def __init__(self, jobs: JobBook) -> None:
        self._jobs = jobs
        self.all: list[Evaluation] = []

    async def start(
        self, title: str, asked: SolverOptions, games: int, board: str | None, threads: int
    ) -> Evaluation:
        """Begin an evaluation.

        Args:
            title: what is evaluated.
            asked: the engine.
            games: how many.
            board: size of the board; ``None`` for that of the weights, else 4×4.
            threads: games at the same time.

        Raises:
            DashboardError: an input is out of range, or too many jobs run.
        """
        words = evaluate_words(asked, games, board, threads)
        evaluation = Evaluation(title, int(games))
        evaluation.job = await self._jobs.start("evaluation", title, words, evaluation.take)
        self.all.insert(0, evaluation)
        running = [each for each in self.all[_MAX_KEPT:] if each.job is not None and not each.job.is_over]
        self.all[_MAX_KEPT:] = running
        return evaluation

    def cancel(self, evaluation: Evaluation) -> None:
        """Stop an evaluation; its figures so far stay."""
        if evaluation.job is not None:
            self._jobs.stop(evaluation.job)
