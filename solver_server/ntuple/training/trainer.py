"""Training that lasts: its log, its checkpoints, its milestones, and an end when asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from game2048.errors import SolverError
from solver_server.ntuple.files.native import WEIGHTS_SUFFIX
from solver_server.ntuple.training.learner_file import LEARNER_SUFFIX
from solver_server.ntuple.training.training_state import Training

LOG_NAME = "training.jsonl"
REACHED = range(11, 18)


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """What a training run is to do.

    Attributes:
        out: the folder of log and checkpoints.
        games: started in all, after which it ends; ``None`` for no such end.
        seconds: of learning from now on, after which it ends; ``None`` for no such end.
        log_interval: games between two rows of the log.
        checkpoint_interval: games between two checkpoints; ``None`` for no such rule.
        checkpoint_seconds: of learning between two checkpoints, at most.
        kept: how many checkpoints stay.
    """

    out: Path
    games: int | None = None
    seconds: float | None = None
    log_interval: int = 1000
    checkpoint_interval: int | None = None
    checkpoint_seconds: float = 600.0
    kept: int = 2


class LogRow(msgspec.Struct, frozen=True):
    """One line of ``training.jsonl``: the games of one interval, as played while learning.

    Attributes:
        episode: games started so far, restarts not counted.
        moves: made so far, restarts included.
        seconds: learned so far.
        mean: score of the games of the interval.
        median: of the same.
        max: of the same.
        reach: by tile, the share of these games that reached it.
    """

    episode: int
    moves: int
    seconds: float
    mean: float
    median: float
    max: int
    reach: dict[str, float]


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told what during a training run.

    Attributes:
        on_piece: after each short stretch, with its games' number.
        on_row: with each row of the log.
        on_best: with the thread whose path is the best game so far, before that path is overwritten.
        should_stop: asked after each short stretch.
    """

    on_piece: Callable[[Training, int], None] = lambda training, games: None
    on_row: Callable[[LogRow], None] = lambda row: None
    on_best: Callable[[Training, int], None] = lambda training, thread: None
    should_stop: Callable[[], bool] = lambda: False


def run_training(training: Training, plan: TrainingPlan, watch: Watch) -> Path:
    """Learn until the plan's end or a wish to stop, then save.

    Returns:
        The weights file of the last checkpoint.

    Raises:
        SolverError: the network diverged; the last checkpoint stays.
        OSError: the log or a checkpoint cannot be written.
    """
    plan.out.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(plan.out)
    _cut_log(plan.out / LOG_NAME, training.games)
    training.compile()
    deadline = None if plan.seconds is None else training.total_seconds + plan.seconds
    saved_at = training.games, training.total_seconds
    saved = None
    while not watch.should_stop():
        if deadline is not None and training.total_seconds >= deadline:
            break
        due = training.games + plan.log_interval - len(training.pending)
        if plan.games is not None:
            if training.between_games and training.games >= plan.games:
                break
            due = min(due, plan.games)
        piece = training.advance(due)
        saved = None
        training.pending += zip(piece.scores.tolist(), piece.tops.tolist(), strict=True)
        for thread in piece.best:
            watch.on_best(training, thread)
        watch.on_piece(training, piece.scores.size)
        # A row is due at a fixed place in the course of games, so that a resumed run writes the same rows.
        if training.between_games and len(training.pending) >= plan.log_interval:
            watch.on_row(_log(training, plan.out / LOG_NAME))
        if _is_due(training, plan, *saved_at):
            saved = checkpoint(training, plan)
            saved_at = training.games, training.total_seconds
    return saved or checkpoint(training, plan)


def _is_due(training: Training, plan: TrainingPlan, games: int, seconds: float) -> bool:
    """Whether a checkpoint is, the last one having been at so many games and seconds."""
    if plan.checkpoint_interval is not None and training.games - games >= plan.checkpoint_interval:
        return True
    return training.total_seconds - seconds >= plan.checkpoint_seconds


def checkpoint(training: Training, plan: TrainingPlan) -> Path:
    """Save, then remove all but the last few checkpoints; the weights file."""
    path = plan.out / f"checkpoint-{training.games:09d}{WEIGHTS_SUFFIX}"
    training.save(path)
    for old in checkpoints(plan.out)[: -plan.kept]:
        old.with_suffix(LEARNER_SUFFIX).unlink(missing_ok=True)
        old.unlink(missing_ok=True)
    return path


def checkpoints(folder: Path) -> list[Path]:
    """The weights files of the checkpoints in a folder, oldest first; those that are complete."""
    found = sorted(folder.glob(f"checkpoint-*{WEIGHTS_SUFFIX}"))
    return [path for path in found if path.with_suffix(LEARNER_SUFFIX).exists()]


def check_fresh(folder: Path) -> None:
    """Make sure that a new run overwrites no other.

    Raises:
        SolverError: the folder holds checkpoints.
    """
    found = checkpoints(folder)
    if found:
        raise SolverError(
            f"{folder} holds the checkpoints of another run: go on with --resume {found[-1]}, or choose "
            "another folder with --out"
        )


def _log(training: Training, path: Path) -> LogRow:
    scores = np.array([score for score, _ in training.pending])
    tops = np.array([top for _, top in training.pending])
    training.pending.clear()
    row = LogRow(
        episode=training.games,
        moves=training.moves,
        seconds=round(training.total_seconds, 1),
        mean=round(float(scores.mean()), 1),
        median=float(np.median(scores)),
        max=int(scores.max()),
        reach={str(1 << top): round(float((tops >= top).mean()), 4) for top in REACHED},
    )
    with path.open("ab") as file:
        file.write(msgspec.json.encode(row) + b"\n")
    return row


def _cut_log(path: Path, games: int) -> None:
    """Take back rows written after the checkpoint that training goes on from, and a line cut short."""
    if not path.exists():
        return
    kept = []
    for line in path.read_bytes().splitlines(keepends=True):
        try:
            row = msgspec.json.decode(line, type=LogRow)
        except msgspec.DecodeError:
            break
        if row.episode > games:
            break
        kept.append(line)
    draft = path.with_suffix(".tmp")
    draft.write_bytes(b"".join(kept))
    draft.replace(path)


def _remove_leftovers(folder: Path) -> None:
    """Remove what a killed run left half-written."""
    for draft in folder.glob(".checkpoint-*.tmp"):
        draft.unlink(missing_ok=True)
