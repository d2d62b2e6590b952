"""Run a training: learn, write the log and the checkpoints, and stop when asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from game2048.errors import SolverError
from recordings.atomic import atomic
from solver_server.ntuple.files.native import WEIGHTS_SUFFIX
from solver_server.ntuple.training.learner_file import learner_path
from solver_server.ntuple.training.training_state import Training

LOG_NAME = "training.jsonl"
REACHED = range(11, 18)


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """Length and output of a training run.

    Attributes:
        out: folder of the log and the checkpoints.
        games: number of games in all phases after which it ends; ``None`` for no limit.
        seconds: seconds of learning from now on after which it ends; ``None`` for no limit.
        log_interval: number of games between two rows of the log.
        checkpoint_interval: number of games between two checkpoints; ``None`` for no such rule.
        checkpoint_seconds: most seconds of learning between two checkpoints.
        kept: number of checkpoints that stay.
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
        episode: number of games started so far, without restarts.
        moves: number of moves so far, restarts included.
        seconds: seconds of learning so far.
        mean: mean score of the games of the interval.
        median: median score of these games.
        max: best score of these games.
        reach: share of these games that reached each tile.
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
    """Callbacks of a training run.

    Attributes:
        on_piece: called after each short stretch, with its number of games.
        on_row: called with each row of the log.
        on_best: called with the thread whose path is the best game so far, before the path is overwritten.
        should_stop: called after each short stretch; true ends the run.
    """

    on_piece: Callable[[Training, int], None] = lambda training, games: None
    on_row: Callable[[LogRow], None] = lambda row: None
    on_best: Callable[[Training, int], None] = lambda training, thread: None
    should_stop: Callable[[], bool] = lambda: False


def run_training(training: Training, plan: TrainingPlan, watch: Watch) -> Path:
    """Learn until the plan ends or the watch stops it, then save.

    Returns:
        The weights file of the last checkpoint.

    Raises:
        SolverError: the network diverged, or a file cannot be written. The last checkpoint stays.
    """
    log = plan.out / LOG_NAME
    try:
        plan.out.mkdir(parents=True, exist_ok=True)
        _cut_log(log, training.games)
    except OSError as error:
        reason = error.strerror or error
        raise SolverError(f"cannot write {log}: {reason}; give another --out") from error
    _remove_drafts(plan.out)
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
            watch.on_row(_log_or_save(training, plan))
        if _is_due(training, plan, *saved_at):
            saved = checkpoint(training, plan)
            saved_at = training.games, training.total_seconds
    return saved or checkpoint(training, plan)


def _is_due(training: Training, plan: TrainingPlan, games: int, seconds: float) -> bool:
    """Return whether a checkpoint is due, given the games and the seconds at the last one."""
    if plan.checkpoint_interval is not None and training.games - games >= plan.checkpoint_interval:
        return True
    return training.total_seconds - seconds >= plan.checkpoint_seconds


def checkpoint(training: Training, plan: TrainingPlan) -> Path:
    """Save, then remove all but the last few checkpoints; return the weights file.

    On a full disk the older checkpoints make room for the new one; the newest of them stays in any case.

    Raises:
        SolverError: the checkpoint cannot be written.
    """
    path = plan.out / f"checkpoint-{training.games:09d}{WEIGHTS_SUFFIX}"
    try:
        try:
            training.save(path)
        except OSError:
            older = checkpoints(plan.out)
            if len(older) < 2:
                raise
            _remove_checkpoints(older[:-1])
            training.save(path)
    except OSError as error:
        last = checkpoints(plan.out)[-1:]
        advice = f"continue with --resume {last[0]}" if last else "start again, since nothing is saved yet"
        raise SolverError(
            f"cannot write {path}: {error.strerror or error}; make room, then {advice}"
        ) from error
    _remove_checkpoints(checkpoints(plan.out)[: -plan.kept])
    return path


def _remove_checkpoints(old: list[Path]) -> None:
    for path in old:
        learner_path(path).unlink(missing_ok=True)
        path.unlink(missing_ok=True)


def checkpoints(folder: Path) -> list[Path]:
    """List the weights files of the complete checkpoints in a folder, oldest first."""
    found = sorted(folder.glob(f"checkpoint-*{WEIGHTS_SUFFIX}"))
    return [path for path in found if learner_path(path).exists()]


def check_fresh(folder: Path) -> None:
    """Make sure that a new run does not overwrite another one.

    Raises:
        SolverError: the folder has checkpoints.
    """
    found = checkpoints(folder)
    if found:
        raise SolverError(
            f"{folder} has checkpoints of another run; continue it with --resume {found[-1]}, or give "
            "another folder with --out"
        )


def _log_or_save(training: Training, plan: TrainingPlan) -> LogRow:
    """Write a row of the log. If that fails, save what was learned and raise `SolverError`."""
    log = plan.out / LOG_NAME
    try:
        return _log(training, log)
    except OSError as error:
        saved = checkpoint(training, plan)
        raise SolverError(
            f"cannot write {log}: {error.strerror or error}; make room, then continue with --resume {saved}"
        ) from error


def _log(training: Training, path: Path) -> LogRow:
    scores = np.array([score for score, _ in training.pending])
    tops = np.array([top for _, top in training.pending])
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
    training.pending.clear()
    return row


def _cut_log(path: Path, games: int) -> None:
    """Remove the rows after the checkpoint from which training resumes, and an incomplete line."""
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
    with atomic(path) as file:
        file.write(b"".join(kept))


def _remove_drafts(folder: Path) -> None:
    """Remove the drafts of checkpoints that a killed run left."""
    for draft in folder.glob(".checkpoint-*.tmp"):
        draft.unlink(missing_ok=True)
