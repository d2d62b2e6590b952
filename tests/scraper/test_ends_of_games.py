"""Pages that end a game in their own ways: every game ends, and the next one is played."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.async_api import Browser
from support import npm_pages

from bot.player import GamePlayer
from bot.progress import Goal
from game2048 import Board, Direction
from game2048.wire.messages import DecisionMessage, GameOver
from recordings.journal import GameJournal
from recordings.record import GameRecord
from recordings.replay import verify
from scraper.moves.rule_variants import ending_at
from scraper.open_page import live_page
from scraper.wait_times import WaitTimes

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGES = Path(__file__).resolve().parent.parent / "pages"
BRIEF = WaitTimes(idle=200, cap=1_000)
ORDER = (Direction.DOWN, Direction.LEFT, Direction.RIGHT, Direction.UP)


@pytest.fixture(scope="module")
def pages_url() -> Iterator[str]:
    with npm_pages.serve_folder(PAGES) as url:
        yield url


async def downward(board: Board) -> DecisionMessage | GameOver:
    legal = [direction for direction in ORDER if board.slide(direction).moved]
    values = {direction.value: -float(rank) for rank, direction in enumerate(legal)}
    return DecisionMessage(1, legal[0].value, values, 1, 1, 0.1, "downward")


@dataclass(frozen=True)
class End:
    """How a page ends its games, and whether it says that this is a win."""

    how: str
    says: str = "You win!"
    is_win: bool = True

    @property
    def query(self) -> str:
        return urlencode({"how": self.how, "says": self.says, "at": 32})


WINS = [
    End("text"),
    End("text", "Trululu"),  # of which nothing is known: the page stops at a new largest tile
    End("alert", "Well done"),
    End("loop"),
]
OTHERS = [
    End("touching", "Game Over", is_win=False),
    End("alert", "Game over", is_win=False),
    End("touching", "Congratulations"),
    End("silent"),
]


@pytest.mark.parametrize("ends", [WINS, pytest.param(OTHERS, marks=pytest.mark.slow)], ids=["wins", "others"])
async def test_games_that_pages_end_are_recorded_and_the_next_are_played(
    browser: Browser, pages_url: str, tmp_path: Path, ends: list[End]
) -> None:
    folders = [tmp_path / str(number) for number in range(len(ends))]
    await asyncio.gather(
        *(two_games(browser, pages_url, folder, end) for folder, end in zip(folders, ends, strict=True))
    )


async def two_games(browser: Browser, url: str, folder: Path, end: End) -> None:
    records: list[GameRecord] = []
    folder.mkdir()
    async with live_page(browser, waits=BRIEF) as page:
        reading = await page.open(f"{url}ends.html?{end.query}")
        for number in range(2):
            if number:
                reading = await page.new_game()
            journal = GameJournal.create(folder, source=page.url, solver="downward")
            player = GamePlayer(page, downward, journal, Goal())
            async with contextlib.aclosing(player.play(reading)) as moves:
                async for _ in moves:
                    pass
            assert player.record is not None, end
            records.append(player.record)
    first, second = records
    assert (first.outcome, first.max_tile) == ("stopped", 32), end
    assert first.rules == ([str(ending_at(32))] if end.is_win else None), end
    assert verify(first) is None
    assert [move.direction for move in second.moves] == [move.direction for move in first.moves]
    assert (second.outcome, second.final_board) == (first.outcome, first.final_board)
