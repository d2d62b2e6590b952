from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from game2048.board import Board
from game2048.errors import SolverError
from game2048.kernels import bitboard
from game2048.size import STANDARD_SIZE, Size
from game2048.spawn import Spawner
from solver_server.engine import Limit
from solver_server.engines import default_for_data, default_for_play, spec_of
from solver_server.ntuple import bundled
from solver_server.ntuple.engine import NetworkEngine
from solver_server.ntuple.files import packing
from solver_server.ntuple.greedy_results import GreedyScorer
from solver_server.ntuple.one_word_network import value_of_bitboard


def test_the_network_is_small_enough_and_says_where_it_comes_from() -> None:
    path = bundled.weights_for(4, 4)
    assert path.stat().st_size <= 50_000_000
    network = packing.packed_header(path).network
    assert (network.network, network.rows, network.columns) == ("8x6", 4, 4)
    assert sum(phase.moves for phase in network.history) > 1e9


def test_the_network_plays_well_even_without_search() -> None:
    games = GreedyScorer(bundled.network_for(4, 4)).play(20_261_128, range(100))
    # 220,000 ± 12,000 (standard error of 100 games) is what it has shown over 10,000 games.
    assert games[:, 0].mean() > 170_000
    assert np.mean(games[:, 1] >= 11) > 0.9


def test_the_network_is_loaded_once() -> None:
    assert bundled.network_for(4, 4) is bundled.network_for(4, 4)


def test_the_default_engine_for_data_plays_by_it() -> None:
    assert default_for_data(STANDARD_SIZE) == "ntuple"
    board = Board.from_text("2 2 4 8 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    decision = spec_of("ntuple").create().choose(board, Limit(depth=1))
    assert decision is not None
    tables = bundled.network_for(4, 4).tables()

    for direction, value in decision.values.items():
        slide = board.slide(direction)
        after = bitboard.from_board(slide.afterstate)
        assert value == pytest.approx(
            slide.reward + float(value_of_bitboard(np.uint64(after), tables)), rel=1e-6
        )


@pytest.mark.parametrize("count", [400, pytest.param(1000, marks=pytest.mark.slow)])
def test_pruning_leaves_the_move_as_it_was_on_99_of_100_boards(count: int) -> None:
    network = bundled.network_for(4, 4)
    pruned, whole = NetworkEngine(network), NetworkEngine(network, min_probability=0.0)
    boards = list(middle_game_boards(pruned, count))
    chosen = [(pruned.choose(board, Limit(4)), whole.choose(board, Limit(4))) for board in boards]
    assert sum(a.nodes for a, _ in chosen if a) < 0.9 * sum(b.nodes for _, b in chosen if b)
    same = sum(a is not None and b is not None and a.direction is b.direction for a, b in chosen)
    assert same >= 0.99 * count


def middle_game_boards(agent: NetworkEngine, count: int) -> Iterator[Board]:
    """Boards of greedy games, now and then one that has a move."""
    for game in itertools.count():
        spawner = Spawner(5, game)
        board = spawner.start(4, 4)
        turn = 0
        while (decision := agent.choose(board, Limit(1))) is not None:
            if turn >= 200 and turn % 97 == 0:
                yield board
                count -= 1
                if not count:
                    return
            board = spawner.spawn(board.slide(decision.direction).afterstate)
            turn += 1


def test_other_boards_are_played_by_what_knows_them() -> None:
    assert default_for_data(Size(5, 5)) == default_for_play(Size(5, 5)) == "fast"
    with pytest.raises(SolverError, match="no network is bundled for 5x5 boards"):
        bundled.weights_for(5, 5)


def test_an_installation_without_its_network_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "FOLDER", tmp_path)
    with pytest.raises(SolverError, match="give --weights FILE, or another --engine"):
        bundled.weights_for(4, 4)
