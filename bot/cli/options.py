"""Options that `play`, `demo` and `harvest` share."""

from __future__ import annotations

from typing import Any

import click

from bot.options import SITE_MOVES_PER_SECOND
from command_line.types import TileType

rate_option = click.option(
    "--max-moves-per-second",
    "rate",
    type=click.FloatRange(0),
    help="Most moves a second on one host; 0 for no limit. "
    f"[default: {SITE_MOVES_PER_SECOND:g} on pages of other machines, else no limit]",
)


def goal_options(command: Any) -> Any:
    """Decorate a command with --until-tile and --max-moves."""
    command = click.option("--max-moves", type=click.IntRange(1), help="Stop a game after this many moves.")(
        command
    )
    return click.option("--until-tile", type=TileType(), help="Stop a game when this tile is on the board.")(
        command
    )
