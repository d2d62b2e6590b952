"""The layout of all pages: the frame with its navigation, and small parts of plain HTML."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from game2048.board import Board
from game2048.errors import Error2048

Labelled = TypeVar("Labelled", bound=ui.element)

NAVIGATION = (
    ("/", "Start"),
    ("/live", "Live"),
    ("/replay", "Replay"),
    ("/weights", "Weights"),
    ("/training", "Training"),
    ("/pictures", "Pictures"),
    ("/board", "Board"),
)

ACCENT = "#1d5a8c"

_HEAD = "".join(
    f'<link rel="stylesheet" href="/web/{name}">' for name in ("look.css", "style.css")
) + "".join(f'<script type="module" src="/web/{name}.js"></script>' for name in ("board", "replay", "upload"))


def add_head() -> None:
    """Put styles and scripts into every page."""
    ui.add_head_html(_HEAD, shared=True)


@contextlib.contextmanager
def frame(title: str, path: str) -> Iterator[None]:
    """Make a page: heading, navigation, and the main part, which the block fills.

    Args:
        title: its heading.
        path: where it is, for the navigation.
    """
    ui.page_title(f"{title} – bot2048 dashboard")
    ui.colors(primary=ACCENT)
    with ui.header().classes("top"), ui.element("nav").props('aria-label="Pages"'):
        text("strong", "bot2048")
        for target, name in NAVIGATION:
            link = ui.link(name, target)
            if target == path:
                link.props('aria-current="page"')
    with ui.element("div").classes("page") as main:
        text("h1", title)
        yield
    ui.skip_link("Skip to the contents", target=main)


def text(tag: str, words: str) -> TextElement:
    """Return an HTML element that holds a text."""
    return TextElement(tag=tag, text=words)


def link_to(words: str, target: str, *, saved: bool = False) -> ui.link:
    """Return a link.

    Args:
        words: its text.
        target: its address.
        saved: whether the browser saves the target instead of opening it.
    """
    link = ui.link(words, target)
    return link.props("download") if saved else link


def labelled(element: Labelled, label: str) -> Labelled:
    """Give an element a name for screen readers; the name may hold any sign."""
    element.props["aria-label"] = label
    return element


class Told:
    """A line that shows an error, also to screen readers."""

    def __init__(self) -> None:
        self._line = text("p", "").classes("fault").props("role=alert")

    def show(self, words: str) -> None:
        """Show a sentence; an empty one removes the last one."""
        self._line.set_text(words)

    @contextlib.contextmanager
    def faults(self) -> Iterator[None]:
        """Show the errors that the block raises."""
        try:
            yield
        except Error2048 as error:
            self.show(str(error))
        else:
            self.show("")


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str | Callable[[], Any]]]) -> ui.element:
    """Return a table.

    Args:
        caption: what it shows.
        head: texts of the head.
        rows: cells: texts, or functions that fill one with elements.
    """
    with ui.element("div").classes("scrolled"), ui.element("table") as made:
        text("caption", caption)
        with ui.element("thead"), ui.element("tr"):
            for words in head:
                text("th", words).props("scope=col")
        with ui.element("tbody"):
            for row in rows:
                with ui.element("tr"):
                    for cell in row:
                        if isinstance(cell, str):
                            text("td", cell)
                        else:
                            with ui.element("td"):
                                cell()
    return made


class BoardElement(ui.element):
    """A board in the classic look (`web/board.js`)."""

    def __init__(self, board: Board | None = None) -> None:
        super().__init__("board-view")
        self._shown: Board | None = None
        if board is not None:
            self.show(board)

    def show(self, board: Board, motions: Sequence[int] | None = None) -> None:
        """Show a board.

        Args:
            board: the board.
            motions: how its tiles came there: from cell, to cell, exponent, 1 if it merges, for each tile.
        """
        if board == self._shown:
            return
        self._shown = board
        state: dict[str, Any] = {"rows": board.rows, "columns": board.columns, "cells": list(board.cells)}
        if motions is not None:
            state["motions"] = list(motions)
        self.props["data-state"] = json.dumps(state)


def number_text(value: float) -> str:
    """Return a number for people, with few digits."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:,.2f}"


def size_text(size: int) -> str:
    """Return a number of bytes for people."""
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size / 1e3:,.1f} kB"
