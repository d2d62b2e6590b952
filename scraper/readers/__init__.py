"""Readers: each knows one way in which pages show a board.

A reader is a name, a script that finds and reads the board inside the page, and the step from what the script
returned, which is untrusted, to a `Reading`. `docs/pages.md` says how to add one.
"""

from __future__ import annotations

from typing import Protocol

from scraper.readers.script import ScriptReader
from scraper.reading import Reading


class BoardReader(Protocol):
    """One way of reading boards."""

    @property
    def name(self) -> str:
        """What `probe` and records call it."""
        ...

    @property
    def looks_for(self) -> str:
        """What it looks for in a page, for the error that tells that nothing was found."""
        ...

    def script(self) -> str:
        """JavaScript: one expression, a function as described at the top of ``page_probe.js``."""
        ...

    def reading(self, raw: object) -> Reading:
        """What the script returned, checked.

        Raises:
            PageError: it is no board that the rules know.
        """
        ...


POSITION_CLASSES: BoardReader = ScriptReader(
    name="position-classes",
    looks_for="tiles with the classes tile-N and tile-position-X-Y",
    file="position_classes.js",
)

READERS: tuple[BoardReader, ...] = (POSITION_CLASSES,)
"""All readers, in the order in which they are tried."""
