from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page
from support import npm_pages

from scraper.chromium.launch import open_browser
from scraper.demo.server import serve_demo
from scraper.live_page import LivePage
from scraper.open_page import live_page


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One browser for all tests; each gets tabs of its own."""
    async with open_browser() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="session")
async def game(browser: Browser) -> AsyncIterator[LivePage]:
    async with live_page(browser) as page:
        yield page


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: Browser, game: LivePage) -> Page:
    """The tab that `game` plays in, to look behind it."""
    return browser.contexts[-1].pages[0]


@pytest.fixture(scope="session")
def demo_url() -> Iterator[str]:
    with serve_demo() as url:
        yield url


@pytest.fixture(scope="session")
def pages_url() -> Iterator[str]:
    with npm_pages.serve_folder(Path(__file__).parent / "pages") as url:
        yield url
