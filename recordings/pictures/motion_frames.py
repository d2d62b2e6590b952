"""The frames between two states of a game: tiles slide, merged tiles pop, the new tile appears.

The times are those of the original game: 100 ms for a slide, and somewhat less for what follows.
"""

from __future__ import annotations

from collections.abc import Iterator

from PIL import Image

from game2048.board import Board
from game2048.direction import Direction
from game2048.look.motion import tile_motions
from recordings.pictures.board_image import FreeTile, Renderer

_SLIDE_MS = 30
_SLIDE = (0.16, 0.5, 0.84)  # how far tiles have come in each frame: slow, fast, slow
_POP_MS = 40
_POP = ((1.14, 0.45), (1.07, 0.85))  # the sides of merged tiles and of the new one

Timed = tuple[Image.Image, int]


def motion_frames(
    renderer: Renderer, before: Board, direction: Direction, after: Board, scores: tuple[int, int], moves: int
) -> Iterator[Timed]:
    """Draw the frames between two states; none where the second does not follow from the first by the rules.

    Args:
        renderer: draws them.
        before: the board before the move.
        direction: the move.
        after: the board after it, its new tile included.
        scores: the scores before and after the move.
        moves: how many moves were made before this one.

    Yields:
        Pictures, each with its time in milliseconds.
    """
    slide = before.slide(direction)
    pairs = zip(slide.afterstate.cells, after.cells, strict=True)
    changed = [cell for cell, (old, new) in enumerate(pairs) if old != new]
    if not slide.moved or len(changed) > 1:
        return
    columns = renderer.size.columns
    motions = tile_motions(before, direction)
    standing = bytearray(len(before.cells))
    for motion in motions:
        if motion.start == motion.end:
            standing[motion.start] = motion.exponent
    moving = [motion for motion in motions if motion.start != motion.end]
    for share in _SLIDE:
        tiles = []
        for motion in moving:
            (row, column), (to_row, to_column) = divmod(motion.start, columns), divmod(motion.end, columns)
            tiles.append(
                FreeTile(motion.exponent, row + (to_row - row) * share, column + (to_column - column) * share)
            )
        yield renderer.picture(standing, scores[0], moves, tiles), _SLIDE_MS
    merged = {motion.end for motion in motions if motion.merges}
    for merged_scale, new_scale in _POP:
        cells = bytearray(after.cells)
        tiles = []
        for cell in (*merged, *changed):
            scale = merged_scale if cell in merged else new_scale
            tiles.append(FreeTile(after.cells[cell], *divmod(cell, columns), scale))
            cells[cell] = 0
        yield renderer.picture(cells, scores[1], moves + 1, tiles), _POP_MS
