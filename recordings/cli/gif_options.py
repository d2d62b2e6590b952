"""The options of every command that draws games."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from command_line.gather import gather
from game2048.errors import RecordError
from recordings.pictures.animation_options import (
    DEFAULT_FRAME_MS,
    DEFAULT_FRAMES,
    DEFAULT_PIXELS,
    MAX_FRAME_MS,
    MAX_FRAMES,
    MAX_PIXELS,
    MIN_FRAME_MS,
    MIN_PIXELS,
    AnimationOptions,
    Show,
    parse_bytes,
)

_T = TypeVar("_T")


def _parsed(parse: Callable[[str], _T]) -> Callable[[click.Context, click.Parameter, str | None], _T | None]:
    """Make the callback of an option out of a function that reads its text."""

    def read(context: click.Context, parameter: click.Parameter, text: str | None) -> _T | None:
        try:
            return None if text is None else parse(text)
        except RecordError as error:
            raise click.BadParameter(str(error), context, parameter) from error

    return read


def _animation_options(
    gif_frames: int,
    gif_ms: int,
    gif_size: int,
    gif_motion: bool,
    gif_show: Show,
    gif_max_bytes: int | None,
    gif: bool = True,
) -> AnimationOptions | None:
    if not gif:
        return None
    return AnimationOptions(gif_frames, gif_ms, gif_size, gif_motion, gif_show, gif_max_bytes)


def animation_options(argument: str, *, optional: bool = False) -> Callable[[Any], Any]:
    """Return a decorator that adds ``--gif-frames`` and its like to a command.

    Args:
        argument: the argument of the command that gets the `AnimationOptions`.
        optional: add ``--gif/--no-gif`` too; the command gets ``None`` for no GIF.
    """
    switch = click.option("--gif/--no-gif", default=True, show_default=True, help="Draw a GIF of each game.")
    return gather(
        argument,
        _animation_options,
        "GIF",
        *([switch] if optional else []),
        click.option(
            "--gif-frames",
            type=click.IntRange(1, MAX_FRAMES),
            default=DEFAULT_FRAMES,
            show_default=True,
            help="Most moments of the game that a GIF shows.",
        ),
        click.option(
            "--gif-ms",
            type=click.IntRange(MIN_FRAME_MS, MAX_FRAME_MS),
            default=DEFAULT_FRAME_MS,
            show_default=True,
            help="Milliseconds per frame; the last frame stays longer.",
        ),
        click.option(
            "--gif-size",
            type=click.IntRange(MIN_PIXELS, MAX_PIXELS),
            default=DEFAULT_PIXELS,
            show_default=True,
            help="Width of the GIF in pixels.",
        ),
        click.option(
            "--gif-motion", is_flag=True, help="Let tiles slide, merge and appear between the frames."
        ),
        click.option(
            "--gif-show",
            metavar="MOMENTS",
            default="all",
            show_default=True,
            callback=_parsed(Show.parse),
            help="Moments to show: all, best (each new largest tile), last:N moves, every:N moves.",
        ),
        click.option(
            "--gif-max-bytes",
            "--max-bytes",
            metavar="SIZE",
            callback=_parsed(parse_bytes),
            help="Largest file, e.g. 500k or 5M; moments are left out until the GIF fits.",
        ),
    )
