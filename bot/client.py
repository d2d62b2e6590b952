"""Asking a solver server for moves, through its restarts."""

from __future__ import annotations

import asyncio
import itertools
import logging
import random
import ssl
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidProxy,
    InvalidStatus,
    InvalidURI,
)

from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import SolverError, SolverRefusedError, WireError
from game2048.net import authorization, is_loopback
from game2048.wire import (
    MAX_MESSAGE_BYTES,
    PROTOCOL_VERSION,
    Answer,
    Choose,
    DecisionMessage,
    ErrorMessage,
    GameOver,
    Hello,
    decode_answer,
    encode,
    protocol_of,
)

log = logging.getLogger(__name__)

UrlSource = Callable[[], Awaitable[str]]
"""Says where the server is now; asked before every attempt to connect (`OwnServer.ensure_running`)."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a client waits; all in seconds.

    Attributes:
        connect: for one attempt to connect, up to the server's greeting.
        answer: for one answer; the first of a server may have to wait until its kernels are compiled.
        outage: from the loss of a connection to the answer that was due, over all attempts to reconnect.
        first_delay: before the second attempt to reconnect (the first is made at once); it doubles each time.
        longest_delay: where the doubling ends.
        ping: between keep-alive pings, and for their answers.
    """

    connect: float = 10.0
    answer: float = 300.0
    outage: float = 30.0
    first_delay: float = 0.1
    longest_delay: float = 3.0
    ping: float = 20.0


class _ConnectionTroubleError(Exception):
    """The connection could not be made, or broke, in a way that may pass."""


class SolverClient:
    """One client of a solver server. It has one request under way at a time; others wait.

        async with SolverClient("ws://127.0.0.1:8765") as client:
            answer = await client.choose(board)

    Args:
        url: ``ws://`` or ``wss://`` address of the server, or what gives it.
        token: the server's token, if it has one.
        patience: how long to wait.
    """

    def __init__(
        self, url: str | UrlSource, *, token: str | None = None, patience: Patience | None = None
    ) -> None:
        self._source = url
        self._url = url if isinstance(url, str) else "the solver server"
        self._token = token
        self._patience = patience or Patience()
        self._connection: ClientConnection | None = None
        self._hello: Hello | None = None
        self._ids = itertools.count(1)
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def url(self) -> str:
        """Where it last connected to."""
        return self._url

    @property
    def hello(self) -> Hello | None:
        """The greeting of the server it last connected to."""
        return self._hello

    async def connect(self) -> Hello:
        """Connect, in one attempt, unless connected already.

        Raises:
            SolverError: no server there, it speaks another protocol version, or it refused.
        """
        async with self._turn:
            try:
                await self._ensure_connected()
            except _ConnectionTroubleError as trouble:
                raise self._unreachable(str(trouble)) from trouble
        assert self._hello is not None
        return self._hello

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
        """The server's move for a board; what is left out is the server's choice.

        Where the connection breaks, it connects again and asks again, until `Patience.outage` has passed.

        Raises:
            SolverRefusedError: the server answered with an error.
            SolverError: the server stayed away, did not answer, or does not keep to the protocol.
        """
        async with self._turn:
            request = Choose(next(self._ids), board.tiles(), engine, depth, time_ms)
            answer = await self._ask_through_outages(request)
        if isinstance(answer, DecisionMessage) and not board.slide(Direction.parse(answer.direction)).moved:
            raise SolverError(
                f"{self._url} chose {answer.direction!r}, which changes nothing on {board.text()!r}: "
                "its engine is broken"
            )
        return answer

    async def _ask_through_outages(self, request: Choose) -> DecisionMessage | GameOver:
        loop = asyncio.get_running_loop()
        deadline: float | None = None
        delays = self._delays()
        for attempt in itertools.count(1):
            try:
                await self._ensure_connected()
                return await self._ask(request)
            except _ConnectionTroubleError as trouble:
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
        """No delay, then exponential back-off, each shortened at random: clients of one server spread out."""
        yield 0.0
        for doublings in itertools.count():
            delay = self._patience.first_delay * 2.0 ** min(doublings, 16)
            yield min(delay, self._patience.longest_delay) * random.uniform(0.5, 1.0)

    # -- one connection -----------------------------------------------------------------------------------

    async def _ensure_connected(self) -> None:
        if self._connection is not None:
            return
        self._url = self._source if isinstance(self._source, str) else await self._source()
        connection = await self._open()
        try:
            self._hello = await self._greeting(connection)
        except BaseException:
            connection.transport.abort()
            raise
        self._connection = connection

    async def _open(self) -> ClientConnection:
        patience = self._patience
        headers = {} if self._token is None else {"Authorization": authorization(self._token)}
        try:
            return await connect(
                self._url,
                additional_headers=headers,
                # A proxy cannot reach this machine's own loopback, yet the environment may ask for one.
                proxy=None if is_loopback(urlsplit(self._url).hostname or "") else True,
                compression=None,
                open_timeout=patience.connect,
                ping_interval=patience.ping,
                ping_timeout=patience.ping,
                close_timeout=2,
                max_size=4 * MAX_MESSAGE_BYTES,
            )
        except InvalidStatus as error:
            raise self._refused(error) from error
        except (ssl.SSLError, InvalidHandshake, InvalidProxy, ImportError) as error:  # the last: no SOCKS
            if isinstance(error, InvalidMessage):  # it closed the connection half-way, as when it stops
                raise _ConnectionTroubleError(_reason(error)) from error
            raise SolverError(
                f"{self._url} is no solver server, or not one this client may talk to: {_reason(error)}"
            ) from error
        except (InvalidURI, ValueError) as error:
            raise SolverError(
                f"server address {self._url!r} is not usable: expected e.g. ws://127.0.0.1:8765"
            ) from error
        except OSError as error:  # TimeoutError too
            raise _ConnectionTroubleError(_reason(error)) from error

    def _refused(self, error: InvalidStatus) -> SolverError | _ConnectionTroubleError:
        status = error.response.status_code
        body = (error.response.body or b"").decode("utf-8", "replace").strip()[:200]
        told = f"HTTP status {status}" + (f", {body!r}" if body else "")
        if status >= 500:  # full, stopping, or a gateway whose server is away
            return _ConnectionTroubleError(told)
        advice = "; give its --token (or set BOT2048_TOKEN)" if status == 401 else ""
        return SolverError(f"the solver server {self._url} refused the connection: {told}{advice}")

    async def _greeting(self, connection: ClientConnection) -> Hello:
        try:
            async with asyncio.timeout(self._patience.connect):
                data = await connection.recv()
        except TimeoutError as error:
            raise SolverError(
                f"{self._url} is no solver server: no greeting within {self._patience.connect:g} s"
            ) from error
        except ConnectionClosed as error:
            raise _ConnectionTroubleError(_reason(error)) from error
        version = protocol_of(data)
        if version is not None and version != PROTOCOL_VERSION:
            raise SolverError(
                f"the solver server {self._url} speaks protocol {version}, this client {PROTOCOL_VERSION}: "
                f"update the {'client' if version > PROTOCOL_VERSION else 'server'}"
            )
        hello = self._decode(data)
        if not isinstance(hello, Hello):
            raise SolverError(f"{self._url} is no solver server: it did not begin with a greeting")
        return hello

    async def _ask(self, request: Choose) -> DecisionMessage | GameOver:
        assert self._connection is not None
        connection = self._connection
        try:
            async with asyncio.timeout(self._patience.answer):
                await connection.send(encode(request))
                while True:
                    answer = self._decode(await connection.recv())
                    # Answers to requests that were cancelled come first; they are for nobody.
                    if isinstance(answer, Hello) or answer.id in {request.id, None}:
                        break
        except ConnectionClosed as error:
            raise _ConnectionTroubleError(_reason(error)) from error
        except TimeoutError as error:
            self._connection = None
            connection.transport.abort()
            raise SolverError(
                f"the solver server {self._url} did not answer within {self._patience.answer:g} s: "
                "ask for less depth or time, or restart it"
            ) from error
        if isinstance(answer, ErrorMessage):
            raise SolverRefusedError(
                answer.code, f"the solver server {self._url} refused: {answer.message} ({answer.code})"
            )
        if isinstance(answer, Hello):
            raise SolverError(
                f"the solver server {self._url} greeted twice: it does not keep to the protocol"
            )
        return answer

    def _decode(self, data: str | bytes) -> Answer:
        try:
            return decode_answer(data)
        except WireError as error:
            raise SolverError(f"{self._url} is no solver server: {error}") from error

    def _unreachable(self, reason: str) -> SolverError:
        return SolverError(
            f"cannot reach the solver server {self._url}: {reason}; "
            "start one with `bot2048 serve`, or check the address"
        )


def _reason(error: Exception) -> str:
    if isinstance(error, ConnectionClosed):
        close = error.rcvd or error.sent
        if close is None:
            return "connection lost"
        return f"connection closed, {close.code} {close.reason}".rstrip()
    if isinstance(error, TimeoutError):
        return "timed out"
    return str(error) or type(error).__name__
