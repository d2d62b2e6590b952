"""Measure how fast pages drawn on canvases are played, beside what each page itself allows.

    python benchmarks/canvases.py [--moves N] [NAME…]

The share is what counts on a shared machine: a script inside the page presses a key in every frame and counts
the moves that the page takes. The pages are those of the tests, and games drawn by engines of the npm
registry.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.async_api import Browser, Page, Route

from scraper.chromium.launch import open_browser
from scraper.live_page import LivePage
from scraper.open_page import live_page
from scraper.page import Status, Unchanged

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path.insert(0, str(TESTS))

from support import npm_pages  # noqa: E402

PAGES = {
    "canvas": "canvas.html",
    "canvas-pulse": "canvas-pulse.html",
    "canvas-window": "canvas-window.html",
    "canvas-scaled": "canvas-scaled.html",
    "shapes": "shapes.html",
    "webgl": "webgl.html",
}
ENGINES = {
    "phaser": ("phaser.html", "phaser"),
    "pixi 7": ("engines/pixi.html", "pixi 7"),
    "pixi 8": ("engines/pixi.html", "pixi 8"),
    "three": ("engines/three.html", "three"),
    "kaplay": ("engines/kaplay.html", "kaplay"),
    "konva": ("engines/konva.html", "konva"),
}
LIMIT = """async (moves) => {
  const KEYS = [["ArrowLeft", 37], ["ArrowUp", 38], ["ArrowRight", 39], ["ArrowDown", 40]];
  const target = document.querySelector("canvas");
  const began = performance.now();
  let [made, turn] = [0, 0];
  while (made < moves && performance.now() - began < 30000) {
    const [key, keyCode] = KEYS[turn++ % 4];
    const press = { key, code: key, keyCode, which: keyCode, bubbles: true, cancelable: true };
    const before = truth.moves;
    target.dispatchEvent(new KeyboardEvent("keydown", press));
    await new Promise(requestAnimationFrame);
    target.dispatchEvent(new KeyboardEvent("keyup", press));
    made += truth.moves !== before;
    if (!truth.canMove()) break;
  }
  return (made / (performance.now() - began)) * 1000;
}"""
"""Returns how many moves a second the page takes."""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    with npm_pages.serve_folder(folder) as url:
        yield url


async def route_engine(tab: Page, package: str) -> None:
    folder = npm_pages.page_folder(package)
    files = [folder / name.removeprefix("package/") for name in npm_pages.PACKAGES[package].only]

    async def answer(route: Route) -> None:
        await route.fulfill(path=files[1] if route.request.url.endswith("three.core.js") else files[0])

    for name in ("engine.js", "phaser.min.js", "three.core.js"):
        await tab.route(f"**/{name}", answer)
    await tab.route("**/game.js", lambda route: route.fulfill(path=TESTS / "pages" / "game.js"))


async def rate_of(game: LivePage, url: str, moves: int) -> float:
    """Return our moves a second."""
    reading = await game.open(url)
    rng = random.Random(5)
    made, began = 0, time.perf_counter()
    while made < moves:
        if reading.status is Status.OVER or not reading.board.legal_directions():
            reading = await game.new_game()
        outcome = await game.move(reading, rng.choice(reading.board.legal_directions()))
        reading = outcome.reading
        made += not isinstance(outcome, Unchanged)
    return made / (time.perf_counter() - began)


async def measured(browser: Browser, name: str, moves: int) -> tuple[float, float]:
    """Return our moves a second and those that the page itself allows."""
    page, package = ENGINES.get(name, (PAGES.get(name, ""), ""))
    folder = TESTS / "scraper" / "pages" if package else TESTS / "pages"
    with served(folder) as url:
        async with live_page(browser) as game:
            if package:
                await route_engine(game.tab, package)
            ours = await rate_of(game, url + page, moves)
            limit = await game.tab.evaluate(LIMIT, moves)
    return ours, limit


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="pages; all without names")
    parser.add_argument("--moves", type=int, default=30, help="moves on each page and in each round")
    parser.add_argument("--rounds", type=int, default=3, help="the medians of this many rounds are printed")
    arguments = parser.parse_args()
    print(f"{'page':15} {'moves/s':>8} {'page':>8} {'share':>6}")
    async with open_browser() as browser:
        for name in arguments.names or [*PAGES, *ENGINES]:
            rounds = [await measured(browser, name, arguments.moves) for _ in range(arguments.rounds)]
            ours, limit = (statistics.median(values) for values in zip(*rounds, strict=True))
            share = statistics.median(mine / its if its else 0 for mine, its in rounds)
            print(f"{name:15} {ours:8.1f} {limit:8.1f} {share:6.2f}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
