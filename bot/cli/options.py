"""Options that several commands of this package share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bot.options import SITE_MOVES_PER_SECOND
from command_line.types import SizeType, TileType
from game2048.size import STANDARD_SIZE

rate_option = click.option(
    "--max-moves-per-second",
    "rate",
    type=click.FloatRange(0),
    help="Most moves a second on one host; 0 for no limit. "
    f"[default: {SITE_MOVES_PER_SECOND:g} on pages of other machines, else no limit]",
)

size_option = click.option(
    "--size",
    type=SizeType(),
    default=str(STANDARD_SIZE),
    show_default=True,
    help="Size of the board: 4x4, 5, 4x6.",
)

out_option = click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the recordings; games are added to it. [default: a new one in runs/]",
)


def goal_options(command: Any) -> Any:
    """Decorate a command with --until-tile and --max-moves."""
    command = click.option("--max-moves", type=click.IntRange(1), help="Stop a game after this many moves.")(
        command
    )
    return click.option("--until-tile", type=TileType(), help="Stop a game when this tile is on the board.")(
        command
    )
