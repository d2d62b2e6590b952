"""Errors of a page that name the page."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from game2048.errors import PageError


@contextlib.contextmanager
def naming_page(url: str) -> Iterator[None]:
    """Give errors of a page its address, where they have none."""
    try:
        yield
    except PageError as error:
        error.url = error.url or url
        raise
