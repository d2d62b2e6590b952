"""The picture of a board: its cells, digits and colours, read back from the SVG."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from support.strategies import boards

from game2048 import Board

SVG = "{http://www.w3.org/2000/svg}"


@given(boards(max_exponent=63))
def test_every_tile_is_drawn_in_its_place(board: Board) -> None:
    picture = ET.fromstring(board.svg())
    ground, *squares = picture.iter(f"{SVG}rect")
    assert ground.attrib["width"] == picture.attrib["width"]
    corners = [(int(square.attrib["y"]), int(square.attrib["x"])) for square in squares]
    assert len(corners) == board.rows * board.columns
    assert corners == sorted(set(corners))  # row by row, each apart
    side = int(squares[0].attrib["width"])
    shown = {
        (int(text.attrib["y"]) - side // 2, int(text.attrib["x"]) - side // 2): int(text.text or "")
        for text in picture.iter(f"{SVG}text")
    }
    tiles = [tile for row in board.tiles() for tile in row]
    assert shown == {corner: tile for corner, tile in zip(corners, tiles, strict=True) if tile}


def test_colours_are_those_of_the_original() -> None:
    picture = ET.fromstring(Board.from_text("2 4 / 8 4096").svg())
    ground, *squares = [square.attrib["fill"] for square in picture.iter(f"{SVG}rect")]
    assert ground == "#bbada0"
    assert squares == ["#eee4da", "#ede0c8", "#f2b179", "#3c3a32"]
    assert [text.attrib["fill"] for text in picture.iter(f"{SVG}text")] == [
        "#776e65",
        "#776e65",
        "#f9f6f2",
        "#f9f6f2",
    ]
    assert picture.findtext(f"{SVG}title") == "2 4 / 8 4096"


def test_a_notebook_shows_the_picture_without_asking_the_network() -> None:
    html = Board.from_text("2 0 / 0 2")._repr_html_()
    assert html == Board.from_text("2 0 / 0 2").svg()
    assert html.startswith("<svg ")
    assert html.count("http") == 1  # the name space alone
    assert "href" not in html
    assert "url(" not in html
