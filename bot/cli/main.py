"""The command ``bot2048``: its sub-commands are loaded when they are called."""

from __future__ import annotations

import click

from command_line.command import CONTEXT_SETTINGS, LazyProgram, log_to_stderr

# Where each sub-command is, its section of the help and its help line, so that --help loads none of them.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "play": ("bot.cli.play:play_command", "Play", "Play games on the page at URL and record them."),
    "demo": ("bot.cli.play:demo", "Play", "Play on the demo page of this package; needs no network."),
    "window": ("bot.cli.window:window", "Play", "Play 2048 in a window, or watch an engine play it."),
    "harvest": (
        "bot.cli.harvest:harvest",
        "Play",
        "Play many games on the pages at URL... into one dataset.",
    ),
    "dashboard": (
        "bot.cli.dashboard:dashboard",
        "Play",
        "Show runs in a browser: replays, weights, trainings, running games (docs/watching.md).",
    ),
    "probe": (
        "scraper.cli:probe",
        "Play",
        "Read the page at URL once, and print its board, score, status and reader.",
    ),
    "install-browser": (
        "scraper.cli:install_browser_command",
        "Play",
        "Find a browser that starts, or install Chromium.",
    ),
    "serve": (
        "solver_server.cli.serve:serve",
        "Engines",
        "Answer boards with moves, over a websocket (docs/protocol.md).",
    ),
    "hint": (
        "solver_server.cli.hint:hint",
        "Engines",
        "Say which move an engine makes on BOARD, and how it values each direction.",
    ),
    "evaluate": (
        "solver_server.cli.evaluate:evaluate_command",
        "Engines",
        "Let an engine play games; print how strong and how fast it was.",
    ),
    "benchmark": (
        "solver_server.cli.benchmark:benchmark",
        "Engines",
        "Measure the kernels, each by itself and in one thread.",
    ),
    "tables": (
        "solver_server.cli.tables:tables",
        "Engines",
        "Build, list, verify and remove endgame tables and solutions (docs/tables.md).",
    ),
    "train": (
        "solver_server.cli.train:train",
        "Networks",
        "Train an n-tuple network on games that it plays itself.",
    ),
    "weights": (
        "solver_server.cli.weights:weights",
        "Networks",
        "Show n-tuple networks, and pack them to pass them on (docs/training.md).",
    ),
    "generate": (
        "solver_server.cli.generate:generate",
        "Games and datasets",
        "Let an engine play games, and write them as a dataset (docs/datasets.md).",
    ),
    "records": (
        "recordings.cli.records:records",
        "Games and datasets",
        "Show, verify, draw and recover recorded games; convert and split datasets.",
    ),
}


class Commands(LazyProgram):
    """The sub-commands of ``bot2048``."""

    lazy = COMMANDS


@click.group(cls=Commands, context_settings=CONTEXT_SETTINGS)
@click.option("-v", "--verbose", count=True, help="Log what happens; -vv logs all details.")
@click.version_option(package_name="bot2048")
def main(verbose: int) -> None:
    """Play 2048 on live web pages with a strong solver, and record the games."""
    log_to_stderr(verbose)


if __name__ == "__main__":
    main()
