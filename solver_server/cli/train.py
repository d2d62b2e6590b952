"""The command ``train``."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from command_line.command import Command
from command_line.gather import gather, in_section
from command_line.progress import progress_bar, say_above
from command_line.types import SizeType, TilesType
from game2048.size import STANDARD_SIZE
from solver_server.cli.options import MAX_SEED, MAX_THREADS, announce_compilation

if TYPE_CHECKING:  # imports numba
    from solver_server.ntuple.training.setup import TrainingOptions
    from solver_server.ntuple.training.trainer import LogRow
    from solver_server.ntuple.training.training_state import Training

_CANCELLED = 130
_DOWNGRADED = {"32768": 15, "65536": 16}


@dataclass(frozen=True, slots=True)
class RunLength:
    """How long a run lasts, and what it writes.

    Attributes:
        episodes: games after which it ends.
        minutes: after which it ends.
        eval_interval: games per row of the log.
        checkpoint_interval: games between two checkpoints.
        gif_dir: folder for GIFs of the best games.
    """

    episodes: int | None
    minutes: float | None
    eval_interval: int
    checkpoint_interval: int | None
    gif_dir: Path | None


def _what_is_learned(**given: Any) -> TrainingOptions:
    from solver_server.ntuple.training.setup import TrainingOptions

    downgraded, starts_from = given.pop("downgrade_from"), given.pop("starts_from")
    if starts_from is not None and (given["starts"] is None or len(starts_from) > 1):
        raise click.UsageError("--starts-from is one tile, and needs --starts FILE")
    if given["resume"] is None and given["keep_sums"] is not None:
        raise click.UsageError("--keep-sums needs --resume FILE")
    if given["resume"] is not None:
        unchangeable = {**given, "downgrade_from": downgraded}
        for option in ("network", "initial_value", "downgrade_from", "seed"):
            if unchangeable[option] is not None:
                raise click.UsageError(f"--{option.replace('_', '-')} cannot be changed by --resume")
    return TrainingOptions(
        downgrade_from=_DOWNGRADED[downgraded] if downgraded else None,
        starts_from=starts_from[0] if starts_from else None,
        **given,
    )


@click.command(cls=Command)
@gather(
    "options",
    _what_is_learned,
    None,
    in_section(
        "Network",
        click.option(
            "--network",
            metavar="NAME|CELLS",
            help="Name of a network, or the cells of each tuple: '0,1,2,4,5 4,5,6,8,9'. "
            "[default: 4x6 on 4x4, seed-5x5 on 5x5]",
        ),
        click.option(
            "--board",
            type=SizeType(),
            default=str(STANDARD_SIZE),
            show_default=True,
            help="Size of the board, for a network given as cells.",
        ),
        click.option(
            "--downgrade-from",
            type=click.Choice(list(_DOWNGRADED)),
            default=None,
            help="Smallest tile that the network sees downgraded. [default: 65536; seed-17x4: 32768]",
        ),
        click.option(
            "--stages",
            type=TilesType(),
            metavar="TILE,…",
            help="Give boards whose largest tile is TILE or more weights of their own; when resuming, these "
            "start as copies.",
        ),
    ),
    in_section(
        "Learning",
        click.option(
            "--method",
            type=click.Choice(["backward", "tc", "td0"]),
            help="backward: TC(λ) from the end of each game, with restarts; tc: TC(0); td0: TD(0). "
            "[default: backward]",
        ),
        click.option(
            "--lr",
            "rate",
            type=click.FloatRange(0, min_open=True),
            help="Learning rate, shared by all weights of a board: α of td0, else β of TC. "
            "[default: td0: 0.1; else 1]",
        ),
        click.option("--lambda", "trace", type=click.FloatRange(0, 1), help="λ of backward. [default: 0.5]"),
        click.option(
            "--lr-decay-interval",
            "decay_interval",
            type=click.IntRange(0),
            help="Games between two decays of the learning rate. [default: no decay]",
        ),
        click.option(
            "--lr-decay-factor",
            "decay_factor",
            type=click.FloatRange(0, min_open=True),
            help="Factor of each decay. [default: 0.5]",
        ),
        click.option(
            "--initial-value",
            type=float,
            help="Value of every board at the beginning: optimistic initialisation. [default: 0]",
        ),
        click.option(
            "--keep-sums",
            type=click.FloatRange(0, 1),
            help="When resuming, multiply the sums E and A of TC by this; less than 1 lets new errors count "
            "for more. [default: 1]",
        ),
        click.option(
            "--starts",
            type=click.Path(exists=True, path_type=Path),
            metavar="FILE",
            help="Begin games on boards of the games in FILE, a dataset or a recording. [default: two tiles]",
        ),
        click.option(
            "--starts-from",
            type=TilesType(),
            metavar="TILE",
            help="Take only boards of --starts whose largest tile is TILE or more. [default: all]",
        ),
        click.option(
            "--threads",
            type=click.IntRange(1, MAX_THREADS),
            help="Threads that learn at the same time, without locks. [default: 1]",
        ),
        click.option("--seed", type=click.IntRange(0, MAX_SEED), help="Seed of the games. [default: 0]"),
    ),
    in_section(
        "Run",
        click.option(
            "--resume",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Continue from the checkpoint whose weights are in FILE.",
        ),
        click.option(
            "--out",
            type=click.Path(path_type=Path, file_okay=False),
            help="Folder for the log and the checkpoints. [default: runs/NETWORK]",
        ),
    ),
)
@gather(
    "run",
    RunLength,
    "Run",
    click.option(
        "--episodes", type=click.IntRange(1), help="Stop after this many games; restarts do not count."
    ),
    click.option("--minutes", type=click.FloatRange(0, min_open=True), help="Stop after this many minutes."),
    click.option(
        "--eval-interval",
        type=click.IntRange(1),
        default=1000,
        show_default=True,
        help="Games per row of the log.",
    ),
    click.option(
        "--checkpoint-interval",
        type=click.IntRange(1),
        help="Games between two checkpoints; in any case ten minutes at most.",
    ),
    click.option(
        "--gif-dir",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder for GIFs of the first game with each tile from 2048 on, and of each best game.",
    ),
)
@click.pass_context
def train(ctx: click.Context, options: TrainingOptions, run: RunLength) -> None:
    """Train an n-tuple network on games that it plays itself.

    Give --episodes, --minutes or both. Checkpoints and training.jsonl go into --out. Ctrl-C saves a
    checkpoint and stops; --resume continues. See docs/training.md.
    """
    from solver_server.ntuple.training import trainer
    from solver_server.ntuple.training.setup import begin_training, folder_of

    if run.episodes is None and run.minutes is None:
        raise click.UsageError("the length of the training is missing; give --episodes, --minutes or both")
    if options.starts is not None and run.gif_dir is not None:
        raise click.UsageError("--gif-dir draws whole games; leave it out with --starts")
    announce_compilation()
    training = begin_training(options)
    out = folder_of(options, training)
    if options.resume is None or out.resolve() != options.resume.parent.resolve():
        trainer.check_fresh(out)
    plan = trainer.TrainingPlan(
        out,
        games=run.episodes,
        seconds=None if run.minutes is None else 60 * run.minutes,
        log_interval=run.eval_interval,
        checkpoint_interval=run.checkpoint_interval,
    )
    with _interruptible() as interrupted, _TrainingBar(training, plan.games) as bar:
        watch = trainer.Watch(
            on_piece=bar.advance,
            on_row=bar.show,
            on_best=_milestones(run.gif_dir, training, bar),
            should_stop=lambda: bool(interrupted),
        )
        saved = trainer.run_training(training, plan, watch)
    click.echo(saved)
    if interrupted:
        ctx.exit(_CANCELLED)


@contextmanager
def _interruptible() -> Iterator[list[int]]:
    """Yield a list that Ctrl-C adds to, so that training stops where it can be saved. A second one aborts."""
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


def _milestones(
    folder: Path | None, training: Training, bar: _TrainingBar
) -> Callable[[Training, int], None]:
    if folder is None:
        return lambda training, thread: None
    from solver_server.ntuple.training.milestones import Milestones

    milestones = Milestones(folder, max(learner.get("best_top") for learner in training.learners))

    def draw(training: Training, thread: int) -> None:
        try:
            path = milestones.picture(training, thread)
        except OSError as error:
            bar.say(f"cannot write a GIF into {folder}: {error.strerror or error}; training continues")
            return
        if path is not None:
            bar.say(f"wrote {path}")

    return draw


class _TrainingBar:
    """The progress bar of a training run, on standard error."""

    def __init__(self, training: Training, games: int | None) -> None:
        self._bar = progress_bar("Training", "games", total=games, initial=training.games)
        self._moves = training.moves
        self._seconds = training.total_seconds
        self._row = ""

    def __enter__(self) -> _TrainingBar:
        return self

    def __exit__(self, *args: object) -> None:
        self._bar.close()

    def advance(self, training: Training, games: int) -> None:
        """Count some more games."""
        seconds = training.total_seconds - self._seconds
        rate = (training.moves - self._moves) / seconds / 1e6 if seconds else 0.0
        self._bar.set_postfix_str(f"{rate:.2f} M moves/s{self._row}", refresh=False)
        self._bar.update(games)

    def show(self, row: LogRow) -> None:
        """Show the figures of an interval."""
        reached = " ".join(f"{tile}: {share:.0%}" for tile, share in row.reach.items() if share >= 0.005)
        self._row = f", mean {row.mean:,.0f}, {reached}"

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        say_above(self._bar, line)
