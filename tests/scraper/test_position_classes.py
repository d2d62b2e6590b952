"""The script of the position-class reader, on pieces of pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from scraper.in_page.worlds import PageScripts
from scraper.readers import POSITION_CLASSES

pytestmark = pytest.mark.asyncio(loop_scope="session")

GRID_4 = ('<div class="grid-row">' + '<div class="grid-cell"></div>' * 4 + "</div>") * 4


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def blank(browser: Browser) -> AsyncIterator[Page]:
    context = await browser.new_context()
    yield await context.new_page()
    await context.close()


async def read(page: Page, html: str) -> dict[str, Any] | None:
    await page.set_content(html)
    scripts = PageScripts(page)
    await scripts.call(page.main_frame, "attachTo", POSITION_CLASSES.name, None)
    seen: dict[str, Any] | None = await scripts.call(page.main_frame, "look")
    return seen


def tile(value: int | str, column: int, row: int, text: str = "", more: str = "") -> str:
    return f'<div class="tile tile-{value} tile-position-{column}-{row} {more}">{text}</div>'


async def test_a_tile_stands_where_its_class_says_column_first(blank: Page) -> None:
    raw = await read(blank, GRID_4 + tile(2, 3, 1) + tile(1024, 1, 4, more="tile-super"))
    assert raw is not None
    assert (raw["rows"], raw["columns"]) == (4, 4)
    assert raw["cells"] == [0, 0, 2, 0] + [0] * 8 + [1024, 0, 0, 0]


async def test_of_several_tiles_in_a_cell_the_largest_counts(blank: Page) -> None:
    merged = tile(8, 2, 2, more="tile-merged") + tile(4, 2, 2) + tile(4, 2, 2)
    raw = await read(blank, GRID_4 + tile(4, 2, 2) + merged)
    assert raw is not None
    assert raw["cells"][5] == 8


@pytest.mark.parametrize(
    ("stack", "sure"),
    [
        ([4], True),
        ([8, 4, 4], True),
        ([4, 4, 8], True),
        ([4, 2], False),
        ([2, 2], False),
        ([8, 4, 2], False),
        ([8, 4, 4, 4], False),
    ],
)
async def test_only_a_lone_tile_or_one_over_its_two_halves_is_beyond_doubt(
    blank: Page, stack: list[int], sure: bool
) -> None:
    raw = await read(blank, GRID_4 + tile(2, 1, 1) + "".join(tile(value, 4, 4) for value in stack))
    assert raw is not None
    assert raw["sure"] is sure


async def test_the_value_is_in_the_class_whatever_the_face_shows(blank: Page) -> None:
    raw = await read(blank, GRID_4 + tile(64, 1, 1, text="He") + tile(2, 2, 1, text="4"))
    assert raw is not None
    assert raw["cells"][:2] == [64, 2]


async def test_without_a_value_in_the_class_the_text_is_read(blank: Page) -> None:
    raw = await read(blank, GRID_4 + tile("x", 1, 1, text=" 16 "))
    assert raw is not None
    assert raw["cells"][0] == 16


async def test_the_size_is_that_of_the_rows_of_grid_cells(blank: Page) -> None:
    grid = ('<div class="grid-row">' + '<div class="grid-cell"></div>' * 6 + "</div>") * 5
    raw = await read(blank, grid + tile(2, 6, 5))
    assert raw is not None
    assert (raw["rows"], raw["columns"], raw["cells"][-1]) == (5, 6, 2)


async def test_loose_grid_cells_are_counted_by_where_they_are(blank: Page) -> None:
    style = "display:grid; grid-template-columns:repeat(5, 40px); grid-auto-rows:40px; gap:5px"
    grid = f'<div style="{style}">' + '<div class="grid-cell"></div>' * 15 + "</div>"
    raw = await read(blank, grid + tile(2, 5, 3))
    assert raw is not None
    assert (raw["rows"], raw["columns"]) == (3, 5)


async def test_without_grid_cells_the_board_is_4x4_or_as_large_as_the_positions(blank: Page) -> None:
    small = await read(blank, tile(2, 1, 1))
    assert small is not None
    assert (small["rows"], small["columns"]) == (4, 4)
    large = await read(blank, tile(2, 1, 1) + tile(2, 5, 6))
    assert large is not None
    assert (large["rows"], large["columns"]) == (6, 5)


async def test_a_page_without_positions_is_not_for_this_reader(blank: Page) -> None:
    assert await read(blank, GRID_4 + '<div class="tile tile-2">2</div>') is None
    assert await read(blank, '<div class="tile tile-position-first">2</div>') is None


@pytest.mark.parametrize(
    ("html", "digits"),
    [
        ('<div class="score-container">12</div>', "12"),
        ('<div class="score-container">1044<div class="score-addition">+8</div></div>', "1044"),
        ('<div class="score-container">1,044</div>', "1044"),
        ('<div class="score-container">1.044.000</div>', "1044000"),
        ('<div class="score-container">1\u00a0044</div>', "1044"),
        ('<div class="score-container">Punkte: 36</div>', "36"),
        ('<div class="score-container"><b>Score</b><span>36</span></div>', "36"),
        ('<div class="score-container">none</div>', None),
        ("", None),
    ],
)
async def test_the_score_is_the_number_without_what_surrounds_it(
    blank: Page, html: str, digits: str | None
) -> None:
    raw = await read(blank, html + tile(2, 1, 1))
    assert raw is not None
    assert raw["score"] == digits


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ('<div class="game-message game-won">You win</div>', True),
        ('<div class="game-message game-won" style="opacity:0;animation:f 9s 9s both">You win</div>', True),
        ('<div class="game-message game-won" style="opacity:0">You win</div>', False),
        ('<div class="game-message game-won" style="display:none">You win</div>', False),
        ('<div style="visibility:hidden"><div class="game-won">You win</div></div>', False),
        ('<div class="game-message">You win</div>', False),
    ],
)
async def test_a_message_counts_when_it_is_shown_or_about_to_be(blank: Page, html: str, shown: bool) -> None:
    style = "<style>@keyframes f { from { opacity: 0 } to { opacity: 1 } }</style>"
    raw = await read(blank, style + tile(2, 1, 1) + html)
    assert raw is not None
    assert raw["won"] is shown
