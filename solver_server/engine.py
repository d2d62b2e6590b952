"""The seam between engines and whatever asks them for a move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from game2048.board import Board
from game2048.direction import Direction


@dataclass(frozen=True, slots=True)
class Limit:
    """How far one decision may go; what is ``None`` is the engine's own choice.

    Attributes:
        depth: player moves (the ``composite`` engine counts plies, as its seed does); 1 is greedy.
        time_ms: wall-clock milliseconds.
    """

    depth: int | None = None
    time_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """A move and what the search knew when it chose it.

    Attributes:
        direction: a legal direction of the highest value, or what an endgame table knows to be better.
        values: the value of every legal direction, in the engine's own unit.
        depth: how deep the search went, in the engine's own count.
        nodes: positions evaluated or expanded.
        elapsed_ms: wall-clock time of the decision.
        found_by: what knew the move (`game2048.wire.messages.FoundBy`); other servers may have their own
            words.
    """

    direction: Direction
    values: dict[Direction, float]
    depth: int
    nodes: int
    elapsed_ms: float
    found_by: str = "search"


class Engine(Protocol):
    """An engine ready to play. One instance serves one thread at a time."""

    def choose(self, board: Board, limit: Limit) -> Decision | None:
        """The move for a board, or ``None`` when no direction changes it.

        Raises:
            SolverError: the engine does not play boards of this size, or not to this limit.
        """
        ...
