"""Start or resume a `Training` from the options of a command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from game2048.errors import SolverError
from game2048.size import STANDARD_SIZE, Size
from solver_server.ntuple import patterns
from solver_server.ntuple.training.settings import Settings, default_lanes
from solver_server.ntuple.training.start_boards import read_starts
from solver_server.ntuple.training.training_state import Training

DEFAULT_RATES = {"td0": 0.1, "tc": 1.0, "backward": 1.0}
"""Learning rate of each method (`Settings.rate`)."""


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """Options of a training run. ``None`` stands for the default or, on resuming, for no change.

    Attributes:
        network: name of the network, or the cells of its tuples.
        board: size of the board, for a list of cells.
        downgrade_from: smallest tile that the network sees downgraded, as an exponent.
        stages: exponents of the tiles that begin a stage with separate weights.
        method: ``backward``, ``tc`` or ``td0``.
        rate: learning rate: α of ``td0``, else β of TC (`Settings.rate`).
        trace: λ of ``backward``.
        decay_interval: number of games between two decays of the rate.
        decay_factor: factor of the rate at each decay.
        initial_value: value of every board at the beginning, in points.
        keep_sums: factor of the sums E and A on resuming.
        starts: file of recorded games; episodes begin on their boards.
        starts_from: least exponent of the largest tile of these boards.
        threads: number of threads that learn at the same time.
        seed: seed of the games.
        resume: weights file of the checkpoint to resume from.
        out: folder of the log and the checkpoints.
    """

    network: str | None = None
    board: Size = STANDARD_SIZE
    downgrade_from: int | None = None
    stages: tuple[int, ...] | None = None
    method: str | None = None
    rate: float | None = None
    trace: float | None = None
    decay_interval: int | None = None
    decay_factor: float | None = None
    initial_value: float | None = None
    keep_sums: float | None = None
    starts: Path | None = None
    starts_from: int | None = None
    threads: int | None = None
    seed: int | None = None
    resume: Path | None = None
    out: Path | None = None

    def settings(self, defaults: Settings) -> Settings:
        """Return settings with what is asked for, and otherwise the defaults."""
        names = (
            "method",
            "rate",
            "trace",
            "decay_interval",
            "decay_factor",
            "initial_value",
            "seed",
            "threads",
        )
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return msgspec.structs.replace(defaults, **given)


def begin_training(options: TrainingOptions) -> Training:
    """Return a new training, or the one that is resumed.

    Raises:
        SolverError: the network is unknown, the checkpoint or the games cannot be read, or there is no
            default network for the board.
        RecordError: the recorded games cannot be read.
    """
    training = _started(options) if options.resume is None else _resumed(options, options.resume)
    _take_starts(training, options)
    return training


def folder_of(options: TrainingOptions, training: Training) -> Path:
    """Return the folder of the log and the checkpoints."""
    if options.out is not None:
        return options.out
    return Path("runs") / training.network.pattern.name if options.resume is None else options.resume.parent


def _started(options: TrainingOptions) -> Training:
    name = options.network or patterns.DEFAULT_PATTERN.get(options.board)
    if name is None:
        raise SolverError(
            f"no network is the default for {options.board} boards; give the cells of one with --network"
        )
    pattern = patterns.pattern_for(name, *options.board)
    if options.downgrade_from is not None:
        pattern = patterns.with_ranks(pattern, options.downgrade_from)
    if options.stages is not None:
        pattern = patterns.with_stages(pattern, options.stages)
    method = options.method or Settings().method
    defaults = Settings(rate=DEFAULT_RATES[method], lanes=default_lanes(method, pattern))
    return Training.start(pattern, options.settings(defaults))


def _resumed(options: TrainingOptions, checkpoint: Path) -> Training:
    training = Training.load(checkpoint)
    if options.stages is not None:
        training.divide(options.stages)
    if options.keep_sums is not None:
        training.forget(options.keep_sums)
    settings = options.settings(training.settings)
    if settings.method != training.settings.method:
        lanes = default_lanes(settings.method, training.network.pattern)
        settings = msgspec.structs.replace(settings, lanes=lanes)
    training.change(settings)
    return training


def _take_starts(training: Training, options: TrainingOptions) -> None:
    """Let games begin on the boards asked for, and note them in the history of the weights."""
    words = ""
    if options.starts is not None:
        pattern = training.network.pattern
        least = options.starts_from or 0
        training.starts = read_starts(options.starts, pattern.rows, pattern.columns, least)
        words = f"{len(training.starts)} boards of {options.starts.name}"
        words += f" with {1 << least} or more" if least else ""
    training.change(msgspec.structs.replace(training.settings, starts=words))
