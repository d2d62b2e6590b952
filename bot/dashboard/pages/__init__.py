"""The pages of the dashboard, one module each."""

from __future__ import annotations

from bot.dashboard.pages import board, gallery, live, replay, start, training, weights
from bot.dashboard.pages.layout import add_head
from bot.dashboard.services import Services


def add_pages(services: Services) -> None:
    """Add all pages."""
    add_head()
    for page in (start, live, replay, weights, training, gallery, board):
        page.add_page(services)
