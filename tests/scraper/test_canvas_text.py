"""Canvases on which numbers are drawn as text: what is noted of it, and that no page can notice."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page
from support import npm_pages

from game2048 import Board
from scraper.in_page.worlds import PageScripts
from scraper.live_page import LivePage
from scraper.page import Slid
from scraper.reading import Status

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGES = Path(__file__).resolve().parent.parent / "pages"
CELL = 100
HALVES = {"canvas": 0, "x": 50, "y": 50, "pitchX": CELL, "pitchY": CELL, "rows": 2, "columns": 2}
"""A board of 2×2 that fills a canvas of 200×200."""
SETUP = """
  const canvas = document.body.appendChild(document.createElement("canvas"));
  canvas.width = canvas.height = 200;
  const ink = canvas.getContext("2d");
  ink.font = "30px sans-serif";
  ink.textAlign = "center";
  ink.textBaseline = "middle";
"""

FACES = """() => {
  const faces = [];
  const owners = { CanvasRenderingContext2D, OffscreenCanvasRenderingContext2D, HTMLCanvasElement,
                   OffscreenCanvas, Function };
  for (const [name, { prototype }] of Object.entries(owners)) {
    for (const key of Reflect.ownKeys(prototype)) {
      const descriptor = Object.getOwnPropertyDescriptor(prototype, key);
      const { value, get, set, ...flags } = descriptor;
      for (const face of [value, get, set]) {
        if (typeof face !== "function") continue;
        let built = "";
        try { new face(); } catch (error) { built = `${error}`; }
        faces.push([name, String(key), Object.keys(descriptor), flags, face.name, face.length, String(face),
                    Function.prototype.toString.call(face), Reflect.ownKeys(face).map(String),
                    typeof face.prototype, built]);
      }
    }
  }
  return faces;
}"""
"""All that a page can see of the functions that are wrapped."""


@pytest.fixture(scope="module")
def kinds_url() -> Iterator[str]:
    with npm_pages.serve_folder(PAGES) as url:
        yield url


@pytest_asyncio.fixture(loop_scope="session")
async def plain_tab(browser: Browser) -> AsyncIterator[Page]:
    """A tab in which nothing of ours runs."""
    context = await browser.new_context()
    yield await context.new_page()
    await context.close()


async def cells(game: LivePage, tab: Page, draw: str, html: str = "") -> list[int] | None:
    """What is read on a canvas of 2×2 cells after a page has drawn on it; ``None`` for no numbers."""
    body = f"<body style='margin: 0'>{html}</body><script>{SETUP}{draw}</script>"
    await tab.route("**/board.html", lambda route: route.fulfill(body=body, content_type="text/html"))
    await tab.goto("http://pages.test/board.html")
    scripts: PageScripts = game.scripts
    await scripts.call(tab.main_frame, "canvasPlaces")
    if not await scripts.call(tab.main_frame, "attachToCanvas", HALVES):
        return None
    seen: Any = await scripts.call(tab.main_frame, "look")
    read: list[int] = seen["cells"]
    return read


async def test_a_page_cannot_tell_that_its_canvases_are_watched(
    tab: Page, plain_tab: Page, kinds_url: str
) -> None:
    for one in (tab, plain_tab):
        await one.goto(f"{kinds_url}canvas.html")
    watched = await tab.evaluate(FACES)
    assert watched == await plain_tab.evaluate(FACES)
    assert ["fillText", 3, "function fillText() { [native code] }"] in [
        [face[4], face[5], face[6]] for face in watched
    ]


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        ("ink.fillText(2, 50, 50); ink.strokeText('1,024', 150, 150);", [2, 0, 0, 1024]),
        ("ink.translate(100, 0); ink.scale(0.5, 0.5); ink.fillText('8', 100, 300);", [0, 0, 0, 8]),
        ("ink.fillText(2, 50, 50); ink.fillRect(0, 0, 100, 100); ink.fillText(4, 150, 50);", [0, 4, 0, 0]),
        ("ink.fillText(2, 50, 50); ink.fillText(4, 150, 50); ink.clearRect(100, 0, 100, 100);", [2, 0, 0, 0]),
        (
            "ink.fillText(2, 50, 50); ink.fillText(4, 150, 50);"
            "ink.beginPath(); ink.roundRect(110, 10, 80, 80, 9); ink.fill();",
            [2, 0, 0, 0],
        ),
        (
            "ink.fillText(2, 50, 50); ink.fillText(4, 150, 50);"
            "ink.fill(new Path2D('M 5 5 H 95 V 95 H 5 Z'));",
            [0, 4, 0, 0],
        ),
        # A veil that can be seen through hides nothing.
        (
            "ink.fillText(2, 50, 50); ink.fillStyle = 'rgba(9, 9, 9, 0.5)'; ink.fillRect(0, 0, 200, 200);",
            [2, 0, 0, 0],
        ),
        ("ink.fillText(2, 50, 50); ink.strokeText(2, 51, 52);", [2, 0, 0, 0]),
        ("ink.fillText(2, 50, 50); canvas.width = 200;", None),
        ("ink.fillText(2, 50, 50); ink.reset();", None),
        ("ink.fillStyle = 'rgba(0, 0, 0, 0)'; ink.fillText(2, 50, 50);", None),
        # A picture of a text is the text, also cut out and made larger.
        (
            "const tile = new OffscreenCanvas(40, 40); const to = tile.getContext('2d');"
            "to.textAlign = 'center'; to.fillText(16, 20, 20); ink.drawImage(tile, 130, 30);",
            [0, 16, 0, 0],
        ),
        (
            "const sheet = document.createElement('canvas'); const to = sheet.getContext('2d');"
            "to.textAlign = 'center'; to.fillText(2, 20, 20); to.fillText(4, 60, 20);"
            "ink.drawImage(sheet, 40, 0, 40, 40, 100, 100, 100, 100);",
            [0, 0, 0, 4],
        ),
        # Only what is opaque in a picture hides what was there.
        (
            "const paper = new OffscreenCanvas(200, 200); paper.getContext('2d').fillRect(100, 0, 100, 100);"
            "ink.fillText(2, 50, 50); ink.fillText(4, 150, 50); ink.drawImage(paper, 0, 0);",
            [2, 0, 0, 0],
        ),
        ("ink.fillText('Score', 50, 50); ink.fillText({}, 150, 50);", None),
    ],
)
async def test_what_can_be_seen_of_the_text_is_read(
    game: LivePage, tab: Page, draw: str, expected: list[int] | None
) -> None:
    assert await cells(game, tab, draw) == expected


async def test_a_canvas_that_is_stretched_and_has_an_edge_is_read_where_it_is_seen(
    game: LivePage, tab: Page
) -> None:
    # 400 pixels of its own within an edge of 20, shown at 160: a text at 300 is seen at 20 + 120.
    stretch = "canvas.width = canvas.height = 400; canvas.style.cssText = 'width: 160px; border: 20px solid';"
    assert await cells(game, tab, stretch + "ink.fillText(2, 300, 100);") == [0, 2, 0, 0]


async def test_a_page_that_has_broken_the_language_still_draws_and_is_read(game: LivePage, tab: Page) -> None:
    spoil = """
      const { getOwnPropertyDescriptor, getOwnPropertyNames } = Object;
      for (const owner of [Array.prototype, WeakMap.prototype, Map.prototype, Reflect, Object, Math, JSON,
                           String.prototype, EventTarget.prototype]) {
        for (const key of getOwnPropertyNames(owner)) {
          const { value, writable } = getOwnPropertyDescriptor(owner, key);
          if (typeof value === "function" && writable) owner[key] = () => { throw new Error("broken"); };
        }
      }"""
    assert await cells(game, tab, spoil + "ink.fillText(4, 50, 150);") == [0, 0, 4, 0]


async def test_score_best_and_the_end_are_read_where_they_are_drawn(
    game: LivePage, tab: Page, kinds_url: str
) -> None:
    reading = await game.open(f"{kinds_url}canvas-kinds.html?scored")
    assert (reading.score, reading.best, reading.status) == (0, 0, Status.PLAYING)
    await tab.evaluate(
        """() => {
             const full = [[2, 4, 8, 16], [16, 8, 4, 2], [2, 4, 8, 16], [16, 8, 4, 2]];
             full.forEach((row, r) => { game.board[r] = row; });
             game.score = 1044;
             draw(resting());
           }"""
    )
    reading = await game.read()
    assert (reading.score, reading.best, reading.status) == (1044, 1044, Status.OVER)
    assert reading.reader == "canvas-text"


async def test_score_and_end_are_read_beside_tiles_without_numbers(
    game: LivePage, tab: Page, kinds_url: str
) -> None:
    reading = await game.open(f"{kinds_url}canvas-scenery.html?shades&cards&scored")
    moved = await tab.evaluate("[truth.score, truth.moves]")
    assert (reading.reader, reading.score) == ("pixels", moved[0])
    assert moved[1] > 0  # the moves that show the grounds, which bring points
    await tab.evaluate("game.score = 2048; game.canMove = () => false; draw()")
    reading = await game.read()
    assert (reading.score, reading.status) == (2048, Status.OVER)


async def test_a_canvas_with_a_picture_of_another_site_is_seen_in_pictures_of_the_window(
    game: LivePage, tab: Page, kinds_url: str
) -> None:
    picture = b"<svg xmlns='http://www.w3.org/2000/svg' width='2' height='2'/>"
    await tab.route(
        "http://other.test/*", lambda route: route.fulfill(body=picture, content_type="image/svg+xml")
    )
    await tab.add_init_script(
        """addEventListener("DOMContentLoaded", () => {
             const picture = new Image();
             picture.onload = () => {
               document.querySelector("canvas").getContext("2d").drawImage(picture, 0, 0);
               document.body.dataset.drawn = "yes";
             };
             picture.src = "http://other.test/picture.svg";
             document.body.append(picture);
           })"""
    )
    reading = await game.open(f"{kinds_url}shapes.html")
    assert await tab.evaluate("document.body.dataset.drawn") == "yes"
    assert reading.reader == "pixels"
    assert game.sees_window
    outcome = await game.move(reading, reading.legal[0])
    assert isinstance(outcome, Slid)
    assert outcome.reading.board == Board.from_tiles(await tab.evaluate("truth.board"))
