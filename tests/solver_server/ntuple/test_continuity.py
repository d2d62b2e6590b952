"""Learning is the same from version to version: same seed, same network, and old checkpoints continue.

The values were written down by the release before the learner's state had named fields.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import numpy as np
import pytest

from game2048.kernels.word_ops import make_move_rules, pack_words
from solver_server.ntuple.patterns import Pattern, active_weights, pattern_for, with_stages
from solver_server.ntuple.training.settings import Settings
from solver_server.ntuple.training.td_kernels import saved_state
from solver_server.ntuple.training.training_state import Training
from solver_server.ntuple.weight_order import order_in_memory, reordered

CHECKPOINT = Path(__file__).parents[2] / "data" / "checkpoint" / "checkpoint-000000040.n2048"
# Boards with two 32768, a 65536, a 131072.
LATE = (
    [15, 15, 1, 2] + [0] * 12,
    [16, 15, 14, 13, 9, 10, 11, 12, 1, 2, 3, 0, 0, 0, 0, 0],
    [17, 16, 12, 3, 1, 2, 1, 2, 4, 0, 0, 0, 0, 0, 0, 0],
)


# The rate of a whole step in which every weight of that network moves by 0.002 of the error.
STEP_0_002 = 0.002 * active_weights(pattern_for("0123 0145"))


def digest(training: Training) -> str:
    """The digest of all weights and sums, in the order that the first releases had."""
    pattern = training.network.pattern
    order = order_in_memory(pattern)
    whole = hashlib.sha256(reordered(pattern, training.network.weights, order, "cells").tobytes())
    whole.update(reordered(pattern, training.sums, order, "cells").tobytes())
    return whole.hexdigest()[:16]


def learn(training: Training, games: int) -> int:
    """Learn until so many games are over, restarts included; the sum of their scores."""
    total = 0
    while training.games < games or not training.between_games:
        total += int(training.advance(games, 5000).scores.sum())
    return total


@pytest.mark.parametrize(
    ("pattern", "settings", "games", "late", "network", "random", "counts", "scores"),
    [
        pytest.param(
            pattern_for("0123 4567 0145"), Settings(seed=3), 60, False,
            "33b3b5ccd40d8cd5", 15269480190501930100, [60, 567, 67638, 12536, 10, 0, 7, 0], 275232,
            id="backward",
        ),
        pytest.param(
            pattern_for("0123 05af"), Settings(method="tc", seed=4), 60, False,
            "2338e7286a5de74b", 13708179366014410931, [60, 60, 12496, 6472, 9, 0, 198, 0], 146040,
            id="tc",
        ),
        pytest.param(
            pattern_for("0123 0145"), Settings(method="td0", rate=STEP_0_002, seed=5), 60, False,
            "7d3797356145c44d", 5709374265430533091, [60, 60, 12286, 6316, 9, 0, 128, 0], 139136,
            id="td0",
        ),
        pytest.param(
            with_stages(pattern_for("0123 0145"), (7, 8)), Settings(seed=6), 60, False,
            "c0e398a25cc7abc5", 2492574048059394982, [60, 601, 64972, 8916, 9, 0, 8, 0], 171576,
            id="stages",
        ),
        pytest.param(
            Pattern(
                "custom", 4, 4, ((0, 1, 2, 3), (4, 5, 6, 7), (0, 4, 8, 12)),
                symmetric=False, averaged=True, ranks=15,
            ),
            Settings(seed=7, initial_value=100.0), 60, False,
            "eaa99b41341b30a1", 6377380947403439925, [60, 536, 63196, 9628, 9, 0, 5, 0], 255568,
            id="averaged",
        ),
        pytest.param(
            pattern_for("0,1,5,6 7,12,13,17", 5, 5), Settings(seed=8), 4, False,
            "6eeb6e07a8e58790", 12279018403062620223, [4, 63, 11378, 19860, 10, 0, 6, 0], 39012,
            id="5x5", marks=pytest.mark.slow,  # compiles all kernels of learning on two words
        ),
        pytest.param(
            Pattern("custom", 3, 4, ((0, 1, 4, 5), (2, 6, 10))), Settings(method="tc", seed=9), 60, False,
            "a6a22de4e68274c8", 12528975692979071605, [60, 60, 5779, 2344, 8, 0, 168, 0], 55492,
            id="3x4", marks=pytest.mark.slow,  # compiles all kernels of learning on small boards
        ),
        pytest.param(
            pattern_for("0123 0145"), Settings(seed=10), 30, True,
            "60e405fc3155ac3a", 6286372787626340255, [30, 125, 3829, 67980, 17, 0, 6, 0], 540068,
            id="late",
        ),
        pytest.param(
            pattern_for("0123 0145"), Settings(method="td0", rate=STEP_0_002, seed=11), 30, True,
            "545227a1fc2222ad", 823512604183042880, [30, 30, 1774, 68004, 17, 0, 44, 0], 409108,
            id="late-td0",
        ),
    ],
)  # fmt: skip
def test_the_same_seed_gives_the_same_network_as_ever(
    pattern: Pattern,
    settings: Settings,
    games: int,
    late: bool,
    network: str,
    random: int,
    counts: list[int],
    scores: int,
) -> None:
    training = Training.start(pattern, settings)
    if late:
        rules = make_move_rules(4, 4)
        boards = [np.array(cells, dtype=np.uint8).reshape(4, 4) for cells in LATE]
        training.starts = np.array([tuple(pack_words(board, rules)) for board in boards], dtype=np.uint64)
    assert learn(training, games) == scores
    words, found = saved_state(training.learners[0])
    assert (digest(training), words[0], found) == (network, random, counts)


def test_an_old_checkpoint_continues_as_its_own_version_did() -> None:
    training = Training.load(CHECKPOINT)
    assert not training.between_games
    assert saved_state(training.learners[0]) == (
        [653891823047627504, 11348454004586030010, 37999216400081684, 0, 0],
        [40, 501, 107348, 32016, 11, 1, 476, 0],
    )
    assert digest(training) == "ded0779d1db26030"
    assert learn(training, 80) == 597280
    assert saved_state(training.learners[0]) == (
        [7913044514750500216, 11291851135514151801, 1825268618144849920, 0, 0],
        [80, 1069, 240476, 32060, 11, 0, 4, 0],
    )
    assert digest(training) == "ccff68b01f61db7c"


def test_an_old_checkpoint_of_td0_continues_at_its_own_rate(tmp_path: Path) -> None:
    # Written when the rate was that of one weight: 0.007 for each of 16 active ones.
    training = Training.load(CHECKPOINT.with_name("td0-000000020.n2048"))
    assert training.settings.rate == pytest.approx(0.112)
    assert training.network.history[0].rate == pytest.approx(0.112)
    assert training.rate().step == np.float32(0.007)
    training.save(tmp_path / "new.n2048")
    again = Training.load(tmp_path / "new.n2048")
    assert (again.settings, again.network.history) == (training.settings, training.network.history)
    for each in (training, again):
        learn(each, 50)
        assert digest(each) == "85a984b8790d9af8"


def test_a_checkpoint_is_written_as_it_was_read(tmp_path: Path) -> None:
    shutil.copytree(CHECKPOINT.parent, tmp_path / "old")
    training = Training.load(CHECKPOINT)
    training.save(tmp_path / "new.n2048")
    again = Training.load(tmp_path / "new.n2048")
    assert saved_state(again.learners[0]) == saved_state(training.learners[0])
    assert (digest(again), again.settings, again.seconds) == (
        digest(training), training.settings, training.seconds,
    )  # fmt: skip
