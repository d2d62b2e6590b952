from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from game2048.errors import SolverError
from solver_server.cli.train import evaluate
from solver_server.engine import Limit
from solver_server.engines import spec_of
from solver_server.evaluation.self_play import play_games, play_greedily
from solver_server.generate.plan import Plan
from solver_server.generate.results import play_on, play_on_cluster, play_results
from solver_server.ntuple.files.network_file import open_network
from solver_server.workers import Inline, Processes

TDL = Path(__file__).parents[1] / "data" / "tdl2048-5x4.w"


def test_workers_play_the_games_that_this_process_plays() -> None:
    plan = Plan(engine="fast", depth=1, seed=4, rows=3, columns=3)
    expected = list(play_games(spec_of("fast").create, 9, rows=3, columns=3, limit=Limit(1), seed=4))
    for crew in (Inline(play_results), Processes(play_results, 2)):
        assert sorted(play_on(crew, plan, 9), key=lambda result: result.game) == expected


def test_a_network_is_played_greedily_on_a_cluster_unless_told_otherwise(scheduler: str) -> None:
    results, at_a_time = play_on_cluster(scheduler, None, TDL, 20, Limit(), None, 3)
    assert at_a_time == 2
    expected = list(play_greedily(open_network(TDL), 20, seed=3))
    assert sorted(results, key=lambda result: result.game) == expected


def test_evaluate_gives_the_same_figures_on_a_cluster(scheduler: str) -> None:
    words = ["--weights", str(TDL), "--games", "12", "--seed", "5", "--json"]
    here, there = (
        json.loads(CliRunner().invoke(evaluate, [*words, *more]).stdout)
        for more in ([], ["--scheduler", scheduler])
    )
    for name in ("games", "mean", "ci95", "median", "max", "reach", "moves", "max_tile_counts"):
        assert here[name] == there[name]


def test_what_an_engine_does_not_play_is_told_before_the_cluster_is_asked() -> None:
    with pytest.raises(SolverError, match="does not play 5x5"):
        play_on_cluster("tcp://127.0.0.1:1", "composite", None, 1, Limit(), (5, 5), 0)
