"""Recognising numbers in cells by the font in which the page draws them."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from game2048.errors import PageError
from scraper.readers.canvas_appearances import Crops
from scraper.readers.drawn_numbers import DrawnNumbers, NumberShape, ink_of, side_for

SIDE = 20
NUMBERS = (1, 3, *(2**power for power in range(1, 18)))


def shape(number: int) -> NumberShape:
    """What the page returns for a number: its ink, fitted into a square."""
    image = Image.new("L", (400, 120))
    ImageDraw.Draw(image).text((10, 10), str(number), fill=255, font=ImageFont.load_default(64))
    box = image.getbbox()
    assert box is not None
    ink = image.crop(box).resize((SIDE, SIDE))
    text = base64.b64encode(ink.tobytes()).decode()
    return NumberShape(number, (box[2] - box[0]) / (box[3] - box[1]), SIDE, text)


SHAPES = [shape(number) for number in NUMBERS]


def cell(
    text: str, size: float = 18, *, ring: bool = False, colors: tuple[str, str] = ("#edc", "#765")
) -> Crops:
    image = Image.new("RGB", (48, 48), colors[0])
    draw = ImageDraw.Draw(image)
    if ring:
        draw.rectangle((0, 0, 47, 47), outline="#c0c", width=4)
    draw.text((24, 24), text, fill=colors[1], font=ImageFont.load_default(size), anchor="mm")
    return np.asarray(image, dtype=np.float32)


def read(*cells: Crops) -> list[int | None]:
    return DrawnNumbers(SHAPES).read(np.stack(cells))


def fitting(size: float) -> list[int]:
    """The numbers that fit into a cell at this size."""
    return [number for number in NUMBERS if len(str(number)) * size < 70]


@pytest.mark.parametrize("size", [12, 18, 25.5])
def test_numbers_of_any_size_are_recognised(size: float) -> None:
    assert read(*(cell(str(number), size) for number in fitting(size))) == fitting(size)


@pytest.mark.parametrize("size", [6, 8, 10])
def test_small_numbers_are_recognised_or_left_open_but_never_mistaken(size: float) -> None:
    found = read(*(cell(str(number), size) for number in fitting(size)))
    assert [
        number for number, seen in zip(fitting(size), found, strict=True) if seen not in (number, None)
    ] == []


def test_colours_and_rings_do_not_matter() -> None:
    cells = cell("8", ring=True), cell("16", colors=("#111", "#fff")), cell("2", colors=("#f00", "#ff0"))
    assert read(*cells) == [8, 16, 2]


def test_what_is_no_power_of_two_is_not_taken_for_one() -> None:
    assert read(cell(""), cell("7"), cell("A"), cell("3")) == [None, None, None, 3]


def test_ink_that_touches_the_edge_belongs_to_the_cell_and_not_to_a_number() -> None:
    assert ink_of(cell("", ring=True)) is None
    with_ring, without = ink_of(cell("4", ring=True)), ink_of(cell("4"))
    assert with_ring is not None
    assert without is not None
    assert with_ring.shape == without.shape


def test_ink_that_is_not_a_square_is_refused() -> None:
    with pytest.raises(PageError, match="letters for 20² pixels"):
        DrawnNumbers([NumberShape(2, 1.0, SIDE, "AAAA")])


@pytest.mark.parametrize("cells", [4, 16, 25, 64])
def test_the_pixels_of_all_cells_fit_into_one_answer(cells: int) -> None:
    side = side_for(cells)
    assert 16 <= side <= 48
    assert cells * side * side * 3 * 4 / 3 <= 100_000
