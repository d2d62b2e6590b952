"""The four directions, in the order that every array of four in this project follows."""

from __future__ import annotations

import enum

from game2048.errors import RulesError


class Direction(enum.Enum):
    """A direction of a move: UP, RIGHT, DOWN or LEFT.

    Its ``value`` is its name on the wire, in records and on the command line. Its ``index`` (0 to 3) is for
    kernels and arrays only.
    """

    UP = "up"
    RIGHT = "right"
    DOWN = "down"
    LEFT = "left"

    @property
    def index(self) -> int:
        """The place of this direction in arrays of four, 0 to 3."""
        return _INDEX[self]

    @classmethod
    def parse(cls, name: object) -> Direction:
        """Return the direction of a name: ``up``, ``right``, ``down`` or ``left``.

        Raises:
            RulesError: the name is unknown.
        """
        try:
            return cls(name)
        except ValueError:
            raise RulesError(f"direction {name!r} is unknown; expected up, right, down or left") from None

    def __str__(self) -> str:
        return self.value


DIRECTIONS: tuple[Direction, ...] = tuple(Direction)
_INDEX = {direction: index for index, direction in enumerate(DIRECTIONS)}
