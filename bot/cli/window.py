"""The command `window`."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

import click

from bot.cli.options import out_option, size_option
from bot.cli.play import summed_up
from bot.options import new_run_folder
from command_line.command import Command, FailureError
from command_line.engine_options import solver_options
from command_line.gather import gather
from game2048.size import Size
from game2048.solver_options import SolverOptions

PYGAME_MISSING = "the window needs pygame-ce; install it by: pip install 'bot2048[window]'"


@dataclass(frozen=True, slots=True)
class WindowOptions:
    """What the window shows and keeps.

    Attributes:
        size: of the board.
        auto: whether the engine plays from the start.
        seed: of the spawns; ``None`` for a random one.
        pixels: width of the window.
        record: whether games are recorded.
        out: folder of the recordings; ``None`` for a new one.
    """

    size: Size
    auto: bool
    seed: int | None
    pixels: int
    record: bool
    out: Path | None


@click.command(cls=Command)
@gather(
    "shown",
    WindowOptions,
    "Window",
    size_option,
    click.option("--auto", is_flag=True, help="Let the engine play from the start, as key A does."),
    click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Seed of the spawns. [default: random]"),
    click.option(
        "--pixels",
        type=click.IntRange(200, 2000),
        default=520,
        show_default=True,
        help="Width of the window.",
    ),
    click.option("--record/--no-record", default=True, show_default=True, help="Record the games."),
    out_option,
)
@solver_options(remote=True)
def window(shown: WindowOptions, solver: SolverOptions) -> None:
    """Play 2048 in a window, or watch an engine play it.

    Arrow keys move. A starts and stops the engine, S lets it make one move, U takes a move back, R begins a
    new game, + and - set the engine's speed, Esc closes the window.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
    except ImportError as error:
        raise FailureError(PYGAME_MISSING) from error
    from bot.window.app import WindowApp, open_window
    from bot.window.game_recorder import GameRecorder
    from bot.window.solver_thread import SolverThread

    folder = shown.out or new_run_folder()
    recorder = GameRecorder(folder, solver.engine or "engine") if shown.record else None
    seed = secrets.randbits(64) if shown.seed is None else shown.seed
    try:
        open_window(shown.size, pixels=shown.pixels)
    except pygame.error as error:
        raise FailureError(
            f"no window can be opened: {error}; expected a desktop. Without one, try `bot2048 demo --watch`"
        ) from error
    try:
        with SolverThread(solver, shown.size) as engine:
            app = WindowApp(shown.size, seed, engine, recorder, auto=shown.auto)
            try:
                app.run()
            finally:
                app.end_game()
    finally:
        pygame.quit()
        if recorder is not None and recorder.summaries:
            click.echo(summed_up(recorder.summaries, folder))
