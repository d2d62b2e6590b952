"""The pages of the dashboard, one module each."""

from __future__ import annotations

from bot.dashboard.pages.board import add_board_page
from bot.dashboard.pages.gallery import add_gallery_page
from bot.dashboard.pages.layout import add_head
from bot.dashboard.pages.live import add_live_page
from bot.dashboard.pages.replay import add_replay_page
from bot.dashboard.pages.start import add_start_page
from bot.dashboard.pages.training import add_training_page
from bot.dashboard.pages.weights import add_weights_page
from bot.dashboard.services import Services

_ADDERS = (
    add_start_page,
    add_live_page,
    add_replay_page,
    add_weights_page,
    add_training_page,
    add_gallery_page,
    add_board_page,
)


def add_pages(services: Services) -> None:
    """Add all pages."""
    add_head()
    for add in _ADDERS:
        add(services)
