"""Ask a solver server for moves, and reconnect after its restarts."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import numpy as np
import numpy.typing as npt
from websockets.client import backoff

from bot.solver_connection import (
    ClientAccess,
    ClientPatience,
    ConnectionTroubleError,
    SolverConnection,
)
from game2048.board import Board
from game2048.direction import DIRECTIONS, Direction
from game2048.errors import SolverError, SolverRefusedError
from game2048.solver_options import SolverOptions
from game2048.wire.frames import GAME_OVER, PackedDirections, PackedRequest, encode_boards, pack_boards
from game2048.wire.messages import (
    Cancel,
    Choose,
    ChooseMany,
    DecisionMessage,
    Directions,
    GameOver,
    Hello,
    RequestId,
    ServerMessage,
    encode,
)

__all__ = ["ClientPatience", "SolverClient", "UrlSource", "client_for"]

log = logging.getLogger(__name__)

UrlSource = Callable[[], Awaitable[str]]
"""Returns the server's address; called before each attempt to connect (`OwnServer.ensure_running`)."""

_IN_FLIGHT = 4  # messages of one `choose_many` that the server has at a time
_LINE_BYTES = 512  # room for the JSON line of a frame
_FACTOR = 2.0  # each wait to reconnect is this much longer than the one before

T = TypeVar("T")
Encoder = Callable[[int], str | bytes]
"""Makes the message with a given id."""


@dataclass(slots=True)
class _Batch:
    """Messages to send, and their answers so far, in order. After an outage the rest is sent again."""

    messages: Sequence[Encoder]
    answers: list[ServerMessage | PackedDirections] = field(default_factory=list)


class SolverClient:
    """A client of a solver server. It asks one question at a time; other callers wait.

        async with SolverClient("ws://127.0.0.1:8765") as client:
            answer = await client.choose(board)

    Args:
        url: ``ws://`` or ``wss://`` address of the server, or a function that returns it.
        token: the server's token, if it has one.
        patience: how long to wait.
        ca: a PEM file of certificates to trust in addition to the system's, for ``wss://``.
    """

    def __init__(
        self,
        url: str | UrlSource,
        *,
        token: str | None = None,
        patience: ClientPatience | None = None,
        ca: Path | None = None,
    ) -> None:
        self._source = url
        self._url = url if isinstance(url, str) else "the solver server"
        self._access = ClientAccess(token, ca)
        self._patience = patience or ClientPatience()
        self._connection: SolverConnection | None = None
        self._hello: Hello | None = None
        self._ids = itertools.count(1)
        self._turn = asyncio.Lock()
        self._withdrawals: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def url(self) -> str:
        """The address of the last connection."""
        return self._url

    @property
    def hello(self) -> Hello | None:
        """The greeting of the last connection; ``None`` before the first."""
        return self._hello

    async def connect(self) -> Hello:
        """Connect, in one attempt, unless the client is connected already.

        Raises:
            SolverError: no server answers, or it speaks another protocol version, or it refuses the client.
        """
        async with self._turn:
            try:
                return (await self._connected()).hello
            except ConnectionTroubleError as trouble:
                raise self._unreachable(str(trouble)) from trouble

    async def close(self) -> None:
        """Close the connection; a later `choose` opens another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def choose(
        self,
        board: Board,
        *,
        engine: str | None = None,
        depth: int | None = None,
        time_ms: float | None = None,
    ) -> DecisionMessage | GameOver:
        """Return the server's move for a board; the server chooses the engine and the limit if not given.

        If the connection breaks, the client connects again and asks again, until `ClientPatience.outage` has
        passed. If the caller is cancelled, the client tells the server to stop its search.

        Raises:
            SolverRefusedError: the server answered with an error.
            SolverError: the server stayed away, did not answer, or breaks the protocol.
        """

        def message(number: int) -> str:
            return encode(Choose(number, board.tiles(), engine, depth, time_ms))

        (answer,) = await self._ask_all(lambda hello: [message])
        if not isinstance(answer, DecisionMessage | GameOver):
            raise self._wrong_answer(answer)
        if isinstance(answer, DecisionMessage) and not board.slide(Direction.parse(answer.direction)).moved:
            raise SolverError(
                f"{self._url} chose {answer.direction!r}, which changes nothing on {board.text()!r}: "
                "its engine is broken"
            )
        return answer

    async def choose_many(
        self,
        boards: Sequence[Board],
        *,
        engine: str | None = None,
        depth: int | None = None,
        time_ms: float | None = None,
    ) -> list[Direction | None]:
        """Return the server's direction for each board, in order; ``None`` where the game is over.

        Takes any number of boards of any size. The client packs 4×4 boards, thousands in one message. It
        handles outages as in `choose`. It asks servers without ``choose_many`` board by board.

        Args:
            boards: the boards.
            engine: the name of an engine.
            depth: how deep to search, for each board.
            time_ms: milliseconds for each board.

        Raises:
            SolverRefusedError: the server answered with an error.
            SolverError: the server stayed away, did not answer, or breaks the protocol.
        """
        if not boards:
            return []
        packed = pack_boards(boards)

        def messages(hello: Hello) -> list[Encoder]:
            if not hello.max_boards:
                return [_one(board, engine, depth, time_ms) for board in boards]
            if packed is not None:
                return _packed_messages(hello, packed, PackedRequest(0, engine, depth, time_ms))
            return _text_messages(hello, boards, ChooseMany(0, [], engine, depth, time_ms))

        found: list[Direction | None] = []
        for answer in await self._ask_all(messages):
            found += self._directions_of(answer)
        if len(found) != len(boards):
            raise SolverError(f"{self._url} answered {len(found)} of {len(boards)} boards; it is broken")
        return found

    async def choose_packed(
        self,
        boards: npt.NDArray[np.uint64],
        *,
        engine: str | None = None,
        depth: int | None = None,
        time_ms: float | None = None,
    ) -> npt.NDArray[np.uint8]:
        """Return the server's direction for each packed 4×4 board; the fast form of `choose_many`.

        Args:
            boards: uint64 [n]; four bits hold the exponent of a cell, the lowest bits the first cell.
            engine: the name of an engine.
            depth: how deep to search, for each board.
            time_ms: milliseconds for each board.

        Returns:
            uint8 [n]: 0 up, 1 right, 2 down, 3 left, `game2048.wire.frames.GAME_OVER` where the game is over.

        Raises:
            SolverRefusedError: the server answered with an error.
            SolverError: as in `choose_many`, or the server does not take packed boards.
        """
        if not boards.size:
            return np.zeros(0, dtype=np.uint8)

        def messages(hello: Hello) -> list[Encoder]:
            if not hello.max_boards:
                raise SolverError(f"{self._url} does not take packed boards; update it, or use choose_many")
            return _packed_messages(hello, boards, PackedRequest(0, engine, depth, time_ms))

        answers = await self._ask_all(messages)
        if not all(isinstance(answer, PackedDirections) for answer in answers):
            raise self._wrong_answer(answers[0])
        found = np.concatenate([a.directions for a in answers if isinstance(a, PackedDirections)])
        if found.size != boards.size:
            raise SolverError(f"{self._url} answered {found.size} of {boards.size} boards; it is broken")
        return found

    # -- asking -------------------------------------------------------------------------------------------

    async def _ask_all(
        self, messages: Callable[[Hello], Sequence[Encoder]]
    ) -> list[ServerMessage | PackedDirections]:
        """Send the messages and return their answers; reconnect after outages."""
        async with self._turn:
            batch: _Batch | None = None

            async def ask(connection: SolverConnection) -> None:
                nonlocal batch
                if batch is None:
                    batch = _Batch(messages(connection.hello))
                await self._ask(connection, batch)

            await self._through_outages(ask)
            assert batch is not None
            return batch.answers

    async def _through_outages(self, ask: Callable[[SolverConnection], Awaitable[T]]) -> T:
        loop = asyncio.get_running_loop()
        deadline: float | None = None
        delays = self._delays()
        for attempt in itertools.count(1):
            try:
                return await ask(await self._connected())
            except ConnectionTroubleError as trouble:
                self._connection = None
                delay = next(delays)
                if deadline is None:
                    deadline = loop.time() + self._patience.outage
                    log.warning("lost the solver server %s (%s); reconnecting", self._url, trouble)
                if loop.time() + delay > deadline:
                    outage = f"{trouble}; {attempt} attempts within {self._patience.outage:g} s"
                    raise self._unreachable(outage) from trouble
                await asyncio.sleep(delay)
        raise AssertionError("unreachable")

    def _delays(self) -> Iterator[float]:
        patience = self._patience
        return backoff(patience.first_delay, patience.first_delay, patience.longest_delay, _FACTOR)

    async def _connected(self) -> SolverConnection:
        if self._connection is None:
            self._url = self._source if isinstance(self._source, str) else await self._source()
            self._connection = await SolverConnection.open(self._url, self._access, self._patience)
            self._hello = self._connection.hello
        return self._connection

    async def _ask(self, connection: SolverConnection, batch: _Batch) -> None:
        """Send the messages without an answer, a few at a time, and collect the answers in order."""
        waiting: deque[int] = deque()
        sent = len(batch.answers)
        try:
            while len(batch.answers) < len(batch.messages):
                async with asyncio.timeout(self._patience.answer):
                    while sent < len(batch.messages) and len(waiting) < _IN_FLIGHT:
                        waiting.append(next(self._ids))
                        await connection.send(batch.messages[sent](waiting[-1]))
                        sent += 1
                    batch.answers.append(await connection.answer_to(waiting[0]))
                waiting.popleft()
        except TimeoutError as error:
            self._connection = None
            connection.abort()
            raise SolverError(
                f"the solver server {self._url} did not answer within {self._patience.answer:g} s; "
                "ask for less depth or time, or restart it"
            ) from error
        except (asyncio.CancelledError, SolverRefusedError):
            self._withdraw(connection, waiting)
            raise

    def _withdraw(self, connection: SolverConnection, waiting: Sequence[RequestId]) -> None:
        """Tell the server that nobody needs these answers any more; do not wait for it."""

        async def send() -> None:
            with contextlib.suppress(ConnectionTroubleError):
                for number in waiting:
                    await connection.send(encode(Cancel(number)))

        if connection.hello.max_boards:  # an older server would answer with "unknown message"
            task = asyncio.create_task(send())
            self._withdrawals.add(task)
            task.add_done_callback(self._withdrawals.discard)

    def _directions_of(self, answer: ServerMessage | PackedDirections) -> list[Direction | None]:
        if isinstance(answer, PackedDirections):
            return [None if index == GAME_OVER else DIRECTIONS[index] for index in answer.directions.tolist()]
        if isinstance(answer, Directions):
            return [None if name is None else Direction.parse(name) for name in answer.directions]
        if isinstance(answer, DecisionMessage):
            return [Direction.parse(answer.direction)]
        if isinstance(answer, GameOver):
            return [None]
        raise self._wrong_answer(answer)

    def _wrong_answer(self, answer: ServerMessage | PackedDirections) -> SolverError:
        return SolverError(
            f"{self._url} answered with a message of type {type(answer).__name__}; it breaks the protocol"
        )

    def _unreachable(self, reason: str) -> SolverError:
        return SolverError(
            f"cannot reach the solver server {self._url}: {reason}; "
            "start one with `bot2048 serve`, or check the address"
        )


def client_for(solver: SolverOptions, source: str | UrlSource) -> SolverClient:
    """Return a client with the token, certificates and patience of a command's options.

    Args:
        solver: the options of the command.
        source: the address of the server, or a function that returns it.
    """
    patience = ClientPatience(outage=solver.server_patience)
    return SolverClient(source, token=solver.token, ca=solver.ca, patience=patience)


def _one(board: Board, engine: str | None, depth: int | None, time_ms: float | None) -> Encoder:
    return lambda number: encode(Choose(number, board.tiles(), engine, depth, time_ms))


def _packed_messages(hello: Hello, boards: npt.NDArray[np.uint64], request: PackedRequest) -> list[Encoder]:
    size = min(hello.max_boards, max((hello.max_message_bytes - _LINE_BYTES) // 8, 1))

    def message(begin: int) -> Encoder:
        part = boards[begin : begin + size]
        return lambda number: encode_boards(
            PackedRequest(number, request.engine, request.depth, request.time_ms), part
        )

    return [message(begin) for begin in range(0, len(boards), size)]


def _text_messages(hello: Hello, boards: Sequence[Board], request: ChooseMany) -> list[Encoder]:
    longest = max(len(str(board.tiles())) for board in boards)
    size = min(hello.max_boards, max((hello.max_message_bytes - _LINE_BYTES) // longest, 1))

    def message(begin: int) -> Encoder:
        part = [board.tiles() for board in boards[begin : begin + size]]
        return lambda number: encode(ChooseMany(number, part, request.engine, request.depth, request.time_ms))

    return [message(begin) for begin in range(0, len(boards), size)]
