"""The rules of 2048: boards, slides, spawns, symmetries, and the messages of the wire. No I/O.

Importing this package loads no compiled kernel; those are in `game2048.kernels`.
"""

from game2048.board import Board, Slide
from game2048.direction import DIRECTIONS, Direction
from game2048.errors import Error2048, RulesError, WireError

__all__ = ["DIRECTIONS", "Board", "Direction", "Error2048", "RulesError", "Slide", "WireError"]
