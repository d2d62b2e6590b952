"""What a dataset holds: counts, averages, the distribution of largest tiles, and what looks wrong with it."""

from __future__ import annotations

from array import array
from collections import Counter

import msgspec
import numpy as np

from game2048.direction import DIRECTIONS
from recordings.game_arrays import GameArrays

SHORT_GAME = 100
"""Games of fewer moves than this ended early."""

_MIN_WIN_RATE = 0.5
_MIN_AVERAGE_SCORE = 10_000
_GAMES_FOR_4096 = 1000
_MAX_SHORT_SHARE = 0.01
_CELLS_FOR_2048 = 16


class Statistics(msgspec.Struct, frozen=True):
    """The figures of a dataset; its JSON form is what ``--json`` prints.

    Attributes:
        games: how many.
        wins: that have a 2048 tile or more.
        win_rate: their share.
        mean_score, median_score, p75_score, p90_score, max_score: of the final scores.
        moves: of all games: the samples.
        mean_moves: per game.
        max_tile: the largest of all.
        max_tile_counts: by largest tile, the number of games that ended with it.
        directions: how often each was chosen.
        outcomes: how games ended.
        boards: by size, the number of games.
        short_games: games of fewer than `SHORT_GAME` moves.
        red_flags: what looks wrong, in words.
    """

    games: int
    wins: int
    win_rate: float
    mean_score: float
    median_score: float
    p75_score: float
    p90_score: float
    max_score: int
    moves: int
    mean_moves: float
    max_tile: int
    max_tile_counts: dict[str, int]
    directions: dict[str, int]
    outcomes: dict[str, int]
    boards: dict[str, int]
    short_games: int
    red_flags: list[str]


class GameTally:
    """Counts games as they come. Keeps eight bytes a game, its score, for the percentiles."""

    def __init__(self) -> None:
        self._scores = array("q")
        self._wins = 0
        self._moves = 0
        self._short = 0
        self._large_boards = 0
        self._tiles: Counter[int] = Counter()
        self._outcomes: Counter[str] = Counter()
        self._sizes: Counter[tuple[int, int]] = Counter()
        self._directions = np.zeros(4, dtype=np.int64)

    def add(self, game: GameArrays) -> None:
        """Count a game."""
        self._scores.append(game.final_score)
        self._wins += game.info.won
        self._moves += game.plies
        self._short += game.plies < SHORT_GAME
        self._large_boards += game.cells[0].size >= _CELLS_FOR_2048
        self._tiles[game.info.max_tile] += 1
        self._outcomes[game.info.outcome or "not recorded"] += 1
        self._sizes[game.size] += 1
        self._directions += np.bincount(game.directions, minlength=4)

    @property
    def games(self) -> int:
        """How many were counted."""
        return len(self._scores)

    def statistics(self) -> Statistics:
        """Return the figures so far."""
        games = max(self.games, 1)
        scores = np.array(self._scores, dtype=np.float64) if self._scores else np.zeros(1)
        p50, p75, p90 = (round(float(p), 1) for p in np.percentile(scores, [50, 75, 90]))
        return Statistics(
            games=self.games,
            wins=self._wins,
            win_rate=round(self._wins / games, 4),
            mean_score=round(float(scores.mean()), 1),
            median_score=p50,
            p75_score=p75,
            p90_score=p90,
            max_score=int(scores.max()),
            moves=self._moves,
            mean_moves=round(self._moves / games, 1),
            max_tile=max(self._tiles, default=0),
            max_tile_counts={str(tile): self._tiles[tile] for tile in sorted(self._tiles, reverse=True)},
            directions={
                direction.value: int(count)
                for direction, count in zip(DIRECTIONS, self._directions, strict=True)
            },
            outcomes=dict(sorted(self._outcomes.items())),
            boards={f"{rows}x{columns}": n for (rows, columns), n in sorted(self._sizes.items())},
            short_games=self._short,
            red_flags=self._red_flags(float(scores.mean())),
        )

    def _red_flags(self, mean: float) -> list[str]:
        games = self.games
        if not games:
            return ["there are no games"]
        flags = []
        if self._short > _MAX_SHORT_SHARE * games:
            flags.append(
                f"{self._short} of {games} games have fewer than {SHORT_GAME} moves: they end too early"
            )
        flags += [
            f"no move goes {direction}: the player never uses that direction"
            for direction, count in zip(DIRECTIONS, self._directions, strict=True)
            if count == 0
        ]
        if self._large_boards < games:
            return flags  # what follows is about boards on which 2048 can be reached
        if self._wins < _MIN_WIN_RATE * games:
            flags.append(f"win rate {self._wins / games:.1%}, below {_MIN_WIN_RATE:.0%}: the player is weak")
        if mean < _MIN_AVERAGE_SCORE:
            flags.append(f"average score {mean:,.0f}, below {_MIN_AVERAGE_SCORE:,}: check the evaluation")
        if games >= _GAMES_FOR_4096 and max(self._tiles) < 4096:
            flags.append(f"no 4096 tile in {games} games: the search is too shallow")
        return flags


def statistics_text(statistics: Statistics) -> str:
    """Write the report for people."""
    s = statistics
    lines = [
        "📊 Dataset Statistics",
        "=" * 60,
        f"Total games: {s.games:,}",
        f"Wins (2048+): {s.wins:,} ({s.win_rate:.1%})",
        f"Average score: {s.mean_score:,.0f}",
        f"Median score: {s.median_score:,.0f} (75 %: {s.p75_score:,.0f}, 90 %: {s.p90_score:,.0f})",
        f"Average moves per game: {s.mean_moves:,.1f}",
        f"Max tile achieved: {s.max_tile}",
        "",
        "Max tile distribution:",
    ]
    width = max([4, *map(len, s.max_tile_counts)])
    lines += [
        f"  {tile:>{width}}: {count:4} games ({count / s.games:6.1%})"
        for tile, count in s.max_tile_counts.items()
    ]
    moves = max(s.moves, 1)
    lines += [
        "",
        "Directions: " + ", ".join(f"{name} {count / moves:.1%}" for name, count in s.directions.items()),
        f"Total training samples: {s.moves:,}",
        f"Average samples per game: {s.mean_moves:,.0f}",
    ]
    if s.red_flags:
        lines += ["", *(f"⚠️  {flag}" for flag in s.red_flags)]
    return "\n".join(lines)
