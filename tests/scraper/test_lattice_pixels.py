"""Finding cells in pictures of boards, and telling their looks apart."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from scraper.readers.canvas_appearances import Gallery, are_plain, crops_of, without_ground
from scraper.readers.canvas_lattice import divided, find_buttons, find_lattice
from scraper.readers.canvas_patches import Picture

TILE = {2: "#eee4da", 4: "#ede0c8", 8: "#f2b179"}


def picture(rows: int, columns: int, tiles: dict[tuple[int, int], int], *, shade: bool = False) -> Picture:
    """A board of cells of 60 pixels, 70 apart, beginning at 20."""
    image = Image.new("RGB", (30 + 70 * columns, 130 + 70 * rows), "#bbada0")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(24)
    for r in range(rows):
        for c in range(columns):
            x, y = 20 + 70 * c, 100 + 70 * r
            value = tiles.get((r, c), 0)
            draw.rounded_rectangle((x, y, x + 59, y + 59), 5, fill=TILE.get(value, "#cdc1b4"))
            if shade and not value:
                for line in range(4, 56):
                    grey = 200 - line
                    draw.line((x + 4, y + line, x + 55, y + line), fill=(grey, grey, grey))
            if value:
                draw.text((x + 22, y + 16), str(value), fill="#776e65", font=font)
    draw.text((20, 20), "SCORE 1234", fill="#fff", font=font)
    return np.asarray(image)


@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (2, 3), (5, 5), (4, 6), (8, 8)])
def test_the_cells_are_found(rows: int, columns: int) -> None:
    lattice = find_lattice(picture(rows, columns, {(0, 1): 2, (1, 1): 4}))
    assert lattice is not None
    assert (lattice.rows, lattice.columns) == (rows, columns)
    assert (lattice.x, lattice.y) == pytest.approx((50, 130), abs=1)
    assert (lattice.pitch_x, lattice.pitch_y) == pytest.approx((70, 70), abs=0.5)


def test_cells_that_shade_from_colour_to_colour_are_found() -> None:
    lattice = find_lattice(picture(4, 4, {(3, 3): 2}, shade=True))
    assert lattice is not None
    assert (lattice.rows, lattice.columns) == (4, 4)


def detailed(*, veiled: bool) -> Picture:
    """A picture full of details, with veils over cells of 60 pixels, 70 apart, beginning at 20 and 100."""
    rng = np.random.default_rng(3)
    image = Image.new("RGB", (310, 410), "#5a8")
    draw = ImageDraw.Draw(image)
    for _ in range(700):
        x, y, wide, high = rng.integers(0, (310, 410, 40, 25))
        draw.ellipse((x, y, x + wide, y + high), fill=tuple(rng.integers(60, 190, 3).tolist()))
    seen = np.asarray(image).astype(np.float32)
    if veiled:
        for r in range(4):
            for c in range(4):
                cell = seen[100 + 70 * r : 160 + 70 * r, 20 + 70 * c : 80 + 70 * c]
                cell += 0.35 * (255 - cell)
    return seen.astype(np.uint8)


def test_cells_with_a_picture_behind_them_are_found_by_their_edges() -> None:
    lattice = find_lattice(detailed(veiled=True))
    assert lattice is not None
    assert lattice.size == (4, 4)
    assert (lattice.x, lattice.y, lattice.pitch_x, lattice.pitch_y) == pytest.approx((50, 130, 70, 70), abs=1)
    assert (lattice.width, lattice.height) == pytest.approx((60, 60), abs=1)


def test_a_picture_full_of_details_has_no_lattice() -> None:
    assert find_lattice(detailed(veiled=False)) is None


def test_a_honeycomb_is_no_lattice() -> None:
    image = Image.new("RGB", (500, 500), "#bbada0")
    draw = ImageDraw.Draw(image)
    for row, count in enumerate((3, 4, 5, 4, 3)):
        for column in range(count):
            x, y = 60 + (5 - count) * 35 + column * 70, 60 + row * 60
            draw.regular_polygon((x, y, 32), 6, rotation=30, fill="#cdc1b4")
    assert find_lattice(np.asarray(image)) is None


def test_a_picture_without_a_board_has_no_lattice() -> None:
    assert find_lattice(np.full((300, 300, 3), 200, dtype=np.uint8)) is None


def test_equal_tiles_have_one_look_and_others_another() -> None:
    tiles = {(0, 0): 2, (1, 2): 2, (3, 3): 4, (2, 1): 8}
    seen = picture(4, 4, tiles)
    lattice = find_lattice(seen)
    assert lattice is not None
    gallery = Gallery()
    names = gallery.names(crops_of(seen, lattice), learn=True)
    assert len(set(names)) == 4
    assert names[0] == names[6]
    assert {names[cell] for cell in range(16) if divmod(cell, 4) not in tiles} == {names[1]}


def test_fractions_of_pixels_make_no_new_looks() -> None:
    tiles = {(0, 0): 2, (1, 3): 2, (2, 1): 2, (3, 3): 4, (0, 2): 4, (2, 2): 8, (3, 0): 8}
    whole = Image.fromarray(picture(4, 4, tiles))
    size = round(whole.width * 0.77), round(whole.height * 0.77)
    seen = np.asarray(whole.resize(size, Image.Resampling.BICUBIC))
    lattice = find_lattice(seen)
    assert lattice is not None
    assert lattice.pitch_x == pytest.approx(53.9, abs=0.3)
    names = Gallery().names(crops_of(seen, lattice), learn=True)
    looks = {value: {names[4 * r + c] for (r, c), tile in tiles.items() if tile == value} for value in TILE}
    assert [len(found) for found in looks.values()] == [1, 1, 1]
    assert len(set(names)) == 4


def test_what_is_not_to_be_learned_stays_unknown() -> None:
    seen = picture(2, 2, {(0, 0): 2})
    lattice = find_lattice(picture(2, 2, {}))
    assert lattice is not None
    gallery = Gallery()
    gallery.names(crops_of(picture(2, 2, {}), lattice), learn=True)
    for _ in range(2):
        assert gallery.names(crops_of(seen, lattice), learn=False) == ("?0", "p0", "p0", "p0")


def grounds(tiles: dict[tuple[int, int], int]) -> Picture:
    """A chess board of grounds that shade, with tiles on it."""
    image = Image.fromarray(picture(4, 4, tiles))
    draw = ImageDraw.Draw(image)
    for r in range(4):
        for c in range(4):
            if (r, c) not in tiles:
                for line in range(60):
                    grey = (220 if (r + c) % 2 else 170) - line // 2
                    draw.line(
                        (20 + 70 * c, 100 + 70 * r + line, 79 + 70 * c, 100 + 70 * r + line), fill=(grey,) * 3
                    )
    return np.asarray(image)


def test_plain_cells_are_ground_whatever_their_colour() -> None:
    tiles = {(0, 0): 2, (1, 2): 2, (3, 3): 4}
    seen = grounds(tiles)
    lattice = find_lattice(picture(4, 4, {}))
    assert lattice is not None
    crops = crops_of(seen, lattice)
    assert [divmod(cell, 4) for cell in np.flatnonzero(~are_plain(crops))] == list(tiles)
    names = Gallery().names(without_ground(crops), learn=True)
    assert names == ("p0", "-", "-", "-", "-", "-", "p0", *"--------", "p1")


def test_a_board_without_cells_is_divided_around_its_tiles() -> None:
    seen = picture(4, 4, {(1, 0): 2, (2, 1): 2})[80:-20].copy()
    for r in range(4):
        for c in range(4):
            if (r, c) not in {(1, 0), (2, 1)}:
                seen[20 + 70 * r : 80 + 70 * r, 20 + 70 * c : 80 + 70 * c] = seen[0, 0]
    lattice = find_lattice(seen)
    assert lattice is not None
    assert (lattice.rows, lattice.columns) == (4, 4)
    assert (lattice.x, lattice.y, lattice.pitch_x) == pytest.approx((50, 50, 70), abs=0.6)


def test_a_length_is_divided_so_that_the_tiles_fit() -> None:
    # Cells of 92 with gaps of 12 and 14 at the edges: tiles in the first and the third.
    assert divided(0, 432, 92, [60, 268]) == pytest.approx((60, 104, 4))
    assert divided(0, 432, 92, [60, 240]) is None
    assert divided(0, 100, 92, [50]) is None


def test_a_row_that_was_not_seen_is_added_where_the_board_is_in_the_middle_only_with_it() -> None:
    seen = picture(4, 4, {(1, 0): 2, (2, 1): 2})[80:-20].copy()
    seen[:90] = seen[0, 0]
    lattice = find_lattice(seen)
    assert lattice is not None
    assert (lattice.rows, lattice.columns, round(lattice.y)) == (4, 4, 50)


def test_what_is_shaped_like_a_button_is_found_on_a_menu() -> None:
    image = Image.new("RGB", (400, 500), "#faf8ef")
    draw = ImageDraw.Draw(image)
    draw.text((150, 80), "2048", fill="#776e65", font=ImageFont.load_default(48))
    draw.rounded_rectangle((100, 300, 299, 359), 8, fill="#8f7a66")
    draw.text((170, 315), "PLAY", fill="#fff", font=ImageFont.load_default(24))
    draw.rectangle((140, 400, 259, 439), fill="#bbada0")
    assert find_buttons(np.asarray(image)) == [
        pytest.approx((200, 330), abs=1),
        pytest.approx((200, 420), abs=1),
    ]


def test_a_cell_between_two_looks_is_doubted() -> None:
    shades = [np.full((16, 16, 3), grey, dtype=np.float32) for grey in (100, 104, 102, 101, 140)]
    one, other, between, nearer, third = shades
    gallery = Gallery()  # looks differ from a mean difference of 3 grey levels on
    assert gallery.names(np.stack([one, other]), learn=True) == ("p0", "p1")
    assert gallery.doubts(np.stack([one, between]))
    assert not gallery.doubts(np.stack([one, other, third]))
    assert not gallery.doubts(np.stack([nearer]))  # 1 level from its own look, 3 from the other
