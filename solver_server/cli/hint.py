"""The command ``hint``."""

from __future__ import annotations

import json

import click

from command_line.command import Command
from command_line.engine_options import solver_options
from game2048.board import Board
from game2048.direction import DIRECTIONS
from game2048.solver_options import SolverOptions
from game2048.wire import engine_for_size
from solver_server import limits
from solver_server.cli.options import json_option
from solver_server.engine import Decision, Limit
from solver_server.engines import ENGINES, default_for_play, engines_for


@click.command(cls=Command)
@click.argument("board", nargs=-1, required=True, metavar="BOARD")
@solver_options(engines=ENGINES)
@json_option
def hint(board: tuple[str, ...], solver: SolverOptions, as_json: bool) -> None:
    """Say which move an engine makes on BOARD, and how it values each direction.

    BOARD is the tiles row by row, rows parted by /, 0 or . for an empty cell: "2 4 8 16 / . . 2 4 / . . . 2 /
    . . . .".
    """
    position = Board.from_text(" ".join(board))
    engines = engines_for(solver.weights, tables=solver.tables)
    infos = {name: spec.info for name, spec in engines.items()}
    default = default_for_play(weights=solver.weights)
    name = solver.engine or engine_for_size(infos.values(), default, *position.size)
    limit = Limit(solver.depth, solver.time_ms)
    limits.check(infos[name], limit)
    limits.check_board(infos[name], position)
    decision = engines[name].create(solver.search_threads).choose(position, limit)
    click.echo(_as_json(decision, name) if as_json else _as_text(decision))


def _as_text(decision: Decision | None) -> str:
    if decision is None:
        return "game over: no direction changes this board"
    lines = [str(decision.direction)]
    for direction in DIRECTIONS:
        value = decision.values.get(direction)
        lines.append(f"  {direction!s:<6} {'illegal' if value is None else format(value, '.4f'):>16}")
    return "\n".join(lines)


def _as_json(decision: Decision | None, engine: str) -> str:
    if decision is None:
        return json.dumps({"direction": None, "game_over": True, "engine": engine})
    return json.dumps(
        {
            "direction": str(decision.direction),
            "game_over": False,
            "engine": engine,
            "values": {str(direction): decision.values.get(direction) for direction in DIRECTIONS},
            "depth": decision.depth,
            "nodes": decision.nodes,
            "elapsed_ms": decision.elapsed_ms,
        }
    )
