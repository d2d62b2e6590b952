"""A move's slide is computed once and travels with it: how often the rules are asked for one move."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from bot.player import GamePlayer
from bot.progress import Goal
from game2048 import Board, Direction
from game2048.board import Slide
from game2048.wire.messages import DecisionMessage, GameOver
from recordings.journal import GameJournal
from scraper.live_page import LivePage

pytestmark = pytest.mark.asyncio(loop_scope="session")

MOVES = 20
MOST_SLIDES = 8
VALUES = {"down": 4.0, "left": 3.0, "right": 2.0, "up": 1.0}


async def always_the_same(board: Board) -> DecisionMessage | GameOver:
    return DecisionMessage(1, "down", VALUES, 1, 1, 0.1, "same")  # type: ignore[arg-type]


async def test_a_confirmed_move_takes_few_slides(
    game: LivePage, pages_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = await game.open(f"{pages_url}clone.html")
    slide, slid = Board.slide, []

    def counted(board: Board, direction: Direction) -> Slide:
        slid.append(direction)
        return slide(board, direction)

    monkeypatch.setattr(Board, "slide", counted)
    journal = GameJournal.create(tmp_path, source=game.url, solver="same")
    player = GamePlayer(game, always_the_same, journal, Goal(max_moves=MOVES))
    async with contextlib.aclosing(player.play(reading)) as moves:
        async for _ in moves:
            pass
    assert player.record is not None
    assert player.record.total_moves == MOVES
    assert 4 * MOVES <= len(slid) <= MOST_SLIDES * MOVES
