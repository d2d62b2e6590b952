"""Where tabs are opened: in a running browser, with a profile that is kept, as on a phone."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from game2048.errors import PageError
from scraper.chromium.launch import BrowserOptions, find_browsers, open_context
from scraper.open_page import open_page

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def running(tmp_path: Path) -> AsyncIterator[str]:
    """The address of a Chromium that somebody else has started."""
    executable = next(find_browsers(BrowserOptions())).path
    process = await asyncio.create_subprocess_exec(
        executable,
        "--headless",
        "--no-sandbox",
        "--remote-debugging-port=0",
        f"--user-data-dir={tmp_path}",
        "about:blank",
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    while line := (await process.stderr.readline()).decode():
        if found := re.search(r"listening on (ws://\S+)", line):
            break
    assert found is not None
    try:
        yield found[1]
    finally:
        process.kill()
        await process.wait()


async def test_a_running_browser_is_played_in_a_tab_of_its_own(running: str, demo_url: str) -> None:
    address = "http://" + running.removeprefix("ws://").partition("/")[0]
    for cdp in (running, address):
        async with open_page(BrowserOptions(cdp=cdp)) as game:
            reading = await game.open(f"{demo_url}?seed=7")
            assert len(reading.board.empty_cells()) == 14
    async with open_context(BrowserOptions(cdp=running)) as context:
        assert context.browser is not None
        own = [one for one in context.browser.contexts if one is not context]
        assert [page.url for one in own for page in one.pages] == ["about:blank"]


async def test_a_browser_that_does_not_answer_is_told() -> None:
    with pytest.raises(
        PageError, match=r"no browser answers at http://127\.0\.0\.1:9.*remote-debugging-port"
    ):
        async with open_context(BrowserOptions(cdp="http://127.0.0.1:9")):
            pass


async def test_a_profile_that_is_kept_keeps_what_pages_store(tmp_path: Path, demo_url: str) -> None:
    options = BrowserOptions(user_data_dir=tmp_path / "profile")
    async with open_page(options) as game:
        await game.open(demo_url)
        await game.tab.evaluate("localStorage.setItem('kept', 'yes')")
    async with open_page(options) as game:
        await game.open(demo_url)
        assert await game.tab.evaluate("localStorage.getItem('kept')") == "yes"


async def test_a_phone_has_its_own_window(demo_url: str) -> None:
    async with open_page(BrowserOptions(device="Pixel 7")) as game:
        await game.open(demo_url)
        assert await game.tab.evaluate("[innerWidth, navigator.maxTouchPoints > 0]") == [412, True]
    async with open_page(BrowserOptions(viewport=(640, 480))) as game:
        await game.open(demo_url)
        assert await game.tab.evaluate("[innerWidth, innerHeight]") == [640, 480]


async def test_an_unknown_device_is_told_with_those_of_like_names() -> None:
    with pytest.raises(PageError, match=r"'Pixl 7' is unknown: expected e\.g\. .*Pixel 7"):
        async with open_context(BrowserOptions(device="Pixl 7")):
            pass
