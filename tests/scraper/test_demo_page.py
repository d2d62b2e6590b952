"""Our own page: its rules, its input, its words for those who do not see it."""

from __future__ import annotations

import random
import re
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from game2048 import Board, Direction
from scraper.live_page import LivePage
from scraper.page import Slid, Status

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEYS = {
    Direction.UP: "ArrowUp",
    Direction.RIGHT: "ArrowRight",
    Direction.DOWN: "ArrowDown",
    Direction.LEFT: "ArrowLeft",
}
LETTERS = {Direction.UP: "w", Direction.RIGHT: "d", Direction.DOWN: "s", Direction.LEFT: "a"}
STEPS = {Direction.UP: (0, -60), Direction.RIGHT: (60, 0), Direction.DOWN: (0, 60), Direction.LEFT: (-60, 0)}

# What the page holds and what it shows, in one look.
STATE = """() => ({
  board: game2048.board, score: game2048.score, best: game2048.best, status: game2048.status,
  shown: { score: document.querySelector(".score-container").firstChild.data,
           best: document.querySelector(".best-container").textContent },
})"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """One tab for all tests that only load the page and play on it."""
    context = await browser.new_context(
        viewport={"width": 700, "height": 800}, has_touch=True, reduced_motion="reduce"
    )
    yield await context.new_page()
    await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def new_page(browser: Browser) -> AsyncIterator[Page]:
    """A tab of its own for a test that prepares it."""
    context = await browser.new_context()
    yield await context.new_page()
    await context.close()


async def board_on(page: Page) -> Board:
    return Board.from_tiles(await page.evaluate("game2048.board"))


def splitmix64(seed: int) -> Callable[[], int]:
    """The generator of demo/page/game.js, written a second time from its paper."""
    mask = 2**64 - 1

    def number() -> int:
        nonlocal seed
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    return number


async def test_the_generator_is_splitmix64() -> None:
    # The first outputs of the reference implementation, started with 1234567.
    number = splitmix64(1234567)
    assert [number() for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def spawned(board: Board, number: Callable[[], int]) -> Board:
    empty = board.empty_cells()
    cell = empty[(number() * len(empty)) >> 64]
    return board.with_tile(cell, 1 if number() < 2**64 * 9 // 10 else 2)


async def play_out(page: Page, seed: int, rows: int, columns: int, keys: int) -> tuple[Board, int]:
    """Random keys, legal or not, against the same game played here; returns where both stand."""
    number, rng = splitmix64(seed), random.Random(seed)
    board, score = spawned(spawned(Board(rows, columns), number), number), 0
    assert await board_on(page) == board
    for _ in range(keys):
        direction = rng.choice(list(Direction))
        slide = board.slide(direction)
        if slide.moved:
            board, score = spawned(slide.afterstate, number), score + slide.reward
        await page.keyboard.press(KEYS[direction])
        state = await page.evaluate(STATE)
        assert (Board.from_tiles(state["board"]), state["score"]) == (board, score)
        assert state["shown"] == {"score": str(score), "best": str(state["best"])}
        assert (state["status"] == "over") is board.is_over
        if board.is_over:
            break
    return board, score


@pytest.mark.parametrize(
    ("size", "rows", "columns", "seed", "keys"),
    [("4", 4, 4, 1, 200), ("2", 2, 2, 2, 60), ("3x5", 3, 5, 3, 120), ("8", 8, 8, 2**64 - 1, 60)],
)
async def test_a_seeded_game_follows_the_rules_key_by_key(
    page: Page, demo_url: str, size: str, rows: int, columns: int, seed: int, keys: int
) -> None:
    await page.goto(f"{demo_url}?seed={seed}&size={size}&goal=131072")
    await play_out(page, seed, rows, columns, keys)


async def test_without_a_seed_games_differ(page: Page, demo_url: str) -> None:
    boards = set()
    for _ in range(3):
        await page.goto(f"{demo_url}?size=8")
        boards.add((await board_on(page)).cells)
    assert len(boards) > 1


@pytest.mark.parametrize(
    ("query", "shape"),
    [
        ("", (4, 4)),
        ("?size=5", (5, 5)),
        ("?size=4x6", (4, 6)),
        ("?size=9", (4, 4)),
        ("?size=1", (4, 4)),
        ("?size=wide", (4, 4)),
    ],
)
async def test_the_address_chooses_the_size(
    page: Page, demo_url: str, query: str, shape: tuple[int, int]
) -> None:
    await page.goto(demo_url + query)
    board = await board_on(page)
    assert (board.rows, board.columns) == shape
    assert await page.locator(".grid-row").count() == shape[0]
    assert await page.locator(".grid-cell").count() == shape[0] * shape[1]
    inside = await page.evaluate(
        """() => { const box = document.querySelector(".board").getBoundingClientRect();
             return box.left >= 0 && box.right <= innerWidth && box.bottom <= innerHeight; }"""
    )
    assert inside


# -- input ------------------------------------------------------------------------------------------------


async def test_the_letters_wasd_move_as_the_arrows_do(page: Page, demo_url: str) -> None:
    for direction in Direction:
        boards = []
        for key in (KEYS[direction], LETTERS[direction]):
            await page.goto(f"{demo_url}?seed=11")
            await page.keyboard.press(key)
            boards.append(await board_on(page))
        assert boards[0] == boards[1]
        assert await page.evaluate("game2048.moves") == 1


@pytest.mark.parametrize("key", ["Control+ArrowLeft", "Alt+ArrowLeft", "Shift+ArrowLeft", "q", "Enter"])
async def test_other_keys_and_those_with_modifiers_are_left_alone(
    page: Page, demo_url: str, key: str
) -> None:
    await page.goto(f"{demo_url}?seed=11")
    before = await board_on(page)
    await page.keyboard.press(key)
    assert await board_on(page) == before


async def test_arrows_do_not_scroll_the_page(new_page: Page, demo_url: str) -> None:
    await new_page.set_viewport_size({"width": 500, "height": 300})
    await new_page.goto(f"{demo_url}?seed=1")
    assert await new_page.evaluate("document.documentElement.scrollHeight > innerHeight")
    for key in ("ArrowDown", "ArrowDown", "ArrowLeft"):
        await new_page.keyboard.press(key)
    assert await new_page.evaluate("scrollY") == 0


@pytest.mark.parametrize("direction", list(Direction), ids=str)
@pytest.mark.parametrize("device", ["mouse", "finger"])
async def test_a_swipe_moves_once(page: Page, demo_url: str, direction: Direction, device: str) -> None:
    await page.goto(f"{demo_url}?seed=11")
    await page.keyboard.press(KEYS[direction])
    expected = await board_on(page)
    await page.goto(f"{demo_url}?seed=11")
    box = await page.locator(".board").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    dx, dy = STEPS[direction]
    if device == "mouse":
        await page.mouse.move(x, y)
        await page.mouse.down()
        await page.mouse.move(x + dx * 2, y + dy * 2, steps=8)
        await page.mouse.up()
    else:
        session = await page.context.new_cdp_session(page)
        for kind, points in (
            ("touchStart", [(x, y)]),
            ("touchMove", [(x + dx / 2, y + dy / 2)]),
            ("touchMove", [(x + dx * 2, y + dy * 2)]),
            ("touchEnd", []),
        ):
            touches = [{"x": left, "y": top} for left, top in points]
            await session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})
        await session.detach()
    assert await board_on(page) == expected
    assert await page.evaluate("game2048.moves") == 1


async def test_a_click_on_the_board_moves_nothing(page: Page, demo_url: str) -> None:
    await page.goto(f"{demo_url}?seed=11")
    await page.locator(".board").click()
    assert await page.evaluate("game2048.moves") == 0


# -- winning, losing, the best score ----------------------------------------------------------------------


async def press_until(page: Page, status: str) -> None:
    for _ in range(400):
        for key in ("ArrowLeft", "ArrowDown", "ArrowRight", "ArrowUp"):
            await page.keyboard.press(key)
            if await page.evaluate("game2048.status") == status:
                return
    raise AssertionError(f"never {status}")


async def test_the_win_stops_the_game_until_told_to_go_on(page: Page, demo_url: str) -> None:
    await page.goto(f"{demo_url}?seed=5&goal=32")
    await press_until(page, "won")
    assert max(map(max, await page.evaluate("game2048.board"))) == 32
    dialog = page.get_by_role("dialog", name="You win!")
    assert await dialog.is_visible()
    keep_going = page.get_by_role("button", name="Keep going")
    assert await keep_going.evaluate("button => button === document.activeElement")
    before = await board_on(page)
    for key in KEYS.values():
        await page.keyboard.press(key)
    assert await board_on(page) == before
    await page.keyboard.press("Enter")
    assert await dialog.count() == 0
    for key in KEYS.values():
        await page.keyboard.press(key)
    assert await board_on(page) != before
    assert await page.evaluate("game2048.status") == "playing"


async def test_the_end_says_so_and_offers_a_new_game(page: Page, demo_url: str) -> None:
    await page.goto(f"{demo_url}?seed=5&size=2")
    await press_until(page, "over")
    assert (await board_on(page)).is_over
    dialog = page.get_by_role("dialog", name="Game over")
    assert await dialog.is_visible()
    assert not await page.get_by_role("button", name="Keep going").is_visible()
    await page.keyboard.press("Enter")
    assert await dialog.count() == 0
    state = await page.evaluate(STATE)
    assert (state["score"], state["status"]) == (0, "playing")
    assert await page.locator(".tile").count() == 2


async def test_the_best_score_outlives_the_game_and_the_page(page: Page, demo_url: str) -> None:
    await page.goto(f"{demo_url}?seed=5&size=2")
    await press_until(page, "over")
    best = await page.evaluate("game2048.best")
    assert best == await page.evaluate("game2048.score") > 0
    await page.get_by_role("button", name="New game").first.click()
    assert (await page.evaluate(STATE))["shown"] == {"score": "0", "best": str(best)}
    await page.goto(f"{demo_url}?seed=6&size=2")
    assert await page.evaluate("game2048.best") == best


async def test_the_game_does_without_storage(new_page: Page, demo_url: str) -> None:
    await new_page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied') } })"
    )
    errors: list[str] = []
    new_page.on("pageerror", lambda error: errors.append(str(error)))
    await new_page.goto(f"{demo_url}?seed=1")
    await play_out(new_page, 1, 4, 4, 20)
    assert errors == []


# -- for those who do not see it --------------------------------------------------------------------------


async def test_the_board_is_a_grid_whose_cells_say_what_they_hold(page: Page, demo_url: str) -> None:
    await page.goto(f"{demo_url}?seed=3&size=3x4")
    for key in ("ArrowLeft", "ArrowDown", "ArrowRight"):
        await page.keyboard.press(key)
    grid = page.get_by_role("grid", name="Board")
    assert await grid.get_by_role("row").count() == 3
    labels = await grid.get_by_role("gridcell").evaluate_all("cells => cells.map(c => c.ariaLabel)")
    tiles = [tile for row in (await board_on(page)).tiles() for tile in row]
    assert labels == [str(tile) if tile else "empty" for tile in tiles]
    assert await page.locator(".tile-container").get_attribute("aria-hidden") == "true"


async def test_a_move_is_announced(page: Page, demo_url: str) -> None:
    await page.goto(f"{demo_url}?seed=3")
    status = page.get_by_role("status")
    assert await status.get_attribute("aria-live") == "polite"
    for key in KEYS.values():
        await page.keyboard.press(key)
    announced = r"left.*\. New [24] in row \d, column \d\. Score \d+, highest tile \d+\."
    await expect(status).to_have_text(re.compile(announced))


async def test_everything_is_reached_by_tab_and_shows_the_focus(page: Page, demo_url: str) -> None:
    await page.goto(demo_url)
    for name in ("New game", "Board"):
        await page.keyboard.press("Tab")
        focused = await page.evaluate(
            """() => { const focused = document.activeElement;
                 return { name: focused.ariaLabel ?? focused.textContent,
                          outline: getComputedStyle(focused).outlineStyle }; }"""
        )
        assert focused == {"name": name, "outline": "solid"}


async def test_less_motion_means_no_animations(new_page: Page, demo_url: str) -> None:
    await new_page.emulate_media(reduced_motion="reduce")
    await new_page.goto(f"{demo_url}?seed=3")
    for key in KEYS.values():
        await new_page.keyboard.press(key)
    assert await new_page.evaluate("document.getAnimations().length") == 0


async def test_nothing_is_fetched_from_elsewhere_and_nothing_fails(new_page: Page, demo_url: str) -> None:
    requests: list[str] = []
    problems: list[str] = []
    new_page.on("request", lambda request: requests.append(request.url))
    new_page.on("console", lambda message: problems.append(message.text))
    new_page.on("pageerror", lambda error: problems.append(str(error)))
    await new_page.goto(f"{demo_url}?seed=5&goal=16", wait_until="networkidle")
    await press_until(new_page, "won")
    assert all(url.startswith(demo_url) for url in requests)
    assert {url.removeprefix(demo_url).split("?")[0] for url in requests} >= {"", "style.css", "game.js"}
    assert problems == []


async def test_the_view_of_the_game_cannot_be_written(page: Page, demo_url: str) -> None:
    await page.goto(f"{demo_url}?seed=3")
    before = await page.evaluate("JSON.stringify(game2048.board)")
    await page.evaluate(
        "() => { game2048.score = 9; game2048.board[0][0] = 2048; window.game2048 = null; return null }"
    )
    assert await page.evaluate("JSON.stringify(game2048.board)") == before
    assert await page.evaluate("game2048.score") == 0


# -- played by the bot's eyes and hands -------------------------------------------------------------------


async def test_the_live_page_reads_every_move_as_the_page_holds_it(
    game: LivePage, tab: Page, demo_url: str
) -> None:
    rng = random.Random(4)
    reading = await game.open(f"{demo_url}?seed=4&goal=64")
    moves = 0
    while moves < 150 or reading.status is not Status.PLAYING:
        if reading.status is Status.WON:
            going = await game.keep_going()
            assert going is not None
            reading = going
        elif reading.status is Status.OVER:
            reading = await game.new_game()
        outcome = await game.move(reading, rng.choice(reading.board.legal_directions()))
        assert isinstance(outcome, Slid)
        reading = outcome.reading
        moves += 1
        state = await tab.evaluate(STATE)
        assert reading.board == Board.from_tiles(state["board"])
        assert (reading.score, reading.best) == (state["score"], state["best"])
        assert reading.status.value == state["status"]
