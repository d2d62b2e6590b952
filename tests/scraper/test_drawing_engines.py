"""Games drawn on canvases by engines of the npm registry, each in that engine's own manner."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pytest
from support import npm_pages

from game2048 import Board
from scraper.live_page import LivePage
from scraper.page import Slid, Status, Unchanged

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.npm]

TESTS = Path(__file__).resolve().parent
MOVES = 25


@dataclass(frozen=True)
class Engine:
    """A page, the package that it is drawn with, and how it is read and played."""

    page: str
    package: str
    reader: str = "canvas-text"
    hands: tuple[str, ...] = ("arrow keys",)
    query: str = ""

    def __str__(self) -> str:
        return self.package + self.query


POLLED = ("arrow keys", "arrow keys, held")
"""Phaser 2 looks at the keys in every frame: a short press is seen where a frame happens to fall into it."""
QUICK = [Engine("konva", "konva"), Engine("p5", "p5")]
OTHERS = [
    Engine("fabric", "fabric"),
    Engine("phaser-ce", "phaser-ce", hands=POLLED, query="?drawn=CANVAS"),
    Engine("phaser-ce", "phaser-ce", reader="pixels", hands=POLLED),
    Engine("pixi", "pixi 7", reader="pixels"),
    Engine("pixi", "pixi 8", reader="pixels"),
    Engine("three", "three", reader="pixels"),
    Engine("kaplay", "kaplay", reader="pixels"),
    Engine("../phaser", "phaser", reader="pixels"),
]


async def play(game: LivePage, url: str, engine: Engine) -> None:
    folder = npm_pages.page_folder(engine.package)
    files = npm_pages.PACKAGES[engine.package].only
    first, *rest = (folder / name.removeprefix("package/") for name in files)
    await game.tab.route("**/engine.js", lambda route: route.fulfill(path=first))
    await game.tab.route("**/phaser.min.js", lambda route: route.fulfill(path=first))
    await game.tab.route("**/three.core.js", lambda route: route.fulfill(path=rest[0]))
    await game.tab.route("**/game.js", lambda route: route.fulfill(path=TESTS.parent / "pages" / "game.js"))
    reading = await game.open(f"{url}engines/{engine.page}.html{engine.query}")
    # The numbers are known at once, also where they are textures: no moves are needed to learn the looks.
    assert await game.tab.evaluate("truth.moves") == 0
    assert reading.board == Board.from_tiles(await game.tab.evaluate("truth.board"))
    rng = random.Random(5)
    moves = 0
    while moves < MOVES:
        if reading.status is Status.OVER:
            reading = await game.new_game()
        outcome = await game.move(reading, rng.choice(reading.legal))
        reading = outcome.reading
        if isinstance(outcome, Unchanged):
            assert not outcome.exhausted
            continue
        assert isinstance(outcome, Slid)
        assert reading.board == Board.from_tiles(await game.tab.evaluate("truth.board"))
        moves += 1
    assert (reading.reader, game.rules) == (engine.reader, ())
    assert game.played_with in engine.hands


@pytest.mark.parametrize("engine", QUICK, ids=str)
async def test_a_game_is_played(game: LivePage, pages_url: str, engine: Engine) -> None:
    await play(game, pages_url, engine)


@pytest.mark.slow
@pytest.mark.parametrize("engine", OTHERS, ids=str)
async def test_so_is_one_that_takes_long(game: LivePage, pages_url: str, engine: Engine) -> None:
    await play(game, pages_url, engine)
