"""The command ``generate``: datasets by self-play."""

from __future__ import annotations

import datetime
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from command_line.command import Command
from command_line.engine_options import solver_options
from command_line.gather import gather, in_section
from command_line.progress import progress, say_above
from command_line.types import SizeType
from game2048.engine_names import DEFAULT_FOR_DATA
from game2048.size import STANDARD_SIZE, Size
from game2048.solver_options import SolverOptions
from solver_server.cli.options import MAX_SEED, announce_compilation, json_option, scheduler_option
from solver_server.engines import ENGINES

if TYPE_CHECKING:  # imports numba
    from recordings.datasets.formats.chunks import Chunk
    from recordings.datasets.resumable import GrowingDataset, Mode
    from recordings.datasets.statistics import GameTally
    from recordings.game_arrays import GameArrays
    from solver_server.generate.plan import Plan
    from solver_server.generate.run import Interrupts

CURRICULUM = {"easy": 2, "medium": 3, "hard": 5}
"""Depths of the datasets of growing difficulty."""

_GREEDY = "greedy"
_MOVES_A_LINE = 50
_DEPTH = 3


def _timestamp(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    try:
        return None if value is None else datetime.datetime.fromisoformat(value).isoformat()
    except ValueError as error:
        raise click.BadParameter(
            f"{value!r} is not a date and time; expected ISO 8601, e.g. 2026-11-29T12:00:00"
        ) from error


@dataclass(frozen=True, slots=True)
class DatasetOptions:
    """Which games `generate` plays, and where they go.

    Attributes:
        games: how many there are in the end.
        curriculum: name of a depth in `CURRICULUM`.
        board: size of the board.
        seed: of the spawns; ``None`` for a random one.
        max_moves: moves after which a game is stopped.
        min_score: least score of a game that is kept.
        min_tile: least largest tile of a game that is kept.
        metadata: whether each move is kept with the engine's values.
        timestamp: of all games; ``None`` for the times at which they end.
        output: the dataset.
        workers: processes that play; ``None`` for one per processor.
        scheduler: address of a Dask cluster whose workers play.
        resume: whether an interrupted or smaller dataset is continued.
        append: the same, also after games of other runs.
        force: whether an existing dataset is overwritten.
        card: whether a dataset card is written.
        verbose: whether every game is reported as it ends.
    """

    games: int
    curriculum: str | None
    board: Size
    seed: int | None
    max_moves: int | None
    min_score: int
    min_tile: int
    metadata: bool
    timestamp: str | None
    output: Path
    workers: int | None
    scheduler: str | None
    resume: bool
    append: bool
    force: bool
    card: bool
    verbose: bool

    @property
    def continued(self) -> bool:
        """Whether games are added to a dataset that is there."""
        return self.resume or self.append

    @property
    def mode(self) -> Mode:
        """How the dataset is opened."""
        return "resume" if self.continued else "overwrite" if self.force else "new"


@click.command(cls=Command)
@gather(
    "options",
    DatasetOptions,
    None,
    in_section(
        "Games",
        click.option(
            "-g",
            "--games",
            type=click.IntRange(1),
            default=500,
            show_default=True,
            help="Games in the dataset at the end.",
        ),
        click.option(
            "--board",
            type=SizeType(),
            default=str(STANDARD_SIZE),
            show_default=True,
            help="Size of the board.",
        ),
        click.option("--curriculum", type=click.Choice(list(CURRICULUM)), help="Depth by name: 2, 3 or 5."),
        click.option(
            "--seed",
            type=click.IntRange(0, MAX_SEED),
            help="Seed of the games: the same seed gives the same games. [default: random; it is printed]",
        ),
        click.option("--max-moves", type=click.IntRange(1), help="Stop a game after this many moves."),
        click.option(
            "--min-score",
            type=click.IntRange(0),
            default=0,
            show_default=True,
            help="Keep only games with at least this score.",
        ),
        click.option(
            "--min-tile",
            type=click.IntRange(0),
            default=0,
            show_default=True,
            help="Keep only games that reached this tile.",
        ),
    ),
    in_section(
        "Dataset",
        click.option(
            "-o",
            "--output",
            type=click.Path(dir_okay=False, path_type=Path),
            default=Path("data/training_games.jsonl"),
            show_default=True,
            help="Dataset to write; its extension is the format: .jsonl, .json, .csv, .parquet or .h5.",
        ),
        click.option(
            "--metadata", is_flag=True, help="Keep with each move how the engine valued the four directions."
        ),
        click.option(
            "--timestamp",
            metavar="ISO8601",
            callback=_timestamp,
            help="Timestamp of all games. [default: when each ended]",
        ),
        click.option(
            "--resume", is_flag=True, help="Continue an interrupted or smaller dataset, up to --games."
        ),
        click.option("--append", is_flag=True, help="As --resume, but also after games of other runs."),
        click.option("--force", is_flag=True, help="Overwrite an existing dataset."),
        click.option("--card", is_flag=True, help="Write a dataset card, README.md, beside the dataset."),
    ),
    in_section(
        "Workers",
        click.option(
            "--workers",
            type=click.IntRange(1, 1024),
            help="Processes that play. [default: one per processor]",
        ),
        scheduler_option,
    ),
    click.option("-v", "--verbose", is_flag=True, help="Print every game when it ends."),
)
@solver_options(
    "time_ms",
    "search_threads",
    default=DEFAULT_FOR_DATA,
    engines=ENGINES,
    aliases=(_GREEDY,),
    default_depth=f"{_DEPTH}; composite 4; greedy 1",
)
@json_option
@click.pass_context
def generate(ctx: click.Context, options: DatasetOptions, solver: SolverOptions, as_json: bool) -> None:
    """Let an engine play games, and write them as a dataset (docs/datasets.md).

    Engine greedy is ntuple at depth 1. The same seed gives the same file, whatever machine plays; only the
    times at which games ended differ, which --timestamp fixes. No finished game is lost, however the program
    ends: --resume continues.
    """
    from recordings.datasets.hub_card import check_card
    from recordings.datasets.resumable import GrowingDataset
    from recordings.datasets.statistics import GameTally
    from solver_server.generate import players
    from solver_server.generate.run import Interrupts

    _check_usage(options, solver)
    if options.card:
        check_card(options.output.parent, force=options.force)
    plan = _plan(options, solver)
    if announce_compilation() or options.scheduler is None:
        players.prepare(plan)  # says here, once, that kernels are compiled
    begun = time.perf_counter()
    with Interrupts() as interrupts, GrowingDataset(options.output, options.mode) as dataset:
        if options.continued and options.seed is None:
            plan = _with_seed_of(dataset, plan)
        tally = GameTally()
        interrupted, played = _play(plan, dataset, tally, interrupts, options)
        if tally.games or not interrupted:
            dataset.finish()
    outcome = Generated(plan, tally, played, time.perf_counter() - begun, interrupted)
    _report(outcome, options, as_json=as_json)
    if interrupted:
        ctx.exit(130)


def _check_usage(options: DatasetOptions, solver: SolverOptions) -> None:
    if options.curriculum and solver.depth:
        raise click.UsageError("--curriculum is a depth by name; give it or --depth")
    if options.force and options.continued:
        raise click.UsageError("--force drops what --resume and --append continue; give one of them")


def _plan(options: DatasetOptions, solver: SolverOptions) -> Plan:
    """Return what is to be played, checked before anything is touched."""
    from msgspec.structs import replace

    from solver_server.engines import default_for_data
    from solver_server.generate import players
    from solver_server.generate.plan import Plan

    plan = Plan(
        engine=solver.engine or default_for_data(options.board, solver.weights),
        depth=CURRICULUM[options.curriculum] if options.curriculum else solver.depth,
        weights=None if solver.weights is None else str(solver.weights.resolve()),
        seed=secrets.randbits(53) if options.seed is None else options.seed,
        size=options.board,
        tables=solver.tables,
        max_moves=options.max_moves,
        min_score=options.min_score,
        min_tile=options.min_tile,
        metadata=options.metadata,
        timestamp=options.timestamp,
    )
    plan = players.settled(plan)
    # Games of a dataset are of one depth, also where an engine would go as deep as its nodes allow.
    return plan if plan.depth is not None else replace(plan, depth=_DEPTH)


def _with_seed_of(dataset: GrowingDataset, plan: Plan) -> Plan:
    """Return the plan with the seed of the run that is continued, if there is one."""
    import msgspec

    for game in dataset.games():
        seeded = msgspec.structs.replace(plan, seed=game.info.seed or 0)
        if seeded.difference(game.info, game.size) is None:
            plan = seeded
    return plan


def _play(
    plan: Plan, dataset: GrowingDataset, tally: GameTally, interrupts: Interrupts, options: DatasetOptions
) -> tuple[bool, int]:
    """Play what is missing: whether Ctrl-C ended it, and how many games were played."""
    from solver_server.generate.players import play_chunk
    from solver_server.generate.run import Run, take_stock
    from solver_server.workers import make_crew

    games = options.games
    first = take_stock(dataset, plan, tally, others=options.append)
    played = 0
    workers = min(options.workers or os.cpu_count() or 1, max(games - first, 1))
    crew = make_crew(play_chunk, workers=workers, scheduler=options.scheduler)
    with crew, progress("Playing games", "games", total=games, initial=first) as bar:

        def count(chunk: Chunk) -> None:
            nonlocal played
            played += chunk.played
            for game in chunk.games:
                tally.add(game)
                if options.verbose:
                    say_above(bar, _in_lines(game, games))
            bar.update(chunk.played)

        try:
            Run(plan, dataset, crew, interrupts, count).play(first, games)
        except KeyboardInterrupt:
            return True, played
    return False, played


def _in_lines(game: GameArrays, games: int) -> str:
    """Return a game in lines, as a person watching it would note it down."""
    begun = f"🎯 Game {(game.info.game_number or 0) + 1}/{games}"
    plies = range(_MOVES_A_LINE, game.plies + 1, _MOVES_A_LINE)
    moves = (
        f"Move {ply}: Score {game.scores[ply]}, Max tile {1 << int(game.cells[ply].max())}" for ply in plies
    )
    ended = f"✓ Finished: Score {game.final_score}, Max tile {game.info.max_tile}, Moves {game.plies}"
    return "\n".join([begun, *moves, ended])


@dataclass(frozen=True, slots=True)
class Generated:
    """How a run of `generate` went.

    Attributes:
        plan: what was to be played.
        tally: of all games in the dataset.
        played: games of this run.
        seconds: that it took.
        interrupted: whether Ctrl-C ended it.
    """

    plan: Plan
    tally: GameTally
    played: int
    seconds: float
    interrupted: bool


def _report(outcome: Generated, options: DatasetOptions, *, as_json: bool) -> None:
    import msgspec

    from recordings.datasets.hub_card import write_card
    from recordings.datasets.statistics import statistics_text

    plan, statistics = outcome.plan, outcome.tally.statistics()
    if options.card:
        write_card({"train": options.output}, statistics)
    if as_json:
        figures = {
            **msgspec.to_builtins(statistics),
            **{"output": str(options.output), "engine": plan.engine, "depth": plan.depth, "seed": plan.seed},
            **{"played": outcome.played, "seconds": round(outcome.seconds, 3)},
            **{"interrupted": outcome.interrupted},
        }
        click.echo(msgspec.json.encode(figures).decode())
        return
    click.echo(statistics_text(statistics))
    click.echo(f"Seed: {plan.seed}")
    if outcome.interrupted:
        click.echo("\n⏸ Interrupted; --resume continues")
    else:
        click.echo("\n✅ Dataset generation complete!")
    click.echo(f"Output saved to: {options.output}")
