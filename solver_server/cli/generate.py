"""The command ``generate``: datasets by self-play."""

from __future__ import annotations

import datetime
import os
import re
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:  # imports numba
    from recordings.datasets.formats.chunks import Chunk
    from recordings.datasets.resumable import GrowingDataset, Mode
    from recordings.datasets.statistics import GameTally
    from recordings.game_arrays import GameArrays
    from solver_server.generate.plan import Plan
    from solver_server.generate.run import Interrupts

Command = TypeVar("Command", bound=Callable[..., Any])

_CURRICULUM = ("easy", "medium", "hard")
_MOVES_A_LINE = 50
_DEPTH = 3


def _board_size(_ctx: click.Context, _parameter: click.Parameter, value: str) -> tuple[int, int]:
    match = re.fullmatch(r"([2-8])[x×]([2-8])", value)
    if match is None:
        raise click.BadParameter(f"{value!r} is no board size: expected 4x4, 5x5 and the like, 2 to 8 each")
    return int(match[1]), int(match[2])


def _timestamp(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    try:
        return None if value is None else datetime.datetime.fromisoformat(value).isoformat()
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is no date and time: expected ISO 8601") from error


def _what_is_played(command: Command) -> Command:
    options = (
        click.option(
            "-g", "--games", type=click.IntRange(1), default=500, show_default=True, help="How many to play."
        ),
        click.option(
            "-d",
            "--depth",
            type=click.IntRange(1),
            help="Of the search. [default: 3; composite 4]",
        ),
        click.option("--curriculum", type=click.Choice(_CURRICULUM), help="The depth: 2, 3 or 5."),
        click.option("--engine", metavar="NAME", help="Who plays; greedy is ntuple at depth 1."),
        click.option(
            "--weights",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Another network for engine ntuple.",
        ),
        click.option(
            "--board",
            metavar="ROWSxCOLUMNS",
            callback=_board_size,
            default="4x4",
            show_default=True,
            help="The size of the board.",
        ),
        click.option(
            "--seed",
            type=click.IntRange(0, 2**64 - 1),
            help="The same seed gives the same games. [default: drawn, and told]",
        ),
        click.option("--max-moves", type=click.IntRange(1), help="Stop a game after so many."),
        click.option("--min-score", type=click.IntRange(0), default=0, help="Keep no games of less."),
        click.option("--min-tile", type=click.IntRange(0), default=0, help="Keep no games without it."),
        click.option("--metadata", is_flag=True, help="With each move, what the engine thought of all four."),
        click.option(
            "--timestamp", metavar="ISO8601", callback=_timestamp, help="Of all games. [default: their ends]"
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@_what_is_played
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("data/training_games.jsonl"),
    show_default=True,
    help="Its extension is the format: .jsonl, .json, .csv, .parquet or .h5.",
)
@click.option(
    "--workers", type=click.IntRange(1, 1024), help="Processes that play. [default: one a processor]"
)
@click.option("--scheduler", metavar="tcp://…", help="A Dask cluster whose workers play instead.")
@click.option("--resume", is_flag=True, help="Go on with an interrupted or smaller dataset, up to --games.")
@click.option("--append", is_flag=True, help="As --resume, also after games of other runs.")
@click.option("--force", is_flag=True, help="Overwrite what is there.")
@click.option("--card", is_flag=True, help="Write a dataset card, README.md, beside it.")
@click.option("--json", "as_json", is_flag=True, help="Print the statistics as one JSON object.")
@click.option("-v", "--verbose", is_flag=True, help="Tell of every game as it is finished.")
@click.pass_context
def generate(ctx: click.Context, /, output: Path, games: int, **given: Any) -> None:
    """Let an engine play games, and write them as a dataset (docs/datasets.md).

    The same seed gives the same file, whatever plays it; only the times at which games ended differ, which
    --timestamp fixes. Whatever ends the program, no finished game is lost: --resume goes on.
    """
    from game2048.kernels.jit import kernels_are_cached
    from recordings.datasets.hub_card import check_card
    from recordings.datasets.resumable import GrowingDataset
    from recordings.datasets.statistics import GameTally
    from solver_server.generate import players
    from solver_server.generate.run import Interrupts

    _check_usage(given)
    if given["card"]:
        check_card(output.parent, force=given["force"])
    plan = _plan(given)
    going_on = given["resume"] or given["append"]
    if not kernels_are_cached():
        click.echo("compiling: half a minute, once", err=True)
        players.warm_up(plan)
    begun = time.perf_counter()
    mode: Mode = "resume" if going_on else "overwrite" if given["force"] else "new"
    with Interrupts() as interrupts, GrowingDataset(output, mode) as dataset:
        if going_on and given["seed"] is None:
            plan = _with_seed_of(dataset, plan)
        tally = GameTally()
        interrupted, played = _play(plan, games, dataset, tally, interrupts, given)
        if tally.games or not interrupted:
            dataset.finish()
    _report(plan, output, tally, played, time.perf_counter() - begun, given, interrupted)
    if interrupted:
        ctx.exit(130)


def _check_usage(given: dict[str, Any]) -> None:
    if given["curriculum"] and given["depth"]:
        raise click.UsageError("--curriculum says the depth: give one of the two")
    if given["force"] and (given["resume"] or given["append"]):
        raise click.UsageError("--force drops what --resume and --append go on with: give one of them")
    if given["weights"] and given["engine"] not in (None, "ntuple", "greedy"):
        raise click.UsageError(f"--weights is for engines ntuple and greedy, not {given['engine']}")


def _plan(given: dict[str, Any]) -> Plan:
    """What is to be played, checked before anything is touched."""
    from msgspec.structs import replace

    from solver_server.engines import default_for
    from solver_server.generate import players
    from solver_server.generate.plan import CURRICULUM, Plan

    weights: Path | None = given["weights"]
    rows, columns = given["board"]
    plan = Plan(
        engine=given["engine"] or default_for(rows, columns, weights),
        depth=CURRICULUM[given["curriculum"]] if given["curriculum"] else given["depth"],
        weights=None if weights is None else str(weights.resolve()),
        seed=secrets.randbits(53) if given["seed"] is None else given["seed"],
        rows=rows,
        columns=columns,
        max_moves=given["max_moves"],
        min_score=given["min_score"],
        min_tile=given["min_tile"],
        metadata=given["metadata"],
        timestamp=given["timestamp"],
    )
    plan = players.settled(plan)
    # Games of a dataset are of one depth, also where an engine would go as deep as its nodes allow.
    return plan if plan.depth is not None else replace(plan, depth=_DEPTH)


def _with_seed_of(dataset: GrowingDataset, plan: Plan) -> Plan:
    """The plan with the seed of the run that is gone on with, if there is one."""
    import msgspec

    for game in dataset.games():
        seeded = msgspec.structs.replace(plan, seed=game.info.seed or 0)
        if seeded.difference(game.info, game.size) is None:
            plan = seeded
    return plan


def _play(
    plan: Plan,
    games: int,
    dataset: GrowingDataset,
    tally: GameTally,
    interrupts: Interrupts,
    given: dict[str, Any],
) -> tuple[bool, int]:
    """Play what is missing: whether Ctrl-C broke it off, and how many games were played."""
    from tqdm import tqdm

    from solver_server.generate.players import play_chunk
    from solver_server.generate.run import Run, take_stock
    from solver_server.workers import make_crew

    first = take_stock(dataset, plan, tally, others=given["append"])
    played = 0
    workers = min(given["workers"] or os.cpu_count() or 1, max(games - first, 1))
    crew = make_crew(play_chunk, workers=workers, scheduler=given["scheduler"])
    bar = tqdm(
        total=games,
        initial=first,
        desc="Playing games",
        mininterval=0.1 if sys.stderr.isatty() else 5.0,  # say it seldom where nobody sees it redrawn
        file=sys.stderr,
        dynamic_ncols=True,
    )
    with crew, bar:

        def count(chunk: Chunk) -> None:
            nonlocal played
            played += chunk.played
            for game in chunk.games:
                tally.add(game)
                if given["verbose"]:
                    bar.write(_told(game, games), file=sys.stderr)
            bar.update(chunk.played)

        try:
            Run(plan, dataset, crew, interrupts, count).play(first, games)
        except KeyboardInterrupt:
            return True, played
    return False, played


def _told(game: GameArrays, games: int) -> str:
    """A game in lines, as a person watching it would note it down."""
    begun = f"🎯 Game {(game.info.game_number or 0) + 1}/{games}"
    plies = range(_MOVES_A_LINE, game.plies + 1, _MOVES_A_LINE)
    moves = (
        f"Move {ply}: Score {game.scores[ply]}, Max tile {1 << int(game.cells[ply].max())}" for ply in plies
    )
    ended = f"✓ Finished: Score {game.final_score}, Max tile {game.info.max_tile}, Moves {game.plies}"
    return "\n".join([begun, *moves, ended])


def _report(
    plan: Plan,
    output: Path,
    tally: GameTally,
    played: int,
    seconds: float,
    given: dict[str, Any],
    interrupted: bool,
) -> None:
    import msgspec

    from recordings.datasets.hub_card import write_card
    from recordings.datasets.statistics import statistics_text

    statistics = tally.statistics()
    if given["card"]:
        write_card({"train": output}, statistics)
    if given["as_json"]:
        figures = {
            **msgspec.to_builtins(statistics),
            **{"output": str(output), "engine": plan.engine, "depth": plan.depth, "seed": plan.seed},
            **{"played": played, "seconds": round(seconds, 3), "interrupted": interrupted},
        }
        click.echo(msgspec.json.encode(figures).decode())
        return
    click.echo(statistics_text(statistics))
    click.echo(f"Seed: {plan.seed}")
    if interrupted:
        click.echo("\n⏸ Interrupted: --resume goes on")
    else:
        click.echo("\n✅ Dataset generation complete!")
    click.echo(f"Output saved to: {output}")
