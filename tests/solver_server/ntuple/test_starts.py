"""Games that begin on boards of other games."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from game2048 import Board, Direction
from game2048.errors import SolverError
from game2048.kernels.word_ops import make_move_rules, pack_words, unpack_words
from game2048.kernels.words import as_words
from recordings.jsonl import append_record
from recordings.record import Move, build_record, new_info
from solver_server.ntuple.patterns import pattern_for
from solver_server.ntuple.training.settings import Settings
from solver_server.ntuple.training.start_boards import read_starts
from solver_server.ntuple.training.training_state import Training

SMALL = pattern_for("0123 4567")


def packed(text: str) -> list[int]:
    cells = np.frombuffer(Board.from_text(text).cells, dtype=np.uint8).reshape(4, 4)
    return [int(word) for word in pack_words(cells, make_move_rules(4, 4))]


def write_game(path: Path) -> None:
    """Two moves to the left: the first makes an 8, the second a 16."""
    boards = [
        Board.from_text("4 0 0 4 / 0 0 2 0 / 0 0 0 0 / 0 0 0 0"),
        Board.from_text("8 8 0 0 / 2 0 0 0 / 0 0 0 0 / 0 0 0 0"),  # no spawn of the rules: nobody asks
        Board.from_text("16 0 0 0 / 2 0 0 0 / 0 0 0 0 / 0 0 0 2"),
    ]
    moves = [Move.of(boards[0], Direction.LEFT, 0), Move.of(boards[1], Direction.LEFT, 8)]
    append_record(
        path,
        build_record(moves, boards[2], 24, new_info(source="self-play", solver="a test", outcome="stopped")),
    )


def test_starts_are_the_afterstates_of_games(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    write_game(path)
    eight = packed("8 0 0 0 / 2 0 0 0 / 0 0 0 0 / 0 0 0 0")
    sixteen = packed("16 0 0 0 / 2 0 0 0 / 0 0 0 0 / 0 0 0 0")
    assert read_starts(path, 4, 4).tolist() == [eight, sixteen]
    assert read_starts(path, 4, 4, 3).tolist() == [eight, sixteen]
    assert read_starts(path, 4, 4, 4).tolist() == [sixteen]
    with pytest.raises(SolverError, match="holds no board of 4x4 with a 32 or more"):
        read_starts(path, 4, 4, 5)
    with pytest.raises(SolverError, match="holds no board of 5x5"):
        read_starts(path, 5, 5)


@pytest.mark.parametrize("method", ["td0", "backward"])
def test_games_begin_on_starts(method: str) -> None:
    start = packed("1024 512 256 128 / 64 32 16 8 / 2 0 0 0 / 0 0 0 0")
    training = Training.start(SMALL, Settings(method=method, rate=1e-6, seed=5))
    training.starts = np.array([start], dtype=np.uint64)
    piece = training.advance(games=1, moves=1)
    learner = training.learners[0]
    assert training.games == len(piece.scores) == 1
    assert piece.tops[0] >= 10
    total = 1024 + 512 + 256 + 128 + 64 + 32 + 16 + 8 + 2
    cells = np.empty((4, 4), dtype=np.uint8)
    for t in range(learner.get("length")):
        unpack_words(as_words(learner.path.afterstates[t]), cells, training.rules)
        tiles = sum(1 << int(exponent) for exponent in cells.flat if exponent)
        # A move after each spawn of a 2 or a 4.
        assert total + 2 * (t + 1) <= tiles <= total + 4 * (t + 1)
    assert int(piece.scores[0]) == int(learner.path.rewards[: learner.get("length")].sum())


def test_all_starts_come_up() -> None:
    starts = [packed(f"{tile} 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0") for tile in (4096, 8192, 16384)]
    training = Training.start(SMALL, Settings(method="td0", rate=1e-6, seed=5, lanes=2))
    training.starts = np.array(starts, dtype=np.uint64)
    tops = np.concatenate([training.advance(games=n + 1).tops for n in range(60)])
    assert len(tops) == 60
    # 20 of each expected; five standard deviations are √(60 · ⅓ · ⅔) · 5 = 18.
    assert all(abs(int((tops == top).sum()) - 20) <= 18 for top in (12, 13, 14))
