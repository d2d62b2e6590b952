"""The four directions, in the one order that every array of four in this project follows."""

from __future__ import annotations

import enum

from game2048.errors import RulesError


class Direction(enum.Enum):
    """A move. Its ``value`` is its name on the wire, in records and on the command line.

    The order is UP, RIGHT, DOWN, LEFT; ``index`` (0 to 3) exists for kernels and arrays alone
    and never crosses a boundary.
    """

    UP = "up"
    RIGHT = "right"
    DOWN = "down"
    LEFT = "left"

    @property
    def index(self) -> int:
        """The place of this direction in arrays of four."""
        return _INDEX[self]

    @classmethod
    def parse(cls, name: object) -> Direction:
        """The direction of that name.

        Raises:
            RulesError: there is none.
        """
        try:
            return cls(name)
        except ValueError:
            raise RulesError(f"direction {name!r} is unknown: expected up, right, down or left") from None

    def __str__(self) -> str:
        return self.value


DIRECTIONS: tuple[Direction, ...] = tuple(Direction)
_INDEX = {direction: index for index, direction in enumerate(DIRECTIONS)}
