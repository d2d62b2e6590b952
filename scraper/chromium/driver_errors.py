"""Turn errors of the browser driver into errors of the page."""

from __future__ import annotations

from playwright.async_api import Error as PlaywrightError

from game2048.errors import PageError


def first_line(error: PlaywrightError) -> str:
    """Return the first line of an error of Playwright, without its log of calls."""
    lines = error.message.strip().splitlines()
    return lines[0].strip() if lines else type(error).__name__


def page_lost(url: str, error: PlaywrightError) -> PageError:
    """Make the error for a page that has gone."""
    return PageError(f"{url} has gone: {first_line(error)}; start again to continue", url=url)


def page_silent(url: str) -> PageError:
    """Make the error for a page whose script blocks it."""
    return PageError(
        f"{url} does not answer any more: its script runs without end or waits for an answer; "
        "try --headed to see what it shows",
        url=url,
    )
