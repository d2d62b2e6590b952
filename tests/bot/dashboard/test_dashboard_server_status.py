"""What the page Live asks of a solver server, and what a real one answers."""

from __future__ import annotations

import pytest
from support.server_process import server_process

from bot.client import SolverClient
from bot.dashboard.faults import DashboardError
from bot.dashboard.sources.live_server import read_metrics, read_status
from game2048 import Board
from game2048.wire.messages import DecisionMessage

TOKEN = "a-token-of-the-tests"
BOARD = Board.from_text("2 2 / 4 8")


async def test_a_server_tells_its_last_board_and_its_counts() -> None:
    with server_process("--engine", "fast", "--token", TOKEN) as server:
        async with SolverClient(server.url, token=TOKEN) as client:
            answer = await client.choose(BOARD, depth=1)
            status = await read_status(server.url, TOKEN)
        assert isinstance(answer, DecisionMessage)
        assert (status.ready, status.boards, status.connections) == (True, 1, 1)
        last = status.last_board()
        assert last is not None
        assert last[0] == BOARD
        assert last[1].direction == answer.direction
        assert 'bot2048_boards_total{engine="fast"} 1.0' in await read_metrics(server.url, TOKEN)
        with pytest.raises(DashboardError, match="the token is missing or wrong"):
            await read_status(server.url)
    with pytest.raises(DashboardError, match="does not answer"):
        await read_status(server.url, TOKEN)
