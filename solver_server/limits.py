"""How an engine counts its depth."""

from __future__ import annotations

from dataclasses import dataclass

from game2048.errors import SolverError


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
        """The plies of a depth."""
        return depth * self.plies_each - self.plies_off

    def depth(self, plies: int) -> int:
        """The depth of that many plies; the inverse of `plies`."""
        return (plies + self.plies_off) // self.plies_each

    def check(self, depth: int) -> int:
        """The depth itself, if the engine takes it.

        Raises:
            SolverError: it does not.
        """
        if not self.minimum <= depth <= self.maximum:
            raise SolverError(f"depth {depth} is out of range: expected {self.minimum} to {self.maximum}")
        return depth


PLAYER_MOVES = DepthRule(minimum=1, maximum=10, default=10, plies_each=2, plies_off=1)
"""Depth in player moves, the last one's afterstates evaluated: 1 is greedy."""
