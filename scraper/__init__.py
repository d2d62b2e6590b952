"""Find the board on a live page, read it, make moves, start new games. This package never chooses a move.

Importing it does not load the browser driver: `scraper.open_page` does, and `scraper.chromium.launch` when
it starts a browser.
"""

from scraper.page import GamePage, MoveOutcome, Reading, Slid, Status, Unchanged, Unexplained

__all__ = ["GamePage", "MoveOutcome", "Reading", "Slid", "Status", "Unchanged", "Unexplained"]
