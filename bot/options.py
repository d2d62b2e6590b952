"""Options of a run of games, and the summary of a game. Does not load the browser driver or Pillow."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bot.progress import Goal
from game2048.net import is_loopback
from game2048.solver_options import SolverOptions as SolverOptions
from recordings.pictures.animation_options import AnimationOptions
from recordings.record import GameRecord
from scraper.chromium.launch import BrowserOptions

SITE_MOVES_PER_SECOND = 20.0
"""Default moves a second on pages of other machines. Pages of this machine have no default limit."""


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """Options of a run of games on one page.

    Attributes:
        url: the page.
        games: how many games to play, one after another.
        out: the folder of the recordings.
        goal: when to stop a game.
        solver: which engine chooses the moves, and where it runs.
        browser: which browser opens the page.
        gif: how to draw GIFs; ``None`` for no GIFs.
        new_game: begin a new game even if the page shows a game in progress.
        site: file of a site profile.
        report: folder for a bug report, if the page cannot be played.
        gif_from_page: whether GIFs show pictures of the page; otherwise the frames are drawn.
    """

    url: str
    games: int
    out: Path
    goal: Goal
    solver: SolverOptions
    browser: BrowserOptions
    gif: AnimationOptions | None
    new_game: bool = False
    site: Path | None = None
    report: Path | None = None
    gif_from_page: bool = False


@dataclass(frozen=True, slots=True)
class GameSummary:
    """One game played.

    Attributes:
        record: the record of the game.
        seconds: from the first question to the solver until the last move was checked.
        gif: the file of the GIF, if there is one.
        gif_fault: why the GIF could not be written; the record is complete without it.
    """

    record: GameRecord
    seconds: float
    gif: Path | None
    gif_fault: str | None = None


def new_run_folder() -> Path:
    """Return the path of a folder in ``runs/`` that is named after the time; it is not made yet."""
    return Path("runs") / f"{datetime.datetime.now():%Y%m%d-%H%M%S}"


def rate_for(url: str, asked: float | None) -> float | None:
    """Return the moves a second for a page; ``None`` for no limit.

    Args:
        url: address of the page.
        asked: the rate that the user gave, 0 for no limit; ``None`` for the default.
    """
    if asked is not None:
        return asked or None
    parts = urlsplit(url)
    here = parts.scheme == "file" or is_loopback(parts.hostname or "")
    return None if here else SITE_MOVES_PER_SECOND
