"""Pictures of a board in the classic 2048 colours, with the score and the number of moves above it.

Every picture of a game uses one palette. It is worked out beforehand instead of being guessed from pictures:
each pair of colours that can meet (a digit on its tile, a tile's corner on the board, …) gets a ramp of
blends, and the shapes are drawn as coverage masks that map onto those ramps. So no tile's colour is ever
approximated, and pictures of one game compress well against each other.
"""

from __future__ import annotations

from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

from game2048.board import Board
from game2048.classic_look import (
    BOARD_HEX,
    DARK_TEXT_EXPONENTS,
    DARK_TEXT_HEX,
    GAP_SHARE,
    LIGHT_TEXT_HEX,
    TILE_HEXES,
)
from recordings.pictures.limits import DEFAULT_SIZE

Colour = tuple[int, int, int]


def _rgb(code: str) -> Colour:
    return (int(code[0:2], 16), int(code[2:4], 16), int(code[4:6], 16))


PAGE_COLOUR = _rgb("faf8ef")
BOARD_COLOUR = _rgb(BOARD_HEX)
DARK_TEXT = _rgb(DARK_TEXT_HEX)
LIGHT_TEXT = _rgb(LIGHT_TEXT_HEX)
LABEL = _rgb("eee4da")
WHITE = _rgb("ffffff")
_TILES = tuple(_rgb(code) for code in TILE_HEXES)

# Shapes are drawn this much larger and then reduced: smooth corners, and digits of an even weight.
_OVERSAMPLING = 4
_TEXT_STEPS = 10
_CORNER_STEPS = 6

TRANSPARENT = 255
"""The palette index that no picture uses."""


class Palette:
    """The colours of a game's pictures, at most 255, and the ramps between them."""

    def __init__(self) -> None:
        self._indices: dict[Colour, int] = {}

    def index(self, colour: Colour) -> int:
        """The index of a colour, which is added when new."""
        return self._indices.setdefault(colour, len(self._indices))

    def ramp(self, ground: Colour, ink: Colour, steps: int) -> list[int]:
        """For each coverage 0 to 255 of ``ink`` on ``ground`` the index of its blend, in ``steps`` steps."""
        blends = []
        for step in range(steps + 1):
            red, green, blue = (round(g + (i - g) * step / steps) for g, i in zip(ground, ink, strict=True))
            blends.append(self.index((red, green, blue)))
        return [blends[round(coverage * steps / 255)] for coverage in range(256)]

    def __len__(self) -> int:
        return len(self._indices)

    def rgb(self) -> list[int]:
        """256 colours as 768 numbers; unused ones are black."""
        used = [part for colour in self._indices for part in colour]
        return used + [0] * (768 - len(used))


class _Ramps:
    """All ramps of the pictures, on one palette."""

    def __init__(self) -> None:
        palette = Palette()
        self.palette = palette
        self.page = palette.index(PAGE_COLOUR)
        self.on_page = palette.ramp(PAGE_COLOUR, BOARD_COLOUR, _CORNER_STEPS)
        self.title = palette.ramp(PAGE_COLOUR, DARK_TEXT, _TEXT_STEPS)
        self.label = palette.ramp(BOARD_COLOUR, LABEL, _TEXT_STEPS)
        self.value = palette.ramp(BOARD_COLOUR, WHITE, _TEXT_STEPS)
        self.corners = [palette.ramp(BOARD_COLOUR, tile, _CORNER_STEPS) for tile in _TILES]
        self.digits = [
            palette.ramp(tile, DARK_TEXT if look <= DARK_TEXT_EXPONENTS else LIGHT_TEXT, _TEXT_STEPS)
            for look, tile in enumerate(_TILES)
        ]


class Renderer:
    """Draws the boards of one game.

    The board, whatever its shape, fits a square of ``size`` less a margin; the picture is ``size`` wide.

    Attributes:
        width: of every picture, in pixels.
        height: of every picture, in pixels.
        palette: its colours, 768 numbers.
    """

    def __init__(self, rows: int, columns: int, size: int = DEFAULT_SIZE) -> None:
        self._ramps = _Ramps()
        self.palette = self._ramps.palette.rgb()
        self._columns = columns
        longest = max(rows, columns)
        room = round(size * 0.92)
        self._gap = max(1, round(room / (longest * (1 + GAP_SHARE) / GAP_SHARE + 1)))
        self._cell = (room - (longest + 1) * self._gap) // longest
        margin = (size - self._span(longest)) // 2
        header = round(size * 0.15)
        board = self._span(columns), self._span(rows)
        self._left, self._top = (size - board[0]) // 2, margin + header + round(size * 0.035)
        self.width, self.height = size, self._top + board[1] + margin
        self._tiles: dict[int, Image.Image] = {}
        self._boxes = self._place_boxes(margin, header)
        self._ground = self._draw_ground(board, margin)

    def _span(self, cells: int) -> int:
        return cells * self._cell + (cells + 1) * self._gap

    def picture(self, board: Board, score: int, moves: int) -> Image.Image:
        """One picture, as palette indices in mode ``L``; `colour` makes an ordinary picture of it.

        Args:
            board: of the rows and columns that this was made for.
            score: shown above it.
            moves: how many moves were made, shown above it.
        """
        picture = self._ground.copy()
        for (left, top, right, bottom), number in zip(self._boxes, (score, moves), strict=True):
            text = f"{number:,}"
            height = bottom - top
            mask = _text_mask(text, (right - left, round(height * 0.56)), round(height * 0.42))
            picture.paste(mask.point(self._ramps.value), (left, top + round(height * 0.38)))
        step = self._cell + self._gap
        for place, exponent in enumerate(board.cells):
            row, column = divmod(place, self._columns)
            corner = (self._left + self._gap + column * step, self._top + self._gap + row * step)
            picture.paste(self._tile(exponent), corner)
        return picture

    def colour(self, picture: Image.Image) -> Image.Image:
        """A picture of palette indices as an RGB picture."""
        coloured = picture.copy()
        coloured.putpalette(self.palette)
        return coloured.convert("RGB")

    def _tile(self, exponent: int) -> Image.Image:
        tile = self._tiles.get(exponent)
        if tile is None:
            tile = self._tiles[exponent] = self._draw_tile(exponent)
        return tile

    def _draw_tile(self, exponent: int) -> Image.Image:
        look = min(exponent, len(_TILES) - 1)
        side = self._cell
        tile = _rounded_mask((side, side), side * 0.05).point(self._ramps.corners[look])
        if exponent:
            text = str(1 << exponent)
            share = {1: 0.52, 2: 0.52, 3: 0.42, 4: 0.34}.get(len(text), 0.28)
            digits = _text_mask(text, (side, side), side * share)
            tile.paste(digits.point(self._ramps.digits[look]), mask=digits.point(_PRESENT))
        return tile

    def _place_boxes(self, margin: int, height: int) -> list[tuple[int, int, int, int]]:
        """The boxes of score and moves, from the right edge of the picture."""
        moves, score, gap = (round(self.width * share) for share in (0.2, 0.27, 0.018))
        right = self.width - margin
        return [
            (right - moves - gap - score, margin, right - moves - gap, margin + height),
            (right - moves, margin, right, margin + height),
        ]

    def _draw_ground(self, board: tuple[int, int], margin: int) -> Image.Image:
        """What all pictures have in common."""
        ramps = self._ramps
        ground = Image.new("L", (self.width, self.height), ramps.page)
        frame = _rounded_mask(board, self.width * 0.016)
        ground.paste(frame.point(ramps.on_page), (self._left, self._top))
        for (left, top, right, bottom), label in zip(self._boxes, ("SCORE", "MOVES"), strict=True):
            size = (right - left, bottom - top)
            ground.paste(_rounded_mask(size, self.width * 0.012).point(ramps.on_page), (left, top))
            words = _text_mask(label, (size[0], round(size[1] * 0.3)), size[1] * 0.24)
            ground.paste(words.point(ramps.label), (left, top + round(size[1] * 0.1)))
        left, top, _, bottom = self._boxes[0]
        title = _text_mask("2048", (left - 2 * margin, bottom - top), (bottom - top) * 0.98, at_left=True)
        ground.paste(title.point(ramps.title), (margin, top))
        return ground


_PRESENT = [0] + [255] * 255


def _rounded_mask(size: tuple[int, int], radius: float) -> Image.Image:
    """The coverage of a rectangle with round corners that fills ``size``."""
    width, height = size
    mask = Image.new("L", (width * _OVERSAMPLING, height * _OVERSAMPLING))
    box = (0, 0, mask.width - 1, mask.height - 1)
    ImageDraw.Draw(mask).rounded_rectangle(box, round(radius * _OVERSAMPLING), fill=255)
    return mask.reduce(_OVERSAMPLING)


@lru_cache(maxsize=64)
def _font(pixels: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    return ImageFont.load_default(pixels)


def _text_mask(text: str, size: tuple[int, int], height: float, *, at_left: bool = False) -> Image.Image:
    """The coverage of bold text in the middle of ``size``, made smaller where it would not fit.

    The bundled font has one weight; a stroke along its outline makes it bold.
    """
    width, tall = size[0] * _OVERSAMPLING, size[1] * _OVERSAMPLING
    mask = Image.new("L", (width, tall))
    draw = ImageDraw.Draw(mask)
    pixels = max(4, round(height * _OVERSAMPLING))
    for _ in range(3):  # rounding makes the first correction a little too small at times
        stroke = max(1, round(pixels * 0.028))
        left, _, right, _ = draw.textbbox((0, 0), text, font=_font(pixels), stroke_width=stroke, anchor="lm")
        if right - left <= width * 0.88:
            break
        pixels = max(4, int(pixels * width * 0.88 / (right - left)))
    # Digits alone decide the height, so that no text of a line stands higher than another.
    _, top, _, bottom = draw.textbbox((0, 0), "0", font=_font(pixels), stroke_width=stroke, anchor="ls")
    x = -left if at_left else (width - (right - left)) / 2 - left
    y = (tall - (bottom - top)) / 2 - top
    draw.text((x, y), text, fill=255, font=_font(pixels), stroke_width=stroke, anchor="ls")
    return mask.reduce(_OVERSAMPLING)


def draw_board(board: Board, score: int = 0, moves: int = 0, size: int = DEFAULT_SIZE) -> Image.Image:
    """One RGB picture of a board, as the GIF of a game shows it."""
    renderer = Renderer(board.rows, board.columns, size)
    return renderer.colour(renderer.picture(board, score, moves))
