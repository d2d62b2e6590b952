"""What is under way when a page is closed: nothing of it is left for the log."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
from playwright.async_api import Browser

from scraper.open_page import live_page
from scraper.wait_times import WaitTimes

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("page", ["clone.html?drop=99", "clone.html?late=2000", "clone.js"])
async def test_closing_a_page_in_the_middle_of_a_move_leaves_no_error_behind(
    browser: Browser, pages_url: str, page: str
) -> None:
    loop = asyncio.get_running_loop()
    told: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _loop, context: told.append(context))
    try:
        async with live_page(browser, waits=WaitTimes(idle=20_000, cap=30_000, board=20_000)) as game:
            if page.endswith(".js"):
                waiting = asyncio.create_task(game.open(f"{pages_url}{page}"))
                await game.tab.wait_for_load_state("load")
            else:
                reading = await game.open(f"{pages_url}{page}")
                waiting = asyncio.create_task(game.move(reading, reading.legal[0]))
                await game.tab.wait_for_function("truth.keys > 0")
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        await browser.new_context()  # what the closed page answered has come by now
        await asyncio.sleep(0)
        gc.collect()
        assert told == []
    finally:
        loop.set_exception_handler(None)
