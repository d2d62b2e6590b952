"""Summarise many games: how strong an engine is, and how fast."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from solver_server.evaluation.self_play import GameResult

REACH_EXPONENTS = range(11, 18)
_Z95 = 1.959964


class Summary(msgspec.Struct, frozen=True):
    """The figures of an evaluation; its JSON form is what ``evaluate --json`` prints.

    Attributes:
        games: number of games.
        mean: mean score.
        ci95: half the width of the mean's 95 % confidence interval (normal approximation); 0 for one game.
        median: median score.
        max: best score.
        reach: share of games that reached each tile from 2048 to 131072.
        moves: number of moves of all games.
        seconds: wall-clock time.
        moves_per_second: moves of all threads together.
        ms_per_move: time of one thread for a move.
        max_tile_counts: by largest tile, the number of games that ended with it.
    """

    games: int
    mean: float
    ci95: float
    median: float
    max: int
    reach: dict[str, float]
    moves: int
    seconds: float
    moves_per_second: float
    ms_per_move: float
    max_tile_counts: dict[str, int]


def summarize(results: Sequence[GameResult], seconds: float, threads: int = 1) -> Summary:
    """Compute the figures of some games.

    Args:
        results: results of the games, at least one.
        seconds: wall-clock time of all games.
        threads: number of games played at a time.
    """
    scores = np.array([result.score for result in results], dtype=np.float64)
    tops = np.array([result.top for result in results])
    moves = sum(result.moves for result in results)
    games = len(results)
    deviation = float(scores.std(ddof=1)) if games > 1 else 0.0
    counts = {int(top): int((tops == top).sum()) for top in sorted(set(tops.tolist()), reverse=True)}
    return Summary(
        games=games,
        mean=round(float(scores.mean()), 1),
        ci95=round(_Z95 * deviation / math.sqrt(games), 1),
        median=float(np.median(scores)),
        max=int(scores.max()),
        reach={str(1 << top): round(float((tops >= top).mean()), 4) for top in REACH_EXPONENTS},
        moves=moves,
        seconds=round(seconds, 3),
        moves_per_second=round(moves / seconds, 1) if seconds else 0.0,
        ms_per_move=round(1000 * seconds * threads / moves, 6) if moves else 0.0,
        max_tile_counts={str(1 << top): count for top, count in counts.items()},
    )


def as_text(summary: Summary) -> str:
    """Format the figures for people."""
    lines = [
        f"games     {summary.games:,}",
        f"mean      {summary.mean:,.0f} ± {summary.ci95:,.0f} (95 %)",
        f"median    {summary.median:,.0f}",
        f"max       {summary.max:,}",
        f"moves     {summary.moves:,} in {summary.seconds:,.1f} s: {summary.moves_per_second:,.0f} a second, "
        f"{summary.ms_per_move:.4g} ms each",
        "",
        "reached",
    ]
    lines += [f"{tile:>7}: {share:7.2%}" for tile, share in summary.reach.items() if share]
    lines += ["", "largest tile"]
    lines += [
        f"{tile:>7}: {count:5} ({count / summary.games:6.1%})"
        for tile, count in summary.max_tile_counts.items()
    ]
    return "\n".join(lines)
