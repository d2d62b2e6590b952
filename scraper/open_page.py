"""Open tabs to play in: in a browser started for it, or in a running one."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from playwright.async_api import Browser, BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

from game2048.errors import PageError
from scraper.chromium.launch import VIEWPORT, BrowserOptions, open_context, open_contexts
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
        options: which browser, and how.
        site: what is known of the page's site.
        report: a folder for what was seen, should the page not be playable.

    Raises:
        PageError: no browser is found, or it does not start.
    """
    options = options or BrowserOptions()
    watched = not options.headless or options.cdp is not None
    async with open_context(options) as context:
        page = await _tab_in(context, watched=watched, site=site)
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
    """Open a browser, and give what opens tabs in it, for several games at once; all closed at the end.

    Args:
        options: which browser, and how.
        site: what is known of the pages' site.

    Raises:
        PageError: there is no browser, or none that starts.
    """
    watched = not options.headless or options.cdp is not None
    async with open_contexts(options) as new_context:

        @contextlib.asynccontextmanager
        async def open_tab() -> AsyncIterator[LivePage]:
            async with new_context() as context:
                page = await context.new_page()
                try:
                    yield await _prepared(context, page, watched=watched, site=site)
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
    """Open a tab in a browser context of its own; close it at the end.

    Args:
        browser: from `scraper.chromium.launch.open_browser`.
        watched: somebody looks at the window, so animations keep their pace.
        waits: how long to wait for what.
        site: what is known of the page's site.
    """
    width, height = VIEWPORT
    context = await browser.new_context(
        viewport={"width": width, "height": height},
        accept_downloads=False,
        reduced_motion=None if watched else "reduce",
    )
    try:
        yield await _tab_in(context, watched=watched, waits=waits, site=site)
    finally:
        with contextlib.suppress(PlaywrightError):
            await context.close()


async def _tab_in(
    context: BrowserContext,
    *,
    watched: bool,
    waits: WaitTimes | None = None,
    site: SiteProfile | None = None,
) -> LivePage:
    return await _prepared(context, await context.new_page(), watched=watched, waits=waits, site=site)


async def _prepared(
    context: BrowserContext,
    page: Page,
    *,
    watched: bool,
    waits: WaitTimes | None = None,
    site: SiteProfile | None = None,
) -> LivePage:
    if not watched:
        # Drawing the animations takes longer than all the rest of a move; they end as they always do,
        # with their events, only sooner. The session has to stay open for that.
        session = await context.new_cdp_session(page)
        await session.send("Animation.setPlaybackRate", {"playbackRate": ANIMATION_RATE})
    context.on("page", _close_popup)
    script, question = own_world_script()
    await page.add_init_script(script)
    return LivePage(page, waits=waits, site=site, question=question)


async def _close_popup(popup: Page) -> None:
    logger.info("closing a window that the page opened")
    with contextlib.suppress(PlaywrightError):
        await popup.close()
