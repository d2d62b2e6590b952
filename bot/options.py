"""What a run of games is told, and what it gives back. Light: no browser driver, no Pillow."""

from __future__ import annotations

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
"""The rate on pages of other machines where none is asked for; on this machine there is no limit."""


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """All that a run of games is told.

    Attributes:
        url: the page.
        games: how many to play, one after another.
        out: the folder of the recordings.
        goal: when to stop a game.
        solver: what chooses.
        browser: what opens the page.
        gif: how GIFs are drawn; ``None`` for none.
        new_game: begin anew where the page shows a game that was begun before.
        site: a site profile.
        report: where to put what was seen if the page cannot be played.
        gif_from_page: whether the frames of GIFs are pictures of the page; else they are drawn.
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
        record: its record.
        seconds: from the first question to the last confirmation.
        gif: where its GIF is, if one was drawn.
        gif_fault: why a GIF could not be written; the record of the game is complete nevertheless.
    """

    record: GameRecord
    seconds: float
    gif: Path | None
    gif_fault: str | None = None


def rate_for(url: str, asked: float | None) -> float | None:
    """Moves a second on a page: as asked (0 for no limit), else gentle with machines that are not ours."""
    if asked is not None:
        return asked or None
    parts = urlsplit(url)
    here = parts.scheme == "file" or is_loopback(parts.hostname or "")
    return None if here else SITE_MOVES_PER_SECOND
