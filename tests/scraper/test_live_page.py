"""A game on a real page: moves confirmed, and everything that pages do instead."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from playwright.async_api import Browser, Page

from game2048 import Board, Direction, RulesError
from game2048.errors import PageError
from scraper.live_page import LivePage
from scraper.moves.outcome import is_slide_with_spawn
from scraper.open_page import live_page
from scraper.page import Ply, Reading, Slid, Status, Unchanged, Unexplained
from scraper.wait_times import WaitTimes

pytestmark = pytest.mark.asyncio(loop_scope="session")

BRIEF = WaitTimes(load=5_000, board=300, idle=120, quiet=60, quiet_other=150, cap=1_000)

FAR_APART = "2 0 0 0/0 0 0 0/0 0 0 0/0 0 0 2"


def board(text: str) -> Board:
    return Board.from_text(text)


async def truth(tab: Page) -> Board:
    return Board.from_tiles(await tab.evaluate("truth.board"))


async def play(game: LivePage, tab: Page, reading: Reading, moves: int) -> Reading:
    """Random legal moves, each confirmed and held against the page's own state."""
    rng = random.Random(5)
    for _ in range(moves):
        outcome = await game.move(reading, rng.choice(reading.board.legal_directions()))
        assert isinstance(outcome, Slid)
        reading = outcome.reading
        assert reading.board == await truth(tab)
        assert reading.score == await tab.evaluate("truth.score")
    return reading


# -- opening ----------------------------------------------------------------------------------------------


async def test_opening_reads_the_board_score_and_status(game: LivePage, pages_url: str) -> None:
    reading = await game.open(f"{pages_url}clone.html?board=2 4 8/0 0 0/2 0 1024")
    assert reading.board == board("2 4 8 0 / 0 0 0 0 / 2 0 1024 0 / 0 0 0 0")
    assert (reading.score, reading.best, reading.status) == (0, None, Status.PLAYING)
    assert reading.reader == "position-classes"


async def test_a_server_that_is_not_there_is_told_with_the_address(game: LivePage) -> None:
    with pytest.raises(PageError, match=r"http://127\.0\.0\.1:9/ does not load: .*(REFUSED|UNSAFE).*server"):
        await game.open("http://127.0.0.1:9/")


async def test_an_error_page_is_told_with_its_status(game: LivePage, pages_url: str) -> None:
    with pytest.raises(PageError, match="answered 404"):
        await game.open(f"{pages_url}missing.html")


async def test_what_is_no_address_is_told(game: LivePage) -> None:
    with pytest.raises(PageError, match=r"'2048\.example' is not an address"):
        await game.open("2048.example")


async def test_a_page_without_a_board_is_told_with_what_was_looked_for(
    browser: Browser, pages_url: str
) -> None:
    async with live_page(browser, waits=BRIEF) as game:
        with pytest.raises(PageError, match=r"no board of 2048 .*looked for tiles with the classes tile-N"):
            await game.open(f"{pages_url}clone.js")


async def test_tiles_that_are_no_powers_of_two_are_told(game: LivePage, pages_url: str) -> None:
    with pytest.raises(PageError, match="as far as position-classes can tell: its tiles show 3"):
        await game.open(f"{pages_url}clone.html?board=2 3 0 0/0 0 0 0/0 0 0 0/0 0 0 0")


async def test_a_board_that_comes_late_is_waited_for(game: LivePage, tab: Page, pages_url: str) -> None:
    await tab.add_init_script(
        """addEventListener("load", () => {
             const box = document.querySelector(".tile-container");
             const tiles = [...box.children];
             box.replaceChildren();
             setTimeout(() => box.append(...tiles), 700);
           })"""
    )
    reading = await game.open(f"{pages_url}clone.html?board={FAR_APART}")
    assert reading.board == board(FAR_APART)


async def test_a_board_in_a_frame_is_found_and_takes_keys(game: LivePage, tab: Page, pages_url: str) -> None:
    outer = f'<p>Play!</p><iframe src="{pages_url}clone.html?board={FAR_APART}"></iframe>'
    await tab.route("**/outer.html", lambda route: route.fulfill(body=outer, content_type="text/html"))
    reading = await game.open(f"{pages_url}outer.html")
    outcome = await game.move(reading, Direction.LEFT)
    assert isinstance(outcome, Slid)
    assert outcome.reading.board == board("2 2 0 0/0 0 0 0/0 0 0 0/2 0 0 0")


# -- moves ------------------------------------------------------------------------------------------------


async def test_every_confirmed_move_is_what_the_page_holds(game: LivePage, tab: Page, pages_url: str) -> None:
    reading = await game.open(f"{pages_url}clone.html")
    await play(game, tab, reading, 60)


async def test_a_move_that_changes_nothing_is_not_pressed(game: LivePage, tab: Page, pages_url: str) -> None:
    reading = await game.open(f"{pages_url}clone.html?board=2 0/4 0/0 0/0 0")
    with pytest.raises(RulesError, match="left does not change"):
        await game.move(reading, Direction.LEFT)
    assert await tab.evaluate("truth.keys") == 0


async def test_a_dropped_key_is_told_and_the_next_one_counts(browser: Browser, pages_url: str) -> None:
    async with live_page(browser, waits=BRIEF) as game:
        reading = await game.open(f"{pages_url}clone.html?board={FAR_APART}&drop=2")
        for _ in range(2):
            outcome = await game.move(reading, Direction.LEFT)
            assert outcome == Unchanged(reading)
        outcome = await game.move(reading, Direction.LEFT)
        assert isinstance(outcome, Slid)


async def test_a_page_that_answers_late_is_waited_for(game: LivePage, tab: Page, pages_url: str) -> None:
    reading = await game.open(f"{pages_url}clone.html?late=200&spawn-late=250")
    await play(game, tab, reading, 4)


async def test_boards_in_passing_that_obey_the_rules_are_not_believed(
    game: LivePage, tab: Page, pages_url: str
) -> None:
    reading = await game.open(f"{pages_url}clone.html?passing=2")
    await play(game, tab, reading, 25)


async def test_a_page_that_betrays_its_trust_is_found_out_at_the_next_key(
    game: LivePage, tab: Page, pages_url: str
) -> None:
    reading = await game.open(f"{pages_url}clone.html?passing=2&passing-from=40")
    reading = await play(game, tab, reading, 39)
    betrayed = 0
    rng = random.Random(6)
    for _ in range(20):
        outcome = await game.move(reading, rng.choice(reading.board.legal_directions()))
        if isinstance(outcome, Unexplained):
            betrayed += 1
            assert outcome.at_key is not None or "no spawn explains" in outcome.why
        reading = outcome.reading
        if betrayed:
            assert reading.board == await truth(tab)
    assert betrayed <= 1


async def test_a_late_answer_to_the_first_of_two_keys_does_not_hide_the_second(
    browser: Browser, pages_url: str
) -> None:
    # The second key is pressed after `idle`, in good time before the page answers the first.
    async with live_page(browser, waits=WaitTimes(idle=1000)) as game:
        reading = await game.open(f"{pages_url}clone.html?board={FAR_APART}&late=1800")
        assert await game.move(reading, Direction.LEFT) == Unchanged(reading)
        outcome = await game.move(reading, Direction.LEFT)
        first, second = board("2 2 0 0/0 0 0 0/0 0 0 0/2 0 0 0"), board("4 2 0 0/0 0 0 0/0 0 0 0/2 0 0 0")
        assert isinstance(outcome, Slid)
        assert outcome.reading.board == first
        await browser.contexts[-1].pages[0].wait_for_function("truth.moves === 2")
        outcome = await game.move(outcome.reading, Direction.DOWN)
        assert isinstance(outcome, Unexplained)
        assert outcome.at_key == second
        assert is_slide_with_spawn(Ply.of(first, Direction.LEFT), second)


async def test_a_board_that_had_moved_on_before_the_key_is_not_its_doing(
    browser: Browser, pages_url: str
) -> None:
    async with live_page(browser, waits=WaitTimes(idle=200)) as game:
        reading = await game.open(f"{pages_url}clone.html?board={FAR_APART}&late=400")
        assert await game.move(reading, Direction.LEFT) == Unchanged(reading)
        await browser.contexts[-1].pages[0].wait_for_function("truth.moves === 1")
        outcome = await game.move(reading, Direction.LEFT)
        assert isinstance(outcome, Unexplained)
        assert outcome.at_key == board("2 2 0 0/0 0 0 0/0 0 0 0/2 0 0 0")
        assert outcome.reading.board == board("4 2 0 0/0 0 0 0/0 0 0 0/2 0 0 0")


async def test_other_rules_are_told_and_play_can_go_on(browser: Browser, pages_url: str) -> None:
    async with live_page(browser, waits=BRIEF) as game:
        reading = await game.open(f"{pages_url}clone.html?board=2 2 4 0/0 0 0 0/0 0 0 0/0 0 0 0&rules=chain")
        outcome = await game.move(reading, Direction.LEFT)
        assert isinstance(outcome, Unexplained)
        assert outcome.reading.board == board("8 2 0 0/0 0 0 0/0 0 0 0/0 0 0 0")
        assert outcome.at_key is None
        assert "left on 2 2 4 0" in outcome.why
        assert isinstance(await game.move(outcome.reading, Direction.DOWN), Slid)


async def test_two_spawns_at_once_are_not_explained(browser: Browser, pages_url: str) -> None:
    async with live_page(browser, waits=BRIEF) as game:
        reading = await game.open(f"{pages_url}clone.html?board={FAR_APART}&rules=two-spawns")
        assert isinstance(await game.move(reading, Direction.LEFT), Unexplained)


# -- what pages do besides --------------------------------------------------------------------------------


@pytest.mark.parametrize("dialog", ["alert", "confirm", "prompt"])
async def test_a_dialog_neither_hangs_the_page_nor_wipes_its_board(
    game: LivePage, tab: Page, pages_url: str, dialog: str
) -> None:
    reading = await game.open(f"{pages_url}clone.html?{dialog}=3")
    await play(game, tab, reading, 6)


async def test_a_page_that_loads_again_is_found(browser: Browser, pages_url: str) -> None:
    async with live_page(browser, waits=WaitTimes(idle=20_000)) as game:
        reading = await game.open(f"{pages_url}clone.html?board={FAR_APART}&reload=1")
        outcome = await game.move(reading, Direction.LEFT)
        assert isinstance(outcome, Unexplained)
        assert "loaded again after left" in outcome.why
        assert outcome.reading.board == board(FAR_APART)


@pytest.mark.parametrize("answer", ["{ throw new Error('mine') }", "'tile-6 tile-position-1-1'"])
async def test_a_page_that_changes_what_elements_say_is_read_as_it_is(
    game: LivePage, tab: Page, pages_url: str, answer: str
) -> None:
    reading = await game.open(f"{pages_url}clone.html?board={FAR_APART}")
    await tab.evaluate(f"() => {{ Element.prototype.getAttribute = () => {answer} }}")
    outcome = await game.move(reading, Direction.LEFT)
    assert isinstance(outcome, Slid)
    assert outcome.reading.board == await truth(tab)


async def test_a_board_that_is_taken_away_is_told(browser: Browser, pages_url: str) -> None:
    async with live_page(browser, waits=BRIEF) as game:
        reading = await game.open(f"{pages_url}clone.html?board={FAR_APART}&remove=1")
        with pytest.raises(PageError, match="no board of 2048") as told:
            await game.move(reading, Direction.LEFT)
    assert (told.value.url, told.value.reader) == (game.tab.url, "position-classes")


async def test_a_script_without_end_is_told(browser: Browser, pages_url: str) -> None:
    async with live_page(browser, waits=replace(BRIEF, answer=1_000)) as game:
        reading = await game.open(f"{pages_url}clone.html?board={FAR_APART}&hang=1")
        with pytest.raises(PageError, match="does not answer any more") as told:
            await game.move(reading, Direction.LEFT)
    assert (told.value.url, told.value.reader) == (game.tab.url, "position-classes")


async def test_a_closed_tab_is_told(game: LivePage, tab: Page, pages_url: str) -> None:
    reading = await game.open(f"{pages_url}clone.html")
    await tab.close()
    with pytest.raises(PageError, match="has gone"):
        await game.move(reading, reading.board.legal_directions()[0])


async def test_windows_that_the_page_opens_are_closed(
    browser: Browser, game: LivePage, tab: Page, pages_url: str
) -> None:
    await game.open(f"{pages_url}clone.html")
    async with tab.context.expect_page() as opened:
        await tab.evaluate("void open('about:blank')")
    popup = await opened.value
    if not popup.is_closed():
        await popup.wait_for_event("close")
    assert tab.context.pages == [tab]


# -- winning, losing, starting again ----------------------------------------------------------------------

NEARLY_WON = "8 8 0 0/0 0 0 0/0 0 0 0/0 0 0 2"
NEARLY_OVER = "4 8 16 32/2 4 8 16/16 2 32 64/64 128 256 0"


async def win(game: LivePage, pages_url: str, go: str) -> Reading:
    reading = await game.open(f"{pages_url}clone.html?board={NEARLY_WON}&win=16&go={go}")
    outcome = await game.move(reading, Direction.LEFT)
    assert isinstance(outcome, Slid)
    assert outcome.reading.status is Status.WON
    return outcome.reading


@pytest.mark.parametrize("button", ["class", "text"])
async def test_after_a_win_the_page_is_told_to_keep_going(
    game: LivePage, tab: Page, pages_url: str, button: str
) -> None:
    won = await win(game, pages_url, button)
    reading = await game.keep_going()
    assert reading is not None
    assert (reading.board, reading.status) == (won.board, Status.PLAYING)
    await play(game, tab, reading, 3)


@pytest.mark.parametrize("button", ["hidden", "none", "stuck"])
async def test_where_a_win_ends_the_game_there_is_no_going_on(
    browser: Browser, pages_url: str, button: str
) -> None:
    async with live_page(browser, waits=BRIEF) as game:
        await win(game, pages_url, button)
        assert await game.keep_going() is None


async def test_the_last_move_shows_the_game_over(game: LivePage, pages_url: str) -> None:
    reading = await game.open(f"{pages_url}clone.html?board={NEARLY_OVER}")
    outcome = await game.move(reading, Direction.RIGHT)
    assert isinstance(outcome, Slid)
    assert outcome.reading.board == board("4 8 16 32/2 4 8 16/16 2 32 64/2 64 128 256")
    assert outcome.reading.status is Status.OVER


@pytest.mark.parametrize("button", ["class", "text", "confirm", "none"])
async def test_a_new_game_begins_by_button_or_by_loading_the_page_again(
    game: LivePage, tab: Page, pages_url: str, button: str
) -> None:
    reading = await game.open(f"{pages_url}clone.html?new={button}")
    start = reading.board
    await play(game, tab, reading, 10)
    loads: list[Page] = []
    tab.on("load", lambda page: loads.append(page))
    reading = await game.new_game()
    assert len(loads) == (button == "none")
    assert (reading.board, reading.score, reading.status) == (start, 0, Status.PLAYING)
    await play(game, tab, reading, 3)


async def test_a_page_that_asks_before_it_is_left_is_loaded_again(
    game: LivePage, tab: Page, pages_url: str
) -> None:
    asked: list[str] = []
    tab.on("dialog", lambda dialog: asked.append(dialog.type))
    await tab.add_init_script("addEventListener('beforeunload', (event) => event.preventDefault())")
    reading = await game.open(f"{pages_url}clone.html?new=none")
    start = reading.board
    await play(game, tab, reading, 3)
    reading = await game.new_game()
    assert asked == ["beforeunload"]
    assert (reading.board, reading.score, reading.status) == (start, 0, Status.PLAYING)
    await play(game, tab, reading, 3)


async def test_where_no_new_game_can_be_had_that_is_told(browser: Browser, pages_url: str) -> None:
    async with live_page(browser, waits=BRIEF) as game:
        await game.open(f"{pages_url}clone.html?board={NEARLY_WON}&new=none")
        with pytest.raises(PageError, match="no new game on"):
            await game.new_game()
