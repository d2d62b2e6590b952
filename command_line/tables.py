"""Tables for people who compare figures; programs that read the output get plain lines instead."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def on_terminal() -> bool:
    """Return whether standard output is a terminal, so that a person reads it."""
    return sys.stdout.isatty()


def show_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, title: str | None = None) -> None:
    """Print a table as wide as the terminal allows.

    Args:
        headings: of the columns; one that begins with ``>`` stands over numbers, which end at the right.
        rows: the cells of each row, as many as headings. They are printed as they are, without markup.
        title: printed above.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for heading in headings:
        is_number = heading.startswith(">")
        table.add_column(
            Text(heading.removeprefix(">")),
            justify="right" if is_number else "left",
            no_wrap=is_number,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)
