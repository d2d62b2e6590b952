"""The websocket shell around `Session`: sockets, access, order of answers, and a clean end.

Each connection has two tasks: one reads and hands requests to a short queue, one takes them from it, one
search at a time, and answers in order. So a connection never has more than one search with the pool, which
bounds the pool's queue by the number of connections and shares the threads fairly among them.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from game2048.errors import SolverError
from game2048.wire import MAX_MESSAGE_BYTES, Message, encode
from solver_server.engine import Limit
from solver_server.limits import UNLIMITED
from solver_server.serving.access import AccessPolicy, Refusal
from solver_server.serving.pool import EngineOffer, EnginePool
from solver_server.serving.session import Catalogue, Search, Session

log = logging.getLogger(__name__)

DEFAULT_PORT = 8765


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a server runs.

    Attributes:
        host: the address to listen on; one that is not loopback needs a token.
        port: 0 takes a free one.
        threads: searches that run at a time.
        token: what clients must send as ``Authorization: Bearer …``; ``None`` asks for none.
        allowed_origins: the web pages that may connect.
        default_limit: for requests to the default engine that have no limit of their own.
        max_connections: further clients are turned away with HTTP status 503.
        max_waiting: requests of one connection that wait; further ones are answered ``busy``.
        ping_interval: seconds between keep-alive pings.
        ping_timeout: seconds after which a client that neither answers a ping nor takes an answer is dropped.
        stop_grace: seconds that running searches have to end when the server stops.
        slow_after: seconds of loading kernels after which the log says so.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    threads: int = 1
    token: str | None = None
    allowed_origins: tuple[str, ...] = ()
    default_limit: Limit = UNLIMITED
    max_connections: int = 64
    max_waiting: int = 32
    ping_interval: float = 20.0
    ping_timeout: float = 20.0
    stop_grace: float = 2.0
    slow_after: float = 3.0


class SolverServer:
    """A solver server, listening while its ``async with`` block runs.

    Args:
        engines: what it offers.
        default_engine: for requests that name none; it is loaded in the background from the start.
        options: how it runs.

    Raises:
        SolverError: the options let other machines in without a token, or an origin is no origin.
        WireError: the default engine is unknown or does not take the default limit; an unusable token.
    """

    def __init__(self, engines: Iterable[EngineOffer], default_engine: str, options: ServerOptions) -> None:
        self._options = options
        self._policy = AccessPolicy(options.host, options.token, options.allowed_origins)
        self._engines = {offer.info.name: offer for offer in engines}
        infos = {name: offer.info for name, offer in self._engines.items()}
        self._catalogue = Catalogue(infos, default_engine, options.default_limit)
        self._abandoned = False

    @property
    def url(self) -> str:
        """Where clients connect to, with the port that is really used."""
        return self._url

    @property
    def abandoned(self) -> bool:
        """Whether a search still ran when the server had stopped; its thread would keep the process alive."""
        return self._abandoned

    async def __aenter__(self) -> Self:
        """Listen, and begin to load the default engine.

        Raises:
            SolverError: the address cannot be listened on.
        """
        self._pool = EnginePool(self._engines, self._options.threads)
        await self._listen()
        host, port = self._server.sockets[0].getsockname()[:2]
        self._url = f"ws://[{host}]:{port}" if ":" in host else f"ws://{host}:{port}"
        self._warm_up = asyncio.create_task(
            self._pool.warm_up(self._catalogue.default_engine, self._options.slow_after)
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every connection (1001, going away) and give running searches a moment to end."""
        self._server.close()
        await self._server.wait_closed()
        self._warm_up.cancel()
        await asyncio.gather(self._warm_up, return_exceptions=True)
        self._abandoned = not await self._pool.close(self._options.stop_grace)

    async def run_until(self, stop: asyncio.Event) -> None:
        """Serve until the event is set.

        Raises:
            SolverError: the default engine cannot be loaded.
        """
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({stopped, self._warm_up}, return_when=asyncio.FIRST_COMPLETED)
            if not stopped.done():
                await self._warm_up
            await stopped
        finally:
            stopped.cancel()

    async def _listen(self) -> None:
        options = self._options
        try:
            self._server: Server = await serve(
                self._converse,
                options.host,
                options.port,
                process_request=self._check_request,
                compression=None,  # short messages; and nothing to decompress can be too large
                open_timeout=10,
                ping_interval=options.ping_interval,
                ping_timeout=options.ping_timeout,
                close_timeout=2,
                # A message somewhat too long is answered ``too_long``; this ends the connection (1009).
                max_size=4 * MAX_MESSAGE_BYTES,
                start_serving=False,  # the first client may be waiting: it needs self._server
            )
            await self._server.start_serving()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                reason = "the port is in use; stop the other server, or take a free port with --port 0"
            else:
                reason = f"{error.strerror or error}; try another --host or --port"
            raise SolverError(f"cannot listen on {options.host}:{options.port}: {reason}") from error

    def _check_request(self, connection: ServerConnection, request: Request) -> Response | None:
        refusal = self._policy.refusal(request.headers)
        if refusal is None and len(self._server.connections) >= self._options.max_connections:
            refusal = Refusal(503, "this server has all the clients it takes: try again later")
        if refusal is None:
            return None
        log.warning("refused a connection from %s: %s", connection.remote_address, refusal.reason)
        response = connection.respond(refusal.status, refusal.reason + "\n")
        if refusal.status == 401:
            response.headers["WWW-Authenticate"] = "Bearer"
        return response

    async def _converse(self, connection: ServerConnection) -> None:
        session = Session(self._catalogue)
        waiting: asyncio.Queue[Search | Message] = asyncio.Queue(self._options.max_waiting)
        log.info("%s connected", connection.remote_address)
        try:
            async with asyncio.TaskGroup() as tasks:
                await self._send(connection, session.hello())
                answering = tasks.create_task(self._answer(connection, session, waiting))
                await self._read(connection, session, waiting)
                answering.cancel()  # nobody is there to hear the rest
        except* ConnectionClosed as closed:
            log.info("%s lost: %s", connection.remote_address, closed.exceptions[0])
        log.info("%s disconnected", connection.remote_address)

    async def _read(
        self, connection: ServerConnection, session: Session, waiting: asyncio.Queue[Search | Message]
    ) -> None:
        async for data in connection:
            step = session.handle(data)
            try:
                waiting.put_nowait(step)
            except asyncio.QueueFull:
                # The one answer out of order: to wait here would leave pings and a disconnect unseen.
                busy = session.busy(step, waiting.maxsize) if isinstance(step, Search) else step
                await self._send(connection, busy)

    async def _answer(
        self, connection: ServerConnection, session: Session, waiting: asyncio.Queue[Search | Message]
    ) -> None:
        while True:
            step = await waiting.get()
            answer = await self._solve(session, step) if isinstance(step, Search) else step
            await self._send(connection, answer)

    async def _solve(self, session: Session, search: Search) -> Message:
        try:
            decision = await self._pool.choose(search.engine, search.board, search.limit)
        except SolverError as error:
            return session.failed(search, str(error))
        return session.answered(search, decision)

    async def _send(self, connection: ServerConnection, message: Message) -> None:
        try:
            async with asyncio.timeout(self._options.ping_timeout):
                await connection.send(encode(message))
        except TimeoutError:  # it does not read; pings, which wait for the same buffer, would never tell
            log.warning("%s takes no answers: dropped", connection.remote_address)
            connection.transport.abort()
            await connection.wait_closed()


async def serve_until_stopped(
    server: SolverServer, announce: Callable[[str], None], *, stop_with_stdin: bool = False
) -> int | None:
    """Run a server until SIGINT or SIGTERM, or until standard input ends.

    Args:
        server: not yet listening.
        announce: called with the url once the server listens.
        stop_with_stdin: whether the end of standard input stops it. A parent process that holds the other
            end of a pipe so leaves no orphan, however it dies.

    Returns:
        The number of the signal, or ``None`` where standard input ended.

    Raises:
        SolverError: the address cannot be listened on, or the default engine cannot be loaded.
    """
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    received: list[int] = []

    def on_signal(number: int) -> None:
        received.append(number)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows, where Ctrl-C cancels the main task instead
            loop.add_signal_handler(number, on_signal, number)
    if stop_with_stdin:
        threading.Thread(target=_wait_for_stdin, args=(loop, stop), daemon=True).start()
    async with server:
        announce(server.url)
        await server.run_until(stop)
    return received[0] if received else None


def _wait_for_stdin(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    # os.read, not sys.stdin: a thread blocked in that would hold its lock when the interpreter ends.
    try:
        while os.read(0, 4096):
            pass
    except OSError as error:
        log.info("standard input cannot be read: %s", error)
    with contextlib.suppress(RuntimeError):  # the loop has ended already
        loop.call_soon_threadsafe(stop.set)
