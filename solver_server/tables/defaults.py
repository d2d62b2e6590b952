"""The tables that are built unless others are asked for."""

from __future__ import annotations

from collections.abc import Sequence

from game2048.errors import SolverError
from solver_server.tables.formations import CORNER, FORMATIONS, WING, Formation, TableSpec

GOALS = range(8, 4, -1)
"""512 as well would take 2 GB a formation more."""


def spec_of(formation: Formation, goal: int) -> TableSpec:
    """The table of a formation and a goal, with the bounds that measured well."""
    return TableSpec(formation, goal, slack=64, large=4, spare=2)


ALL = tuple(spec_of(formation, goal) for formation in FORMATIONS.values() for goal in GOALS)
"""Each formation's from the highest goal down, as they have to be built."""
DEFAULT_SET = tuple(spec for spec in ALL if spec.formation in (WING, CORNER))
"""What the network that comes along builds most, in 2.6 GB."""


def plan(names: Sequence[str]) -> list[TableSpec]:
    """The tables to build for some names of formations and tables, in order, with those that they lead to.

    Raises:
        SolverError: a name is unknown.
    """
    if not names:
        return list(DEFAULT_SET)
    wanted: set[str] = set()
    for name in names:
        matching = [spec for spec in ALL if name in (spec.name, spec.formation.name)]
        if not matching:
            known = ", ".join(spec.name for spec in ALL)
            formations = ", ".join(FORMATIONS)
            raise SolverError(f"table {name!r} is unknown: expected {formations}, or one of {known}")
        for found in matching:
            wanted |= {
                spec.name for spec in ALL if spec.formation == found.formation and spec.goal >= found.goal
            }
    return [spec for spec in ALL if spec.name in wanted]
