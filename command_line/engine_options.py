"""The options that choose an engine and limit its search: one meaning and one help on every command."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import click

from command_line.gather import gather
from command_line.types import EngineName
from game2048.engine_names import DEFAULT_FOR_PLAY, ENGINE_NAMES, NETWORK_ENGINE, default_in_words
from game2048.solver_options import SERVER_PATIENCE, SolverOptions

SECTION = "Engine"
MAX_SEARCH_THREADS = 64


def solver_options(
    *leave_out: str,
    default: str = DEFAULT_FOR_PLAY,
    engines: Collection[str] = ENGINE_NAMES,
    aliases: tuple[str, ...] = (),
    default_depth: str = "the engine's own",
    remote: bool = False,
) -> Callable[[Any], Any]:
    """Decorate a command with the engine's options; it gets one argument ``solver``: `SolverOptions`.

    Args:
        leave_out: parameters that the command does not offer, as ``time_ms``.
        default: the engine that plays where none is named, for the help.
        engines: names that --engine takes, unless a server is asked; looked up when the command runs.
        aliases: other names that it takes.
        default_depth: the depth where none is given, for the help.
        remote: whether a server may choose: --server, --token, --ca, --server-patience.
    """
    options = {
        "engine": click.option(
            "--engine",
            type=EngineName(engines),
            help=f"Engine that chooses the moves: {', '.join((*engines, *aliases))}. "
            f"[default: {default_in_words(default)}]",
        ),
        "weights": click.option(
            "--weights",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE",
            help=f"Network for engine {NETWORK_ENGINE}: a file from `train`, `weights pack` or TDL2048+. "
            "[default: the bundled network]",
        ),
        "depth": click.option(
            "--depth",
            "-d",
            type=click.IntRange(1),
            help="Search depth in player moves, 1 is greedy; engine composite counts plies. "
            f"[default: {default_depth}]",
        ),
        "time_ms": click.option(
            "--time-ms",
            type=click.FloatRange(0, min_open=True),
            help="Time limit for each move, in milliseconds. [default: the engine's own]",
        ),
        "search_threads": click.option(
            "--search-threads",
            type=click.IntRange(1, MAX_SEARCH_THREADS),
            default=1,
            show_default=True,
            help="Threads that share the search of one move; only with --time-ms.",
        ),
        "tables": click.option(
            "--tables/--no-tables",
            default=False,
            show_default=True,
            help="Use endgame tables with every engine; engine order always does (docs/tables.md).",
        ),
    }
    chosen = [option for name, option in options.items() if name not in leave_out]
    if remote:
        chosen += [
            click.option(
                "--server",
                metavar="URL",
                help="Address of a running solver server, ws://HOST:PORT or wss://HOST:PORT. "
                "[default: start one for this run]",
            ),
            click.option(
                "--token", envvar="BOT2048_TOKEN", show_envvar=True, help="Access token of that server."
            ),
            click.option(
                "--ca",
                type=click.Path(exists=True, dir_okay=False, path_type=Path),
                metavar="FILE",
                help="Certificates to trust (PEM), besides the system's, for wss://.",
            ),
            click.option(
                "--server-patience",
                type=click.FloatRange(0, 86_400),
                default=SERVER_PATIENCE,
                show_default=True,
                help="Seconds to wait for a solver server that is lost; then the game is recorded and ends.",
            ),
        ]

    def made(**given: Any) -> SolverOptions:
        solver = SolverOptions(**given)
        _check(solver, (*engines, *aliases))
        return solver

    return gather("solver", made, SECTION, *chosen)


def _check(solver: SolverOptions, engines: tuple[str, ...]) -> None:
    """Refuse options that exclude each other.

    Raises:
        click.UsageError: see there.
    """
    if solver.server is not None:
        own = {
            "--weights": solver.weights is not None,
            "--search-threads": solver.search_threads > 1,
            "--tables": solver.tables,
        }
        for option, given in own.items():
            if given:
                raise click.UsageError(
                    f"{option} belongs to the server: give it to `bot2048 serve`, not beside --server"
                )
        return
    if solver.ca is not None:
        raise click.UsageError("--ca is for a server at wss://; add --server")
    if solver.engine is not None and solver.engine not in engines:
        raise click.BadParameter(
            f"{solver.engine!r} is not an engine; expected one of {', '.join(engines)}", param_hint="--engine"
        )
    if solver.weights is not None and solver.engine not in (None, NETWORK_ENGINE, "greedy"):
        raise click.UsageError(
            f"--weights is a network for engine {NETWORK_ENGINE}; --engine is {solver.engine}. Leave one out"
        )
