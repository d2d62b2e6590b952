"""What goes on around the games of one page."""

from __future__ import annotations

import asyncio

import pytest

from bot.page_errors import naming_page
from bot.play import WARM_UP, warming_up
from game2048 import Board
from game2048.errors import PageError, SolverError
from game2048.wire.messages import DecisionMessage, GameOver


async def test_a_solver_is_asked_for_a_first_move_while_the_page_is_opened() -> None:
    asked: list[Board] = []

    async def solver(board: Board) -> DecisionMessage | GameOver:
        asked.append(board)
        raise SolverError("plays other sizes")

    async with warming_up(solver):
        await asyncio.sleep(0)
        assert asked == [WARM_UP]


async def test_a_page_that_cannot_be_opened_is_told_of_before_the_solver_answers() -> None:
    cancelled = asyncio.Event()

    async def solver(board: Board) -> DecisionMessage | GameOver:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        raise AssertionError(board)

    async def opens() -> None:
        async with warming_up(solver):
            await asyncio.sleep(0)
            raise PageError("no board")

    with pytest.raises(PageError, match="no board"):
        await opens()
    await cancelled.wait()


def test_an_error_of_a_page_names_its_address() -> None:
    with pytest.raises(PageError) as unnamed, naming_page("https://example.org/2048"):
        raise PageError("no browser starts")
    assert unnamed.value.url == "https://example.org/2048"
    with pytest.raises(PageError) as named, naming_page("https://example.org/2048"):
        raise PageError("no board", url="https://example.org/frame", reader="boxes")
    assert (named.value.url, named.value.reader) == ("https://example.org/frame", "boxes")


async def test_a_server_of_others_is_not_asked() -> None:
    async with warming_up(None):
        pass
