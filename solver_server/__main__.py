"""``python -m solver_server serve``: the solver server without the rest of the program."""

from __future__ import annotations

import click

from command_line.command import CONTEXT_SETTINGS, Program
from solver_server.cli.hint import hint
from solver_server.cli.serve import serve


@click.group(cls=Program, context_settings=CONTEXT_SETTINGS)
def solver_server() -> None:
    """Engines for 2048: `serve` answers clients, `hint` answers you."""


solver_server.add_command(serve)
solver_server.add_command(hint)

if __name__ == "__main__":
    solver_server(prog_name="python -m solver_server")
