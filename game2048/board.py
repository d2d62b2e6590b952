"""An immutable board of exponents, of any rectangle from 2×2 to 8×8."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from game2048.direction import DIRECTIONS, Direction
from game2048.errors import RulesError
from game2048.line import slide_line
from game2048.size import Size

MAX_EXPONENT = 63
"""The largest exponent that a `Board` can hold. Boards from outside may hold `highest_exponent` at most."""


def highest_exponent(rows: int, columns: int) -> int:
    """Return the largest exponent that `Board.from_tiles` accepts on a board of that size.

    A board of n cells cannot hold more than 2**(n + 1): every cell is one step of a chain that ends in a
    spawned 4. On 4×4 that is exponent 17, tile 131072. Smaller boards accept the same tile. Larger boards
    stop at 2**50, which every JSON client can hold exactly.
    """
    return min(max(rows * columns, 16) + 1, 50)


@dataclass(frozen=True, slots=True)
class Slide:
    """The result of a move, before the spawn.

    Attributes:
        afterstate: the board after the slide.
        reward: merge reward, the sum of the face values of the merged tiles.
        moved: whether a tile moved; a move without that is illegal.
    """

    afterstate: Board
    reward: int
    moved: bool


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Board:
    """An immutable board of exponents (0 = empty, 1 = tile 2, …, 17 = tile 131072), row by row from the top.

    `Board()` is an empty 4×4 board, ``Board(5, 5)`` an empty 5×5 one. Boards compare by their tiles and can
    be keys of a dict. ``eval(repr(board)) == board``.

    Args:
        rows: 2 to 8.
        columns: 2 to 8.
        cells: ``rows * columns`` exponents, one byte each; ``None`` for an empty board.

    Attributes:
        rows: 2 to 8.
        columns: 2 to 8.
        cells: ``rows * columns`` exponents, one byte each.

    Raises:
        RulesError: the size is not supported, or the cells do not fit it.
    """

    rows: int
    columns: int
    cells: bytes

    def __init__(self, rows: int = 4, columns: int = 4, cells: bytes | None = None) -> None:
        count = Size(rows, columns).checked().cells
        if cells is None:
            cells = bytes(count)
        if len(cells) != count:
            raise RulesError(f"{len(cells)} cells do not fill a {rows}×{columns} board; expected {count}")
        if max(cells) > MAX_EXPONENT:
            raise RulesError(f"exponent {max(cells)} is too large; expected at most {MAX_EXPONENT}")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "cells", cells)

    # -- making boards ------------------------------------------------------------------------------------

    @classmethod
    def from_tiles(cls, tiles: Sequence[Sequence[int]]) -> Board:
        """Return the board with these face values.

        Args:
            tiles: face values row by row, 0 for an empty cell.

        Raises:
            RulesError: the rows are not a rectangle of 2 to 8 by 2 to 8 cells, or a value is not a tile.
        """
        if not _is_sequence(tiles) or not all(_is_sequence(row) for row in tiles):
            raise RulesError(f"board {_short(tiles)} is not a list of rows; expected e.g. [[2, 0], [4, 8]]")
        rows = len(tiles)
        columns = len(tiles[0]) if rows else 0
        for number, row in enumerate(tiles, 1):
            if len(row) != columns:
                raise RulesError(
                    f"the board is ragged: row {number} has {len(row)} cells, row 1 has {columns}; "
                    "expected rows of equal length"
                )
        Size(rows, columns).checked()
        cells = bytearray()
        for r, row in enumerate(tiles, 1):
            for c, tile in enumerate(row, 1):
                cells.append(_exponent_of(tile, r, c, rows, columns))
        return cls(rows, columns, bytes(cells))

    @classmethod
    def from_text(cls, text: str) -> Board:
        """Return the board that a text describes, as `text` writes it.

        Args:
            text: face values, row by row; rows end with ``/`` or a line end; 0, ``.`` or ``-`` is an empty
                cell.

        Raises:
            RulesError: see `from_tiles`; or a word is not a number.
        """
        tiles: list[list[int]] = []
        for row in text.replace("/", "\n").strip().splitlines():
            words = row.replace(",", " ").split()
            if not words:
                raise RulesError(f"board {_short(text)} has an empty row; expected face values in every row")
            tiles.append([_face_value(word) for word in words])
        return cls.from_tiles(tiles)

    # -- reading boards -----------------------------------------------------------------------------------

    def tiles(self) -> list[list[int]]:
        """Return the face values row by row, 0 for an empty cell."""
        return [
            [1 << exponent if exponent else 0 for exponent in self.cells[start : start + self.columns]]
            for start in range(0, len(self.cells), self.columns)
        ]

    def text(self) -> str:
        """Return the board on one line, as `from_text` reads it: ``2 4 8 16 / 0 0 2 4 / …``."""
        return " / ".join(" ".join(map(str, row)) for row in self.tiles())

    def pretty(self) -> str:
        """Return the board as aligned lines for a terminal."""
        width = max(4, len(str(self.max_tile)))
        return "\n".join(" ".join(f"{tile or '.':>{width}}" for tile in row) for row in self.tiles())

    def svg(self) -> str:
        """Return a picture of the board in the classic colours, as SVG text."""
        from game2048.look.board_picture import board_svg  # draws boards, so it imports this module

        return board_svg(self)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        if max(self.cells) <= highest_exponent(self.rows, self.columns):
            return f"Board.from_text({self.text()!r})"
        return f"Board({self.rows}, {self.columns}, {self.cells!r})"

    def _repr_html_(self) -> str:
        """Show the board as a picture in a notebook."""
        return self.svg()

    @property
    def size(self) -> Size:
        """Rows and columns."""
        return Size(self.rows, self.columns)

    @property
    def max_tile(self) -> int:
        """The largest face value; 0 on an empty board."""
        top = max(self.cells)
        return 1 << top if top else 0

    def empty_cells(self) -> tuple[int, ...]:
        """Return the indices (row · columns + column) of the empty cells."""
        return tuple(index for index, exponent in enumerate(self.cells) if exponent == 0)

    # -- the rules ----------------------------------------------------------------------------------------

    def slide(self, direction: Direction) -> Slide:
        """Return what a move in that direction does: all tiles slide and merge; nothing spawns."""
        cells = bytearray(self.cells)
        reward = 0
        for line in board_lines(self.rows, self.columns)[direction]:
            exponents = [cells[index] for index in line]
            reward += slide_line(exponents, len(exponents))
            for index, exponent in zip(line, exponents, strict=True):
                cells[index] = exponent
        after = bytes(cells)
        if after == self.cells:
            return Slide(self, 0, False)
        return Slide(Board(self.rows, self.columns, after), reward, True)

    def slides(self) -> dict[Direction, Slide]:
        """Return what each of the four directions does, also of those that change nothing."""
        return {direction: self.slide(direction) for direction in DIRECTIONS}

    def legal_directions(self) -> tuple[Direction, ...]:
        """Return the directions that change the board; empty when the game is over."""
        return tuple(direction for direction in DIRECTIONS if self.slide(direction).moved)

    @property
    def is_over(self) -> bool:
        """Whether the game is over: no direction changes the board."""
        return not self.legal_directions()

    def with_tile(self, cell: int, exponent: int) -> Board:
        """Return this board with one more tile.

        Args:
            cell: index (row · columns + column) of an empty cell.
            exponent: of the new tile; 1 is a 2.

        Raises:
            RulesError: the cell does not exist or is not empty.
        """
        if not 0 <= cell < len(self.cells) or self.cells[cell]:
            raise RulesError(
                f"cell {cell} of {self.text()!r} is not empty; expected one of {self.empty_cells()}"
            )
        return Board(self.rows, self.columns, self.cells[:cell] + bytes((exponent,)) + self.cells[cell + 1 :])


_LINES: dict[tuple[int, int], dict[Direction, list[list[int]]]] = {}


def board_lines(rows: int, columns: int) -> dict[Direction, list[list[int]]]:
    """Return for each direction the lines of cell indices, each beginning at the edge that tiles slide to."""
    lines = _LINES.get((rows, columns))
    if lines is None:
        across = [[r * columns + c for c in range(columns)] for r in range(rows)]
        down = [[r * columns + c for r in range(rows)] for c in range(columns)]
        lines = {
            Direction.UP: down,
            Direction.RIGHT: [line[::-1] for line in across],
            Direction.DOWN: [line[::-1] for line in down],
            Direction.LEFT: across,
        }
        _LINES[rows, columns] = lines
    return lines


def _is_sequence(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _exponent_of(tile: object, row: int, column: int, rows: int, columns: int) -> int:
    top = highest_exponent(rows, columns)
    if isinstance(tile, int) and not isinstance(tile, bool):
        if tile == 0:
            return 0
        if 2 <= tile <= 1 << top and tile & (tile - 1) == 0:
            return tile.bit_length() - 1
    raise RulesError(
        f"{_short(tile)} in row {row}, column {column} is not a tile; "
        f"expected 0 or a power of two from 2 to {1 << top}"
    )


def _face_value(word: str) -> int:
    if word in {".", "-", "_"}:
        return 0
    # isascii: int() also takes other scripts' digits; the length bound keeps absurd numbers out of int().
    if word.isascii() and word.isdigit() and len(word) <= 18:
        return int(word)
    raise RulesError(f"{_short(word)} is not a tile; expected 0 or a power of two from 2 up")


def _short(value: object, limit: int = 80) -> str:
    shown = repr(value)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
