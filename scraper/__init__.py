"""One live page: find the board, read it, press a direction, start again, see the end. It chooses no move.

Importing this package loads no browser driver: `scraper.open_page` does, and `scraper.chromium.launch` in
use.
"""

from scraper.page import GamePage, MoveOutcome, Reading, Slid, Status, Unchanged, Unexplained

__all__ = ["GamePage", "MoveOutcome", "Reading", "Slid", "Status", "Unchanged", "Unexplained"]
