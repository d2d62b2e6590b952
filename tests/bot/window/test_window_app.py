"""The window under SDL's dummy driver: real keys as events, a real engine in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

os.environ["SDL_VIDEODRIVER"] = "dummy"
os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
import pygame
import trustme
from support.server_process import server_process

from bot.window.app import WindowApp, open_window
from bot.window.game_recorder import GameRecorder
from bot.window.scene import Scene, WindowStatus
from bot.window.solver_thread import Choice, SolverThread
from game2048.board import Board
from game2048.direction import Direction
from game2048.size import Size
from game2048.solver_options import SolverOptions
from recordings.jsonl import read_records
from recordings.replay import verify

PATIENCE = 240  # seconds
QUICK = SolverOptions(engine="fast", depth=1)
NOTHING = WindowStatus(best=0, auto=False, speed="8 moves/s", choice=None, decision_ms=None)


@pytest.fixture
def screen() -> Iterator[pygame.Surface]:
    open_window(Size(4, 4), pixels=400)
    surface = pygame.display.get_surface()
    assert surface is not None
    yield surface
    pygame.quit()


def press(*keys: int) -> None:
    for key in keys:
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key))


def run_until(app: WindowApp, condition: Callable[[], bool]) -> None:
    """Draw frames until a condition holds. The engine's kernels may have to be compiled first."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"not so after {PATIENCE} s: {app.game.board.text()}"
        app.run(max_frames=app.measured.frames + 1)


def test_keys_move_undo_and_restart(screen: pygame.Surface, tmp_path: Path) -> None:
    solver = SolverThread(QUICK, Size(4, 4))  # not started: a person plays
    app = WindowApp(Size(4, 4), 11, solver, GameRecorder(tmp_path, "fast"))
    start = app.game.board
    keys = {
        Direction.UP: pygame.K_UP,
        Direction.RIGHT: pygame.K_RIGHT,
        Direction.DOWN: pygame.K_DOWN,
        Direction.LEFT: pygame.K_LEFT,
    }
    for direction in (Direction.UP, Direction.LEFT, Direction.DOWN, Direction.RIGHT):
        slid = app.game.board.slide(direction)
        press(keys[direction])
        app.run(max_frames=app.measured.frames + 1)
        if slid.moved:
            assert app.game.turns[-1].afterstate == slid.afterstate
    moves = app.game.moves
    assert moves >= 2
    press(*[pygame.K_u] * moves)
    app.run(max_frames=app.measured.frames + 1)
    assert app.game.board == start
    press(pygame.K_UP, pygame.K_LEFT, pygame.K_DOWN, pygame.K_r)
    app.run(max_frames=app.measured.frames + 1)
    assert (app.game.number, app.game.moves) == (1, 0)
    (record,) = read_records(tmp_path / "games.jsonl")
    assert (record.solver, record.outcome) == ("person", "stopped")
    press(pygame.K_ESCAPE)
    app.run()  # ends by itself


def test_key_a_lets_the_engine_play_to_game_over_and_the_game_is_recorded(
    screen: pygame.Surface, tmp_path: Path
) -> None:
    size = Size(3, 3)
    with SolverThread(QUICK, size) as solver:
        app = WindowApp(size, 4, solver, GameRecorder(tmp_path, "fast"))
        press(pygame.K_a, *[pygame.K_PLUS] * 8)
        run_until(app, lambda: app.game.board.is_over)
        run_until(app, lambda: not app.auto)
    (record,) = read_records(tmp_path / "games.jsonl")
    assert verify(record) is None
    assert (record.solver, record.outcome, record.source) == ("fast", "game_over", "window")
    assert record.total_moves == app.game.moves > 10
    assert len(app.measured.decisions_ms) == record.total_moves


def test_an_arrow_key_takes_the_game_over_from_the_engine(screen: pygame.Surface) -> None:
    with SolverThread(QUICK, Size(4, 4)) as solver:
        app = WindowApp(Size(4, 4), 4, solver, None, auto=True)
        run_until(app, lambda: app.game.moves >= 3)
        press(pygame.K_UP, pygame.K_LEFT)
        app.run(max_frames=app.measured.frames + 1)
        assert not app.auto
        moves = app.game.moves
        app.run(max_frames=app.measured.frames + 30)
        assert app.game.moves == moves
        press(pygame.K_s)
        run_until(app, lambda: app.game.moves == moves + 1)
        app.run(max_frames=app.measured.frames + 30)
        assert app.game.moves == moves + 1
        assert app.game.turns[-1].by_engine


def test_a_lost_engine_is_said_in_the_window_and_the_person_plays_on(screen: pygame.Surface) -> None:
    nowhere = SolverOptions(server="ws://127.0.0.1:9")
    with SolverThread(nowhere, Size(4, 4)) as solver:
        app = WindowApp(Size(4, 4), 4, solver, None, auto=True)
        run_until(app, lambda: not app.auto)
        assert "ws://127.0.0.1:9" in app.notice
        press(pygame.K_UP, pygame.K_LEFT)
        app.run(max_frames=app.measured.frames + 1)
        assert app.game.moves >= 1


def test_the_window_asks_a_server_over_tls_with_the_certificate_that_is_given(
    screen: pygame.Surface, tmp_path: Path
) -> None:
    authority, certificate = tmp_path / "authority.pem", tmp_path / "server.pem"
    ours = trustme.CA()
    ours.cert_pem.write_to_path(authority)
    ours.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(certificate)
    with server_process("--engine", "fast", "--depth", "1", "--tls-cert", str(certificate)) as server:
        assert server.url.startswith("wss://")
        with SolverThread(SolverOptions(server=server.url, ca=authority), Size(4, 4)) as solver:
            app = WindowApp(Size(4, 4), 4, solver, None, auto=True)
            run_until(app, lambda: app.game.moves >= 2 or not app.auto)
            assert (app.auto, app.notice) == (True, "")


def test_the_board_is_drawn_where_its_tiles_are(screen: pygame.Surface) -> None:
    solver = SolverThread(QUICK, Size(4, 4))
    app = WindowApp(Size(4, 4), 4, solver, None)
    app.game.board = Board.from_text("2048 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    Scene(Size(4, 4)).draw(screen, app.game, NOTHING, None, 1.0)
    colours = {
        tuple(screen.get_at((x, y)))[:3]
        for x in range(screen.get_width())
        for y in range(screen.get_height())
    }
    assert (0xED, 0xC2, 0x2E) in colours  # the 2048
    assert (0xEE, 0xE4, 0xDA) in colours  # the 2
    assert (0xED, 0xE0, 0xC8) not in colours  # no 4
    left = next(x for x in range(400) if tuple(screen.get_at((x, 150)))[:3] == (0xED, 0xC2, 0x2E))
    assert left < 100


def test_tiles_are_between_their_cells_while_a_move_is_shown(screen: pygame.Surface) -> None:
    solver = SolverThread(QUICK, Size(4, 4))
    app = WindowApp(Size(4, 4), 4, solver, None)
    app.game.board = Board.from_text("0 0 0 2048 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    turn = app.game.move(Direction.LEFT, by_engine=False)
    scene = Scene(Size(4, 4))
    lefts = []
    for progress in (0.0, 0.1, 0.3, 0.45, 1.0):
        scene.draw(screen, app.game, NOTHING, turn, progress)
        row = [x for x in range(400) if tuple(screen.get_at((x, 100)))[:3] == (0xED, 0xC2, 0x2E)]
        lefts.append(row[0])
    assert lefts == sorted(lefts, reverse=True)
    assert len(set(lefts)) == 5


def test_the_engine_opinion_is_drawn_for_any_values(screen: pygame.Surface) -> None:
    solver = SolverThread(QUICK, Size(4, 4))
    app = WindowApp(Size(4, 4), 4, solver, None)
    scene = Scene(Size(4, 4))
    blank = pygame.Surface(screen.get_size())
    for values in ({Direction.UP: 0.0}, {Direction.UP: -1e300, Direction.LEFT: 1e-9}):
        best = max(values, key=lambda d: values[d])
        choice = Choice(app.game.board, best, values, 0.2, 3, "order")
        status = WindowStatus(0, True, "full speed", choice, 0.2, "x" * 400, True)
        scene.draw(screen, app.game, NOTHING, None, 1.0)
        blank.blit(screen, (0, 0))
        scene.draw(screen, app.game, status, None, 1.0)
        assert pygame.image.tobytes(blank, "RGB") != pygame.image.tobytes(screen, "RGB")


def test_sigterm_closes_the_window_and_records_the_game(tmp_path: Path) -> None:
    arguments = ["window", "--auto", "--engine", "fast", "--depth", "1", "--out", str(tmp_path)]
    env = {**os.environ, "SDL_VIDEODRIVER": "dummy"}
    child = subprocess.Popen(
        [sys.executable, "-m", "bot.cli.main", *arguments], env=env, stdout=subprocess.PIPE, text=True
    )
    try:
        while not any(len(journal.read_bytes().splitlines()) > 3 for journal in tmp_path.glob("*.journal")):
            assert child.poll() is None
        child.terminate()
        out, _ = child.communicate(timeout=60)
    finally:
        child.kill()
    (record,) = read_records(tmp_path / "games.jsonl")
    assert record.total_moves >= 3
    assert "recorded in" in out
    assert list(tmp_path.glob("*.journal")) == []


def test_without_a_screen_or_pygame_the_command_says_what_to_do(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bot.cli.main", "window", "--out", str(tmp_path)]
    env = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run(
        command, env={**env, "SDL_VIDEODRIVER": "x11"}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "no window can be opened" in done.stderr
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "pygame.py").write_text("raise ImportError('blocked')")
    done = subprocess.run(
        command, env={**env, "PYTHONPATH": str(blocked)}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "pip install 'bot2048[window]'" in done.stderr
