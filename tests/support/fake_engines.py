"""Small engines for the tests of server and client: no kernels, and behaviour on command."""

from __future__ import annotations

import threading
import time

from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import SolverError
from game2048.wire.messages import EngineInfo
from solver_server.engine import Decision, Engine, Limit
from solver_server.serving.pool import EngineOffer
from solver_server.stop_flag import StopFlag


class FirstLegal:
    """Plays the first legal direction; its values are the merge rewards; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Board, Limit]] = []

    def choose(self, board: Board, limit: Limit) -> Decision | None:
        self.asked.append((board, limit))
        values = {
            direction: float(slide.reward) for direction, slide in board.slides().items() if slide.moved
        }
        if not values:
            return None
        return Decision(next(iter(values)), values, depth=limit.depth or 1, nodes=len(values), elapsed_ms=0.5)


class Gated(FirstLegal):
    """Stands still in every search, but the first (which warms it up), until the gate is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.searching = threading.Semaphore(0)

    def choose(self, board: Board, limit: Limit) -> Decision | None:
        if self.asked:
            self.searching.release()
            assert self.gate.wait(60), "the test never opened the gate"
        return super().choose(board, limit)


class Endless(FirstLegal):
    """Searches until it is stopped, unless a depth is given."""

    def __init__(self) -> None:
        super().__init__()
        self.stop_flag = StopFlag()
        self.searching = threading.Semaphore(0)

    def choose(self, board: Board, limit: Limit) -> Decision | None:
        if limit.depth is None and self.asked:
            self.searching.release()
            while True:
                self.stop_flag.check()
                time.sleep(0.001)
        return super().choose(board, limit)


class Failing(FirstLegal):
    """Refuses the 3-row boards and breaks on the 2-row ones."""

    def choose(self, board: Board, limit: Limit) -> Decision | None:
        if board.rows == 3:
            raise SolverError("three rows are too many for me")
        if board.rows == 2:
            raise ZeroDivisionError("a bug")
        return super().choose(board, limit)


class Cheat(FirstLegal):
    """Chooses up, come what may."""

    def choose(self, board: Board, limit: Limit) -> Decision | None:
        return Decision(Direction.UP, {Direction.UP: 1.0}, depth=1, nodes=1, elapsed_ms=0.5)


def offer(agent: Engine, name: str = "first") -> EngineOffer:
    """An offer whose every instance is that one agent."""
    return EngineOffer(EngineInfo(name, "for tests", ("any",), max_depth=8, default_depth=1), lambda: agent)
