"""The commands ``train``, ``evaluate`` and ``benchmark``."""

from __future__ import annotations

import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:  # imports numba
    from solver_server.ntuple.training.settings import Settings
    from solver_server.ntuple.training.trainer import LogRow
from solver_server.ntuple.training.training_state import Training

_CANCELLED = 130


def _board_size(
    _ctx: click.Context, _parameter: click.Parameter, value: str | None
) -> tuple[int, int] | None:
    if value is None:
        return None
    match = re.fullmatch(r"([2-8])[x×]([2-8])", value)
    if match is None:
        raise click.BadParameter(f"{value!r} is no board size: expected 4x4, 5x5 and the like, 2 to 8 each")
    return int(match[1]), int(match[2])


def _tiles(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Exponents of tiles."""
    if value is None:
        return None
    tiles = value.split(",")
    if not all(re.fullmatch(r"[1-9]\d{0,5}", tile) and int(tile).bit_count() == 1 for tile in tiles):
        raise click.BadParameter(f"{value!r} are no tiles: expected some like 8192,16384")
    return tuple(int(tile).bit_length() - 1 for tile in tiles)


_seed = click.option(
    "--seed", type=click.IntRange(0, 2**64 - 1), default=0, show_default=True, help="Of the games."
)
_threads = click.option(
    "--threads", type=click.IntRange(1, 256), default=1, show_default=True, help="Games played at a time."
)
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.command()
@click.option(
    "--network",
    metavar="NAME|CELLS",
    help="A named network, or the cells of each tuple like '0,1,2,4,5 4,5,6,8,9'. [default: 4x6 or seed-5x5]",
)
@click.option(
    "--board",
    metavar="ROWSxCOLUMNS",
    callback=_board_size,
    default="4x4",
    show_default=True,
    help="The board of a list of cells.",
)
@click.option("--episodes", type=click.IntRange(1), help="End after so many games, restarts not counted.")
@click.option("--minutes", type=click.FloatRange(0, min_open=True), help="End after so many minutes.")
@click.option(
    "--method",
    type=click.Choice(["backward", "tc", "td0"]),
    help="TC(λ) from the end of each game with restarts, TC(0) or TD(0). [default: backward]",
)
@click.option(
    "--lr",
    type=click.FloatRange(0, min_open=True),
    help="td0: what each active weight moves by per point of error; else β. [default: 0.1 over all; 1]",
)
@click.option("--lambda", "trace", type=click.FloatRange(0, 1), help="λ of backward. [default: 0.5]")
@click.option(
    "--lr-decay-interval", type=click.IntRange(0), help="Games after which the rate decays. [default: never]"
)
@click.option(
    "--lr-decay-factor",
    type=click.FloatRange(0, min_open=True),
    help="What it is multiplied by. [default: 0.5]",
)
@click.option(
    "--initial-value", type=float, help="Optimistic initialisation: the value of every board. [default: 0]"
)
@click.option(
    "--downgrade-from",
    type=click.Choice(["32768", "65536"]),
    default=None,
    help="The smallest tile that the network sees downgraded. [default: 65536; seed-17x4: 32768]",
)
@click.option(
    "--eval-interval", type=click.IntRange(1), default=1000, show_default=True, help="Games a row of the log."
)
@click.option(
    "--checkpoint-interval",
    type=click.IntRange(1),
    help="Games between checkpoints. [default: ten minutes, at most that anyway]",
)
@click.option(
    "--resume", type=click.Path(path_type=Path), metavar="FILE", help="Go on from a checkpoint's weights."
)
@click.option(
    "--stages",
    metavar="TILE,…",
    callback=_tiles,
    help="Tables of their own for boards whose largest tile is TILE or more; resuming, copied at first.",
)
@click.option(
    "--keep-sums",
    type=click.FloatRange(0, 1),
    help="Resuming, what E and A are multiplied by; newer errors then count for more.",
)
@click.option(
    "--starts",
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE",
    help="Begin games on boards of the games in FILE, a dataset or a recording, instead of an empty one.",
)
@click.option(
    "--starts-from",
    metavar="TILE",
    callback=_tiles,
    help="Of these, on boards whose largest tile is TILE or more. [default: all]",
)
@click.option("--threads", type=click.IntRange(1, 256), help="Learn at once, without locks. [default: 1]")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Of the games. [default: 0]")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="For log and checkpoints. [default: runs/NETWORK]",
)
@click.option(
    "--gif-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Picture the first game with each tile from 2048 on, and each best one.",
)
@click.pass_context
def train(ctx: click.Context, /, **options: Any) -> None:
    """Train an n-tuple network by its own games.

    Writes checkpoints and training.jsonl into --out. Ctrl-C saves; --resume goes on. See docs/training.md.
    """
    from solver_server.ntuple.training import trainer

    if options["episodes"] is None and options["minutes"] is None:
        raise click.UsageError("give --episodes, --minutes or both")
    if options["starts_from"] is not None and (options["starts"] is None or len(options["starts_from"]) > 1):
        raise click.UsageError("--starts-from is one tile, for --starts")
    if options["starts"] is not None and options["gif_dir"] is not None:
        raise click.UsageError("--gif-dir pictures whole games: leave it out with --starts")
    _announce_compilation()
    training = _resumed(options) if options["resume"] else _started(options)
    _take_starts(training, options)
    out = options["out"] or (
        options["resume"].parent if options["resume"] else Path("runs") / training.network.pattern.name
    )
    if not options["resume"] or out.resolve() != options["resume"].parent.resolve():
        trainer.check_fresh(out)
    plan = trainer.TrainingPlan(
        out,
        games=options["episodes"],
        seconds=None if options["minutes"] is None else 60 * options["minutes"],
        log_interval=options["eval_interval"],
        checkpoint_interval=options["checkpoint_interval"],
    )
    with _interruptible() as interrupted, _Progress(training, plan.games) as progress:
        watch = trainer.Watch(
            on_piece=progress.advance,
            on_row=progress.show,
            on_best=_milestones(options["gif_dir"], training, progress),
            should_stop=lambda: bool(interrupted),
        )
        saved = trainer.run_training(training, plan, watch)
    click.echo(saved)
    if interrupted:
        ctx.exit(_CANCELLED)


def _settings(options: dict[str, Any], defaults: Settings) -> Settings:
    """Defaults overridden by what was given on the command line."""
    import msgspec

    names = {
        "method": "method",
        "lr": "rate",
        "trace": "trace",
        "lr_decay_interval": "decay_interval",
        "lr_decay_factor": "decay_factor",
        "initial_value": "initial_value",
        "seed": "seed",
        "threads": "threads",
    }
    given = {name: options[option] for option, name in names.items() if options[option] is not None}
    return msgspec.structs.replace(defaults, **given)


def _started(options: dict[str, Any]) -> Training:
    if options["keep_sums"] is not None:
        raise click.UsageError("--keep-sums is for --resume")
    from solver_server.ntuple import patterns
    from solver_server.ntuple.training import training_state
    from solver_server.ntuple.training.settings import Settings

    rows, columns = options["board"]
    name = options["network"] or patterns.DEFAULT_PATTERN.get((rows, columns))
    if name is None:
        raise click.UsageError(f"there is no default network for {rows}x{columns}: give --network CELLS")
    pattern = patterns.pattern_for(name, rows, columns)
    if options["downgrade_from"] is not None:
        pattern = patterns.with_ranks(pattern, {"32768": 15, "65536": 16}[options["downgrade_from"]])
    if options["stages"] is not None:
        pattern = patterns.with_stages(pattern, options["stages"])
    share = patterns.active_weights(pattern) * patterns.scale_of(pattern)
    rate = 0.1 / share if options["method"] == "td0" else 1.0
    return training_state.Training.start(pattern, _settings(options, Settings(rate=rate)))


def _resumed(options: dict[str, Any]) -> Training:
    from solver_server.ntuple.training import training_state

    for option in ("network", "initial_value", "downgrade_from", "seed"):
        if options[option] is not None:
            raise click.UsageError(f"--{option.replace('_', '-')} cannot be changed by --resume")
    resumed = training_state.Training.load(options["resume"])
    if options["stages"] is not None:
        resumed.divide(options["stages"])
    if options["keep_sums"] is not None:
        resumed.forget(options["keep_sums"])
    resumed.change(_settings(options, resumed.settings))
    return resumed


def _take_starts(training: Training, options: dict[str, Any]) -> None:
    """Let games begin on the boards asked for, which is told in the weights' history; else on empty ones."""
    import msgspec

    from solver_server.ntuple.training.start_boards import read_starts

    words = ""
    if options["starts"] is not None:
        pattern = training.network.pattern
        least = options["starts_from"][0] if options["starts_from"] else 0
        training.starts = read_starts(options["starts"], pattern.rows, pattern.columns, least)
        words = f"{len(training.starts)} boards of {options['starts'].name}"
        words += f" with {1 << least} or more" if least else ""
    training.change(msgspec.structs.replace(training.settings, starts=words))


def _announce_compilation() -> None:
    from game2048.kernels.jit import kernels_are_cached

    if not kernels_are_cached():
        click.echo("compiling kernels: half a minute, once", err=True)


@contextmanager
def _interruptible() -> Iterator[list[int]]:
    """A list that Ctrl-C adds to, so that training ends where it can be saved; a second one ends at once."""
    seen: list[int] = []

    def note(number: int, frame: Any) -> None:
        if seen:
            raise KeyboardInterrupt
        seen.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _milestones(folder: Path | None, training: Training, progress: _Progress) -> Any:
    if folder is None:
        return lambda training, thread: None
    from solver_server.ntuple.training.milestones import Milestones

    milestones = Milestones(folder, max(learner.get("best_top") for learner in training.learners))

    def picture(training: Training, thread: int) -> None:
        path = milestones.picture(training, thread)
        if path is not None:
            progress.say(f"wrote {path}")

    return picture


class _Progress:
    """The progress bar of a training run, on stderr."""

    def __init__(self, training: Training, games: int | None) -> None:
        from tqdm import tqdm

        self._bar = tqdm(total=games, initial=training.games, unit="ep", file=sys.stderr, dynamic_ncols=True)
        self._moves = training.moves
        self._seconds = training.total_seconds
        self._row = ""

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *args: object) -> None:
        self._bar.close()

    def advance(self, training: Training, games: int) -> None:
        """Some games more."""
        seconds = training.total_seconds - self._seconds
        rate = (training.moves - self._moves) / seconds / 1e6 if seconds else 0.0
        self._bar.set_postfix_str(f"{rate:.2f} M moves/s{self._row}", refresh=False)
        self._bar.update(games)

    def show(self, row: LogRow) -> None:
        """The figures of an interval."""
        reached = " ".join(f"{tile}: {share:.0%}" for tile, share in row.reach.items() if share >= 0.005)
        self._row = f", mean {row.mean:,.0f}, {reached}"

    def say(self, line: str) -> None:
        """A line above the bar."""
        self._bar.write(line, file=sys.stderr)


@click.command()
@click.option("--engine", metavar="NAME", help="Who plays. [default: the strongest that plays such boards]")
@click.option(
    "--weights", type=click.Path(path_type=Path), metavar="FILE", help="Another network for engine ntuple."
)
@click.option("--games", type=click.IntRange(1), default=100, show_default=True, help="How many to play.")
@click.option(
    "--depth", type=click.IntRange(1), help="How many moves ahead; 1 is greedy. [default: ntuple 1]"
)
@click.option("--time-ms", type=click.FloatRange(0, min_open=True), help="Milliseconds a move may take.")
@click.option(
    "--board", metavar="ROWSxCOLUMNS", callback=_board_size, help="[default: that of the weights, or 4x4]"
)
@_threads
@click.option("--scheduler", metavar="tcp://…", help="A Dask cluster whose workers play instead.")
@_seed
@_json
@click.option(
    "--json-lines",
    is_flag=True,
    help="Print one JSON object a game as it ends, and the figures of all as the last one.",
)
def evaluate(
    engine: str | None,
    weights: Path | None,
    games: int,
    depth: int | None,
    time_ms: float | None,
    board: tuple[int, int] | None,
    threads: int,
    scheduler: str | None,
    seed: int,
    as_json: bool,
    json_lines: bool,
) -> None:
    """Let an engine play games, and print how strong and how fast it was."""
    import msgspec
    from tqdm import tqdm

    from solver_server.engine import Limit
    from solver_server.evaluation.summary import as_text, summarize

    _announce_compilation()
    results = []
    limit = Limit(depth, time_ms)
    if scheduler is not None:
        from solver_server.generate.results import play_on_cluster

        playing, threads = play_on_cluster(scheduler, engine, weights, games, limit, board, seed)
    else:
        playing = _playing(engine, weights, games, limit, board, threads, seed)
    begun = time.perf_counter()
    with tqdm(total=games, unit="game", file=sys.stderr, dynamic_ncols=True) as bar:
        for result in playing:
            results.append(result)
            bar.update(1)
            if json_lines:
                game = {"score": result.score, "maxTile": 1 << result.top, "moves": result.moves}
                click.echo(msgspec.json.encode(game))
    summary = summarize(results, time.perf_counter() - begun, threads)
    click.echo(msgspec.json.encode(summary).decode() if as_json or json_lines else as_text(summary))


def _playing(
    engine: str | None,
    weights: Path | None,
    games: int,
    limit: Any,
    board: tuple[int, int] | None,
    threads: int,
    seed: int,
) -> Iterator[Any]:
    from solver_server.engines import NETWORK_ENGINE, default_for, spec_of
    from solver_server.evaluation import self_play

    rows, columns = board or (4, 4)
    engine = engine or default_for(rows, columns, weights)
    if engine != NETWORK_ENGINE:
        if weights is not None:
            raise click.UsageError(f"--weights is for engine {NETWORK_ENGINE}, not {engine}")
        spec = spec_of(engine)
        if not spec.plays(rows, columns):
            raise click.UsageError(f"engine {spec.name} does not play {rows}x{columns}")
        self_play.warm_up(spec.create(), rows, columns, limit)
        return self_play.play_games(
            spec.create, games, rows=rows, columns=columns, limit=limit, seed=seed, threads=threads
        )
    return _network_games(weights, games, limit, board, threads, seed)


def _network_games(
    weights: Path | None, games: int, limit: Any, board: tuple[int, int] | None, threads: int, seed: int
) -> Iterator[Any]:
    from solver_server.evaluation import self_play
    from solver_server.ntuple.bundled import network_for
    from solver_server.ntuple.files.network_file import open_network

    rows, columns = board or (4, 4)
    network = network_for(rows, columns) if weights is None else open_network(weights, in_memory=True)
    size = (network.pattern.rows, network.pattern.columns)
    if board not in (None, size):
        raise click.UsageError(f"{network.pattern.name} plays {size[0]}x{size[1]}, not {rows}x{columns}")
    if limit.time_ms is None and limit.depth in (None, 1):
        return self_play.play_greedily(network, games, seed=seed, threads=threads)
    from solver_server.ntuple.engine import NetworkEngine

    self_play.warm_up(NetworkEngine(network), *size, limit)
    return self_play.play_games(
        lambda: NetworkEngine(network),
        games,
        rows=size[0],
        columns=size[1],
        limit=limit,
        seed=seed,
        threads=threads,
    )


@click.command()
@click.option("--network", default="4x6", show_default=True, metavar="NAME", help="Whose tables to read.")
@click.option("--engine", metavar="NAME", help="Whose search to measure. [default: the strongest]")
@click.option("--depth", type=click.IntRange(1), help="Of the search. [default: the engine's own]")
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=3.0,
    show_default=True,
    help="For each figure.",
)
@_json
def benchmark(network: str, engine: str | None, depth: int | None, seconds: float, as_json: bool) -> None:
    """Measure the kernels, each alone and in one thread."""
    import msgspec

    from solver_server.engines import DEFAULT_ENGINE, spec_of
    from solver_server.evaluation.kernel_speed import measure
    from solver_server.ntuple.patterns import pattern_for

    _announce_compilation()
    spec = spec_of(engine or DEFAULT_ENGINE)
    speeds = measure(pattern_for(network), spec.name, spec.create, depth or spec.default_depth or 3, seconds)
    if as_json:
        click.echo(msgspec.json.encode(speeds).decode())
        return
    for name, value in msgspec.structs.asdict(speeds).items():
        shown = f"{value:,.0f}" if name.endswith("_per_second") else value
        click.echo(f"{name.replace('_', ' '):28} {shown}")
