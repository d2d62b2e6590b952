"""Know what the cells of one canvas look like: empty cells, tiles, numbers. Does no I/O."""

from __future__ import annotations

import dataclasses
import logging
from collections import Counter
from collections.abc import Sequence

from game2048.direction import Direction
from game2048.size import Size
from scraper.readers.appearances import GROUND, LookBook, Looks
from scraper.readers.canvas_appearances import (
    CLOSER,
    Crops,
    Gallery,
    are_plain,
    spread_of,
    without_ground,
)
from scraper.readers.canvas_grounds import Grounds, grounds_of
from scraper.readers.drawn_numbers import DrawnNumbers

logger = logging.getLogger(__name__)

SPREAD = 0.4
"""If cells of one look differ by more, they may be empty cells with a drawing behind them."""
SAMES = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8)
"""The limits to try for the difference of equal looks on a drawing; the rules show which are right."""
MOST_ALIKE = 3
"""The most cells of one look in which a number is read."""
FIRST_TILES, FIRST_LOOKS = 4, 2
"""The most tiles at the start of a game, and the most looks that they have."""


class CanvasLooks:
    """The looks of the cells on one canvas.

    Attributes:
        seen: the looks of the last board.
    """

    def __init__(self) -> None:
        self._gallery = Gallery()
        self._are_plain_empty: bool | None = None
        """Whether plain cells of any colour are empty; ``None`` until some have been seen."""
        self._grounds: Grounds | None = None
        """What each cell shows while it is empty, if moves have shown it."""
        self._numbers: dict[str, int] = {}
        """The numbers on the looks, where the page's fonts show them; 0 for looks without a number."""
        self.seen: Looks = ()
        self._spread = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether no look has been named yet."""
        return not self._gallery.is_known

    def forget_grounds(self) -> None:
        """Forget the grounds, because the board has another size."""
        self._grounds = None

    # -- tiles and their names ----------------------------------------------------------------------------

    def tiles(self, cells: Crops) -> Crops:
        """Return pictures of the tiles in cells, without the ground; empty cells are 0."""
        if self._grounds is not None:
            return self._grounds.tiles(cells)
        if self._are_plain_empty is None:
            plain = are_plain(cells)
            self._are_plain_empty = bool(plain.any() and not plain.all()) or None
        return without_ground(cells) if self._are_plain_empty else cells

    def names(self, tiles: Crops, *, learn: bool) -> Looks:
        """Return the name of each cell's look; see `Gallery.names`."""
        return self._gallery.names(tiles, learn=learn)

    def see(self, tiles: Crops, *, learn: bool) -> Looks:
        """Return the looks of a board at rest, and remember them."""
        self.seen = self.names(tiles, learn=learn)
        self._spread = spread_of(tiles, self.seen)
        return self.seen

    def doubts(self, tiles: Crops) -> bool:
        """Return whether a tile may have one look or another."""
        return self._grounds is None and self._gallery.doubts(tiles)

    def compare(self, photographed: Crops, drawn: Crops) -> None:
        """Give cells read inside the page the names of the same cells in a picture of the window."""
        names = self.names(self.tiles(photographed), learn=True)
        self._gallery.teach(self.tiles(drawn), names)

    def look_closer(self) -> bool:
        """Compare looks more closely from now on; return False if that is already the case."""
        if self._gallery.same <= CLOSER:
            return False
        self._numbers = {}
        if self._are_plain_empty and self._grounds is None:
            logger.info("the looks of the canvas contradict the rules: plain cells may be tiles")
            self._are_plain_empty, self._gallery = False, Gallery()
            return True
        logger.info("the looks of the canvas contradict the rules: looking closer")
        self._gallery = Gallery(CLOSER)
        return True

    # -- numbers ------------------------------------------------------------------------------------------

    @property
    def without_numbers(self) -> set[str]:
        """The looks of the last board that have not been searched for a number."""
        return {look for look in self.seen if look != GROUND} - self._numbers.keys()

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers on the looks of the last board, where they are known."""
        return {look: self._numbers[look] for look in self.seen if self._numbers.get(look)}

    def note_numbers(self, drawn: DrawnNumbers, cells: Crops) -> None:
        """Learn the numbers on the looks of the last board; equal looks must show equal numbers.

        Args:
            drawn: the numbers as the page draws them.
            cells: pictures of the cells, of any size.
        """
        for look in self.without_numbers:
            alike = [cell for cell, other in enumerate(self.seen) if other == look][:MOST_ALIKE]
            found = set(drawn.read(cells[alike]))
            self._numbers[look] = found.pop() or 0 if len(found) == 1 else 0
        logger.debug("the page's fonts show these numbers: %s", self._numbers)

    # -- grounds ------------------------------------------------------------------------------------------

    @property
    def is_cluttered(self) -> bool:
        """Whether empty cells may look like tiles: a new game has fewer tiles, and equal ones look alike."""
        if self._grounds is not None or not self.seen:
            return False
        most, count = Counter(self.seen).most_common(1)[0]
        empty = GROUND if GROUND in self.seen else most if count > 1 else None
        tiles = [look for look in self.seen if look != empty]
        return len(tiles) > FIRST_TILES or len(set(tiles)) > FIRST_LOOKS or self._spread > SPREAD

    def learn_grounds(
        self, size: Size, pictures: Sequence[Crops], directions: Sequence[Direction]
    ) -> list[Looks] | None:
        """Learn the ground of each cell from moves.

        Args:
            size: the size of the board.
            pictures: the cells at rest before the first move, and after each move.
            directions: the directions of the moves.

        Returns:
            The looks in each picture; ``None`` if the moves do not show the grounds.
        """
        found = grounds_of(pictures, directions, *size)
        if found is None:
            return None
        for covering in (True, False):
            grounds = dataclasses.replace(found, covered=covering)
            tiles = [grounds.tiles(cells) for cells in pictures]
            fitting: list[tuple[Gallery, list[Looks]]] = []
            for same in SAMES:
                gallery = Gallery(same)
                looks = [gallery.names(crops, learn=True) for crops in tiles]
                if LookBook.of_moves(*size, looks, directions) is not None:
                    fitting.append((gallery, looks))
            if fitting:
                logger.info("the grounds of the cells are known")
                self._grounds, self._numbers = grounds, {}
                self._gallery, names = fitting[len(fitting) // 2]
                return names
        return None
