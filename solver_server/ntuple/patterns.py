"""N-tuple networks by name: the cells of each tuple, and the source of the shapes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from game2048.errors import SolverError

MAX_NETWORK_SIDE = 5
MAX_CELLS = 7
MAX_RANKS = 16


@dataclass(frozen=True, slots=True)
class Pattern:
    """The shape of an n-tuple network.

    Attributes:
        name: name of the network on the command line and in weights files.
        rows: number of rows of the board.
        columns: number of columns of the board.
        tuples: cells (row · columns + column) of each tuple, ascending; each tuple has its own table.
        symmetric: whether a table serves all 8 images of its tuple (4 if the board is not square).
        averaged: whether the value is the mean of the weights instead of their sum.
        ranks: exponents must be below this; a board with larger ones is downgraded before it is looked up.
        source: where the shapes come from.
        stages: exponents, ascending. Boards whose largest tile is at least this have separate weights.
    """

    name: str
    rows: int
    columns: int
    tuples: tuple[tuple[int, ...], ...]
    symmetric: bool = True
    averaged: bool = False
    ranks: int = MAX_RANKS
    source: str = ""
    stages: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not (2 <= self.rows <= MAX_NETWORK_SIDE and 2 <= self.columns <= MAX_NETWORK_SIDE):
            raise SolverError(
                f"the board of an n-tuple network is {self.rows}×{self.columns}; expected 2 to "
                f"{MAX_NETWORK_SIDE} rows and columns"
            )
        if not self.tuples:
            raise SolverError("the network has no tuples; expected at least one list of cells")
        if self.ranks not in (15, 16):
            raise SolverError(
                f"a network has {self.ranks} ranks; expected 16, or 15 to downgrade from 32768 on"
            )
        for cells in self.tuples:
            self._check(cells)
        self._check_stages()

    def _check(self, cells: tuple[int, ...]) -> None:
        shown = ",".join(map(str, cells))
        if not 1 <= len(cells) <= MAX_CELLS:
            raise SolverError(
                f"tuple {shown} has {len(cells)} cells; expected 1 to {MAX_CELLS} "
                "(a table has 16**cells weights)"
            )
        if list(cells) != sorted(set(cells)):
            raise SolverError(f"tuple {shown} is not in ascending order; expected each cell once")
        if cells[-1] >= self.rows * self.columns or cells[0] < 0:
            raise SolverError(
                f"tuple {shown} leaves the board; expected cells 0 to {self.rows * self.columns - 1} "
                f"of {self.rows}×{self.columns}"
            )

    def _check_stages(self) -> None:
        if self.stages and (self.rows, self.columns) != (4, 4):
            raise SolverError(
                f"stages are given for a {self.rows}×{self.columns} board; only 4×4 can have them"
            )
        if list(self.stages) != sorted(set(self.stages)) or not all(0 < s < self.ranks for s in self.stages):
            shown = ", ".join(str(1 << stage) if 0 <= stage <= 64 else f"2^{stage}" for stage in self.stages)
            raise SolverError(f"stages are {shown}; expected ascending tiles, 2 to {1 << (self.ranks - 1)}")

    @property
    def stage_entries(self) -> int:
        """Number of weights of one stage."""
        return sum(16 ** len(cells) for cells in self.tuples)

    @property
    def entries(self) -> int:
        """Number of all weights."""
        return self.stage_entries * (len(self.stages) + 1)


def _hexadecimal(text: str) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(sorted(int(digit, 16) for digit in word)) for word in text.split())


_SEED_TD = "a public 2048 project in JavaScript (n-tuple TD(0), 7 patterns on 4×4 and 12 on 5×5)"
_SEED_17 = (
    "a public 2048 project in C++ (17 tuples without symmetries), "
    "after Matsuzaki, TAAI 2016, doi:10.1109/TAAI.2016.7880154"
)
_YEH = "Yeh, Wu, Hsueh, Chang, Liang & Chiang, IEEE TCIAIG 2016, doi:10.1109/TCIAIG.2016.2593710"
_JASKOWSKI = "Jaśkowski, IEEE Transactions on Games 2018, doi:10.1109/TCIAIG.2017.2651887"
_MATSUZAKI = (
    "Matsuzaki, TAAI 2016, doi:10.1109/TAAI.2016.7880154; "
    "trained furthest by Guei, Chen & Wu, IEEE Transactions on Games 2021, doi:10.1109/TG.2021.3109887"
)
_SZUBERT = "Szubert & Jaśkowski, IEEE CIG 2014, doi:10.1109/CIG.2014.6932907"

_SQUARES = tuple((i, i + 1, i + 4, i + 5) for i in (0, 1, 2, 4, 5, 6, 8, 9, 10))
_ROWS = tuple(tuple(range(4 * r, 4 * r + 4)) for r in range(4))
_COLUMNS = tuple(tuple(range(c, 16, 4)) for c in range(4))

PATTERNS: dict[str, Pattern] = {
    pattern.name: pattern
    for pattern in (
        Pattern("4x5", 4, 4, _hexadecimal("01234 45678 01245 45689"), source=_SZUBERT),
        Pattern("4x6", 4, 4, _hexadecimal("012345 456789 012456 45689a"), source=_YEH),
        Pattern("5x4", 4, 4, _hexadecimal("0123 4567 0145 1256 569a"), source=_SZUBERT),
        Pattern("5x6", 4, 4, _hexadecimal("012345 456789 012456 45689a 89abcd"), source=_JASKOWSKI),
        Pattern(
            "8x6",
            4,
            4,
            _hexadecimal("012456 456789 012345 234569 01259a 345678 134567 01489a"),
            source=_MATSUZAKI,
        ),
        # Its source names shapes, not places. These places are our second reading, chosen after the first had
        # learned less than the source reports (benchmarks/RESULTS.md).
        Pattern("seed-4x4", 4, 4, _hexadecimal("012456 12569a 012348 0123 0145 0156 0124"), source=_SEED_TD),
        Pattern(
            "seed-5x5",
            5,
            5,
            (
                (0, 1, 2, 5, 6, 10),
                (0, 1, 2, 5, 6, 7),
                (0, 1, 2, 3, 4),
                (1, 6, 11, 16, 21),
                (1, 5, 6, 7, 11),
                (0, 1, 6, 7, 12),
                (0, 1, 2, 6, 11),
                (0, 1, 5, 6),
                (6, 7, 11, 12),
                (0, 1, 2, 3),
                (5, 6, 7, 8),
                (0, 5, 10, 11),
            ),
            source=_SEED_TD,
        ),
        Pattern(
            "seed-17x4",
            4,
            4,
            _ROWS + _COLUMNS + _SQUARES,
            symmetric=False,
            averaged=True,
            ranks=15,
            source=_SEED_17,
        ),
    )
}
DEFAULT_PATTERN = {(4, 4): "4x6", (5, 5): "seed-5x5"}


def pattern_for(text: str, rows: int = 4, columns: int = 4) -> Pattern:
    """Find a network's shape by name, or make it from cells: ``"0,1,2,4,5 4,5,6,8,9"``, ``"01245 45689"``.

    Raises:
        SolverError: neither a name nor a list of cells that fits the board.
    """
    if text in PATTERNS:
        return PATTERNS[text]
    words = text.replace("/", " ").split()
    if words and all(re.fullmatch(r"\d+(,\d+)+", word) for word in words):
        tuples = tuple(tuple(sorted(int(cell) for cell in word.split(","))) for word in words)
    elif words and (rows, columns) == (4, 4) and all(re.fullmatch(r"[0-9a-f]{2,}", word) for word in words):
        tuples = _hexadecimal(text.replace("/", " "))
    else:
        raise SolverError(
            f"network {text!r} is unknown; expected one of {', '.join(PATTERNS)}, or the cells of each tuple "
            'like "0,1,2,4,5 4,5,6,8,9"'
        )
    return Pattern("custom", rows, columns, tuples, source="given on the command line")


def with_ranks(pattern: Pattern, ranks: int) -> Pattern:
    """Copy a shape, with another number of ranks."""
    return replace(pattern, ranks=ranks)


def with_stages(pattern: Pattern, stages: tuple[int, ...]) -> Pattern:
    """Copy a shape, with separate weights from each of these largest exponents on."""
    return replace(pattern, stages=stages)


def distinct_images(pattern: Pattern, cells: tuple[int, ...]) -> list[int]:
    """List the images of a board in which a tuple reads different cells; repeated ones are left out.

    An image is a number: bit 2 transposes the board, then bit 0 mirrors it, then bit 1 flips it.
    """
    if not pattern.symmetric:
        return [0]
    square = pattern.rows == pattern.columns
    grid = np.arange(pattern.rows * pattern.columns).reshape(pattern.rows, pattern.columns)
    seen: set[tuple[int, ...]] = set()
    distinct = []
    for image in range(8 if square else 4):
        view = grid.T if image & 4 else grid
        view = view[:, ::-1] if image & 1 else view
        view = view[::-1] if image & 2 else view
        looked_at = tuple(int(view.reshape(-1)[cell]) for cell in cells)
        if looked_at not in seen:
            seen.add(looked_at)
            distinct.append(image)
    return distinct


def active_weights(pattern: Pattern) -> int:
    """Count the weights that make up one value."""
    return sum(len(distinct_images(pattern, cells)) for cells in pattern.tuples)


def scale_of(pattern: Pattern) -> float:
    """Return the factor that makes a value of the sum of the active weights."""
    return 1 / active_weights(pattern) if pattern.averaged else 1.0
