"""Readers: each knows one way in which pages show a board.

A reader is a name, a script that finds and reads the board inside the page, and the step from what the script
returned, which is untrusted, to a `Reading`. `docs/pages.md` says how to add one.
"""

from __future__ import annotations

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

    def script(self) -> str:
        """JavaScript: one expression, a function as described at the top of ``page_script.js``."""
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
    file="position_classes.js",
    traits=ReaderTraits(numbered=True, trusts_score=True),
)
LATTICE_PARTS = ("lattice_values.js", "lattice_boxes.js", "lattice_board.js", "lattice_rows.js")
LATTICE_TEXT: BoardReader = ScriptReader(
    name="lattice-text",
    looks_for="a grid of equal boxes with numbers in them",
    file="lattice.js",
    parts=LATTICE_PARTS,
    mode="text",
    traits=ReaderTraits(numbered=True, any_grid=True),
)
LATTICE_CLASSES: BoardReader = ScriptReader(
    name="lattice-classes",
    looks_for="a grid of equal boxes with numbers in their classes",
    file="lattice.js",
    parts=LATTICE_PARTS,
    mode="classes",
    traits=ReaderTraits(any_grid=True, proving_moves=4),
)
LATTICE_LOOKS: BoardReader = ScriptReader(
    name="lattice-looks",
    looks_for="a grid of equal boxes of few looks",
    file="lattice.js",
    parts=LATTICE_PARTS,
    mode="looks",
    traits=ReaderTraits(weak=True),
)

READERS: tuple[BoardReader, ...] = (POSITION_CLASSES, LATTICE_TEXT, LATTICE_CLASSES, LATTICE_LOOKS)
"""The readers of elements, in the order in which they are tried; `scraper.readers.canvas` comes last."""

PIXELS: BoardReader = ScriptReader(
    name="pixels", looks_for="a canvas with equal squares", file="", traits=ReaderTraits(weak=True)
)
"""The reader of canvases; its pictures are taken by `scraper.readers.canvas`."""
