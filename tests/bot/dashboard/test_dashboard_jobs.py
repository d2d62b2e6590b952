"""Jobs: argument lists from forms, and processes that end when they should."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from bot.dashboard.faults import DashboardError
from bot.dashboard.jobs.evaluations import Evaluation
from bot.dashboard.jobs.job_book import JobBook, run_briefly
from bot.dashboard.jobs.job_commands import (
    NETWORKS,
    TRAINING_METHODS,
    evaluate_words,
    play_words,
    train_words,
)
from bot.dashboard.sources.live_server import status_url
from game2048.solver_options import SolverOptions
from solver_server.ntuple.patterns import PATTERNS

TRAINING = {
    "network": "4x6",
    "method": "td0",
    "episodes": 10.0,
    "minutes": "",
    "threads": 1,
    "log_interval": 5,
    "pictures": True,
}
GAMES = {"url": " https://page.example/2048 ", "games": 2, "until_tile": "2048", "max_moves": None}


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    while True:
        if condition():
            return
        await asyncio.sleep(0.02)


def test_the_form_offers_every_network_that_train_knows() -> None:
    assert set(NETWORKS) == set(PATTERNS)


def test_forms_become_argument_lists() -> None:
    assert evaluate_words(SolverOptions("ntuple", Path("/w.n2048"), 1), 10, "5x5", 2) == [
        *("evaluate", "--json-lines", "--games", "10", "--threads", "2", "--seed", "0"),
        *("--board", "5x5", "--engine", "ntuple", "--weights", "/w.n2048", "--depth", "1"),
    ]
    assert train_words(TRAINING, Path("runs/x")) == [
        *("train", "--network", "4x6", "--method", "td0", "--out", "runs/x", "--episodes", "10"),
        *("--threads", "1", "--eval-interval", "5", "--gif-dir", "runs/x/pictures"),
    ]
    assert play_words(SolverOptions(), GAMES, Path("runs/y")) == [
        *("play", "https://page.example/2048", "--out", "runs/y", "--gif", "--games", "2"),
        *("--until-tile", "2048"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"network": "--out"},
        {"method": "x"},
        {"episodes": None},
        {"episodes": 0},
        {"episodes": 1.5},
        {"episodes": "1e99"},
        {"minutes": float("nan")},
        {"threads": 65},
        {"log_interval": None},
    ],
)
def test_trainings_out_of_range_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(DashboardError):
        train_words(TRAINING | change, Path("x"))


@pytest.mark.parametrize(
    "change",
    [
        {"url": "file:///etc/passwd"},
        {"url": "javascript:alert(1)"},
        {"url": "--headed"},
        {"url": ""},
        {"url": "http://"},
        {"url": "http://x\ny"},
        {"games": -1},
        {"until_tile": 100},
        {"until_tile": 2},
        {"max_moves": "many"},
    ],
)
def test_games_out_of_range_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(DashboardError):
        play_words(SolverOptions(), GAMES | change, Path("x"))


def test_methods_are_those_of_the_command() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "bot.cli.main", "train", "--help"], capture_output=True, text=True, check=True
    )
    assert "|".join(TRAINING_METHODS) in shown.stdout


@pytest.mark.parametrize(
    ("server", "url"),
    [
        ("ws://127.0.0.1:8765", "http://127.0.0.1:8765/status"),
        ("wss://box.example/x?y#z", "https://box.example/status"),
        ("ws://[::1]:1", "http://[::1]:1/status"),
    ],
)
def test_the_state_of_a_server_is_on_its_own_port(server: str, url: str) -> None:
    assert status_url(server) == url


@pytest.mark.parametrize("server", ["file:///etc/passwd", "ftp://x", "ws://", "ws://a@b", "ws://h:99999"])
def test_other_addresses_are_not_asked(server: str) -> None:
    with pytest.raises(DashboardError, match="not the address of a server"):
        status_url(server)


# -- processes ---------------------------------------------------------------------------------------------


async def test_a_job_that_ends_by_itself_is_finished_and_its_lines_are_taken() -> None:
    jobs, lines = JobBook(), []
    job = await jobs.start("help", "help", ["evaluate", "--help"], lines.append)
    await job.ended.wait()
    assert job.state == "finished"
    assert lines[0].startswith(b"Usage:")


async def test_a_job_that_fails_says_why() -> None:
    jobs = JobBook()
    job = await jobs.start("evaluation", "x", ["evaluate", "--games", "0"])
    await job.ended.wait()
    assert job.state == "failed"
    assert "--games" in job.last_words


async def test_a_stopped_training_saves_its_checkpoint(tmp_path: Path) -> None:
    jobs = JobBook()
    out = tmp_path / "run"
    form = TRAINING | {"network": "5x4", "episodes": 10**8, "log_interval": 20, "pictures": False}
    job = await jobs.start("training", "x", train_words(form, out))
    await until(lambda: (out / "training.jsonl").exists() or job.is_over)
    jobs.stop(job)
    await job.ended.wait()
    assert job.state == "stopped"
    assert list(out.glob("checkpoint-*.n2048"))


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
async def test_nothing_is_left_when_the_dashboard_is_killed(tmp_path: Path) -> None:
    form = TRAINING | {"network": "5x4", "episodes": 10**8, "log_interval": 20, "pictures": False}
    words = train_words(form, tmp_path / "run")
    program = (
        "import asyncio, sys\nfrom bot.dashboard.jobs.job_book import JobBook\n"
        "async def main():\n"
        f"    job = await JobBook().start('training', 'x', {words!r})\n"
        "    print(job.process.pid, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())"
    )
    owner = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=subprocess.PIPE)
    assert owner.stdout is not None
    guard = psutil.Process(int(await owner.stdout.readline()))
    await until(lambda: bool(guard.children()))
    family = guard.children(recursive=True)
    os.kill(owner.pid, signal.SIGKILL)
    await owner.wait()
    _, left = await asyncio.to_thread(psutil.wait_procs, [guard, *family], 60)
    assert left == []


async def test_a_brief_command_is_stopped_when_it_takes_too_long() -> None:
    with pytest.raises(DashboardError, match=r"`bot2048 serve` did not end within 0.5 s"):
        await run_briefly(["serve", "--port", "0", "--engine", "fast"], 0.5)


# -- figures ---------------------------------------------------------------------------------------


def test_figures_of_an_evaluation_follow_from_its_games() -> None:
    evaluation = Evaluation("x", 4)
    for score, tile in ((1000, 128), (20_000, 2048), (60_000, 4096)):
        evaluation.take(b'{"score":%d,"maxTile":%d,"moves":9}' % (score, tile))
    evaluation.take(b"not JSON")
    assert (evaluation.played, evaluation.mean, evaluation.median) == (3, 27_000.0, 20_000)
    assert [evaluation.reach(tile) for tile in (2048, 4096, 8192)] == [2 / 3, 1 / 3, 0.0]
    assert evaluation.final is None
