"""An immutable board of exponents, of any rectangle from 2×2 to 8×8."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from game2048.direction import DIRECTIONS, Direction
from game2048.errors import RulesError
from game2048.line import slide_line
from game2048.size import Size

MAX_EXPONENT = 63
"""What a `Board` can hold; what is accepted from outside is `highest_exponent`."""


def highest_exponent(rows: int, columns: int) -> int:
    """The largest exponent that `Board.from_tiles` accepts on a board of that size.

    A board of n cells cannot pass 2**(n + 1) (every cell one step of a chain that ends in a spawned 4): 17,
    or 131072, on 4×4. Smaller boards accept as much, larger ones stop at 2**50, which any JSON client holds
    exactly.
    """
    return min(max(rows * columns, 16) + 1, 50)


@dataclass(frozen=True, slots=True)
class Slide:
    """What a move does before the spawn.

    Attributes:
        afterstate: the board after the slide.
        reward: the sum of the face values of the tiles made by merging.
        moved: whether anything changed; a move that changes nothing is illegal.
    """

    afterstate: Board
    reward: int
    moved: bool


@dataclass(frozen=True, slots=True)
class Board:
    """A board of exponents (0 = empty, 1 = tile 2, …, 17 = tile 131072), row by row from the top.

    Attributes:
        rows: 2 to 8.
        columns: 2 to 8.
        cells: ``rows * columns`` exponents, one byte each.
    """

    rows: int
    columns: int
    cells: bytes

    def __post_init__(self) -> None:
        self.size.checked()
        if len(self.cells) != self.rows * self.columns:
            raise RulesError(
                f"{len(self.cells)} cells do not fill a board of {self.rows}×{self.columns}: "
                f"expected {self.rows * self.columns}"
            )
        if max(self.cells) > MAX_EXPONENT:
            raise RulesError(f"exponent {max(self.cells)} is too large: expected at most {MAX_EXPONENT}")

    # -- making boards ------------------------------------------------------------------------------------

    @classmethod
    def empty(cls, rows: int = 4, columns: int = 4) -> Board:
        """A board without tiles."""
        return cls(rows, columns, bytes(max(rows, 0) * max(columns, 0)))

    @classmethod
    def from_tiles(cls, tiles: Sequence[Sequence[int]]) -> Board:
        """A board from face values, row by row, 0 for empty.

        Raises:
            RulesError: not a rectangle of 2 to 8 by 2 to 8, or a value that is no tile.
        """
        if not _is_sequence(tiles) or not all(_is_sequence(row) for row in tiles):
            raise RulesError(f"board {_short(tiles)} is not a list of rows: expected e.g. [[2, 0], [4, 8]]")
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
        """A board from its text form: face values, rows parted by ``/`` or line ends; 0, . or - for empty.

        The inverse of `text`.

        Raises:
            RulesError: as `from_tiles`; also a word that is no number.
        """
        tiles: list[list[int]] = []
        for row in text.replace("/", "\n").strip().splitlines():
            words = row.replace(",", " ").split()
            if not words:
                raise RulesError(f"board {_short(text)} has an empty row: expected face values in every row")
            tiles.append([_face_value(word) for word in words])
        return cls.from_tiles(tiles)

    # -- reading boards -----------------------------------------------------------------------------------

    def tiles(self) -> list[list[int]]:
        """The face values, row by row, 0 for empty."""
        return [
            [1 << exponent if exponent else 0 for exponent in self.cells[start : start + self.columns]]
            for start in range(0, len(self.cells), self.columns)
        ]

    def text(self) -> str:
        """The board on one line, as `from_text` reads it: ``2 4 8 16 / 0 0 2 4 / …``."""
        return " / ".join(" ".join(map(str, row)) for row in self.tiles())

    def pretty(self) -> str:
        """The board as an aligned block of lines for a terminal."""
        width = max(4, len(str(self.max_tile)))
        return "\n".join(" ".join(f"{tile or '.':>{width}}" for tile in row) for row in self.tiles())

    def __str__(self) -> str:
        return self.text()

    @property
    def size(self) -> Size:
        """Rows and columns."""
        return Size(self.rows, self.columns)

    @property
    def max_tile(self) -> int:
        """The largest face value, 0 on an empty board."""
        top = max(self.cells)
        return 1 << top if top else 0

    def empty_cells(self) -> tuple[int, ...]:
        """Indices (row · columns + column) of the empty cells."""
        return tuple(index for index, exponent in enumerate(self.cells) if exponent == 0)

    # -- the rules ----------------------------------------------------------------------------------------

    def slide(self, direction: Direction) -> Slide:
        """Slide all tiles in that direction, merging by the rules (`line.slide_line`); no spawn."""
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

    def legal_directions(self) -> tuple[Direction, ...]:
        """The directions that change the board; none when the game is over."""
        return tuple(direction for direction in DIRECTIONS if self.slide(direction).moved)

    @property
    def is_over(self) -> bool:
        """Whether no direction changes the board."""
        return not self.legal_directions()

    def with_tile(self, cell: int, exponent: int) -> Board:
        """This board with ``exponent`` put into the empty cell of that index.

        Raises:
            RulesError: the cell does not exist or is taken.
        """
        if not 0 <= cell < len(self.cells) or self.cells[cell]:
            raise RulesError(
                f"cell {cell} of {self.text()!r} is not empty: expected one of {self.empty_cells()}"
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
        f"{_short(tile)} in row {row}, column {column} is no tile: "
        f"expected 0 or a power of two from 2 to {1 << top}"
    )


def _face_value(word: str) -> int:
    if word in {".", "-", "_"}:
        return 0
    # isascii: int() also takes other scripts' digits; the length bound keeps absurd numbers out of int().
    if word.isascii() and word.isdigit() and len(word) <= 18:
        return int(word)
    raise RulesError(f"{_short(word)} is no tile: expected 0 or a power of two from 2 up")


def _short(value: object, limit: int = 80) -> str:
    shown = repr(value)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def afterstates(board: Board) -> Iterable[tuple[Direction, Slide]]:
    """The legal directions of a board with what each does, in the order of `DIRECTIONS`."""
    for direction in DIRECTIONS:
        slide = board.slide(direction)
        if slide.moved:
            yield direction, slide
