"""Formations: which boards the tables know, what their goals are, and how far each table reaches.

A formation has *locked* cells, which hold the largest tiles, and *moving* cells for the smaller ones. A table
is for one formation and one *top*, the largest exponent of a moving tile. For every arrangement of the moving
tiles it holds the probability that best play reaches a *goal* before a locked tile has to move. A goal is a
chain of tiles beside the locked ones that is ready to be merged into them. It makes no difference which large
tiles are locked, so one table serves every game.
"""

from __future__ import annotations

from dataclasses import dataclass

from game2048.errors import SolverError

LOCKED, ANYTHING, DIGITS = "#", ".", "0123456789"


@dataclass(frozen=True, slots=True)
class Formation:
    """The locked cells, the bounds of the other tiles, and the goals.

    Attributes:
        name: name in files and on the command line.
        picture: the rows, separated by ``/``. ``#`` is a locked cell; a digit d is a moving cell for tiles up
            to top − d.
        goals: pictures of the boards to reach, any of them. A digit d is a tile of exactly top − d; ``.`` is
            any tile.
        trusted: least probability at which play follows the tables; 0 for any above 0.
        tight: bounds of a board whose smallest locked tile is just above a lower top: true for the bounds of
            that top; false for the table's own, where all moving tiles are smaller than that locked one.

    Raises:
        SolverError: no such formation is possible.
    """

    name: str
    picture: str
    goals: tuple[str, ...]
    trusted: float = 0.0
    tight: bool = False

    def __post_init__(self) -> None:
        for picture, signs in ((self.picture, LOCKED), *((goal, ANYTHING) for goal in self.goals)):
            shape = [len(line) for line in picture.split("/")]
            if (
                shape != [len(line) for line in self.picture.split("/")]
                or len({*shape}) != 1
                or len(shape) < 2
            ):
                raise SolverError(f"formation {self.name}: {picture!r} does not have the shape of the board")
            if set(picture) - {"/", signs, *DIGITS}:
                raise SolverError(
                    f"formation {self.name}: {picture!r} has an unknown sign; expected {signs!r} or a digit"
                )
            if signs == ANYTHING and not set(picture) & {*DIGITS}:
                raise SolverError(f"formation {self.name}: goal {picture!r} has no tile; expected a digit")
        if not self.goals or not 4 <= len(self.cells) <= 16 or not 2 <= len(self.moving) <= 12:
            raise SolverError(
                f"formation {self.name} has {len(self.goals)} goals, {len(self.cells)} cells and "
                f"{len(self.moving)} moving cells; expected 1 or more, 4 to 16 and 2 to 12"
            )
        if not 0 <= self.trusted <= 1:
            raise SolverError(f"formation {self.name}: trusted is {self.trusted}; expected 0 to 1")

    @property
    def cells(self) -> str:
        """The picture without the row separators."""
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
    def locked(self) -> tuple[int, ...]:
        """The locked cells."""
        return tuple(i for i, sign in enumerate(self.cells) if sign == LOCKED)

    @property
    def moving(self) -> tuple[int, ...]:
        """The moving cells."""
        return tuple(i for i, sign in enumerate(self.cells) if sign != LOCKED)

    @property
    def halves(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The moving cells in two halves, by which positions are numbered (`indexing`)."""
        moving = self.moving
        return moving[: (len(moving) + 1) // 2], moving[(len(moving) + 1) // 2 :]

    def below_top(self, cell: int) -> int:
        """How many exponents below the top the tiles of a moving cell stay."""
        return int(self.cells[cell])

    @property
    def lowest_top(self) -> int:
        """The lowest top with which all tiles of all goals are at least a 2."""
        return 1 + max(below for pattern in self.patterns for _, below in pattern)

    @property
    def neighbours(self) -> tuple[tuple[int, int], ...]:
        """The pairs of adjacent locked cells. Their tiles must differ, or they would merge."""
        locked = set(self.locked)
        right = [(i, i + 1) for i in self.locked if i % self.columns < self.columns - 1 and i + 1 in locked]
        return (*right, *((i, i + self.columns) for i in self.locked if i + self.columns in locked))

    @property
    def patterns(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The goals, each as pairs of a cell and the distance of its tile below the top."""
        return tuple(
            tuple((i, int(sign)) for i, sign in enumerate(goal.replace("/", "")) if sign != ANYTHING)
            for goal in self.goals
        )


@dataclass(frozen=True, slots=True)
class TableSpec:
    """One table: a formation, a top, and which of its positions are kept.

    Attributes:
        formation: see `Formation`.
        top: the largest exponent of a moving tile.
        slack: points by which the sum of the moving tiles may exceed twice the top tile.
        large: least exponent of a large tile.
        spare: number of large tiles beyond one of each kind; each of them is a merge still to be made.

    Positions beyond either bound count as lost.

    Raises:
        SolverError: no such table is possible.
    """

    formation: Formation
    top: int
    slack: int = 128
    large: int = 5
    spare: int = 3

    def __post_init__(self) -> None:
        formation = self.formation
        # Either tile may spawn in any moving cell.
        lowest = max(formation.lowest_top, 2 + max(formation.below_top(cell) for cell in formation.moving))
        for name, value, least, most in (
            ("top", self.top, lowest, 13),
            ("slack", self.slack, 0, 1 << 17),
            ("large", self.large, 0, 16),
            ("spare", self.spare, 0, 16),
        ):
            if not least <= value <= most:
                raise SolverError(
                    f"{name} of a table {formation.name} is {value}; expected {least} to {most}"
                )

    @property
    def name(self) -> str:
        """Formation and top tile, such as ``block-512``."""
        return f"{self.formation.name}-{1 << self.top}"

    @property
    def largest_sum(self) -> int:
        """The largest sum of the moving tiles that the table keeps."""
        return (2 << self.top) + self.slack


BLOCK = Formation(
    "block",
    "###0/###1/0122/2222",
    (
        "..../..../012./..2.",
        "..../..../0122/....",
        "..../..../01../22..",
        "..../..../01../.22.",
        "...0/...1/..22/....",
        "...0/...1/...2/...2",
    ),
    tight=True,
)
"""Six locked tiles, with a chain below or beside them."""
HOOK = Formation(
    "hook",
    "###1/##01/1111/2222",
    (
        "..../..01/...1/....",
        "...1/..01/..../....",
        "...1/..02/...2/....",
        "..../..0./.11./....",
        "..../..0./..11/....",
        "..../..0./..1./..1.",
    ),
    trusted=0.9,
)
"""Five locked tiles, with the sixth of the block and a chain that leads to it."""
FORMATIONS = {formation.name: formation for formation in (HOOK, BLOCK)}
