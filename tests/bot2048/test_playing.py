"""Pages are played through the front door, in a real browser; whoever stops early loses no game."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import bot2048
from recordings.jsonl import read_records
from scraper.demo.server import serve_demo

QUICK = bot2048.SolverOptions(engine="fast", depth=1)

ENDLESS = """
import sys, bot2048
for game in bot2048.play(sys.argv[1], solver=bot2048.SolverOptions(engine="fast", depth=1), out=sys.argv[2]):
    print("ended", flush=True)
"""


@pytest.fixture
def page() -> Iterator[str]:
    with serve_demo() as url:
        yield url


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


def test_games_come_one_by_one_and_are_recorded(page: str, tmp_path: Path) -> None:
    goal = bot2048.Goal(max_moves=5)
    games = list(bot2048.play(page, games=2, solver=QUICK, goal=goal, out=tmp_path))
    assert [game.plies for game in games] == [5, 5]
    assert [game.record() for game in games] == list(read_records(tmp_path / "games.jsonl"))
    assert all(bot2048.verify(game) is None and game.seconds > 0 for game in games)


async def test_leaving_the_async_generator_ends_browser_and_server(page: str, tmp_path: Path) -> None:
    before = children()
    goal = bot2048.Goal(max_moves=3)
    playing = bot2048.play_async(page, games=100, solver=QUICK, goal=goal, out=tmp_path)
    async with contextlib.aclosing(playing) as games:
        async for game in games:
            assert game.plies == 3
            assert children() > before
            break
    assert children() <= before


def test_leaving_the_generator_ends_browser_and_server(page: str, tmp_path: Path) -> None:
    before = children()
    goal = bot2048.Goal(max_moves=3)
    for game in bot2048.play(page, games=100, solver=QUICK, goal=goal, out=tmp_path):
        assert game.plies == 3
        break
    assert children() <= before
    assert len(list(read_records(tmp_path / "games.jsonl"))) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_records_the_game_under_way(page: str, tmp_path: Path) -> None:
    import signal
    import time

    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, page, str(tmp_path)], stderr=subprocess.PIPE, text=True
    )

    def moves() -> int:
        return sum(file.read_bytes().count(b'"direction"') for file in tmp_path.glob("*.journal"))

    deadline = time.monotonic() + 240
    while moves() < 5:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    (record,) = read_records(tmp_path / "games.jsonl")
    assert record.outcome == "interrupted"
    assert bot2048.verify(record) is None
    assert not list(tmp_path.glob("*.journal"))
    assert not psutil.wait_procs(family, timeout=30)[1]


def test_faults_come_before_the_first_game(tmp_path: Path) -> None:
    with pytest.raises(bot2048.SolverError, match="cannot reach the solver server"):
        next(bot2048.play("http://127.0.0.1:9/", solver="ws://127.0.0.1:9", out=tmp_path))
    with pytest.raises(bot2048.PageError) as error:
        next(bot2048.play("http://127.0.0.1:9/", solver=QUICK, out=tmp_path))
    assert error.value.url == "http://127.0.0.1:9/"
