"""The page `/pictures`: animations of games, loaded when they come into view."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from nicegui import ui

from bot.dashboard.pages.layout import frame, link_to, size_text, text
from bot.dashboard.services import Services
from bot.dashboard.sources.run_folders import RunFile

PICTURES_A_PAGE = 60


def add_gallery_page(services: Services) -> None:
    """Add the page."""

    @ui.page("/pictures")
    def pictures(first: str = "0") -> None:
        with frame("Pictures", "/pictures"):
            files = services.runs.files("picture")
            begin = int(first) if first.isascii() and first.isdigit() and len(first) < 8 else 0
            if not files:
                text("p", "There are no pictures yet. Make one: bot2048 records gif FOLDER").classes("quiet")
                return
            shown = files[begin : begin + PICTURES_A_PAGE]
            text("p", f"{begin + 1:,} to {begin + len(shown):,} of {len(files):,}, the latest first")
            show_pictures(shown)
            with ui.row():
                if begin:
                    link_to("Later pictures", f"/pictures?first={max(begin - PICTURES_A_PAGE, 0)}")
                if begin + PICTURES_A_PAGE < len(files):
                    link_to("Earlier pictures", f"/pictures?first={begin + PICTURES_A_PAGE}")


def show_pictures(files: Sequence[RunFile]) -> None:
    """Show some pictures; the browser loads each when it comes into view."""
    with ui.element("div").classes("pictures"):
        for file in files:
            # The address holds the time, so that the browser does not show an old picture from its cache.
            address = f"/files/{quote(file.name)}"
            with ui.element("figure"):
                image = ui.element("img").props('loading="lazy" decoding="async" width="200" height="200"')
                image.props["src"] = f"{address}?{int(file.modified * 1000)}"
                image.props["alt"] = f"Animation of a game: {file.name}"
                with ui.element("figcaption"):
                    link_to(f"{file.name}, {size_text(file.size)}", address)
