"""``python -m solver_server serve``: the solver server without the rest of the program."""

from __future__ import annotations

import sys

import click

from game2048.errors import Error2048
from solver_server.cli.serve import hint, serve


@click.group()
def cli() -> None:
    """Engines for 2048: `serve` answers clients, `hint` answers you."""


cli.add_command(serve)
cli.add_command(hint)


def main() -> None:
    """Run a command; a told failure exits with 1, Ctrl-C with 130."""
    try:
        sys.exit(cli.main(prog_name="python -m solver_server", standalone_mode=False))
    except Error2048 as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(130)


if __name__ == "__main__":
    main()
