from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from game2048.errors import SolverError
from recordings.replay import verify
from solver_server.ntuple.files import native
from solver_server.ntuple.patterns import PATTERNS, Pattern, pattern_for, with_stages
from solver_server.ntuple.training import trainer
from solver_server.ntuple.training.milestones import Milestones, replay
from solver_server.ntuple.training.settings import Settings
from solver_server.ntuple.training.trainer import LogRow, TrainingPlan, Watch
from solver_server.ntuple.training.training_state import Training

SMALL = pattern_for("0123 4567")
ON_3X3 = Pattern("custom", 3, 3, ((0, 1, 3, 4), (1, 4, 7)))


def rows_of(folder: Path) -> list[LogRow]:
    lines = (folder / trainer.LOG_NAME).read_bytes().splitlines()
    return [msgspec.structs.replace(msgspec.json.decode(line, type=LogRow), seconds=0.0) for line in lines]


@pytest.mark.parametrize(
    ("pattern", "method", "lanes"),
    [
        pytest.param(SMALL, "backward", 1, id="4x4-backward"),
        pytest.param(SMALL, "td0", 1, id="4x4-td0"),
        pytest.param(SMALL, "td0", 2, id="4x4-td0-in-lockstep"),
        pytest.param(SMALL, "tc", 3, id="4x4-tc-in-lockstep"),
        pytest.param(ON_3X3, "backward", 1, id="3x3-backward"),
        pytest.param(ON_3X3, "td0", 1, id="3x3-td0"),
    ],
)
def test_resuming_goes_on_bit_for_bit(tmp_path: Path, pattern: Pattern, method: str, lanes: int) -> None:
    settings = Settings(method=method, rate=0.016 if method == "td0" else 1.0, seed=8, lanes=lanes)
    straight = Training.start(pattern, settings)
    trainer.run_training(straight, TrainingPlan(tmp_path / "a", games=500, log_interval=90), Watch())

    pieces = Training.start(pattern, settings)
    saved = trainer.run_training(pieces, TrainingPlan(tmp_path / "b", games=70, log_interval=90), Watch())
    # The second stretch is stopped in the middle of whatever it is in.
    pieces = Training.load(saved)
    seen: list[int] = []
    stop_after_three = Watch(on_piece=lambda _, games: seen.append(games), should_stop=lambda: len(seen) > 3)
    saved = trainer.run_training(
        pieces, TrainingPlan(tmp_path / "b", games=500, log_interval=90), stop_after_three
    )
    pieces = Training.load(saved)
    trainer.run_training(pieces, TrainingPlan(tmp_path / "b", games=500, log_interval=90), Watch())

    assert pieces.network.weights.tobytes() == straight.network.weights.tobytes()
    assert pieces.sums.tobytes() == straight.sums.tobytes()
    for resumed, unstopped in zip(pieces.learners, straight.learners, strict=True):
        resumed.put("unrecorded", unstopped.get("unrecorded"))  # the moves before a checkpoint are not kept
        assert resumed.state.tolist() == unstopped.state.tolist()
    assert pieces.moves == straight.moves > 0
    assert rows_of(tmp_path / "b") == rows_of(tmp_path / "a")
    assert [row.episode for row in rows_of(tmp_path / "a")] == [90, 180, 270, 360, 450]


def test_new_stages_begin_as_what_their_boards_had() -> None:
    training = Training.start(with_stages(SMALL, (6,)), Settings(seed=3))
    training.advance(50)
    weights, sums = training.network.weights.copy(), training.sums.copy()
    size = SMALL.entries
    training.divide((5, 6, 7))
    assert training.network.pattern.stages == (5, 6, 7)
    assert [training.network.weights[part * size : (part + 1) * size].tobytes() for part in range(4)] == [
        weights[part * size : (part + 1) * size].tobytes() for part in (0, 0, 1, 1)
    ]
    assert [training.sums[2 * part * size : 2 * (part + 1) * size].tobytes() for part in range(4)] == [
        sums[2 * part * size : 2 * (part + 1) * size].tobytes() for part in (0, 0, 1, 1)
    ]
    before = training.network.weights.copy()
    training.advance(100)
    changed = (training.network.weights != before).reshape(4, -1).any(axis=1)
    assert changed.tolist() == [True] * 4


def test_sums_are_forgotten_in_part() -> None:
    training = Training.start(SMALL, Settings(seed=3))
    training.advance(50)
    before = training.sums.copy()
    training.forget(0.25)
    assert before.any()
    assert (training.sums == before / 4).all()


def test_a_stage_learns_from_its_boards_alone() -> None:
    training = Training.start(with_stages(SMALL, (15,)), Settings(seed=3))
    training.advance(50)
    assert training.network.weights[: SMALL.entries].any()
    assert not training.network.weights[SMALL.entries :].any()


def test_a_row_of_the_log_tells_its_games(tmp_path: Path) -> None:
    training = Training.start(SMALL, Settings(seed=1))
    results: list[tuple[int, int]] = []

    def collect(which: Training, games: int) -> None:
        results.extend(which.pending[-games:] if games else [])

    trainer.run_training(
        training, TrainingPlan(tmp_path, games=200, log_interval=200), Watch(on_piece=collect)
    )
    row = rows_of(tmp_path)[0]
    scores = [score for score, _ in results]
    assert len(scores) == 200
    assert row.mean == round(sum(scores) / 200, 1)
    assert row.max == max(scores) == training.total("best_score")
    assert row.reach["2048"] == sum(top >= 11 for _, top in results) / 200
    assert row.moves == training.moves


def test_only_the_last_checkpoints_stay(tmp_path: Path) -> None:
    training = Training.start(SMALL, Settings())
    plan = TrainingPlan(tmp_path, games=100, log_interval=20, checkpoint_interval=20)
    last = trainer.run_training(training, plan, Watch())
    assert last.name == "checkpoint-000000100.n2048"
    names = sorted(path.name for path in tmp_path.glob("checkpoint-*"))
    assert names == [
        "checkpoint-000000080.learner",
        "checkpoint-000000080.n2048",
        "checkpoint-000000100.learner",
        "checkpoint-000000100.n2048",
    ]


def test_a_checkpoint_is_due_after_some_time_too(tmp_path: Path) -> None:
    training = Training.start(SMALL, Settings())
    seen: list[list[Path]] = []
    watch = Watch(on_piece=lambda which, games: seen.append(trainer.checkpoints(tmp_path)))
    trainer.run_training(
        training, TrainingPlan(tmp_path, games=30, log_interval=10, checkpoint_seconds=0.0), watch
    )
    assert seen[0] == []
    assert len(seen[-1]) == 2


def test_a_kill_in_the_middle_of_a_checkpoint_leaves_the_last_good_one(tmp_path: Path) -> None:
    child = [sys.executable, str(Path(__file__).parents[2] / "support" / "training_child.py"), str(tmp_path)]
    with subprocess.Popen(child, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(3):
            saved = int(process.stdout.readline())
        # Drafts come and go by the millisecond: kill it while one is there.
        while not list(tmp_path.glob(".checkpoint-*.tmp")):
            assert process.poll() is None
        process.kill()
    newest = trainer.checkpoints(tmp_path)[-1]
    resumed = Training.load(newest)
    assert resumed.games >= saved
    resumed.advance(resumed.games + 1)
    trainer.run_training(resumed, TrainingPlan(tmp_path, games=resumed.games), Watch())
    assert not list(tmp_path.glob(".checkpoint-*.tmp"))


def checkpoint_of(folder: Path, settings: Settings) -> Path:
    return trainer.run_training(Training.start(SMALL, settings), TrainingPlan(folder, games=10), Watch())


def drop_state(path: Path) -> None:
    path.with_suffix(".learner").unlink()


def cut_state(path: Path) -> None:
    state = path.with_suffix(".learner")
    state.write_bytes(state.read_bytes()[:-100])


def flip_state(path: Path) -> None:
    state = path.with_suffix(".learner")
    data = bytearray(state.read_bytes())
    data[-100] ^= 1
    state.write_bytes(data)


def swap_state(path: Path) -> None:
    other = checkpoint_of(path.parent / "other", Settings(seed=2))
    other.with_suffix(".learner").replace(path.with_suffix(".learner"))


def confuse_state(path: Path) -> None:
    path.with_suffix(".learner").write_bytes(path.read_bytes())


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (drop_state, "no learner's state beside it"),
        (cut_state, "cut short"),
        (flip_state, "SHA-256"),
        (swap_state, "belongs to other weights"),
        (confuse_state, "not a learner's state"),
    ],
)
def test_a_checkpoint_that_is_not_whole_is_told(
    tmp_path: Path, damage: Callable[[Path], None], message: str
) -> None:
    path = checkpoint_of(tmp_path, Settings(seed=1))
    damage(path)
    with pytest.raises(SolverError, match=message):
        Training.load(path)


def test_a_change_of_settings_begins_a_new_phase(tmp_path: Path) -> None:
    training = Training.start(SMALL, Settings(seed=1))
    trainer.run_training(training, TrainingPlan(tmp_path, games=50), Watch())
    moves = training.moves
    training.change(msgspec.structs.replace(training.settings, trace=0.2, threads=2))
    assert (training.games, training.moves) == (50, moves)
    saved = trainer.run_training(training, TrainingPlan(tmp_path, games=80), Watch())
    first, second = native.load_weights(saved).history
    assert (first.games, first.trace, first.threads, first.moves) == (50, 0.5, 1, moves)
    assert (second.games, second.trace, second.threads) == (30, 0.2, 2)
    assert Training.load(saved).games == 80
    with pytest.raises(SolverError, match="the method is td0; expected one like backward"):
        training.change(Settings(method="td0"))


def test_a_phase_with_the_same_settings_is_no_new_one() -> None:
    training = Training.start(SMALL, Settings())
    training.change(Settings())
    assert training.earlier == ()


def test_the_rate_falls_by_steps(tmp_path: Path) -> None:
    settings = Settings(method="td0", rate=16 * 0.004, decay_interval=30, decay_factor=0.5)
    training = Training.start(SMALL, settings)
    rates = {}

    def note(which: Training, _: int) -> None:
        rates[which.games] = float(which.rate().step)

    trainer.run_training(training, TrainingPlan(tmp_path, games=90, log_interval=10), Watch(on_piece=note))
    assert rates[20] == pytest.approx(0.004)
    assert rates[30] == pytest.approx(0.002)
    assert rates[60] == pytest.approx(0.001)
    assert rates[90] == pytest.approx(0.0005)


@pytest.mark.parametrize("method", ["backward", "tc", "td0"])
def test_the_rate_is_shared_over_the_active_weights(method: str) -> None:
    assert Training.start(SMALL, Settings(method=method)).rate().step == np.float32(1 / 16)
    # The value is a mean of 17, so each weight moves by the whole error to move the value by it.
    assert Training.start(PATTERNS["seed-17x4"], Settings(method=method)).rate().step == np.float32(1)


def test_games_at_once_are_refused_where_they_are_not_possible() -> None:
    with pytest.raises(
        SolverError, match="2 games at once are not possible with backward on 4×4; expected 1"
    ):
        Training.start(SMALL, Settings(lanes=2))
    with pytest.raises(SolverError, match="3 games at once are not possible with td0 on 3×3; expected 1"):
        Training.start(ON_3X3, Settings(method="td0", lanes=3))


def test_other_lanes_begin_new_games(tmp_path: Path) -> None:
    training = Training.start(SMALL, Settings(method="td0", rate=0.016, seed=1, lanes=3))
    training.advance(games=1)
    assert sum(learner.get("playing") for learner in training.learners) > 0
    training.change(msgspec.structs.replace(training.settings, lanes=2))
    assert [learner.get("playing") for learner in training.learners] == [0, 0]
    assert training.games == 1
    assert len(training.advance(games=9).scores) > 0


def test_a_new_rate_keeps_the_games_that_are_not_over() -> None:
    training = Training.start(SMALL, Settings(method="td0", rate=0.016, seed=1, lanes=3))
    training.advance(games=1)
    before = [(learner.get("board"), learner.get("playing")) for learner in training.learners]
    training.change(msgspec.structs.replace(training.settings, rate=0.01))
    assert [(learner.get("board"), learner.get("playing")) for learner in training.learners] == before


def test_threads_share_the_games_and_the_weights(tmp_path: Path) -> None:
    training = Training.start(SMALL, Settings(threads=3))
    trainer.run_training(training, TrainingPlan(tmp_path, games=101, log_interval=50), Watch())
    assert training.games == 101
    assert all(learner.get("games") > 0 for learner in training.learners)
    assert len({learner.get("best_score") for learner in training.learners}) == 1
    assert np.isfinite(training.network.weights).all()


def test_optimistic_initialisation(tmp_path: Path) -> None:
    training = Training.start(SMALL, Settings(initial_value=16_000.0))
    assert (training.network.weights == 1000).all()


def test_a_folder_with_another_run_is_refused(tmp_path: Path) -> None:
    saved = checkpoint_of(tmp_path, Settings())
    with pytest.raises(SolverError, match=rf"--resume {saved}"):
        trainer.check_fresh(tmp_path)


@pytest.mark.parametrize(("method", "lanes"), [("backward", 1), ("td0", 3)])
def test_the_best_game_can_be_replayed_from_its_path(tmp_path: Path, method: str, lanes: int) -> None:
    rate = 1.0 if method == "backward" else 0.03
    training = Training.start(pattern_for("01234 45678"), Settings(method=method, rate=rate, lanes=lanes))
    records = []
    watch = Watch(on_best=lambda which, thread: records.append(replay(which.learners[thread], which)))
    trainer.run_training(training, TrainingPlan(tmp_path, games=100), watch)
    assert len(records) > 3
    assert [verify(record) for record in records] == [None] * len(records)
    best = {learner.get("best_score") for learner in training.learners}
    assert best == {max(record.final_score for record in records)}


def test_milestones_are_pictured(tmp_path: Path) -> None:
    milestones = Milestones(tmp_path / "gifs")
    first = tmp_path / "gifs" / "first-2048.gif"
    training = Training.start(PATTERNS["4x5"], Settings())
    watch = Watch(
        on_best=lambda which, thread: milestones.picture(which, thread), should_stop=lambda: first.exists()
    )
    trainer.run_training(training, TrainingPlan(tmp_path, games=2000), watch)
    assert first.read_bytes().startswith(b"GIF89a")
    assert training.total("best_top") == 11
    assert list((tmp_path / "gifs").iterdir()) == [first]
