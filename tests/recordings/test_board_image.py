from __future__ import annotations

import pytest
from PIL import Image

from game2048 import Board
from game2048.size import Size
from recordings.pictures.board_image import Renderer, draw_board
from recordings.pictures.palette import TRANSPARENT

CLASSIC = {
    0: (205, 193, 180),
    2: (238, 228, 218),
    4: (237, 224, 200),
    8: (242, 177, 121),
    16: (245, 149, 99),
    32: (246, 124, 95),
    64: (246, 94, 59),
    128: (237, 207, 114),
    256: (237, 204, 97),
    512: (237, 200, 80),
    1024: (237, 197, 63),
    2048: (237, 194, 46),
    4096: (60, 58, 50),
    131072: (60, 58, 50),
}
PAGE_COLOUR = (250, 248, 239)
BOARD_COLOUR = (187, 173, 160)


def colour_at(picture: Image.Image, x: int, y: int) -> tuple[int, ...]:
    value = picture.getpixel((x, y))
    assert isinstance(value, tuple)
    return value


@pytest.mark.parametrize("tile", CLASSIC)
def test_tiles_have_the_classic_colours_where_they_stand(tile: int) -> None:
    # 400 px: margin 16, header 60, then 14; 4 cells and 5 gaps in 368: gap 11, cell 78, board 367.
    board = Board.from_tiles([[tile, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, tile]])
    picture = draw_board(board, pixels=400)
    assert picture.size == (400, 16 + 60 + 14 + 367 + 16)
    for column, row in ((0, 0), (3, 3)):
        left, top = 16 + 11 + 89 * column, 90 + 11 + 89 * row
        for x, y in ((left + 8, top + 8), (left + 69, top + 69)):
            assert colour_at(picture, x, y) == CLASSIC[tile]
    assert colour_at(picture, 16 + 11 + 89 + 8, 101 + 8) == CLASSIC[0]
    assert colour_at(picture, 16 + 5, 200) == BOARD_COLOUR
    assert colour_at(picture, 2, 2) == PAGE_COLOUR
    assert colour_at(picture, 16, 90) != BOARD_COLOUR  # the board's corner is round


def ink_box(picture: Image.Image, box: tuple[int, int, int, int], ground: tuple[int, ...]) -> tuple[int, ...]:
    """The smallest box within ``box`` around everything that is not of the ground's colour."""
    left, top, right, bottom = box
    found = [
        (x, y) for x in range(left, right) for y in range(top, bottom) if colour_at(picture, x, y) != ground
    ]
    columns, rows = [x for x, _ in found], [y for _, y in found]
    return min(columns) - left, min(rows) - top, right - 1 - max(columns), bottom - 1 - max(rows)


@pytest.mark.parametrize("tile", [2, 16, 128, 2048, 16384, 131072])
def test_digits_stand_in_the_middle_of_their_tile_and_do_not_touch_its_edge(tile: int) -> None:
    board = Board.from_tiles([[tile, 0, 0, 0]] + [[0, 0, 0, 0]] * 3)
    picture = draw_board(board, pixels=400)
    inside = (27 + 4, 101 + 4, 27 + 74, 101 + 74)  # the tile without its round corners
    left, top, right, bottom = ink_box(picture, inside, CLASSIC[min(tile, 4096)])
    assert left >= 0 < right
    assert abs(left - right) <= 3
    assert abs(top - bottom) <= 2
    assert 70 - top - bottom >= 12  # high enough to be read


def test_score_and_moves_change_their_boxes_alone() -> None:
    renderer = Renderer(Size(4, 4), 400)
    board = Board.from_text("2 0 0 0/0 0 0 0/0 0 0 0/0 0 0 4")
    one, two = (
        renderer.colour(renderer.picture(board.cells, 0, 0)),
        renderer.colour(renderer.picture(board.cells, 3_932_156, 28_123)),
    )
    changed = [
        (x, y) for x in range(400) for y in range(one.height) if one.getpixel((x, y)) != two.getpixel((x, y))
    ]
    assert changed
    assert min(x for x, _ in changed) > 180
    assert max(y for _, y in changed) < 76


@pytest.mark.parametrize("rows", range(2, 9))
@pytest.mark.parametrize("columns", range(2, 9))
@pytest.mark.parametrize("size", [120, 400])
def test_every_size_of_board_fits_its_picture(rows: int, columns: int, size: int) -> None:
    renderer = Renderer(Size(rows, columns), size)
    board = Board(rows, columns, bytes([17] * (rows * columns)))
    picture = renderer.picture(board.cells, 10**9, 10**6)
    assert picture.size == (renderer.width, renderer.height)
    assert renderer.width == size
    assert picture.getextrema()[1] < TRANSPARENT
    edges = [picture.getpixel((x, y)) for x in (0, size - 1) for y in range(renderer.height)]
    assert set(edges) == {picture.getpixel((0, 0))}
    if rows == columns:
        assert size * 1.1 < renderer.height < size * 1.3


def test_one_palette_holds_every_shade_of_every_tile() -> None:
    renderer = Renderer(Size(4, 5), 400)
    tiles = bytes(range(18)) + bytes(2)
    picture = renderer.picture(tiles, 1_234_567_890, 98_765)
    used = {index for _, index in picture.getcolors(256) or []}
    assert len(used) > 150
    assert max(used) < TRANSPARENT
    shades = {colour for _, colour in renderer.colour(picture).getcolors(256) or []}
    assert len(shades) == len(used)
    assert set(CLASSIC.values()) <= shades
