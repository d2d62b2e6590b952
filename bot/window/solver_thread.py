"""Ask a solver server for the window's engine moves, in a separate thread, so that drawing never waits."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from asyncio import CancelledError
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from bot.client import SolverClient, client_for
from bot.solver_access import asking, solver_source
from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import Error2048
from game2048.size import Size
from game2048.solver_options import SolverOptions
from game2048.spawn import Spawner
from game2048.wire.messages import DecisionMessage

_STOP_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Choice:
    """The engine's answer for a board.

    Attributes:
        board: that was asked about.
        direction: the move; ``None`` where the game is over.
        values: the engine's value of each legal direction.
        elapsed_ms: time of the search.
        depth: of the search, in the engine's own unit.
        engine: the name of the engine.
        found_by: what knew the move (`game2048.wire.messages.FoundBy`).
    """

    board: Board
    direction: Direction | None
    values: dict[Direction, float]
    elapsed_ms: float
    depth: int
    engine: str
    found_by: str = "search"


@dataclass(frozen=True, slots=True)
class Failure:
    """The engine could not answer.

    Attributes:
        reason: one sentence.
    """

    reason: str


Answer = Choice | Failure


class SolverThread:
    """Asks a solver server about one board at a time; the last question replaces the one before.

        with SolverThread(options, size) as solver:
            solver.ask(board)
            answer = solver.wait(0.01)

    Args:
        options: the engine, and the server that has it. Without a server, one is started; it ends with the
            thread.
        size: of the boards; a first board of it warms the engine up.
    """

    def __init__(self, options: SolverOptions, size: Size) -> None:
        self._options = options
        self._warm_up = Spawner(0).start(*size)
        self._answers: queue.SimpleQueue[tuple[int, Answer]] = queue.SimpleQueue()
        self._ticket = 0
        self._loop = asyncio.new_event_loop()
        self._questions: asyncio.Queue[tuple[int, Board]] = asyncio.Queue()
        self._serving: asyncio.Task[None] | None = None
        self._current: asyncio.Task[Answer] | None = None
        self._thread = threading.Thread(target=self._run, name="solver", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._call(self._stop)
        self._thread.join(_STOP_SECONDS)

    def ask(self, board: Board) -> None:
        """Ask about a board; withdraw an earlier question without an answer."""
        self._ticket += 1
        self._send((self._ticket, board))

    def withdraw(self) -> None:
        """Withdraw the last question."""
        self._ticket += 1

    def wait(self, seconds: float) -> Answer | None:
        """Wait for the answer to the last question. Return ``None`` if it does not come in time."""
        while True:
            try:
                ticket, answer = self._answers.get(timeout=max(seconds, 1e-4))
            except queue.Empty:
                return None
            if ticket == self._ticket:
                return answer
            seconds = 0.0  # what is left in the queue is there already

    def _send(self, question: tuple[int, Board]) -> None:
        def put() -> None:
            self._questions.put_nowait(question)
            if self._current is not None:
                self._current.cancel()

        self._call(put)

    def _call(self, function: Callable[[], None]) -> None:
        """Call a function in the thread, unless its loop has ended."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)

    def _stop(self) -> None:
        if self._serving is not None:
            self._serving.cancel()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner, contextlib.suppress(CancelledError):
            runner.run(self._serve())

    async def _serve(self) -> None:
        """Answer questions until cancelled."""
        self._serving = asyncio.current_task()
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(self._end_search)
            client = await self._begin(stack)
            while True:
                question = await self._questions.get()
                while not self._questions.empty():
                    question = self._questions.get_nowait()
                ticket, board = question
                if isinstance(client, Failure):
                    client = await self._begin(stack)
                if isinstance(client, Failure):
                    self._answers.put((ticket, client))
                    continue
                self._current = asyncio.create_task(self._choose(client, board))
                await asyncio.wait({self._current})
                if not self._current.cancelled():
                    self._answers.put((ticket, self._current.result()))
                self._current = None

    async def _end_search(self) -> None:
        if self._current is not None:
            self._current.cancel()
            await asyncio.wait({self._current})

    async def _begin(self, stack: contextlib.AsyncExitStack) -> SolverClient | Failure:
        try:
            source = await stack.enter_async_context(solver_source(self._options))
            client = client_for(self._options, source)
            stack.push_async_callback(client.close)
            await client.connect()
            # The first answer of a board's size may have to wait for kernels: that is not a decision's time.
            warmed = await self._choose(client, self._warm_up)
        except Error2048 as error:
            return Failure(str(error))
        return warmed if isinstance(warmed, Failure) else client

    async def _choose(self, client: SolverClient, board: Board) -> Answer:
        try:
            answer = await asking(client, self._options)(board)
        except Error2048 as error:
            return Failure(str(error))
        if not isinstance(answer, DecisionMessage):
            return Choice(board, None, {}, 0.0, 0, self._options.engine or "")
        return Choice(
            board=board,
            direction=answer.chosen,
            values=answer.by_direction,
            elapsed_ms=answer.elapsed_ms,
            depth=answer.depth,
            engine=answer.engine,
            found_by=answer.found_by,
        )
