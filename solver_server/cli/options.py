"""Options that several commands of this package take."""

from __future__ import annotations

import functools

import click

from command_line.types import SizeType

MAX_SEED = 2**64 - 1
MAX_THREADS = 256

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
json_lines_option = click.option(
    "--json-lines",
    is_flag=True,
    help="Print one JSON object per game when it ends, and the figures of all games in the last line.",
)
threads_option = click.option(
    "--threads",
    type=click.IntRange(1, MAX_THREADS),
    default=1,
    show_default=True,
    help="Games played at the same time.",
)
seed_option = click.option(
    "--seed",
    type=click.IntRange(0, MAX_SEED),
    default=0,
    show_default=True,
    help="Seed of the games: the same seed gives the same spawns.",
)
scheduler_option = click.option(
    "--scheduler",
    metavar="tcp://HOST:PORT",
    help="Address of a Dask scheduler: the workers of that cluster play. [default: this machine plays]",
)
board_option = click.option(
    "--board", type=SizeType(), help="Size of the board. [default: that of the weights, else 4x4]"
)


def announce_compilation() -> bool:
    """Say on standard error, from now on, that kernels are compiled, where that is so.

    Returns:
        Whether there are no compiled kernels yet.
    """
    from game2048.kernels.compilation import tell_of_compilation
    from game2048.kernels.jit import kernels_are_cached

    tell_of_compilation(functools.partial(click.echo, err=True))
    return not kernels_are_cached()
