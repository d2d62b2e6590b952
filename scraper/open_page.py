"""Open tabs to play in, in a new browser or in a running one."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from playwright.async_api import Browser, BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

from game2048.errors import PageError
from scraper.chromium.launch import VIEWPORT, BrowserOptions, open_context, open_contexts
from scraper.chromium.tab_setting import TabSetting
from scraper.in_page.worlds import own_world_script
from scraper.live_page import LivePage
from scraper.report import write_report
from scraper.site_profile import SiteProfile
from scraper.wait_times import WaitTimes

logger = logging.getLogger(__name__)

ANIMATION_RATE = 1000


@contextlib.asynccontextmanager
async def open_page(
    options: BrowserOptions | None = None, site: SiteProfile | None = None, report: Path | None = None
) -> AsyncIterator[LivePage]:
    """Start a browser with one tab for one game; close both at the end, also on Ctrl-C.

    Args:
        options: which browser to start, and how.
        site: the profile of the page's site.
        report: a folder for a bug report, if the page cannot be played.

    Raises:
        PageError: no browser is found, or it does not start.
    """
    options = options or BrowserOptions()
    async with open_context(options) as context:
        page = await _tab_in(context, TabSetting.of(options), site=site)
        try:
            yield page
        except PageError as error:
            if report is not None:
                await write_report(page, report, str(error))
            raise


@contextlib.asynccontextmanager
async def open_tabs(
    options: BrowserOptions, site: SiteProfile | None = None
) -> AsyncIterator[Callable[[], contextlib.AbstractAsyncContextManager[LivePage]]]:
    """Open a browser for several games at once; close all its tabs at the end.

    Args:
        options: which browser to start, and how.
        site: the profile of the pages' site.

    Yields:
        A function that opens a tab.

    Raises:
        PageError: no browser is found, or it does not start.
    """
    async with open_contexts(options) as new_context:

        @contextlib.asynccontextmanager
        async def open_tab() -> AsyncIterator[LivePage]:
            async with new_context() as context:
                page = await context.new_page()
                try:
                    yield await _prepared(context, page, TabSetting.of(options), site=site)
                finally:
                    with contextlib.suppress(PlaywrightError):
                        await page.close()

        yield open_tab


@contextlib.asynccontextmanager
async def live_page(
    browser: Browser,
    *,
    watched: bool = False,
    waits: WaitTimes | None = None,
    site: SiteProfile | None = None,
) -> AsyncIterator[LivePage]:
    """Open a tab in a new browser context; close both at the end.

    Args:
        browser: a browser from `scraper.chromium.launch.open_browser`.
        watched: whether somebody watches the window, so that animations keep their pace.
        waits: how long to wait for what.
        site: the profile of the page's site.
    """
    width, height = VIEWPORT
    context = await browser.new_context(
        viewport={"width": width, "height": height},
        accept_downloads=False,
        reduced_motion=None if watched else "reduce",
    )
    try:
        yield await _tab_in(context, TabSetting(watched=watched), waits=waits, site=site)
    finally:
        with contextlib.suppress(PlaywrightError):
            await context.close()


async def _tab_in(
    context: BrowserContext,
    setting: TabSetting,
    *,
    waits: WaitTimes | None = None,
    site: SiteProfile | None = None,
) -> LivePage:
    return await _prepared(context, await context.new_page(), setting, waits=waits, site=site)


async def _prepared(
    context: BrowserContext,
    page: Page,
    setting: TabSetting,
    *,
    waits: WaitTimes | None = None,
    site: SiteProfile | None = None,
) -> LivePage:
    if not setting.watched:
        # Drawing the animations takes longer than the rest of a move. Fast animations end sooner and still
        # send their events. The session must stay open for that.
        session = await context.new_cdp_session(page)
        await session.send("Animation.setPlaybackRate", {"playbackRate": ANIMATION_RATE})
    context.on("page", _close_popup)
    script, question = own_world_script()
    await page.add_init_script(script)
    return LivePage(page, waits=waits, site=site, question=question, setting=setting)


async def _close_popup(popup: Page) -> None:
    logger.info("closing a window that the page opened")
    with contextlib.suppress(PlaywrightError):
        await popup.close()
