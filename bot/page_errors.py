"""Add the address of the page to its errors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from game2048.errors import PageError


@contextlib.contextmanager
def naming_page(url: str) -> Iterator[None]:
    """Add a page's address to each `PageError` of the block that has no address yet."""
    try:
        yield
    except PageError as error:
        error.url = error.url or url
        raise
