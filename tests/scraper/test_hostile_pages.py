"""Pages that change the language and the functions of the browser: they are read all the same."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page
from support import npm_pages

from game2048 import Board
from scraper.live_page import LivePage
from scraper.page import Slid

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGES = Path(__file__).resolve().parent.parent / "pages"
PARTS = [
    *("tojson", "json", "collections", "arrays", "objects", "promises"),
    *("clocks", "layout", "elements", "observers", "events", "texts", "all"),
]
MOVES = 12


@pytest.fixture(scope="module")
def small_pages_url() -> Iterator[str]:
    with npm_pages.serve_folder(PAGES) as url:
        yield url


async def truth(tab: Page) -> Board:
    """What the page itself holds, by an attribute: no script runs in the page's own world for it."""
    text = await tab.locator("html").get_attribute("data-truth")
    assert text is not None
    return Board.from_tiles([[int(tile) for tile in row.split(" ")] for row in text.split("/")])


async def play(game: LivePage, tab: Page, url: str, moves: int) -> None:
    reading = await game.open(url)
    assert reading.board == await truth(tab)
    rng = random.Random(3)
    for _ in range(moves):
        direction = rng.choice(reading.board.legal_directions())
        outcome = await game.move(reading, direction)
        assert isinstance(outcome, Slid)
        reading = outcome.reading
        assert reading.board == await truth(tab)
        assert str(reading.score) == await tab.locator("#score").inner_text()
    assert reading.reader == "lattice-text"


@pytest.mark.parametrize("part", PARTS)
async def test_a_page_that_breaks_part_of_the_language_is_played(
    game: LivePage, tab: Page, small_pages_url: str, part: str
) -> None:
    await play(game, tab, f"{small_pages_url}hostile.html?break={part}", MOVES)


@pytest.mark.parametrize("where", ["shadow", "frame", "written"])
async def test_so_it_is_in_shadow_roots_and_frames(
    game: LivePage, tab: Page, small_pages_url: str, where: str
) -> None:
    reading = await game.open(f"{small_pages_url}hostile.html?break=all&in={where}")
    assert reading.board == await truth(tab)
    for _ in range(MOVES):
        outcome = await game.move(reading, reading.board.legal_directions()[0])
        assert isinstance(outcome, Slid)
        reading = outcome.reading
        assert reading.board == await truth(tab)
