from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from game2048.errors import SolverError
from game2048.size import Size
from solver_server.cli.evaluate import evaluate_command
from solver_server.engine import Limit
from solver_server.evaluation import games
from solver_server.evaluation.self_play import GameResult, play_in_threads
from solver_server.generate.plan import Plan
from solver_server.generate.players import make_player, settled
from solver_server.workers import Inline, Processes

TDL = Path(__file__).parents[1] / "data" / "tdl2048-5x4.w"


def in_this_process(plan: Plan, count: int) -> list[GameResult]:
    return list(play_in_threads(lambda: make_player(plan), count))


def test_workers_play_the_games_that_this_process_plays() -> None:
    plan = Plan(engine="fast", depth=1, seed=4, size=Size(3, 3))
    expected = in_this_process(plan, 9)
    for crew in (Inline(games.play_results), Processes(games.play_results, 2)):
        assert sorted(games.play_on(crew, plan, 9), key=lambda result: result.game) == expected


def test_a_cluster_plays_the_games_of_this_process(scheduler: str) -> None:
    plan = settled(msgspec.structs.replace(games.plan_for(None, TDL, None, Limit(1)), seed=3))
    with games.opened(plan, 1, scheduler) as (play, at_a_time):
        assert at_a_time == 2
        results = sorted(play(20), key=lambda result: result.game)
    assert results == in_this_process(plan, 20)


def test_evaluate_gives_the_same_figures_on_a_cluster(scheduler: str) -> None:
    words = ["--weights", str(TDL), "--depth", "1", "--games", "12", "--seed", "5", "--json"]
    here, there = (
        json.loads(CliRunner().invoke(evaluate_command, [*words, *more]).stdout)
        for more in ([], ["--scheduler", scheduler])
    )
    for name in ("games", "mean", "ci95", "median", "max", "reach", "moves", "max_tile_counts"):
        assert here[name] == there[name]


def test_an_engine_that_does_not_play_the_board_is_refused_before_the_cluster_is_asked() -> None:
    plan = games.plan_for("composite", None, Size(5, 5), Limit())
    with pytest.raises(SolverError, match="does not play 5x5"), games.opened(plan, 1, "tcp://127.0.0.1:1"):
        pass


def test_weights_play_their_own_board() -> None:
    assert games.plan_for(None, TDL, None, Limit()).size == (4, 4)
    with pytest.raises(SolverError, match="plays 4x4: leave out --board"):
        games.plan_for(None, TDL, Size(5, 5), Limit())
