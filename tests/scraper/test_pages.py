"""Small pages of every kind: each is played, and every board held against the page's own."""

from __future__ import annotations

import asyncio
import contextlib
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page
from support import npm_pages

from game2048 import Board, Direction
from game2048.errors import PageError
from scraper.live_page import LivePage
from scraper.moves.rule_variants import (
    CHAIN,
    DOUBLED,
    FAR_END,
    GAPS,
    IDLE_SPAWN,
    RANKS,
    TO_THE_END,
    Deviation,
    spawning,
)
from scraper.open_page import live_page
from scraper.page import Reading, Slid, Status, Unchanged, Unexplained

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGES = Path(__file__).resolve().parent.parent / "pages"
MOVES = 60
SOME = 40
LONG = 200
FEW = 30
"""Enough to earn a page's trust, and to see tiles up to 32, where every move takes long."""
TRUTH = """() => window.truth?.board
  ?? document.querySelector("game-2048")?.engine.positions.map((row) => row.map((field) => field ?? 0))
  ?? null"""
COMPONENT = '<game-2048 rows="{}" columns="{}"></game-2048><script src="dist/custom-element.js"></script>'


@dataclass(frozen=True)
class Kind:
    """A page, what is to read it, and how it is to be played."""

    name: str
    reader: str = "lattice-text"
    hands: str | None = "arrow keys"
    """``None`` where either is right."""
    without: str | None = None
    """A reader that is not to be asked."""
    size: tuple[int, int] = (4, 4)
    rules: tuple[Deviation, ...] = ()
    query: str = ""


KINDS = [
    Kind("rebuilt"),
    Kind("table"),
    Kind("auto-table"),
    Kind("keyup"),
    Kind("polled", hands="arrow keys, held"),
    Kind("polled", hands="arrow keys, held", query="?frames=6"),
    Kind("letters-keys", hands="letter keys"),
    Kind("vi-keys", hands="vi keys"),
    Kind("buttons", hands="buttons"),
    Kind("framed"),
    Kind("start"),
    Kind("shifted", query="?down=-45"),
    Kind("shifted", query="?across=40&down=-30"),
    Kind("legend"),
    Kind("prompts", size=(3, 3)),
    Kind("letters", reader="lattice-classes"),
    Kind("cookies"),
    Kind("scrolling"),
    Kind("dialog"),
    Kind("spinning"),
    Kind("rules", query="?chain", rules=(CHAIN,)),
    Kind("rules", query="?far-end", rules=(FAR_END, spawning(8))),
    Kind("win"),
    Kind("shadow", size=(4, 6)),
    Kind("loose", size=(5, 5)),
    Kind("svg", rules=(DOUBLED,)),
    Kind("rivals"),
    Kind("right-to-left"),
    Kind("asks-at-win"),
    Kind("ranks", rules=(RANKS,)),
    Kind("raised"),
    Kind("raised", query="?caret"),
    Kind("apart"),
    Kind("worded"),
    Kind("labelled"),
    Kind("variables", reader="lattice-classes"),
    Kind("close-icon"),
    Kind("drawn-buttons", hands="buttons"),
    Kind("written"),
    Kind("auto-grid"),
    Kind("headed-table"),
    Kind("modal"),
    Kind("idle-spawn", rules=(IDLE_SPAWN,)),
    Kind("ghosts"),
    Kind("popups"),
    Kind("leaders"),
    Kind("pseudo"),
    Kind("guide"),
    Kind("landing"),
    Kind("aslant"),
    Kind("aslant", query="?diamond"),
    Kind("units"),
    Kind("svg-apart"),
    Kind("arcade"),
    Kind("to-the-end", rules=(TO_THE_END,)),
    Kind("reloading", hands="buttons"),
    Kind("positions", reader="position-classes", query="?zero"),
    Kind("positions", reader="position-classes", query="?rows"),
    Kind("positions", reader="position-classes", query="?powers", rules=(RANKS,)),
    Kind("positions", reader="lattice-looks", query="?words"),
    Kind("odd-numbers", reader="lattice-looks", query="?counting"),
    Kind("odd-numbers", reader="lattice-looks", query="?joke"),
    Kind("odd-numbers", reader="lattice-classes", query="?classed"),
    Kind("small", size=(2, 4), query="?rows=2&columns=4"),
    Kind("small", size=(4, 2), query="?rows=4&columns=2"),
    Kind("small", reader="position-classes", size=(2, 4), query="?rows=2&columns=4&placed"),
    Kind("small", size=(2, 2), query="?rows=2&columns=2"),
    Kind("gaps", rules=(GAPS,)),
    Kind("blank"),
    Kind("logo"),
    Kind("duel"),
    Kind("in-line"),
    Kind("rules", query="?large-spawns", rules=(spawning(8), spawning(16))),
    Kind("canvas-kinds", reader="canvas-text", query="?chain", rules=(CHAIN,)),
]

WAITING = [
    Kind("transforms", query="?ms=100"),
    Kind("transforms", query="?ms=300"),
    Kind("swipe", hands="touch swipe"),
    Kind("drag", hands="mouse drag"),
    Kind("late"),
    Kind("loading"),
    Kind("example-board"),
    Kind("throttled", query="?ms=100"),
    Kind("tweened"),
    Kind("pointers", hands="mouse drag"),
    Kind("named"),
    Kind("script-slides"),
    Kind("springs"),
    Kind("collection", hands=None),
    Kind("slow-merges"),
]
"""Pages that keep one waiting: played side by side."""
PICTURED = [
    Kind("pictures", reader="lattice-looks"),
    Kind("symbols", reader="lattice-looks"),
    Kind("cell-canvases", reader="lattice-looks"),
    Kind("gradients", reader="lattice-looks"),
    Kind("romans", reader="lattice-looks"),
    Kind("tinted", reader="lattice-looks"),
]
"""Pages whose tiles must be learned from their looks."""
CANVASES = [
    Kind("canvas", reader="canvas-text"),
    Kind("canvas-scaled", reader="canvas-text"),
    Kind("shapes", reader="pixels"),
    Kind("canvas-menu", reader="canvas-text"),
    Kind("webgl", reader="pixels"),
]
WRITTEN = [
    *(
        Kind("canvas-kinds", reader="canvas-text", query=f"?{query}")
        for query in (
            "ring",
            "white",
            "alike",
            "touching",
            "sprites&fine",
            "single",
            "layers&slides",
            "turned",
        )
    ),
]
"""Canvases on which numbers are drawn as text."""
GROUNDS = [
    Kind("canvas-chess", reader="pixels", without="canvas-text"),
    Kind("canvas-clear", reader="pixels", without="canvas-text"),
    Kind("canvas-loose", reader="pixels", without="canvas-text"),
    Kind("canvas-scores", reader="pixels", without="canvas-text"),
]
SCENERY = [
    Kind("canvas-scenery", reader="pixels", query="?outlines"),
    Kind("canvas-scenery", reader="pixels", query="?photo&cards"),
]
SCENERIES = [
    Kind("canvas-scenery", reader="pixels", query=f"?{query}")
    for query in ("outlines&cards", "photo", "ornaments", "ornaments&cards", "shades", "shades&cards")
]
"""Canvases whose empty cells show something, each something else."""
CONFUSING = [
    Kind("canvas-kinds", reader="pixels", without="canvas-text", query="?white"),
    Kind("canvas-kinds", reader="pixels", without="canvas-text", query="?turned"),
]
"""Canvases whose tiles change their looks, or whose text is not noted."""
RESTLESS = [
    Kind("canvas-pulse", reader="pixels", without="canvas-text"),
    Kind("canvas-window", reader="pixels", without="canvas-text"),
]
SLOW = {
    "waiting": WAITING,
    "pictured": PICTURED,
    "canvases": CANVASES,
    "written": WRITTEN,
    "grounds": GROUNDS,
    "scenery": SCENERY,
    "sceneries": SCENERIES,
    "confusing": CONFUSING,
    "restless": RESTLESS,
}


ON_CANVAS = [*CANVASES, *WRITTEN, *GROUNDS, *SCENERY, *SCENERIES, *CONFUSING, *RESTLESS]


@pytest.fixture(scope="module")
def kinds_url() -> Iterator[str]:
    with npm_pages.serve_folder(PAGES) as url:
        yield url


async def truth(tab: Page) -> Board | None:
    tiles: Any = await tab.frames[-1].evaluate(TRUTH)
    return Board.from_tiles(tiles) if tiles else None


def gathering(board: Board, rng: random.Random) -> Direction:
    """Keeps tiles in a corner and cells empty, so that a page lives long enough."""

    def worth(direction: Direction) -> tuple[int, bool, float]:
        empty = len(board.slide(direction).afterstate.empty_cells())
        return empty, direction in (Direction.LEFT, Direction.DOWN), rng.random()

    return max(board.legal_directions(), key=worth)


async def moved(game: LivePage, reading: Reading, direction: Direction) -> Slid | Unexplained:
    """Try a move until the page takes it."""
    while True:
        outcome = await game.move(reading, direction)
        if not isinstance(outcome, Unchanged):
            return outcome
        assert not outcome.exhausted, f"{direction} on {reading.board} did nothing"
        reading = outcome.reading


async def play(game: LivePage, reading: Reading, moves: int) -> Reading:
    rng = random.Random(3)
    for _ in range(moves):
        if reading.status is Status.OVER:
            reading = await game.new_game()
        outcome = await moved(game, reading, gathering(reading.board, rng))
        assert isinstance(outcome, Slid) or outcome.rules, outcome
        reading = outcome.reading
        held = await truth(game.tab)
        assert held is None or reading.board == held
    return reading


async def play_kind(browser: Browser, url: str, kind: Kind, moves: int) -> None:
    async with live_page(browser) as game:
        if kind.without is not None:
            game._parts.readers.exclude(kind.without, "for this test")
        reading = await game.open(f"{url}{kind.name}.html{kind.query}")
        assert (reading.board.rows, reading.board.columns) == kind.size
        reading = await play(game, reading, moves)
        assert reading.reader == kind.reader
        assert kind.hands in (game.played_with, None)
        assert set(game.rules) == set(kind.rules)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name + kind.query)
async def test_a_page_is_played_and_every_board_is_its_own(
    browser: Browser, kinds_url: str, kind: Kind
) -> None:
    await play_kind(browser, kinds_url, kind, MOVES if kind.rules else SOME)  # a rule must come up


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name + kind.query)
async def test_a_page_is_played_for_long(browser: Browser, kinds_url: str, kind: Kind) -> None:
    await play_kind(browser, kinds_url, kind, MOVES)


@pytest.fixture
def busy_machine() -> Iterator[None]:
    """Two processes that do nothing but count, as a machine with other work has them."""
    counting = [sys.executable, "-c", "while True: pass"]
    with contextlib.ExitStack() as stack:
        for _ in range(2):
            process = stack.enter_context(subprocess.Popen(counting))
            stack.callback(process.kill)
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("busy_machine")
@pytest.mark.parametrize("kind", ON_CANVAS, ids=lambda kind: f"{kind.name}{kind.query}-{kind.reader}")
async def test_canvases_are_read_right_on_a_busy_machine(
    browser: Browser, kinds_url: str, kind: Kind
) -> None:
    await play_kind(browser, kinds_url, kind, LONG)


async def side_by_side(browser: Browser, url: str, kinds: list[Kind], moves: int) -> None:
    await asyncio.gather(*(play_kind(browser, url, kind, moves) for kind in kinds))


@pytest.mark.parametrize("name", [name for name in SLOW if name not in ("waiting", "sceneries")])
async def test_slow_pages_are_played_side_by_side(browser: Browser, kinds_url: str, name: str) -> None:
    await side_by_side(browser, kinds_url, SLOW[name], FEW)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
async def test_slow_pages_are_played_for_long(browser: Browser, kinds_url: str, name: str) -> None:
    await side_by_side(browser, kinds_url, SLOW[name], MOVES)


@pytest.mark.npm
@pytest.mark.parametrize("size", [(4, 4), (5, 5), (4, 6)], ids=str)
async def test_the_custom_element_is_played(browser: Browser, game: LivePage, size: tuple[int, int]) -> None:
    with npm_pages.serve_folder(npm_pages.page_folder("2048-webcomponent")) as url:
        host = COMPONENT.format(*size)
        await game.tab.route("**/host.html", lambda route: route.fulfill(body=host, content_type="text/html"))
        reading = await game.open(f"{url}host.html")
        assert (reading.board.rows, reading.board.columns) == size
        reading = await play(game, reading, MOVES)
    assert reading.reader == "lattice-text"
    assert game.rules == ()


async def test_a_picture_of_another_site_that_never_comes_is_not_waited_for(
    game: LivePage, kinds_url: str
) -> None:
    asked: list[str] = []
    await game.tab.route("**/never.png", lambda route: asked.append(route.request.url))
    await game.tab.add_init_script(
        """addEventListener("DOMContentLoaded", () => {
             const picture = new Image();
             picture.src = "http://other.example/never.png";
             document.body.append(picture);
           })"""
    )
    reading = await game.open(f"{kinds_url}canvas.html")
    assert reading.reader == "canvas-text"
    assert await game.tab.evaluate("document.readyState") == "interactive"
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("hexagon", "honeycomb"),
        ("fibonacci", "its tiles show 3"),
        ("threes", "3, 9, not powers of two"),
        ("prose", "no board of 2048 found"),
        ("calendar", "its tiles show 3, 5, 6, 7, not powers of two"),
        ("chessboard", "as far as lattice-looks can tell: .* did nothing in any way"),
        ("small-sudoku", "as far as lattice-text can tell: .* did nothing in any way"),
        ("canvas-cards", "as far as pixels can tell: .* did nothing in any way"),
        ("lamps", "as far as lattice-looks can tell: "),
        ("falling", "as far as lattice-text can tell: it moves by itself"),
        ("canvas-hexagon", "as far as pixels can tell: "),
    ],
)
async def test_what_is_not_2048_is_refused_with_the_reason(
    game: LivePage, kinds_url: str, name: str, why: str
) -> None:
    with pytest.raises(PageError, match=why) as told:
        await game.open(f"{kinds_url}{name}.html")
    assert ". " not in str(told.value)  # one sentence


async def test_what_changes_the_board_against_all_rules_does_not_pass_for_a_way_to_move(
    game: LivePage, kinds_url: str
) -> None:
    with pytest.raises(PageError, match="did nothing in any way"):
        await game.open(f"{kinds_url}canvas-strokes.html")
    assert game.played_with is None
