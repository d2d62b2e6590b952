"""Pictures of a board in the classic look, with the score and the number of moves above it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from PIL import Image

from game2048.board import Board
from game2048.look.classic_look import GAP_SHARE
from game2048.size import Size
from recordings.pictures.animation_options import DEFAULT_PIXELS
from recordings.pictures.masks import MOSTLY, PRESENT, NumberMasks, rounded_mask, text_mask
from recordings.pictures.palette import TILE_COLOURS, Ramps


class FreeTile(NamedTuple):
    """A tile that is drawn away from the grid, or larger or smaller than a cell.

    Attributes:
        exponent: the tile.
        row: where its middle is, in rows; 0 is the middle of the first row.
        column: likewise, in columns.
        scale: its side in sides of a cell.
    """

    exponent: int
    row: float
    column: float
    scale: float = 1.0


class Renderer:
    """Draws the boards of one game.

    The board, whatever its shape, fits a square of ``pixels`` less a margin; the picture is ``pixels`` wide.

    Args:
        size: rows and columns of the boards.
        pixels: the width of every picture.

    Attributes:
        size: rows and columns of the boards.
        width: the width of every picture, in pixels.
        height: the height of every picture, in pixels.
        palette: its colours, 768 numbers.
    """

    def __init__(self, size: Size, pixels: int = DEFAULT_PIXELS) -> None:
        self.size = size
        self._ramps = Ramps()
        self.palette = self._ramps.palette.rgb()
        longest = max(size)
        room = round(pixels * 0.92)
        self._gap = max(1, round(room / (longest * (1 + GAP_SHARE) / GAP_SHARE + 1)))
        self._cell = (room - (longest + 1) * self._gap) // longest
        margin = (pixels - self._span(longest)) // 2
        header = round(pixels * 0.15)
        board = self._span(size.columns), self._span(size.rows)
        self._left, self._top = (pixels - board[0]) // 2, margin + header + round(pixels * 0.035)
        self.width, self.height = pixels, self._top + board[1] + margin
        self._tiles: dict[tuple[int, int], Image.Image] = {}
        self._shapes: dict[int, Image.Image] = {}
        self._boxes = self._place_boxes(margin, header)
        self._numbers = [
            NumberMasks((right - left, round((bottom - top) * 0.56)), round((bottom - top) * 0.42))
            for left, top, right, bottom in self._boxes
        ]
        self._shown = self._draw_ground(board, margin)
        self._shown_cells = [-1] * size.cells

    def _span(self, cells: int) -> int:
        return cells * self._cell + (cells + 1) * self._gap

    def picture(
        self, cells: Sequence[int], score: int, moves: int, free: Iterable[FreeTile] = ()
    ) -> Image.Image:
        """Return one picture, as palette indices in mode ``L``; `colour` makes an ordinary picture of it.

        Args:
            cells: exponents of the board, row by row.
            score: shown above it.
            moves: how many moves were made, shown above it.
            free: tiles to draw over the board, the last one on top.
        """
        self._show(cells)
        picture = self._shown.copy()
        for (left, top, _, bottom), masks, number in zip(
            self._boxes, self._numbers, (score, moves), strict=True
        ):
            mask = masks.mask(f"{number:,}")
            picture.paste(mask.point(self._ramps.value), (left, top + round((bottom - top) * 0.38)))
        for tile in free:
            self._paste_free(picture, tile)
        return picture

    def _show(self, cells: Sequence[int]) -> None:
        """Bring the board up to date; most cells stay as they were in the picture before."""
        step = self._cell + self._gap
        for place, (old, new) in enumerate(zip(self._shown_cells, cells, strict=True)):
            if old != new:
                row, column = divmod(place, self.size.columns)
                corner = (self._left + self._gap + column * step, self._top + self._gap + row * step)
                self._shown.paste(self._tile(new, self._cell), corner)
                self._shown_cells[place] = new

    def _paste_free(self, picture: Image.Image, tile: FreeTile) -> None:
        side = max(4, round(self._cell * tile.scale))
        step = self._cell + self._gap
        shift = self._gap + (self._cell - side) / 2
        corner = (
            round(self._left + shift + tile.column * step),
            round(self._top + shift + tile.row * step),
        )
        shape = self._shapes.get(side)
        if shape is None:
            shape = self._shapes[side] = self._tile_shape(side).point(MOSTLY)
        picture.paste(self._tile(tile.exponent, side), corner, shape)

    def colour(self, picture: Image.Image) -> Image.Image:
        """Return a picture of palette indices as an RGB picture."""
        coloured = picture.copy()
        coloured.putpalette(self.palette)
        return coloured.convert("RGB")

    def _tile(self, exponent: int, side: int) -> Image.Image:
        tile = self._tiles.get((exponent, side))
        if tile is None:
            tile = self._tiles[exponent, side] = self._draw_tile(exponent, side)
        return tile

    def _tile_shape(self, side: int) -> Image.Image:
        return rounded_mask((side, side), side * 0.05)

    def _draw_tile(self, exponent: int, side: int) -> Image.Image:
        look = min(exponent, len(TILE_COLOURS) - 1)
        tile = self._tile_shape(side).point(self._ramps.corners[look])
        if exponent:
            text = str(1 << exponent)
            share = {1: 0.52, 2: 0.52, 3: 0.42, 4: 0.34}.get(len(text), 0.28)
            digits = text_mask(text, (side, side), side * share)
            tile.paste(digits.point(self._ramps.digits[look]), mask=digits.point(PRESENT))
        return tile

    def _place_boxes(self, margin: int, height: int) -> list[tuple[int, int, int, int]]:
        """Place the boxes of score and moves, from the right edge of the picture."""
        moves, score, gap = (round(self.width * share) for share in (0.2, 0.27, 0.018))
        right = self.width - margin
        return [
            (right - moves - gap - score, margin, right - moves - gap, margin + height),
            (right - moves, margin, right, margin + height),
        ]

    def _draw_ground(self, board: tuple[int, int], margin: int) -> Image.Image:
        """Draw what all pictures have in common."""
        ramps = self._ramps
        ground = Image.new("L", (self.width, self.height), ramps.page)
        frame = rounded_mask(board, self.width * 0.016)
        ground.paste(frame.point(ramps.on_page), (self._left, self._top))
        for (left, top, right, bottom), label in zip(self._boxes, ("SCORE", "MOVES"), strict=True):
            size = (right - left, bottom - top)
            ground.paste(rounded_mask(size, self.width * 0.012).point(ramps.on_page), (left, top))
            words = text_mask(label, (size[0], round(size[1] * 0.3)), size[1] * 0.24)
            ground.paste(words.point(ramps.label), (left, top + round(size[1] * 0.1)))
        left, top, _, bottom = self._boxes[0]
        title = text_mask("2048", (left - 2 * margin, bottom - top), (bottom - top) * 0.98, at_left=True)
        ground.paste(title.point(ramps.title), (margin, top))
        return ground


def draw_board(board: Board, score: int = 0, moves: int = 0, pixels: int = DEFAULT_PIXELS) -> Image.Image:
    """Return one RGB picture of a board, as the GIF of a game shows it."""
    renderer = Renderer(Size(board.rows, board.columns), pixels)
    return renderer.colour(renderer.picture(board.cells, score, moves))
