"""Which boards the tables know: formations, and how far each table reaches.

A formation is a set of *locked* cells that hold the largest tiles, all different, and among them the
*anchor*, which holds the smallest of these. The other cells are *moving*: they hold the smaller tiles. A
table of a formation is for one *goal*, the exponent of the anchor: it knows, for every arrangement of smaller
tiles, the probability that a second tile of that exponent can be made and merged into the anchor before a
locked tile has to move. Which large tiles are locked makes no difference, so a table serves every game.

Where a table for the next exponent stands above a table, the probability is that of going on there to its
goal too, and so on up to the highest: what a merge leaves behind counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from game2048.errors import SolverError

LOCKED, ANCHOR, HALVES = "#", "@", "12"


@dataclass(frozen=True, slots=True)
class Formation:
    """Which cells are locked, and where the anchor is.

    Attributes:
        name: what files and the command line call it.
        picture: the rows, parted by ``/``: ``#`` locked, ``@`` the anchor, ``1`` and ``2`` moving.

    The moving cells are counted in two halves of at most six (`indexing`). Any division is right; the fewer
    moves carry tiles between the halves, the faster a table is built.
    """

    name: str
    picture: str

    def __post_init__(self) -> None:
        lines = self.picture.split("/")
        if len({len(line) for line in lines}) != 1 or not set(self.cells) <= set(LOCKED + ANCHOR + HALVES):
            raise SolverError(f"formation {self.name}: {self.picture!r} is no board of #, @, 1 and 2")
        if self.cells.count(ANCHOR) != 1 or not 4 <= len(self.cells) <= 16:
            raise SolverError(f"formation {self.name}: expected one @ on 4 to 16 cells, got {self.picture!r}")
        if any(not 1 <= len(half) <= 6 for half in self.halves):
            raise SolverError(f"formation {self.name}: each half has 1 to 6 cells, got {self.picture!r}")

    @property
    def cells(self) -> str:
        """The picture without its row ends."""
        return self.picture.replace("/", "")

    @property
    def rows(self) -> int:
        """Rows of the board."""
        return self.picture.count("/") + 1

    @property
    def columns(self) -> int:
        """Columns of the board."""
        return self.picture.index("/")

    @property
    def anchor(self) -> int:
        """The cell of the anchor."""
        return self.cells.index(ANCHOR)

    @property
    def locked(self) -> tuple[int, ...]:
        """The locked cells, the anchor among them."""
        return tuple(i for i, sign in enumerate(self.cells) if sign in LOCKED + ANCHOR)

    @property
    def halves(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The moving cells of each half."""
        first, second = (tuple(i for i, sign in enumerate(self.cells) if sign == half) for half in HALVES)
        return first, second

    @property
    def approaches(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """The lines of moving cells before the anchor: the direction to it, the cells from it outwards."""
        row, column = divmod(self.anchor, self.columns)
        found = []
        for direction, (down, right) in enumerate(((1, 0), (0, -1), (-1, 0), (0, 1))):
            line: list[int] = []
            r, c = row + down, column + right
            while 0 <= r < self.rows and 0 <= c < self.columns and self.cells[r * self.columns + c] in HALVES:
                line.append(r * self.columns + c)
                r, c = r + down, c + right
            if line:
                found.append((direction, tuple(line)))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class TableSpec:
    """One table: a formation, a goal, and which of its positions are kept.

    Attributes:
        formation: see `Formation`.
        goal: the exponent of the anchor.
        slack: the sum of the moving tiles may exceed that of the goal tile by so much.
        large: tiles from this exponent on are large.
        spare: how many large tiles there may be more than one of each kind; each is a merge still to be made.

    Positions beyond either bound, or with more than one goal tile, count as lost.
    """

    formation: Formation
    goal: int
    slack: int = 64
    large: int = 4
    spare: int = 2

    def __post_init__(self) -> None:
        if not 2 <= self.goal <= 13:
            raise SolverError(
                f"the goal {self.goal} of a table is out of range: expected an exponent of 2 to 13"
            )

    @property
    def name(self) -> str:
        """Formation and goal tile, as ``block-512``."""
        return f"{self.formation.name}-{1 << self.goal}"

    @property
    def largest_sum(self) -> int:
        """The largest sum of the moving tiles that is kept."""
        return (1 << self.goal) + self.slack


BLOCK = Formation("block", "###1/##@2/1111/2222")
CORNER = Formation("corner", "###@/##12/1111/2222")
WING = Formation("wing", "####/#@12/1111/2222")
FORMATIONS = {formation.name: formation for formation in (WING, CORNER, BLOCK)}
