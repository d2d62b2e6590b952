"""Make the moves that show what the empty cells of a canvas look like."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from game2048.direction import Direction
from game2048.size import Size
from scraper.moves.parts import PageParts
from scraper.readers.canvas import CanvasEye

if TYPE_CHECKING:
    from scraper.readers.canvas_appearances import Crops

KEY_TRIES = 2
"""How many tries of input methods a page that ignores them gets; then the usual moves try the others."""
AROUND = (Direction.LEFT, Direction.UP, Direction.RIGHT, Direction.DOWN)
ENOUGH, MOST, TRIES = 6, 10, 24
"""The least and the most moves that show the grounds, and the most tries to make them."""
IDLE_MS, NEXT_IDLE_MS = 350, 200
"""If nothing changes for this long, the page ignored the move; with one of many input methods."""
IGNORED = 2
"""After this many ignored moves the next input method is tried; the first one gets all directions."""


class GroundMoves:
    """The moves before a game on a canvas whose empty cells look like tiles, such as a drawing with outlines.

    Args:
        parts: the parts of the page.
    """

    def __init__(self, parts: PageParts) -> None:
        self._parts = parts
        self._input = parts.input

    async def made(self) -> bool:
        """Make moves until the grounds of the cells are known; return whether the board has moved."""
        eye = self._parts.finder.cluttered_canvas
        if eye is None or await self._parts.unless_lost(eye.draws_numbers()):
            return False  # numbers need no grounds
        return await self._parts.unless_lost(self._moved(eye))

    async def _moved(self, eye: CanvasEye) -> bool:
        first, _ = await eye.rest(None, IDLE_MS)
        pictures, directions = [first], list[Direction]()
        ignored = 0
        for direction in itertools.islice(itertools.cycle(AROUND), TRIES):
            await self._input.prepare()
            await self._input.move(direction)
            is_first = not self._input.misses
            cells, changed = await eye.rest(pictures[-1], IDLE_MS if is_first else NEXT_IDLE_MS)
            if changed:
                ignored = 0
                pictures.append(cells)
                directions.append(direction)
                if len(directions) >= ENOUGH and self._are_explained(eye, pictures, directions):
                    self._input.took()
                    return True
                if len(directions) == MOST:
                    break
                continue
            ignored += 1
            if ignored == (len(AROUND) if is_first else IGNORED):
                ignored = 0
                await self._input.missed()
                if directions or self._input.misses >= KEY_TRIES or self._input.exhausted:
                    break
        self._input.give_up()
        if directions:
            self._parts.values.forget(moved=True)
        return bool(directions)

    def _are_explained(self, eye: CanvasEye, pictures: list[Crops], directions: list[Direction]) -> bool:
        looks = eye.learn_grounds(pictures, directions)
        if looks is None or eye.lattice is None:
            return False
        self._parts.values.replay(Size(eye.lattice.rows, eye.lattice.columns), looks, directions)
        return True
