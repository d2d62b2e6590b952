"""Pages whose boards are read wrongly at first: no wrong move stays in a record."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from support import npm_pages

from bot.player import GamePlayer
from bot.progress import Goal
from game2048 import Board
from game2048.wire.messages import DecisionMessage, GameOver
from recordings.journal import GameJournal
from recordings.replay import verify
from scraper.live_page import LivePage
from scraper.page import MisreadError

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGES = Path(__file__).resolve().parent.parent / "pages"
MOVES = 6
RIGHT = 10
"""How many moves the wrong board of the page is right."""


async def emptiest(board: Board) -> DecisionMessage | GameOver:
    """Keep cells empty."""
    legal = board.legal_directions()
    if not legal:
        return GameOver(1)
    best = max(legal, key=lambda direction: len(board.slide(direction).afterstate.empty_cells()))
    return DecisionMessage(1, best.value, {best.value: 0.0}, 1, 1, 0.1, "emptiest")


async def play(game: LivePage, folder: Path, query: str) -> GamePlayer:
    with npm_pages.serve_folder(PAGES) as url:
        reading = await game.open(f"{url}misread.html{query}")
        journal = GameJournal.create(folder, source=game.url, solver="emptiest")
        player = GamePlayer(game, emptiest, journal, Goal(max_moves=RIGHT + MOVES))
        async with contextlib.aclosing(player.play(reading)) as moves:
            async for _ in moves:
                pass
    return player


async def test_the_record_begins_again_where_the_right_board_is_found(game: LivePage, tmp_path: Path) -> None:
    player = await play(game, tmp_path, "")
    record = player.record
    assert record is not None
    assert record.total_moves == RIGHT + MOVES
    assert verify(record) is None
    shown = await game.tab.evaluate("window.shown")
    boards = [move.board for move in record.moves]
    assert boards[0] in shown[RIGHT:]
    begun = shown.index(boards[0])
    assert boards == shown[begun : begun + len(boards)]
    assert record.rules is None
    assert len((tmp_path / "games.jsonl").read_text().splitlines()) == 1


async def test_a_page_that_shows_no_game_after_all_leaves_no_record(game: LivePage, tmp_path: Path) -> None:
    with pytest.raises(MisreadError, match="boards in a row defy the rules"):
        await play(game, tmp_path, "?alone")
    assert not (tmp_path / "games.jsonl").exists()
    assert [path for path in tmp_path.iterdir() if path.suffix == ".journal"] == []
