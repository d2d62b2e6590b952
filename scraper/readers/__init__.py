"""Readers: each knows one way in which pages show a board.

A reader is a name, by which a script in ``scraper/in_page`` finds and reads the board, and the step from what
the script returned, which is untrusted, to a `Reading`. `docs/pages.md` says how to add one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from scraper.readers.script import ScriptReader
from scraper.reading import ReaderTraits, Reading


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

    @property
    def traits(self) -> ReaderTraits:
        """How far its boards can be believed."""
        ...

    @property
    def profile(self) -> Mapping[str, object] | None:
        """What a site's profile says of the board, for the script that follows it."""
        ...

    def reading(self, raw: object) -> Reading:
        """Check what the script returned, and make a reading of it.

        Raises:
            UnreadableError: the rules do not know such a board.
        """
        ...


POSITION_CLASSES: BoardReader = ScriptReader(
    name="position-classes",
    looks_for="tiles with the classes tile-N and tile-position-X-Y",
    traits=ReaderTraits(numbered=True, trusts_score=True),
)
LATTICE_TEXT: BoardReader = ScriptReader(
    name="lattice-text",
    looks_for="a grid of equal boxes with numbers in them",
    traits=ReaderTraits(numbered=True, any_grid=True),
)
LATTICE_CLASSES: BoardReader = ScriptReader(
    name="lattice-classes",
    looks_for="a grid of equal boxes with numbers in their classes",
    traits=ReaderTraits(any_grid=True, proving_moves=4),
)
LATTICE_LOOKS: BoardReader = ScriptReader(
    name="lattice-looks",
    looks_for="a grid of equal boxes of few looks",
    traits=ReaderTraits(weak=True),
)

READERS: tuple[BoardReader, ...] = (POSITION_CLASSES, LATTICE_TEXT, LATTICE_CLASSES, LATTICE_LOOKS)
"""The readers of elements, in the order in which they are tried; `scraper.readers.canvas` comes last."""

CANVAS_TEXT: BoardReader = ScriptReader(
    name="canvas-text",
    looks_for="a canvas with numbers drawn as text",
    traits=ReaderTraits(any_grid=True),
)
"""The reader of canvases on which numbers are drawn as text, in cells that `scraper.readers.canvas` found."""
PIXELS: BoardReader = ScriptReader(
    name="pixels", looks_for="a canvas with equal squares", traits=ReaderTraits(weak=True)
)
"""The reader of all other canvases; its pictures are taken by `scraper.readers.canvas`."""
