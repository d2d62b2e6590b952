"""Errors of the browser driver, as errors of the page."""

from __future__ import annotations

from playwright.async_api import Error as PlaywrightError

from game2048.errors import PageError


def first_line(error: PlaywrightError) -> str:
    """Return what an error of Playwright says, without its log of calls."""
    lines = error.message.strip().splitlines()
    return lines[0].strip() if lines else type(error).__name__


def page_lost(url: str, error: PlaywrightError) -> PageError:
    """Make the error for a page that went away."""
    return PageError(f"{url} has gone: {first_line(error)}; start again to continue", url=url)


def page_silent(url: str) -> PageError:
    """Make the error for a page whose own script never yields."""
    return PageError(
        f"{url} does not answer any more: its script runs without end or waits for somebody; "
        "try --headed to see what it shows",
        url=url,
    )
