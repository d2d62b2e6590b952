"""The command ``evaluate``."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from command_line.command import Command
from command_line.engine_options import solver_options
from command_line.gather import gather
from command_line.progress import progress
from command_line.tables import on_terminal, show_table
from game2048.size import Size
from game2048.solver_options import SolverOptions
from solver_server.cli.options import (
    announce_compilation,
    board_option,
    json_lines_option,
    json_option,
    scheduler_option,
    seed_option,
    threads_option,
)
from solver_server.engines import ENGINES

if TYPE_CHECKING:  # loads NumPy
    from solver_server.evaluation.summary import Summary


@dataclass(frozen=True, slots=True)
class EvaluatedGames:
    """Which games are played, and where.

    Attributes:
        games: how many.
        board: size of the board; ``None`` for that of the weights, else 4×4.
        threads: games played at the same time.
        scheduler: address of a Dask cluster whose workers play.
        seed: of the games.
    """

    games: int
    board: Size | None
    threads: int
    scheduler: str | None
    seed: int


@click.command("evaluate", cls=Command)
@gather(
    "options",
    EvaluatedGames,
    "Games",
    click.option(
        "-g", "--games", type=click.IntRange(1), default=100, show_default=True, help="Games to play."
    ),
    board_option,
    threads_option,
    scheduler_option,
    seed_option,
)
@solver_options(engines=ENGINES)
@json_option
@json_lines_option
def evaluate_command(options: EvaluatedGames, solver: SolverOptions, as_json: bool, json_lines: bool) -> None:
    """Let an engine play games; print how strong and how fast it was.

    It plays as in `play`: the same default engine, the same search. --depth 1 measures a network without
    search.
    """
    import msgspec

    from solver_server.engine import Limit
    from solver_server.evaluation import games
    from solver_server.evaluation.self_play import GameResult
    from solver_server.evaluation.summary import as_text, summarize

    announce_compilation()
    plan = games.plan_for(solver.engine, solver.weights, options.board, Limit(solver.depth, solver.time_ms))
    plan = msgspec.structs.replace(
        plan, seed=options.seed, tables=solver.tables, search_threads=solver.search_threads
    )
    results: list[GameResult] = []
    total = 0
    with games.opened(plan, options.threads, options.scheduler) as (playing, at_once):
        begun = time.perf_counter()
        with progress("Playing games", "games", total=options.games) as bar:
            for result in playing(options.games):
                results.append(result)
                total += result.score
                bar.set_postfix_str(f"mean {total / len(results):,.0f}", refresh=False)
                bar.update(1)
                if json_lines:
                    game = {"score": result.score, "maxTile": 1 << result.top, "moves": result.moves}
                    click.echo(msgspec.json.encode(game))
        summary = summarize(results, time.perf_counter() - begun, at_once)
    if as_json or json_lines:
        click.echo(msgspec.json.encode(summary).decode())
    elif on_terminal():
        _show(summary)
    else:
        click.echo(as_text(summary))


def _show(summary: Summary) -> None:
    """Print the figures as two tables."""
    show_table(
        (">games", ">mean", ">± (95 %)", ">median", ">max", ">moves", ">seconds", ">moves/s", ">ms/move"),
        [
            (
                f"{summary.games:,}",
                f"{summary.mean:,.0f}",
                f"{summary.ci95:,.0f}",
                f"{summary.median:,.0f}",
                f"{summary.max:,}",
                f"{summary.moves:,}",
                f"{summary.seconds:,.1f}",
                f"{summary.moves_per_second:,.0f}",
                f"{summary.ms_per_move:.4g}",
            )
        ],
    )
    tiles = sorted({*(t for t, share in summary.reach.items() if share), *summary.max_tile_counts}, key=int)
    show_table(
        (">tile", ">games that reached it", ">games that ended with it"),
        [
            (
                tile,
                f"{summary.reach[tile]:.2%}" if tile in summary.reach else "",
                f"{summary.max_tile_counts.get(tile, 0):,}",
            )
            for tile in tiles
        ],
    )
