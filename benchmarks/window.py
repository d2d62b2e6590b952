"""Measure the desktop window: frames a second and decision times while an engine plays at full speed.

Run it as ``SDL_VIDEODRIVER=dummy python benchmarks/window.py``, or with a desktop (or Xvfb) as it is.
"""

from __future__ import annotations

import argparse
import os

os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"

import pygame

from bot.window.app import FRAMES_PER_SECOND, WindowApp, open_window
from bot.window.solver_thread import SolverThread
from game2048.size import Size
from game2048.solver_options import SolverOptions


def measure(size: Size, solver: SolverOptions, seconds: float, *, full_speed: bool) -> str:
    """Let an engine play, and return a row of a table."""
    open_window(size, pixels=520)
    with SolverThread(solver, size) as thread:
        app = WindowApp(size, 1, thread, None, auto=True)
        for _ in range(8 * full_speed):
            app.press(pygame.K_PLUS)
        while not app.game.moves:  # the engine starts
            app.run(max_frames=app.measured.frames + 1)
        app.measured.frames, app.measured.seconds = 0, 0.0
        before = app.measured.decisions
        while app.measured.seconds < seconds:
            app.run(max_frames=app.measured.frames + 1)
            if app.game.board.is_over:
                app.press(pygame.K_r)
                app.press(pygame.K_a)
    pygame.quit()
    measured = app.measured
    moves = (app.measured.decisions - before) / measured.seconds
    engine = solver.engine or "order"
    speed = "full" if full_speed else "8 moves/s"
    return (
        f"| {size} | {engine} | {speed} | {measured.frame_rate:.1f} | {moves:.0f} "
        f"| {measured.median_ms:.2f} | {measured.longest_ms:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    seconds = parser.parse_args().seconds
    print(f"at most {FRAMES_PER_SECOND} frames a second are drawn")
    print("| board | engine | speed | frames/s | moves/s | median ms | longest ms |")
    print("|---|---|---|---|---|---|---|")
    for side, engine in ((4, "order"), (4, "ntuple"), (4, "fast"), (5, "fast")):
        for full_speed in (False, True):
            row = measure(Size(side, side), SolverOptions(engine=engine), seconds, full_speed=full_speed)
            print(row, flush=True)


if __name__ == "__main__":
    main()
