"""A tab that nobody sees is drawn very small between keys: the page cannot see it, and clicks still hit."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from PIL import Image
from playwright.async_api import Browser, Page

from scraper.live_page import LivePage
from scraper.open_page import live_page
from scraper.page import Reading, Slid, Status

pytestmark = pytest.mark.asyncio(loop_scope="session")

MOVES = 12
WATCH = """() => {
  window.seen = [];
  const note = (what) => () => window.seen.push(what);
  for (const type of ["resize", "scroll", "blur", "focus", "mouseout", "mousemove", "visibilitychange"]) {
    addEventListener(type, note(type), true);
  }
  visualViewport.addEventListener("resize", note("viewport"));
  visualViewport.addEventListener("scroll", note("viewport scroll"));
  screen.orientation.addEventListener("change", note("orientation"));
  for (const query of ["(min-width: 799px)", "(resolution: 1dppx)", "(min-device-height: 719px)"]) {
    matchMedia(query).addEventListener("change", note(query));
  }
  new ResizeObserver(note("size")).observe(document.documentElement);
  new IntersectionObserver(note("in sight")).observe(document.querySelector(".board"));
}"""
WINDOW = """() => [innerWidth, innerHeight, outerWidth, outerHeight, screen.width, screen.height,
  devicePixelRatio, screen.orientation.type, visualViewport.width, visualViewport.scale, scrollX, scrollY,
  JSON.stringify(document.querySelector(".board").getBoundingClientRect()), matchMedia("(hover)").matches]"""
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"


async def moved(game: LivePage, reading: Reading, moves: int) -> Reading:
    for _ in range(moves):
        outcome = await game.move(reading, reading.legal[0])
        assert isinstance(outcome, Slid)
        reading = outcome.reading
    return reading


def is_small(game: LivePage) -> bool:
    return game._parts.drawing.is_small


async def seen_by(tab: Page) -> Any:
    await tab.evaluate(TWO_FRAMES)
    return await tab.evaluate("() => window.seen.splice(0)")


async def test_the_page_cannot_see_that_it_is_drawn_small(game: LivePage, tab: Page, demo_url: str) -> None:
    reading = await game.open(f"{demo_url}?seed=1")
    assert not is_small(game)
    before = await tab.evaluate(WINDOW)
    await tab.evaluate(WATCH)
    assert set(await seen_by(tab)) == {"size", "in sight"}  # the first call of each observer
    reading = await moved(game, reading, MOVES)
    assert is_small(game)
    assert await tab.evaluate(WINDOW) == before
    assert await game.read() == reading
    assert not is_small(game)
    assert await tab.evaluate(WINDOW) == before
    assert await seen_by(tab) == []


async def test_a_picture_of_a_small_tab_shows_the_whole_board(
    game: LivePage, demo_url: str, tab: Page
) -> None:
    reading = await game.open(f"{demo_url}?seed=2")
    before = await game.picture()
    reading = await moved(game, reading, MOVES + 20)
    assert is_small(game)
    after = await game.picture()
    assert before is not None
    assert after is not None
    sizes = {Image.open(io.BytesIO(picture)).size for picture in (before, after)}
    box = json.loads((await tab.evaluate(WINDOW))[-2])
    assert len(sizes) == 1
    (width, _), *_ = sizes
    assert width >= box["width"] - 1
    colors = Image.open(io.BytesIO(after)).convert("RGB").getcolors(1 << 20)
    assert colors is not None
    assert len(colors) > 16  # tiles with numbers
    reading = await moved(game, reading, 5)
    assert not is_small(game)  # the next picture may follow soon
    await moved(game, reading, 20)
    assert is_small(game)


async def test_a_new_game_begins_on_a_tab_that_was_small(game: LivePage, demo_url: str) -> None:
    reading = await moved(game, await game.open(f"{demo_url}?seed=3"), MOVES)
    assert is_small(game)
    await game.tab.evaluate("() => { window.isTheSamePage = true; }")
    reading = await game.new_game()
    assert not is_small(game)
    assert reading.status is Status.PLAYING
    assert sum(tile > 0 for tile in reading.board.cells) == 2
    assert await game.tab.evaluate("() => window.isTheSamePage")  # the click hit the button


async def test_a_window_that_somebody_watches_keeps_its_size(browser: Browser, demo_url: str) -> None:
    async with live_page(browser, watched=True) as game:
        await moved(game, await game.open(f"{demo_url}?seed=4"), MOVES)
        assert not is_small(game)
