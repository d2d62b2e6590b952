from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.fake_engines import FirstLegal

from bot.cli.main import main
from game2048.board import Board
from game2048.errors import SolverError
from game2048.size import Size
from solver_server.cli.evaluate import evaluate_command
from solver_server.engine import Decision, Engine, Limit
from solver_server.evaluation.self_play import GameResult, play_in_threads
from solver_server.evaluation.summary import as_text, summarize
from solver_server.generate.plan import Plan
from solver_server.generate.players import EnginePlayer, NetworkPlayer, Player
from solver_server.ntuple.engine import NetworkEngine
from solver_server.ntuple.files.network_file import open_network
from solver_server.ntuple.greedy_results import GreedyScorer
from solver_server.ntuple.network import Network

TDL = Path(__file__).parents[1] / "data" / "tdl2048-5x4.w"
FOUR_GAMES = [
    GameResult(0, 1000, 7, 100),
    GameResult(1, 20_000, 11, 1000),
    GameResult(2, 30_000, 11, 1400),
    GameResult(3, 37_000, 12, 1500),
]


def test_the_figures_by_hand() -> None:
    summary = summarize(FOUR_GAMES, seconds=2.0, threads=2)
    assert summary.games == 4
    assert summary.mean == 22_000
    # Deviations −21, −2, 8, 15 thousand: variance (441 + 4 + 64 + 225) / 3 = 244.67, so 15,641.8 / 2 · 1.96.
    assert summary.ci95 == pytest.approx(15_328.7, abs=0.5)
    assert summary.median == 25_000
    assert summary.max == 37_000
    assert summary.reach == {
        "2048": 0.75, "4096": 0.25, "8192": 0, "16384": 0, "32768": 0, "65536": 0, "131072": 0
    }  # fmt: skip
    assert summary.moves == 4000
    assert summary.moves_per_second == 2000
    assert summary.ms_per_move == 1.0
    assert summary.max_tile_counts == {"4096": 1, "2048": 2, "128": 1}
    text = as_text(summary)
    assert "mean      22,000 ± 15,329" in text
    assert "2048:  75.00%" in text
    assert "2048:     2 ( 50.0%)" in text


def players_of(engine: Callable[[], Engine], **what: Any) -> Callable[[], Player]:
    plan = Plan(engine="first", **what)
    return lambda: EnginePlayer(engine(), plan)


def greedy(network: Network, seed: int = 0) -> Callable[[], Player]:
    return lambda: NetworkPlayer(network, Plan(engine="ntuple", depth=1, seed=seed))


def test_games_are_played_on_the_board_asked_for() -> None:
    results = list(play_in_threads(players_of(FirstLegal, size=Size(3, 2)), 5))
    assert max(result.top for result in results) <= 7  # six cells hold at most 2**7


def test_one_game_has_no_interval() -> None:
    assert summarize(FOUR_GAMES[:1], 1.0).ci95 == 0


def test_whole_games_in_one_kernel_are_those_of_the_search_at_depth_1() -> None:
    network = open_network(TDL)
    fast = list(play_in_threads(greedy(network, 6), 5))
    assert [result.game for result in fast] == list(range(5))
    searched = players_of(lambda: NetworkEngine(network), depth=1, seed=6)
    assert fast == list(play_in_threads(searched, 5))


def test_results_alone_are_those_of_the_games() -> None:
    network = open_network(TDL)
    played = [(r.score, r.top, r.moves) for r in play_in_threads(greedy(network, 6), 5)]
    assert GreedyScorer(network).play(6, range(5)).tolist() == list(map(list, played))


def test_threads_play_the_same_games() -> None:
    network = open_network(TDL)
    for make in (greedy(network), players_of(FirstLegal)):
        alone = list(play_in_threads(make, 9))
        assert sorted(play_in_threads(make, 9, threads=3), key=lambda r: r.game) == alone


def test_two_moves_ahead_is_stronger() -> None:
    network = open_network(TDL)
    one = summarize(list(play_in_threads(greedy(network), 20)), 1.0)
    two = summarize(list(play_in_threads(players_of(lambda: NetworkEngine(network), depth=2), 20)), 1.0)
    assert two.mean > 1.4 * one.mean  # TDL2048's networks gain a factor of 2 or so by it


def test_a_network_of_another_size_is_told() -> None:
    network = open_network(TDL)
    with pytest.raises(SolverError, match="the board is 5×5; network 5x4 plays 4×4"):
        NetworkEngine(network).choose(Board(5, 5), Limit())


def test_an_engine_that_fails_ends_the_games() -> None:
    class Failing:
        def choose(self, board: Board, limit: Limit) -> Decision | None:
            raise SolverError("no")

    with pytest.raises(SolverError, match="no"):
        list(play_in_threads(players_of(Failing), 50, threads=2))


# -- the command ------------------------------------------------------------------------------------------


def test_evaluate_prints_one_json_object() -> None:
    run = CliRunner().invoke(
        evaluate_command, ["--weights", str(TDL), "--depth", "1", "--games", "30", "--seed", "3", "--json"]
    )
    assert run.exit_code == 0, run.output
    printed = json.loads(run.stdout)
    expected = summarize(list(play_in_threads(greedy(open_network(TDL), 3), 30)), 1.0)
    assert printed["games"] == 30
    assert printed["mean"] == expected.mean
    assert printed["ci95"] == expected.ci95
    assert printed["reach"] == expected.reach
    assert printed["moves"] == expected.moves
    assert {"median", "max", "seconds", "moves_per_second", "ms_per_move"} <= printed.keys()


def test_json_lines_give_each_game_and_then_the_figures_of_all() -> None:
    run = CliRunner().invoke(
        evaluate_command, ["--weights", str(TDL), "--depth", "1", "--games", "5", "--json-lines"]
    )
    assert run.exit_code == 0, run.output
    *games, figures = map(json.loads, run.stdout.splitlines())
    assert [game.keys() for game in games] == [{"score", "maxTile", "moves"}] * 5
    assert figures["games"] == 5
    assert figures["max"] == max(game["score"] for game in games)
    assert figures["moves"] == sum(game["moves"] for game in games)
    assert {game["maxTile"] for game in games} == {int(tile) for tile in figures["max_tile_counts"]}


def test_evaluate_takes_any_engine() -> None:
    run = CliRunner().invoke(evaluate_command, ["--engine", "fast", "--depth", "1", "--games", "2"])
    assert run.exit_code == 0, run.output
    assert "games     2\n" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--weights", str(TDL), "--board", "5x5"], 1, "plays 4x4: leave out --board"),
        (["--weights", str(TDL), "--engine", "fast"], 2, "--weights is a network for engine ntuple"),
        (["--engine", "stockfish"], 2, "'stockfish' is not an engine; expected one of order, ntuple"),
        (["--engine", "fast", "--board", "9x4"], 2, "a board of 9×4 is not supported"),
        (["--engine", "composite", "--board", "5x5"], 1, "'composite' does not play 5x5 boards"),
        (["--engine", "fast", "--depth", "99"], 1, "depth 99 is out of range for engine 'fast'"),
    ],
)
def test_evaluate_refuses_what_does_not_fit(arguments: list[str], code: int, message: str) -> None:
    run = CliRunner().invoke(main, ["evaluate", *arguments])
    assert run.exit_code == code
    assert message in run.output
