"""Readers: each one knows one way in which pages show a board.

A script with the reader's name in ``scraper/in_page`` finds and reads the board. The reader checks the answer
of the script, which is untrusted, and turns it into a `Reading`. `docs/pages.md` says how to add one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from scraper.readers.script import ScriptReader
from scraper.reading import ReaderTraits, Reading


class BoardReader(Protocol):
    """Reads boards that are shown in one way."""

    @property
    def name(self) -> str:
        """The name in `probe` and in records."""
        ...

    @property
    def looks_for(self) -> str:
        """What the reader looks for, in words; the error "no board found" shows it."""
        ...

    @property
    def traits(self) -> ReaderTraits:
        """How reliable the reader is."""
        ...

    @property
    def profile(self) -> Mapping[str, object] | None:
        """The board of a site profile, for the script that uses it; ``None`` for other readers."""
        ...

    def reading(self, raw: object) -> Reading:
        """Check the script's answer, and turn it into a reading.

        Raises:
            UnreadableError: the answer is not a board of 2048.
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
"""The readers of elements, in the order to try them; `scraper.readers.canvas` comes last."""

CANVAS_TEXT: BoardReader = ScriptReader(
    name="canvas-text",
    looks_for="a canvas with numbers drawn as text",
    traits=ReaderTraits(any_grid=True),
)
"""The reader of canvases with numbers drawn as text; `scraper.readers.canvas` finds the cells."""
PIXELS: BoardReader = ScriptReader(
    name="pixels", looks_for="a canvas with equal squares", traits=ReaderTraits(weak=True)
)
"""The reader of all other canvases; `scraper.readers.canvas` takes its pictures."""
