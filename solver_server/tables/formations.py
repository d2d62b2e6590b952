"""Which boards the tables know: formations, what they are played for, and how far each table reaches.

A formation is a set of *locked* cells that hold the largest tiles, and *moving* cells for the smaller ones. A
table of a formation is for one *top*, the largest exponent of a moving tile: it knows, for every arrangement
of the moving tiles, the probability that a *goal* can be reached before a locked tile has to move: a chain of
tiles beside the locked ones that is ready to be merged down into them. Which large tiles are locked makes no
difference, so a table serves every game.
"""

from __future__ import annotations

from dataclasses import dataclass

from game2048.errors import SolverError

LOCKED, ANYTHING = "#", "."


@dataclass(frozen=True, slots=True)
class Formation:
    """Which cells are locked, how large the tiles of the others may be, and what is to be reached.

    Attributes:
        name: what files and the command line call it.
        picture: the rows, parted by ``/``: ``#`` locked; a digit d: a moving cell, for tiles up to top − d.
        goals: pictures of boards to reach, any of them: a digit d where a tile must be top − d exactly,
            ``.`` where it may be anything.
        trusted: the probability of a goal from which on play follows the tables; 0 for any at all.
        tight: whether on a board whose smallest locked tile is just above a lower top, the bounds too are
            those of that top; else the table's own, and all moving tiles smaller than that locked one.
    """

    name: str
    picture: str
    goals: tuple[str, ...]
    trusted: float = 0.0
    tight: bool = False

    def __post_init__(self) -> None:
        for picture, signs in ((self.picture, LOCKED), *((goal, ANYTHING) for goal in self.goals)):
            shape = [len(line) for line in picture.split("/")]
            if shape != [len(line) for line in self.picture.split("/")] or len(set(shape)) != 1:
                raise SolverError(f"formation {self.name}: {picture!r} has not the shape of a board")
            if any(sign not in signs and not sign.isdigit() for sign in picture.replace("/", "")):
                raise SolverError(
                    f"formation {self.name}: {picture!r} has a sign that is no {signs} and no digit"
                )
        if not self.goals or not 4 <= len(self.cells) <= 16 or not 2 <= len(self.moving) <= 12:
            raise SolverError(
                f"formation {self.name}: expected a goal, 4 to 16 cells and 2 to 12 moving ones, "
                f"got {len(self.goals)}, {len(self.cells)} and {len(self.moving)}"
            )

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
    def locked(self) -> tuple[int, ...]:
        """The locked cells."""
        return tuple(i for i, sign in enumerate(self.cells) if sign == LOCKED)

    @property
    def moving(self) -> tuple[int, ...]:
        """The moving cells."""
        return tuple(i for i, sign in enumerate(self.cells) if sign != LOCKED)

    @property
    def halves(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The moving cells in two halves, which positions are numbered by (`indexing`)."""
        moving = self.moving
        return moving[: (len(moving) + 1) // 2], moving[(len(moving) + 1) // 2 :]

    def below_top(self, cell: int) -> int:
        """How far below the top the tiles of a moving cell stay."""
        return int(self.cells[cell])

    @property
    def lowest_top(self) -> int:
        """The lowest top for which all tiles of all goals are at least a 2."""
        return 1 + max(below for pattern in self.patterns for _, below in pattern)

    @property
    def neighbours(self) -> tuple[tuple[int, int], ...]:
        """The pairs of locked cells side by side; their tiles must differ, or they would merge."""
        locked = set(self.locked)
        right = [(i, i + 1) for i in self.locked if i % self.columns < self.columns - 1 and i + 1 in locked]
        return (*right, *((i, i + self.columns) for i in self.locked if i + self.columns in locked))

    @property
    def patterns(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The goals, each as pairs: a cell, and how far below the top its tile is."""
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
        slack: the sum of the moving tiles may exceed that of the tile above the top by so much.
        large: tiles from this exponent on are large.
        spare: how many large tiles there may be more than one of each kind; each is a merge still to be made.

    Positions beyond either bound count as lost.
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
        if not lowest <= self.top <= 13:
            raise SolverError(
                f"the top {self.top} of a table {formation.name} is out of range: "
                f"expected an exponent of {lowest} to 13"
            )

    @property
    def name(self) -> str:
        """Formation and top tile, as ``block-512``."""
        return f"{self.formation.name}-{1 << self.top}"

    @property
    def largest_sum(self) -> int:
        """The largest sum of the moving tiles that is kept."""
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
"""Six locked tiles, and a chain below them or beside them."""
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
"""Five locked tiles, and the sixth of the block with a chain that leads to it."""
FORMATIONS = {formation.name: formation for formation in (HOOK, BLOCK)}
