"""The tables that are built unless others are asked for."""

from __future__ import annotations

from collections.abc import Sequence

from game2048.errors import SolverError
from solver_server.tables.formations import BLOCK, HOOK, TableSpec

# Bounds by which both together stay below 3 GB. A larger top takes three times the room.
DEFAULT_SET = (
    TableSpec(HOOK, 7, slack=128, large=5, spare=3),
    TableSpec(BLOCK, 8, slack=128, large=5, spare=3),
)


def plan(names: Sequence[str]) -> list[TableSpec]:
    """The tables to build for some names of formations and tables; all for none.

    Raises:
        SolverError: a name is unknown.
    """
    for name in names:
        if not any(name in (spec.name, spec.formation.name) for spec in DEFAULT_SET):
            known = ", ".join(f"{spec.formation.name}, {spec.name}" for spec in DEFAULT_SET)
            raise SolverError(f"table {name!r} is unknown: expected one of {known}")
    return [spec for spec in DEFAULT_SET if not names or spec.name in names or spec.formation.name in names]
