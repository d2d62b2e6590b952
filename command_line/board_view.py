"""A board in the classic colours, and an engine's opinion of it, for a terminal (rich)."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from game2048.board import Board
from game2048.direction import DIRECTIONS, Direction
from game2048.look.classic_look import (
    BOARD_HEX,
    DARK_TEXT_EXPONENTS,
    DARK_TEXT_HEX,
    LIGHT_TEXT_HEX,
    TILE_HEXES,
)

_LEAST_WIDTH = 6  # of a tile, in characters
_BACKGROUND = Style(bgcolor=f"#{BOARD_HEX}")
_STYLES = [
    Style(
        color=f"#{DARK_TEXT_HEX if exponent <= DARK_TEXT_EXPONENTS else LIGHT_TEXT_HEX}",
        bgcolor=f"#{colour}",
        bold=True,
    )
    for exponent, colour in enumerate(TILE_HEXES)
]


def coloured_board(board: Board) -> RenderableType:
    """Return a board as coloured tiles, three lines a row, with a line of the board's colour between rows."""
    tiles = board.tiles()
    width = max(_LEAST_WIDTH, 2 + max(len(str(tile)) for row in tiles for tile in row))
    edge = Text(" " * (board.columns * (width + 1) + 1), style=_BACKGROUND)
    lines: list[RenderableType] = [edge]
    for row in range(board.rows):
        cells = board.cells[row * board.columns : (row + 1) * board.columns]
        for has_numbers in (False, True, False):
            line = Text(" ", style=_BACKGROUND)
            for exponent in cells:
                words = str(1 << exponent) if exponent and has_numbers else ""
                line.append(words.center(width), _STYLES[min(exponent, len(_STYLES) - 1)])
                line.append(" ", _BACKGROUND)
            lines.append(line)
        lines.append(edge)
    return Group(*lines)


def opinion(values: Mapping[Direction, float], best: Direction) -> Table:
    """Return a table of what an engine thinks of each direction; the best one is marked.

    Args:
        values: of each legal direction, in the engine's own unit.
        best: what the engine chose.
    """
    table = Table(box=None, padding=(0, 1), show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column(justify="right")
    highest = values.get(best)
    for direction in DIRECTIONS:
        value = values.get(direction)
        style = "bold green" if direction is best else "" if value is not None else "dim"
        shown = "cannot move" if value is None else _number(value)
        less = ""
        if value is not None and highest is not None and direction is not best:
            less = f"{'+' if value >= highest else '-'}{_number(abs(value - highest))}"
        table.add_row(str(direction), shown, less, style=style)
    return table


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
