"""The command ``hint``."""

from __future__ import annotations

import json
import sys

import click

from command_line.command import Command
from command_line.decision_words import found_by_words
from command_line.engine_options import solver_options
from command_line.tables import on_terminal
from game2048.board import Board
from game2048.direction import DIRECTIONS
from game2048.notation import MAX_CHARACTERS, read_board
from game2048.solver_options import SolverOptions
from game2048.wire.messages import engine_for_size
from solver_server import limits
from solver_server.cli.options import announce_compilation, json_option
from solver_server.engine import Decision, Limit
from solver_server.engines import ENGINES, default_for_play, engines_for


@click.command(cls=Command, context_settings={"ignore_unknown_options": True})  # a board may begin with -
@click.argument("board", nargs=-1, metavar="BOARD")
@click.option(
    "--exponents", is_flag=True, help="Read the numbers of BOARD as exponents: 11 is the tile 2048."
)
@solver_options(engines=ENGINES)
@json_option
def hint(board: tuple[str, ...], exponents: bool, solver: SolverOptions, as_json: bool) -> None:
    """Say which move an engine makes on BOARD, and how it values each direction.

    BOARD is the tiles row by row, rows ending with /, and 0, . or - for an empty cell: "2 4 8 16 / . . 2 4 /
    . . . 2 / . . . .". It may also be rows as JSON, one list of a square board, or hexadecimal exponents
    (1234001200010000). Without BOARD, or with -, it is read from standard input. The board that was
    understood is printed.
    """
    position = read_board(_given(board), exponents=exponents)
    engines = engines_for(solver.weights, tables=solver.tables)
    infos = {name: spec.info for name, spec in engines.items()}
    default = default_for_play(weights=solver.weights)
    name = solver.engine or engine_for_size(infos.values(), default, *position.size)
    limit = Limit(solver.depth, solver.time_ms)
    limits.check(infos[name], limit)
    limits.check_board(infos[name], position)
    announce_compilation()
    decision = engines[name].create(solver.search_threads).choose(position, limit)
    if as_json:
        click.echo(_as_json(position, decision, name))
    elif decision is not None and on_terminal():
        _show_in_colour(position, decision)
    else:
        click.echo(_as_text(position, decision))


def _given(words: tuple[str, ...]) -> str:
    """Return the text of the board: of the arguments, else of standard input."""
    if words and words != ("-",):
        return " ".join(words)
    text = "" if sys.stdin.isatty() else sys.stdin.read(MAX_CHARACTERS + 1)
    if not text.strip():
        raise click.UsageError("BOARD is missing; give it as an argument, or on standard input")
    return text


def _as_text(board: Board, decision: Decision | None) -> str:
    if decision is None:
        return f"game over: no direction changes this board\n\n{board.pretty()}"
    lines = [str(decision.direction)]
    for direction in DIRECTIONS:
        value = decision.values.get(direction)
        lines.append(f"  {direction!s:<6} {'illegal' if value is None else format(value, '.4f'):>16}")
    return "\n".join([*lines, "", _found(decision), "", board.pretty()])


def _show_in_colour(board: Board, decision: Decision) -> None:
    from rich.console import Console, Group
    from rich.text import Text

    from command_line.board_view import coloured_board, opinion

    table = opinion(decision.values, decision.direction)
    Console().print(Group(coloured_board(board), table, Text(_found(decision))))


def _found(decision: Decision) -> str:
    words = found_by_words(
        decision.found_by, depth=decision.depth, nodes=decision.nodes, elapsed_ms=decision.elapsed_ms
    )
    return f"found by {words}"


def _as_json(board: Board, decision: Decision | None, engine: str) -> str:
    if decision is None:
        over = {"direction": None, "game_over": True, "engine": engine, "board": board.tiles()}
        return json.dumps(over)
    return json.dumps(
        {
            "direction": str(decision.direction),
            "game_over": False,
            "engine": engine,
            "values": {str(direction): decision.values.get(direction) for direction in DIRECTIONS},
            "depth": decision.depth,
            "nodes": decision.nodes,
            "elapsed_ms": decision.elapsed_ms,
            "found_by": decision.found_by,
            "board": board.tiles(),
        }
    )
