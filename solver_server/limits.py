"""How far a search may go: how engines count depth, and the one check of every limit."""

from __future__ import annotations

from dataclasses import dataclass

from game2048.board import Board
from game2048.errors import SolverError
from game2048.wire.messages import EngineInfo
from solver_server.engine import Limit

LONGEST_MS = 60_000.0
"""The longest time limit of a move, and where a search ends that was given a depth and no time."""

UNLIMITED = Limit()
"""Leaves depth and time to the engine."""


class LimitError(SolverError):
    """A depth or a time that the engine does not take."""


class UnsupportedBoardError(SolverError):
    """A board of a size that the engine does not play."""


@dataclass(frozen=True, slots=True)
class DepthRule:
    """How an engine counts its depth.

    Attributes:
        minimum: the least depth it takes.
        maximum: the greatest depth it takes.
        default: the depth it plays when neither depth nor time is given, if `Search.node_limit` lets it.
        plies_each: plies a step of depth adds.
        plies_off: plies to take off that product; 1 where the last move's afterstates are the leaves.
    """

    minimum: int
    maximum: int
    default: int
    plies_each: int
    plies_off: int

    def plies(self, depth: int) -> int:
        """Return the plies of a depth."""
        return depth * self.plies_each - self.plies_off

    def depth(self, plies: int) -> int:
        """Return the depth of that many plies; the inverse of `plies`."""
        return (plies + self.plies_off) // self.plies_each

    def check(self, depth: int) -> int:
        """Return the depth itself, if the engine takes it.

        Raises:
            LimitError: it does not.
        """
        check_depth(depth, self.minimum, self.maximum)
        return depth


PLAYER_MOVES = DepthRule(minimum=1, maximum=10, default=10, plies_each=2, plies_off=1)
"""Depth in player moves, the last one's afterstates evaluated: 1 is greedy."""


def check(info: EngineInfo, limit: Limit, longest_ms: float = LONGEST_MS) -> None:
    """Check that an engine takes a limit.

    Args:
        info: of the engine.
        limit: of one decision.
        longest_ms: the greatest ``time_ms``.

    Raises:
        LimitError: it does not.
    """
    if limit.depth is not None:
        check_depth(limit.depth, info.min_depth, info.max_depth, info.name)
    if limit.time_ms is not None:
        check_time(limit.time_ms, longest_ms)


def check_depth(depth: int, minimum: int, maximum: int, engine: str | None = None) -> None:
    """Check a depth.

    Raises:
        LimitError: it is out of range.
    """
    if not minimum <= depth <= maximum:
        of_engine = "" if engine is None else f" for engine {engine!r}"
        raise LimitError(
            f"depth {str(depth)[:20]} is out of range{of_engine}; expected {minimum} to {maximum}"
        )


def check_time(time_ms: float, longest_ms: float = LONGEST_MS) -> None:
    """Check a time limit.

    Raises:
        LimitError: it is out of range, or not a number.
    """
    if not 0 < time_ms <= longest_ms:
        raise LimitError(
            f"time_ms {time_ms:g} is out of range; expected more than 0 and at most {longest_ms:g}"
        )


def seconds_of(limit: Limit) -> float:
    """Return how long a search may take, in seconds.

    Raises:
        LimitError: the time is out of range, or not a number.
    """
    if limit.time_ms is None:
        return LONGEST_MS / 1000
    check_time(limit.time_ms)
    return limit.time_ms / 1000


def check_board(info: EngineInfo, board: Board) -> None:
    """Check that an engine plays boards of that size.

    Raises:
        UnsupportedBoardError: it does not.
    """
    if not info.plays(board.rows, board.columns):
        raise UnsupportedBoardError(
            f"engine {info.name!r} does not play {board.size} boards; expected {', '.join(info.boards)}"
        )
