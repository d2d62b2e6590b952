"""The page `/replay`: recorded games, ply by ply."""

from __future__ import annotations

import json
from urllib.parse import quote, urlencode

from nicegui import ui

from bot.dashboard.pages.layout import Told, frame, link_to, size_text, table, text
from bot.dashboard.services import Services
from bot.dashboard.sources.opinions import default_choice
from game2048.size import Size
from recordings.datasets.game_index import GameHead

GAMES_A_PAGE = 100
_MOST_FILES = 300
_UPLOADED = ".jsonl,.json,.h5,.hdf5"


def add_replay_page(services: Services) -> None:
    """Add the page."""

    @ui.page("/replay", response_timeout=60)
    async def replay(
        file: str = "", game: str = "", first: str = "0", ply: str = "0", engine: str = ""
    ) -> None:
        with frame("Replay", "/replay"):
            told = Told()
            if not file:
                _show_files(services)
                return
            with told.faults():
                path = services.runs.file(file, "games", "journal")
                heads, fault = await services.replays.heads(path)
                if fault is not None:
                    told.show(str(fault))
                if game.isascii() and game.isdigit() and len(game) < 10:
                    _show_game(services, file, heads, int(game), ply, engine)
                else:
                    _show_games(file, heads, int(first) if first.isascii() and first.isdigit() else 0)


def replay_link(file: str, number: int | None = None) -> str:
    """Return the address of the replay of a file, or of one game of it (from 0)."""
    return "/replay?" + urlencode({"file": file} if number is None else {"file": file, "game": number})


def _show_files(services: Services) -> None:
    files = services.runs.files("games")
    text("p", "Choose a file of games. `bot2048 play`, `demo`, `harvest` and `generate` write them.")
    rows = [
        (
            lambda file=file: link_to(file.name, replay_link(file.name)),
            size_text(file.size),
            lambda file=file: link_to("Download", f"/files/{quote(file.name)}", saved=True),
        )
        for file in files[:_MOST_FILES]
    ]
    if rows:
        table("Recorded games", ("File", "Size", "Save"), rows)
    else:
        text("p", f"There are no games in {services.runs.root} yet. Try `bot2048 demo`.").classes("quiet")
    text("h2", "Bring a file of games")
    upload_element("File of games", _UPLOADED)


def upload_element(label: str, accept: str) -> None:
    """Show a field to upload a file; load the page again when the file has been stored."""
    upload = ui.element("file-upload")
    upload.props["data-label"] = label
    upload.props["data-accept"] = accept
    upload.on("kept", lambda: ui.navigate.reload())


def _show_games(file: str, heads: list[GameHead], first: int) -> None:
    text("p", f"{file}: {len(heads):,} games")
    rows = [
        (
            lambda number=number: link_to(f"Game {number + 1}", replay_link(file, number)),
            f"{head.final_score:,}",
            str(head.info.max_tile),
            f"{head.info.total_moves:,}",
            str(head.size),
            (head.info.outcome or "not recorded").replace("_", " "),
            head.info.solver or "unknown",
            head.info.timestamp,
        )
        for number, head in enumerate(heads[first : first + GAMES_A_PAGE], first)
    ]
    columns = ("Game", "Score", "Largest tile", "Moves", "Board", "End", "Engine", "Time")
    table(f"Games {first + 1:,} to {first + len(rows):,}", columns, rows)
    with ui.row():
        for words, place in (("Earlier games", first - GAMES_A_PAGE), ("Later games", first + GAMES_A_PAGE)):
            if 0 <= place < len(heads) or (words.startswith("Earlier") and first > 0):
                link_to(words, replay_link(file) + f"&first={max(place, 0)}")


def _show_game(
    services: Services, file: str, heads: list[GameHead], number: int, ply: str, asked: str
) -> None:
    if number < len(heads):
        head = heads[number]
        text(
            "p",
            f"{file}, game {number + 1}: score {head.final_score:,}, tile {head.info.max_tile}, "
            f"{head.info.total_moves:,} moves, by {head.info.solver or 'an unknown engine'}",
        )
    size = heads[number].size if number < len(heads) else Size(4, 4)
    own = default_choice(size)
    engine, depth = own.engine, own.depth
    choices = [{"value": key, "text": words} for key, words in services.engine_choices()]
    if any(choice["value"] == asked for choice in choices):
        engine, depth = asked, 1 if asked.startswith("weights:") else None
    view = ui.element("game-replay")
    view.props["data-file"] = file
    view.props["data-game"] = str(number)
    view.props["data-ply"] = ply if ply.isascii() and ply.isdigit() and len(ply) < 10 else "0"
    view.props["data-engines"] = json.dumps([{"value": "", "text": "none"}, *choices])
    view.props["data-engine"] = engine
    view.props["data-depth"] = "" if depth is None else str(depth)
    with ui.row():
        link_to("All games of this file", replay_link(file))
        link_to("Download the file", f"/files/{quote(file)}", saved=True)
    text("pre", f"bot2048 records gif {services.runs.root / file} --game {number + 1}")
