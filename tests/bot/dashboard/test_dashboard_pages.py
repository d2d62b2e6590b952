"""The dashboard as people use it: one process, one real browser."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, ConsoleMessage, Page, expect
from support.dashboard_process import (
    FIVE_BY_FIVE_MOVES,
    DashboardProcess,
    constant_network,
    dashboard_process,
    fill_runs,
    write_training_log,
)
from support.recorded import worked_game

from game2048 import Board, Direction
from recordings.journal import GameJournal
from recordings.jsonl import append_record, read_records
from scraper.chromium.launch import open_browser
from scraper.demo.server import serve_demo

pytestmark = pytest.mark.asyncio(loop_scope="module")

AXE = Path(__file__).resolve().parents[3] / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE_MS = 120_000  # kernels may have to be compiled first
HAND = "/replay?file=hand/games.jsonl&game=0"
GAMES = "/replay?file=played/four.jsonl"
PAGES = (
    "/",
    "/live",
    "/replay",
    GAMES,
    HAND,
    "/weights",
    "/training",
    "/pictures",
    "/board",
)


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DashboardProcess]:
    runs = tmp_path_factory.mktemp("dashboard") / "runs"
    fill_runs(runs)
    with dashboard_process(runs) as process:
        yield process


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """One browser for all pages, at the frame rate of a screen: unlimited frames took half of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scraper.chromium.launch.UNLIMITED_FRAMES_FLAGS", ())
        async with open_browser() as browser:
            yield browser


@pytest_asyncio.fixture(loop_scope="module")
async def page(browser: Browser, dashboard: DashboardProcess) -> AsyncIterator[Page]:
    """A tab of its own; what its console calls an error fails the test."""
    faults: list[str] = []

    def note(message: ConsoleMessage) -> None:
        # The page shows the reason of a refusal; the browser writes its status to the console by itself.
        if message.type == "error" and "status of 400" not in message.text:
            faults.append(message.text)

    page = await browser.new_page(base_url=dashboard.url)
    page.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    page.on("console", note)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda sent: None if sent.url.startswith(dashboard.url) else faults.append(sent.url))
    yield page
    await page.close()
    assert faults == []


async def open_page(page: Page, path: str) -> None:
    await page.goto(path)
    await page.wait_for_function("window.did_handshake")


# -- every page ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_has_no_serious_fault_of_accessibility(page: Page, path: str) -> None:
    await open_page(page, path)
    if path == HAND:
        await page.wait_for_selector("game-replay[data-ready]")
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await expect(page.get_by_role("navigation")).to_be_visible()
    if not AXE.exists() and not os.environ.get("CI"):
        pytest.skip("axe-core is not installed; `npm ci` installs it")
    await page.evaluate(AXE.read_text())
    found = await page.evaluate("axe.run()")
    serious = [
        (fault["id"], node["html"])
        for fault in found["violations"]
        if fault["impact"] in {"serious", "critical"}
        for node in fault["nodes"]
    ]
    assert serious == []
    assert len(found["passes"]) > 10


async def test_the_first_stop_of_the_keyboard_leads_to_the_contents(page: Page) -> None:
    await open_page(page, "/")
    await page.keyboard.press("Tab")
    await expect(page.locator(":focus")).to_have_text("Skip to the contents")


# -- replay --------------------------------------------------------------------------------------------------


async def test_a_game_is_replayed_by_the_keyboard(page: Page) -> None:
    await open_page(page, HAND)
    replay = page.locator("game-replay")
    board = page.locator("board-view")
    await expect(replay).to_have_attribute("data-shown", "0")
    await expect(board).to_have_attribute("aria-label", "Board: 2 empty / 2 empty")
    for _ in range(3):
        await page.keyboard.press("ArrowRight")
    await expect(board).to_have_attribute("aria-label", "Board: 4 4 / 2 2")
    await expect(page.locator(".standing")).to_have_text("Ply 3 of 5 · score 4 · move made: right")
    await page.keyboard.press("End")
    await expect(page.locator(".standing")).to_contain_text("Ply 5 of 5 · score 16 · move made: none")
    await page.keyboard.press("ArrowLeft")
    await expect(replay).to_have_attribute("data-shown", "4")
    await page.keyboard.press("Home")
    await expect(replay).to_have_attribute("data-shown", "0")
    await page.keyboard.press("Space")
    await expect(replay).to_have_attribute("data-shown", "5")
    await expect(page.get_by_role("button", name="Play")).to_be_visible()


async def test_the_curve_and_the_fields_jump(page: Page) -> None:
    await open_page(page, "/replay?file=played/five.jsonl&game=0")
    replay = page.locator("game-replay")
    await expect(replay).to_have_attribute("data-shown", "0")
    await page.get_by_label("Go to ply").fill("7")
    await page.keyboard.press("Enter")
    await expect(replay).to_have_attribute("data-shown", "7")
    box = await page.locator("svg.curve").bounding_box()
    assert box is not None
    await page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 5)
    await expect(replay).to_have_attribute("data-shown", str(FIVE_BY_FIVE_MOVES // 2))
    assert await page.locator("board-view .empty").count() == 25


async def test_values_are_those_of_the_weights_chosen(page: Page) -> None:
    # Every weight is 1 and the pattern has 8 images: V is 8 on every board, a value is 8 and the reward.
    await open_page(page, f"{GAMES}&game=0&engine=weights:nets/ones.n2048")
    await page.wait_for_selector("game-replay[data-curve]")
    await page.keyboard.press("End")
    await page.get_by_label("Go to ply").fill("100")
    await page.keyboard.press("Enter")
    await page.wait_for_selector("game-replay[data-opinion='100']")
    rows = await page.locator(".values tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    board = Board.from_text(
        (await page.locator("board-view").get_attribute("aria-label") or "")
        .removeprefix("Board: ")
        .replace("empty", "0")
    )
    shown = {head.split()[-1]: (value, v) for head, value, v, _ in rows}
    for direction, slide in board.slides().items():
        expected = (str(slide.reward + 8), "8") if slide.moved else ("–", "–")
        assert shown[direction.value] == expected
    assert await page.locator("svg.curve polyline.value").count() == 1


# -- weights -------------------------------------------------------------------------------------------------


async def test_an_evaluation_shows_its_progress_and_is_cancelled(page: Page) -> None:
    await open_page(page, "/weights")
    await page.get_by_label("Weights", exact=True).click()
    await page.get_by_role("option", name="nets/ones.n2048").click()
    await page.get_by_label("Games", exact=True).fill("1000000")
    await page.get_by_label("Depth", exact=True).fill("1")
    await page.get_by_role("button", name="Evaluate").click()
    panel = page.locator("section.evaluation").first
    await expect(panel.get_by_role("status")).to_contain_text("running: ")
    await expect(panel.get_by_text("Largest tile at the end")).to_be_visible()
    assert 0 < await panel.get_by_role("progressbar").evaluate("bar => bar.value") < 1_000_000
    await panel.get_by_role("button", name="Cancel").click()
    await expect(panel.get_by_role("status")).to_contain_text("stopped: ")
    await expect(panel.get_by_text("Median")).to_be_visible()


async def test_an_evaluation_ends_with_its_figures(page: Page) -> None:
    await open_page(page, "/weights")
    await page.get_by_label("Weights", exact=True).click()
    await page.get_by_role("option", name="nets/ones.n2048").click()
    await page.get_by_label("Games", exact=True).fill("3")
    await page.get_by_label("Depth", exact=True).fill("1")
    await page.get_by_role("button", name="Evaluate").click()
    panel = page.locator("section.evaluation").first
    await expect(panel.get_by_role("status")).to_have_text("finished: 3 of 3 games")
    await expect(panel.get_by_text("Mean (95 %)")).to_be_visible()


async def test_weights_are_shown_uploaded_and_refused(
    page: Page, tmp_path: Path, dashboard: DashboardProcess
) -> None:
    await open_page(page, "/weights")
    await page.get_by_role("button", name="Show nets/ones.n2048").click()
    await expect(page.get_by_text("network   constant on 4×4")).to_be_visible()
    bad = tmp_path / "bad.n2048"
    bad.write_bytes(b"not a network")
    await page.get_by_label("Weights file").set_input_files(bad)
    await expect(page.locator("file-upload .fault")).to_contain_text("bad.n2048 was refused: bad.n2048")
    assert not (dashboard.runs / "uploads" / "bad.n2048").exists()
    good = tmp_path / "good.n2048"
    constant_network(good, 2.0)
    await page.get_by_label("Weights file").set_input_files(good)
    await expect(page.get_by_role("cell", name="uploads/good.n2048", exact=True)).to_be_visible()
    async with page.expect_download() as started:
        await page.get_by_role("row", name="uploads/good.n2048").get_by_role("link", name="Download").click()
    kept = await (await started.value).path()
    assert kept.read_bytes() == good.read_bytes()


# -- training, pictures --------------------------------------------------------------------------------------


async def test_charts_show_the_logs_and_grow_with_them(page: Page, dashboard: DashboardProcess) -> None:
    await open_page(page, "/training")
    charts = "[...document.querySelectorAll('.chart')].map(each => getElement(each.id.slice(1)).chart)"
    series = f"{charts}.map(chart => chart.getOption().series)"
    await page.wait_for_function(f"({series})[0].length === 2")
    scores, reached = await page.evaluate(series)
    assert {each["name"]: each["data"] for each in scores} == {
        "first": [[100, 1000], [200, 3000], [300, 9000]],
        "second": [[100, 1000], [200, 3000]],
    }
    assert {each["name"]: each["data"] for each in reached}["first"] == [[100, 0], [200, 0.25], [300, 0.5]]
    write_training_log(dashboard.runs / "second" / "training.jsonl")
    await page.wait_for_function(f"({series})[0].every(each => each.data.length === 3)")
    await expect(page.locator("tbody tr", has_text="second")).to_contain_text("9,000")


async def test_pictures_are_loaded_lazily(page: Page) -> None:
    await open_page(page, "/pictures")
    picture = page.get_by_role("img", name="hand/game-001.gif")
    await expect(picture).to_have_attribute("loading", "lazy")
    assert await picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 16


# -- live, board ---------------------------------------------------------------------------------------------


async def test_a_running_game_appears_moves_and_goes(page: Page, dashboard: DashboardProcess) -> None:
    journal = GameJournal.create(dashboard.runs / "live", source="https://page.example", solver="order")
    journal.append(Board.from_text("2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"), Direction.LEFT, 0)
    await open_page(page, "/live")
    card = page.locator(".live-card")
    await expect(card).to_contain_text("https://page.example, by order")
    await expect(card).to_contain_text("score 0, tile 2, 1 moves")
    await expect(card.locator(".opinion")).to_contain_text("ntuple: ")
    journal.append(Board.from_text("4 0 0 0 / 0 0 0 0 / 0 0 2 0 / 0 0 0 2"), Direction.UP, 4)
    await expect(card).to_contain_text("score 4, tile 4, 2 moves")
    label = "Board: 4 empty empty empty / empty empty empty empty / empty empty 2 empty / empty empty empty 2"
    await expect(card.locator("board-view")).to_have_attribute("aria-label", label)
    journal.discard()
    await expect(card).to_have_count(0)


async def test_a_person_and_an_engine_play_the_board(page: Page) -> None:
    await open_page(page, "/board")
    standing = page.locator(".standing")
    await expect(standing).to_contain_text(", 0 moves")
    for key in ("ArrowUp", "ArrowLeft", "ArrowDown", "ArrowRight"):
        await page.keyboard.press(key)
    await expect(standing).not_to_contain_text(", 0 moves")
    await page.keyboard.press("a")
    await expect(page.locator(".opinion")).to_contain_text("decided in")
    await expect(page.get_by_role("button", name="Engine stops (A)")).to_have_attribute(
        "aria-pressed", "true"
    )
    await page.keyboard.press("a")
    await expect(page.get_by_role("button", name="Engine plays (A)")).to_have_attribute(
        "aria-pressed", "false"
    )
    await page.keyboard.press("r")
    await expect(standing).to_contain_text("score 0, tile")
    await expect(standing).to_contain_text(", 0 moves")


# -- start ---------------------------------------------------------------------------------------------------


async def test_a_game_is_played_on_an_address_that_is_typed_in(
    page: Page, dashboard: DashboardProcess
) -> None:
    await open_page(page, "/")
    form = page.locator("section", has=page.get_by_role("heading", name="Play a page"))
    await form.get_by_label("Address of the page").fill("file:///etc/passwd")
    await form.get_by_role("button", name="Play").click()
    await expect(page.get_by_role("alert")).to_contain_text("is not the address of a page; expected http://")
    with serve_demo() as url:
        await form.get_by_label("Address of the page").fill(url)
        await form.get_by_label("Most moves").fill("3")
        await form.get_by_label("Engine").click()
        await page.get_by_role("option", name="fast").click()
        await form.get_by_label("Name of the run").fill("typed")
        await form.get_by_role("button", name="Play").click()
        await expect(page.locator("section.job .state").first).to_contain_text("play: finished")
    (record,) = read_records(dashboard.runs / "typed" / "games.jsonl")
    assert (record.source, record.total_moves, record.solver) == (url, 3, "fast")


async def test_a_training_is_started_and_stopped(page: Page, dashboard: DashboardProcess) -> None:
    await open_page(page, "/")
    form = page.locator("section", has=page.get_by_role("heading", name="Train a network"))
    await form.get_by_label("Network").click()
    await page.get_by_role("option", name="5x4").click()
    await form.get_by_label("Games", exact=True).fill("100000000")
    await form.get_by_label("Games per point").fill("20")
    await form.get_by_label("Name of the run").fill("trained")
    await form.get_by_role("button", name="Train").click()
    job = page.locator("section.job", has=page.get_by_role("heading", name="trained: train 5x4"))
    await expect(job.locator("pre")).to_contain_text("mean")
    await job.get_by_role("button", name="Stop trained: train 5x4").click()
    await expect(job.locator(".state")).to_contain_text("training: stopped")
    assert list((dashboard.runs / "trained").glob("checkpoint-*.n2048"))


# -- files that grow -----------------------------------------------------------------------------------------


async def test_a_file_lists_the_games_that_were_added(page: Page, dashboard: DashboardProcess) -> None:
    file = dashboard.runs / "growing" / "games.jsonl"
    file.parent.mkdir()
    append_record(file, worked_game())
    await open_page(page, "/replay?file=growing/games.jsonl")
    await expect(page.get_by_role("link", name="Game 1")).to_be_visible()
    append_record(file, worked_game())
    await page.reload()
    await expect(page.get_by_role("link", name="Game 2")).to_be_visible()


async def test_the_look_of_tiles_is_that_of_the_original(page: Page) -> None:
    await open_page(page, HAND)
    colour = await page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--tile-11')")
    assert colour == "#edc22e"  # 2048
    assert json.loads(await page.evaluate("JSON.stringify(customElements.get('board-view') !== undefined)"))
