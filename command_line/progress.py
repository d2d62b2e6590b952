"""The progress bar of all commands, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from tqdm import tqdm

    Bar = tqdm[NoReturn]

_WATCHED_SECONDS = 0.1
_UNWATCHED_SECONDS = 5.0


def progress_bar(
    description: str,
    unit: str,
    *,
    total: int | None = None,
    initial: int = 0,
    scaled: bool = False,
    kept: bool = True,
) -> Bar:
    """Return a progress bar. Where standard error is not a terminal, it is written every few seconds.

    Args:
        description: what the command does.
        unit: what is counted, as ``games``.
        total: how many there are in the end, where that is known.
        initial: how many there are already.
        scaled: whether large counts are written with k, M and G.
        kept: whether the bar stays when it is full; else it is also left out where nobody watches.
    """
    from tqdm import tqdm

    watched = sys.stderr.isatty()
    return tqdm(
        desc=description,
        unit=f" {unit}",
        total=total,
        initial=initial,
        unit_scale=scaled,
        leave=kept,
        disable=None if not kept else False,
        mininterval=_WATCHED_SECONDS if watched else _UNWATCHED_SECONDS,
        dynamic_ncols=True,
        file=sys.stderr,
    )


@contextmanager
def progress(description: str, unit: str, **options: Any) -> Iterator[Bar]:
    """Return a context with a `progress_bar`; log lines stand above it."""
    from tqdm.contrib.logging import logging_redirect_tqdm

    with logging_redirect_tqdm(), progress_bar(description, unit, **options) as bar:
        yield bar


def say_above(bar: Bar, line: str) -> None:
    """Print a line on standard error above a bar."""
    bar.write(line, file=sys.stderr)


def advancing(bar: Bar) -> Callable[[int], None]:
    """Return a function that counts on a bar."""

    def advance(count: int) -> None:
        bar.update(count)

    return advance
