"""The command ``evaluate``."""

from __future__ import annotations

import time
from dataclasses import dataclass

import click

from command_line.command import Command
from command_line.engine_options import solver_options
from command_line.gather import gather
from command_line.progress import progress
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
    click.echo(msgspec.json.encode(summary).decode() if as_json or json_lines else as_text(summary))
