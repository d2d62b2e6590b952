from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from game2048 import Board
from game2048.direction import DIRECTIONS
from game2048.errors import SolverError
from game2048.kernels import grid
from game2048.kernels.word_ops import pack_words
from game2048.size import Size
from game2048.spawn import Spawner
from recordings.datasets.formats.chunks import decode_chunk
from recordings.game_arrays import GameArrays
from recordings.replay import verify
from solver_server.engine import Limit
from solver_server.engines import spec_of
from solver_server.generate import players
from solver_server.generate.plan import Plan, decode_plan, encode_plan
from solver_server.ntuple import greedy_recording
from solver_server.ntuple.engine import NetworkEngine
from solver_server.ntuple.files import native
from solver_server.ntuple.network import Network, new_weights
from solver_server.ntuple.network_ops import value_of_cells
from solver_server.ntuple.patterns import pattern_for, with_ranks
from solver_server.ntuple.training.episodes import play_episode

FAST = Plan(engine="fast", depth=1, seed=5, timestamp="2025-03-01T12:00:00")


def network(rows: int, columns: int, ranks: int = 16) -> Network:
    """A small network of random weights."""
    cells = "0,1,2 0,1,4,5" if columns == 4 else "0,1,2 0,1,5,6"
    pattern = with_ranks(pattern_for(cells, rows, columns), ranks)
    table = new_weights(pattern)
    table[:] = np.random.default_rng(1).normal(size=table.size) * 100
    return Network(pattern, table)


@pytest.fixture
def greedy_plan(tmp_path: Path) -> Plan:
    path = tmp_path / "small.n2048"
    native.save_weights(path, network(4, 4))
    return Plan(engine="ntuple", depth=1, weights=str(path), sha256=players.digest_of(path), seed=3)


def test_an_engine_s_game_is_what_it_chooses_on_the_seed_s_spawns() -> None:
    game = players.make_player(FAST).play(2)
    agent, spawner = spec_of("fast").create(), Spawner(5, 2)
    board, score, ply = spawner.start(), 0, 0
    while (decision := agent.choose(board, Limit(1))) is not None:
        assert game.cells[ply].tobytes() == board.cells
        assert (game.directions[ply], game.scores[ply]) == (decision.direction.index, score)
        slide = board.slide(decision.direction)
        board, score, ply = spawner.spawn(slide.afterstate), score + slide.reward, ply + 1
    assert (game.plies, game.final_score, game.cells[-1].tobytes()) == (ply, score, board.cells)
    assert verify(game) is None
    info = game.info
    assert (info.source, info.solver, info.depth, info.seed, info.game_number, info.outcome) == (
        "self-play", "fast", 1, 5, 2, "game_over",
    )  # fmt: skip
    assert info.timestamp == "2025-03-01T12:00:00"


def test_metadata_is_what_the_engine_said_of_each_move() -> None:
    plan = msgspec.structs.replace(FAST, metadata=True, depth=2, max_moves=50)
    game = players.make_player(plan).play(0)
    plain = players.make_player(msgspec.structs.replace(plan, metadata=False)).play(0)
    assert game.values is not None
    assert game.nodes is not None
    assert game.depths is not None
    board = Board(4, 4, game.cells[20].tobytes())
    decision = spec_of("fast").create().choose(board, Limit(2))
    assert decision is not None
    known = {d.index: v for d, v in decision.values.items()}
    assert {i: v for i, v in enumerate(game.values[20].tolist()) if v == v} == known
    assert (game.nodes[20], game.depths[20]) == (decision.nodes, 2)
    assert plain.values is plain.nodes is plain.depths is None
    assert plain.cells.tobytes() == game.cells.tobytes()


@pytest.mark.parametrize("moves", [1, 30])
def test_max_moves_stops_a_game(moves: int, greedy_plan: Plan) -> None:
    for plan in (FAST, greedy_plan):
        game = players.make_player(msgspec.structs.replace(plan, max_moves=moves)).play(0)
        assert (game.plies, game.info.outcome, game.info.total_moves) == (moves, "stopped", moves)
        assert verify(game) is None


def test_a_chunk_has_the_games_that_the_plan_keeps(greedy_plan: Plan) -> None:
    everything = decode_chunk(players.play_chunk(encode_plan(greedy_plan), 4, 20))
    assert (everything.first, everything.played, len(everything.games)) == (4, 20, 20)
    assert [game.info.game_number for game in everything.games] == list(range(4, 24))
    scores = sorted(game.final_score for game in everything.games)
    demanding = msgspec.structs.replace(greedy_plan, min_score=scores[15])
    kept = decode_chunk(players.play_chunk(encode_plan(demanding), 4, 20))
    assert (kept.played, sorted(game.final_score for game in kept.games)) == (20, scores[15:])
    tile = max(game.info.max_tile for game in everything.games)
    demanding = msgspec.structs.replace(greedy_plan, min_tile=tile)
    kept = decode_chunk(players.play_chunk(encode_plan(demanding), 4, 20))
    assert {game.info.max_tile for game in kept.games} == {tile}
    assert 0 < len(kept.games) < 20


# -- greedy -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "ranks"),
    [((4, 4), 16), ((4, 4), 15), pytest.param((5, 5), 16, marks=pytest.mark.slow)],  # compiled anew
)
def test_the_kernel_plays_what_the_agent_plays(size: tuple[int, int], ranks: int) -> None:
    small = network(*size, ranks)
    plan = Plan(engine="ntuple", depth=1, size=Size(*size), seed=9, metadata=True, timestamp="2025-03-01")
    kernel, agent = (
        players.NetworkPlayer(small, plan),
        players.EnginePlayer(NetworkEngine(small), plan),
    )
    for number in range(3):
        mine, theirs = kernel.play(number), agent.play(number)
        assert same_moves(mine, theirs)
        assert verify(mine) is None
        assert mine.values is not None
        assert theirs.values is not None
        np.testing.assert_allclose(mine.values, theirs.values, rtol=1e-5, atol=1e-2)
        assert mine.nodes is not None
        assert theirs.nodes is not None
        assert mine.nodes.tolist() == theirs.nodes.tolist()


def same_moves(mine: GameArrays, theirs: GameArrays) -> bool:
    return mine.info == theirs.info and all(
        getattr(mine, name).tobytes() == getattr(theirs, name).tobytes()
        for name in ("cells", "directions", "scores")
    )


def test_boards_past_the_nibbles_are_played_exactly() -> None:
    small = network(4, 4)
    recorder = greedy_recording.GreedyRecorder(small, worths=True)
    thread = recorder._thread
    start = Board.from_text("32768 65536 2 4 / 0 32768 8 16 / 2 0 0 0 / 0 0 0 4")
    # As the game stands when its boards have grown too high: an afterstate that waits for its spawn.
    for field, word in zip(
        ("start_low", "start_high", "start_extra"), pack_words(grid.to_grid(start), thread.rules), strict=True
    ):
        thread.learner.put(field, word)
    thread.learner.put("restarting", 1)
    spawner = Spawner(1)
    thread.learner.put("random", spawner.state)
    _, over = play_episode(thread)
    plies = thread.learner.get("length")
    assert over
    assert plies > 20
    board = spawner.spawn(start)
    cells = np.zeros((plies + 1, 4, 4), dtype=np.uint8)
    cells[0] = grid.to_grid(board)
    greedy_recording._fill_boards(np.uint64(spawner.state), thread, cells)
    for ply in range(plies):
        assert cells[ply].tobytes() == board.cells
        worth = {
            direction: slide.reward
            + value_of_cells(grid.to_grid(slide.afterstate), thread.tables, thread.rules)
            for direction, slide in board.slides().items()
            if slide.moved
        }
        best = max(worth, key=worth.__getitem__)
        assert thread.learner.path.directions[ply] == best.index
        for direction in DIRECTIONS:
            kept = thread.learner.path.worths[ply, direction.index]
            assert kept == worth[direction] if direction in worth else np.isnan(kept)
        slide = board.slide(best)
        assert thread.learner.path.rewards[ply] == slide.reward
        board = spawner.spawn(slide.afterstate)
    assert cells[plies].tobytes() == board.cells
    assert board.is_over


def test_games_longer_than_the_room_are_played_once_more_with_more(monkeypatch: pytest.MonkeyPatch) -> None:
    small, plan = network(4, 4), Plan(engine="greedy", seed=2, timestamp="2025-03-01")
    expected = players.NetworkPlayer(small, plan).play(0)
    monkeypatch.setattr(greedy_recording, "_CAPACITY", 8)
    assert expected.plies > 16
    assert players.NetworkPlayer(small, plan).play(0).equals(expected)


# -- what goes wrong --------------------------------------------------------------------------------------


def test_a_plan_is_settled_before_it_is_played() -> None:
    assert players.settled(Plan(engine="composite")).depth == 4
    assert players.settled(Plan(engine="fast", depth=2)).depth == 2
    for plan, message in (
        (Plan(engine="nobody"), "engine 'nobody' is unknown"),
        (
            Plan(engine="composite", depth=9),
            "depth 9 is out of range for engine 'composite'; expected 2 to 6",
        ),
        (Plan(engine="composite", size=Size(5, 5)), "'composite' does not play 5x5 boards; expected 4x4"),
        (Plan(engine="greedy", size=Size(5, 5)), "'ntuple' does not play 5x5 boards; expected 4x4"),
        (Plan(engine="ntuple", weights="missing"), "weights missing cannot be read"),
        (Plan(engine="greedy", depth=2, weights="x"), "expected depth 1, not 2"),
    ):
        with pytest.raises(SolverError, match=message):
            players.settled(plan)


def test_other_weights_than_the_run_began_with_are_told(greedy_plan: Plan) -> None:
    native.save_weights(Path(greedy_plan.weights or ""), network(4, 4, 15))
    with pytest.raises(SolverError, match="has changed since this run began"):
        players.make_player(greedy_plan)
    Path(greedy_plan.weights or "").unlink()
    with pytest.raises(SolverError, match="cannot be read"):
        players.make_player(greedy_plan)


def test_weights_for_another_board_are_told(greedy_plan: Plan) -> None:
    with pytest.raises(SolverError, match="plays 4x4 boards; expected one for 5x5"):
        players.make_player(msgspec.structs.replace(greedy_plan, size=Size(5, 5)))


def test_a_plan_comes_back_from_its_message() -> None:
    assert decode_plan(encode_plan(FAST)) == FAST
    with pytest.raises(SolverError, match="not a plan of self-play"):
        decode_plan(b'{"depth": 3}')
