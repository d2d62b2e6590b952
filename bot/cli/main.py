"""The command ``bot2048``: its sub-commands are loaded when they are called."""

from __future__ import annotations

import importlib
import logging
import sys
from typing import IO, Any

import click

from game2048.errors import Error2048

# Where each sub-command lives, and its help line here too, so that --help loads none of them.
COMMANDS: dict[str, tuple[str, str]] = {
    "play": ("bot.cli.play:play", "Play games on the page at URL and record them."),
    "demo": ("bot.cli.play:demo", "Play on our own page, without any network."),
    "probe": (
        "scraper.cli:probe",
        "Print what is read on the page at URL: board, score, status, and which reader saw it.",
    ),
    "serve": (
        "solver_server.cli.serve:serve",
        "Answer boards with moves, over a websocket (docs/protocol.md).",
    ),
    "hint": (
        "solver_server.cli.serve:hint",
        "Say which move an engine would make on BOARD, and what it thinks of each.",
    ),
    "train": ("solver_server.cli.train:train", "Train an n-tuple network by its own games."),
    "evaluate": (
        "solver_server.cli.train:evaluate",
        "Let an engine play games, and print how strong and how fast it was.",
    ),
    "benchmark": (
        "solver_server.cli.train:benchmark",
        "Measure the kernels, each alone and in one thread.",
    ),
    "weights": (
        "solver_server.cli.weights:weights",
        "Show n-tuple networks, and pack them for others (docs/training.md).",
    ),
    "tables": (
        "solver_server.cli.tables:tables",
        "Build exact tables of late boards, of whose moves a small set comes along (docs/tables.md).",
    ),
    "generate": (
        "solver_server.cli.generate:generate",
        "Let an engine play games, and write them as a dataset (docs/datasets.md).",
    ),
    "harvest": (
        "bot.cli.harvest:harvest",
        "Play many games on the pages at URL..., several at once, into one dataset.",
    ),
    "records": (
        "recordings.cli.records:records",
        "Show, verify, draw and recover recorded games; convert, split and count datasets.",
    ),
    "install-browser": (
        "scraper.cli:install_browser",
        "Find a browser that starts, or download or install Chromium.",
    ),
}


class ToldError(click.ClickException):
    """A failure that needs no traceback: one line on stderr, exit code 1."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line."""
        click.echo(f"error: {self.message}", file=file, err=file is None)


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, from what is known without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a told failure exits with 1, Ctrl-C with 130."""
        try:
            return super().invoke(ctx)
        except Error2048 as error:
            raise ToldError(str(error)) from error
        except KeyboardInterrupt:
            raise click.exceptions.Exit(130) from None


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-v", "--verbose", count=True, help="Log what happens; twice, all of it.")
@click.version_option(package_name="bot2048")
def main(verbose: int) -> None:
    """Play 2048 on live web pages with a strong solver, and record the games."""
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    logging.basicConfig(level=level, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")


if __name__ == "__main__":
    main()
