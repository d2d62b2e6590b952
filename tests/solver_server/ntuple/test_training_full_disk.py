"""A full disk: training says so in one sentence, and its last checkpoint stays whole to continue from."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from game2048.errors import SolverError
from recordings.atomic import Draft
from solver_server.ntuple.patterns import pattern_for
from solver_server.ntuple.training import trainer
from solver_server.ntuple.training.settings import Settings
from solver_server.ntuple.training.trainer import TrainingPlan, checkpoint, checkpoints
from solver_server.ntuple.training.training_state import Training

CELLS = "0123 4567"  # 524 kB of weights and 1,049 kB of the learner's sums
SMALL = pattern_for("01 45")

# The command on a disk that takes files of so many bytes.
COMMAND = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), resource.RLIM_INFINITY))
from bot.cli.main import main
main()
"""


def train(room: int, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", COMMAND, str(room), "train", *options],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files as POSIX does")
def test_training_on_a_full_disk_ends_and_continues_when_there_is_room(tmp_path: Path) -> None:
    plenty, room, folder = 100_000_000, 800_000, tmp_path / "run"  # there is room for the weights alone
    first = train(plenty, "--network", CELLS, "--seed", "3", "--episodes", "20", "--out", str(folder))
    assert first.returncode == 0, first.stderr
    saved = Path(first.stdout.strip())
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    full = train(room, "--resume", str(saved), "--episodes", "60")
    assert full.returncode == 1
    assert full.stdout == ""
    assert f"make room, then continue with --resume {saved}" in full.stderr
    assert full.stderr.count("File too large") == 1
    assert "Traceback" not in full.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

    again = train(plenty, "--resume", str(saved), "--episodes", "60")
    assert again.returncode == 0, again.stderr
    straight = Training.start(pattern_for(CELLS), Settings(seed=3))
    learn_until(straight, 60)
    continued = Training.load(Path(again.stdout.strip()))
    assert continued.network.weights.tobytes() == straight.network.weights.tobytes()


def test_a_first_checkpoint_on_a_full_disk_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SolverError, match="make room, then start again, since nothing is saved yet"):
        checkpoint(trained(5), TrainingPlan(tmp_path))
    assert list(tmp_path.iterdir()) == []


def trained(games: int) -> Training:
    training = Training.start(SMALL, Settings(seed=1))
    learn_until(training, games)
    return training


def learn_until(training: Training, games: int) -> None:
    while training.games < games or not training.between_games:
        training.advance(games)


def test_older_checkpoints_make_room_for_a_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    training, plan = trained(5), TrainingPlan(tmp_path)
    saved = [checkpoint(training, plan)]
    learn_until(training, 10)
    saved.append(checkpoint(training, plan))
    learn_until(training, 15)
    to_disk = os.fsync

    def no_room_for_three(handle: int) -> None:
        if len(checkpoints(tmp_path)) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        to_disk(handle)

    monkeypatch.setattr(os, "fsync", no_room_for_three)
    new = checkpoint(training, plan)
    assert checkpoints(tmp_path) == [saved[1], new]
    assert Training.load(new).games == 15


def test_weights_and_learner_are_replaced_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    training, plan = trained(5), TrainingPlan(tmp_path)
    saved = checkpoint(training, plan)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    training.forget(0.5)  # the same number of games, another state
    publish = Draft.publish

    def fail_at_the_learner(draft: Draft) -> None:
        if draft._target.suffix == ".learner":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        publish(draft)

    with monkeypatch.context() as patched:
        patched.setattr(Draft, "publish", fail_at_the_learner)
        with pytest.raises(SolverError, match=f"cannot write {saved}: Input/output error; make room"):
            checkpoint(training, plan)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
        learn_until(training, 9)
        with pytest.raises(SolverError, match=f"continue with --resume {saved}"):
            checkpoint(training, plan)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert Training.load(checkpoint(training, plan)).games == 9


def test_what_was_learned_is_saved_when_the_log_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(training: Training, path: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(trainer, "_log", full)
    with pytest.raises(SolverError, match=r"training.jsonl: No space left on device; make room, then"):
        trainer.run_training(trained(0), TrainingPlan(tmp_path, games=30, log_interval=10), trainer.Watch())
    (saved,) = checkpoints(tmp_path)
    assert len(Training.load(saved).pending) == 10
