from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from game2048.errors import SolverError
from solver_server.cli.benchmark import benchmark
from solver_server.cli.generate import generate
from solver_server.cli.train import train
from solver_server.ntuple.files import native
from solver_server.ntuple.training.trainer import checkpoints

CELLS = "0123 4567"
TDL = Path(__file__).parents[1] / "data" / "tdl2048-5x4.w"


def test_train_writes_weights_and_a_log(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ["--network", CELLS, "--episodes", "120", "--eval-interval", "50", "--out", str(out)]
    run = CliRunner().invoke(train, options)
    assert run.exit_code == 0, run.output
    saved = Path(run.stdout.strip())
    assert saved == out / "checkpoint-000000120.n2048"
    network = native.load_weights(saved)
    assert network.pattern.tuples == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert network.history[0].games == 120
    rows = [json.loads(line) for line in (out / "training.jsonl").read_text().splitlines()]
    assert [row["episode"] for row in rows] == [50, 100]
    assert rows[1].keys() == {"episode", "moves", "seconds", "mean", "median", "max", "reach"}


def test_train_takes_every_setting(tmp_path: Path) -> None:
    options = (
        f"--method td0 --lr 0.05 --lr-decay-interval 10 --lr-decay-factor 0.9 --initial-value 160 --seed 5 "
        f"--downgrade-from 32768 --checkpoint-interval 20 --episodes 30 --out {tmp_path}"
    ).split()
    run = CliRunner().invoke(train, ["--network", CELLS, *options])
    assert run.exit_code == 0, run.output
    network = native.load_weights(Path(run.stdout.strip()))
    assert network.pattern.ranks == 15
    assert (network.history[0].method, network.history[0].rate, network.history[0].seed) == ("td0", 0.05, 5)
    assert [path.name for path in checkpoints(tmp_path)] == [
        "checkpoint-000000020.n2048",
        "checkpoint-000000030.n2048",
    ]


def test_train_resumes_with_other_settings(tmp_path: Path) -> None:
    first = CliRunner().invoke(train, ["--network", CELLS, "--episodes", "20", "--out", str(tmp_path)])
    saved = first.stdout.strip()
    again = CliRunner().invoke(train, ["--resume", saved, "--episodes", "45", "--lambda", "0.1"])
    assert again.exit_code == 0, again.output
    history = native.load_weights(Path(again.stdout.strip())).history
    assert [(phase.games, phase.trace) for phase in history] == [(20, 0.5), (25, 0.1)]


def test_train_divides_a_network_into_stages(tmp_path: Path) -> None:
    first = CliRunner().invoke(
        train, ["--network", CELLS, "--stages", "64", "--episodes", "20", "--out", str(tmp_path)]
    )
    assert native.load_weights(Path(first.stdout.strip())).pattern.stages == (6,)
    again = CliRunner().invoke(
        train,
        f"--resume {first.stdout.strip()} --stages 64,128 --keep-sums 0.5 --lr 0.5 --episodes 40".split(),
    )
    assert again.exit_code == 0, again.output
    network = native.load_weights(Path(again.stdout.strip()))
    assert network.pattern.stages == (6, 7)
    assert [phase.rate for phase in network.history] == [1.0, 0.5]


def test_train_begins_on_boards_of_games(tmp_path: Path) -> None:
    games = tmp_path / "games.jsonl"
    generated = CliRunner().invoke(
        generate, ["--games", "4", "--engine", "fast", "--depth", "1", "--output", str(games)]
    )
    assert generated.exit_code == 0, generated.output
    options = ["--network", CELLS, "--episodes", "30", "--out", str(tmp_path / "run")]
    run = CliRunner().invoke(train, [*options, "--starts", str(games), "--starts-from", "256"])
    assert run.exit_code == 0, run.output
    first = tmp_path / "run" / "checkpoint-000000030.n2048"
    (phase,) = native.load_weights(first).history
    boards, rest = phase.starts.split(" ", 1)
    assert int(boards) > 100
    assert rest == "boards of games.jsonl with 256 or more"
    # Without the option games begin afresh, and that is a phase of its own.
    run = CliRunner().invoke(train, ["--resume", str(first), "--episodes", "40"])
    assert run.exit_code == 0, run.output
    history = native.load_weights(tmp_path / "run" / "checkpoint-000000040.n2048").history
    assert [(p.games, p.starts) for p in history] == [(30, phase.starts), (10, "")]


def test_train_ends_after_some_minutes(tmp_path: Path) -> None:
    run = CliRunner().invoke(train, ["--network", CELLS, "--minutes", "0.01", "--out", str(tmp_path)])
    assert run.exit_code == 0, run.output
    assert native.load_weights(Path(run.stdout.strip())).history[0].seconds == pytest.approx(0.6, abs=0.5)


def test_train_on_5x5(tmp_path: Path) -> None:
    options = ["--board", "5x5", "--network", "0,1,2,5,6", "--episodes", "3", "--out", str(tmp_path)]
    run = CliRunner().invoke(train, options)
    assert run.exit_code == 0, run.output
    assert native.load_weights(Path(run.stdout.strip())).pattern.columns == 5


def test_an_interrupt_saves_and_exits_130(tmp_path: Path) -> None:
    command = "from solver_server.cli.train import train; train()"
    options = ["--network", CELLS, "--episodes", "1000000", "--eval-interval", "10", "--out", str(tmp_path)]
    with subprocess.Popen(
        [sys.executable, "-c", command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        log = tmp_path / "training.jsonl"
        while not (log.exists() and log.stat().st_size):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 130, stderr
    assert native.load_weights(Path(stdout.strip())).history[0].games >= 10
    assert checkpoints(tmp_path) == [Path(stdout.strip())]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give --episodes, --minutes or both"),
        (["--episodes", "1", "--board", "3by3"], "'3by3' is not a board size"),
        (["--episodes", "1", "--stages", "100"], "'100' is not a list of tiles"),
        (["--episodes", "1", "--keep-sums", "0.1"], "--keep-sums needs --resume"),
        (["--episodes", "1", "--starts-from", "1024"], "--starts-from is one tile, and needs --starts"),
        (["--episodes", "1", "--starts", ".", "--starts-from", "64,128"], "--starts-from is one tile"),
        (["--episodes", "1", "--starts", ".", "--gif-dir", "gifs"], "leave it out with --starts"),
        (["--episodes", "1", "--resume", "x.n2048", "--network", "4x6"], "--network cannot be changed"),
    ],
)
def test_train_refuses_what_makes_no_sense(options: list[str], message: str) -> None:
    run = CliRunner().invoke(train, options)
    assert run.exit_code == 2
    assert message in run.output


def test_a_board_without_a_default_network_needs_cells() -> None:
    run = CliRunner().invoke(train, ["--episodes", "1", "--board", "3x3"])
    with pytest.raises(SolverError, match="no network is the default for 3x3 boards"):
        raise run.exception or AssertionError


def test_train_overwrites_no_other_run(tmp_path: Path) -> None:
    options = ["--network", CELLS, "--episodes", "2", "--out", str(tmp_path)]
    assert CliRunner().invoke(train, options).exit_code == 0
    run = CliRunner().invoke(train, options)
    assert isinstance(run.exception, SolverError)
    assert "continue it with --resume" in str(run.exception)


def test_benchmark_prints_every_figure() -> None:
    options = ["--network", "4x5", "--engine", "fast", "--depth", "1", "--seconds", "0.01", "--json"]
    run = CliRunner().invoke(benchmark, options)
    assert run.exit_code == 0, run.output
    figures = json.loads(run.stdout)
    rates = [value for name, value in figures.items() if name.endswith("_per_second")]
    assert len(rates) == 6
    assert min(rates) > 0
    assert figures["network"] == "4x5"
    assert figures["games"] == "young"


def test_benchmark_plays_late_games_with_a_trained_network() -> None:
    options = ["--engine", "fast", "--depth", "1", "--seconds", "0.01", "--trained", str(TDL)]
    run = CliRunner().invoke(benchmark, [*options, "--json"])
    assert run.exit_code == 0, run.output
    figures = json.loads(run.stdout)
    assert (figures["network"], figures["games"]) == ("5x4", "late")
    assert figures["greedy_moves_per_second"] > 0
    both = CliRunner().invoke(benchmark, [*options, "--network", "4x5"])
    assert both.exit_code == 2
    assert "--trained names the network, too" in both.output
