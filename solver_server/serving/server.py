"""The solver server: the websockets shell around `Conversation`, access, and a clean end."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import errno
import functools
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, cast

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from game2048.errors import SolverError
from game2048.wire.messages import MAX_MESSAGE_BYTES
from solver_server.serving.access import SUBPROTOCOL, AccessPolicy, Refusal
from solver_server.serving.admission import Admission
from solver_server.serving.bounded_connection import BoundedConnection
from solver_server.serving.conversation import Conversation
from solver_server.serving.http_requests import HttpRequests
from solver_server.serving.log_format import WEBSOCKET_LOGGER
from solver_server.serving.metrics import LiveCounts, ServerMetrics
from solver_server.serving.pool import EngineOffer, EnginePool
from solver_server.serving.refusal_log import RefusalLog
from solver_server.serving.server_options import ServerOptions
from solver_server.serving.session import Catalogue, Session, capped

log = logging.getLogger(__name__)

_BACKLOG = 64  # connections that are accepted at once, before any of them is counted
_HANDSHAKE_SECONDS = 10.0
_TLS_SECONDS = 3.0  # until then a connection cannot be dropped, and holds its descriptor
_CLOSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Running:
    """What a server has while it listens."""

    url: str
    server: Server
    pool: EnginePool
    warm_up: asyncio.Task[None]


class SolverServer:
    """A solver server, listening while its ``async with`` block runs.

    Args:
        engines: what it offers.
        default_engine: for requests that name none; it is loaded in the background from the start.
        options: how it runs.

    Raises:
        SolverError: the options let other machines in without a token, the token is too short, an origin is
            not usable, or so many connections need too many files.
        WireError: the default engine is unknown or does not take the default limit; an unusable token.
    """

    def __init__(self, engines: Iterable[EngineOffer], default_engine: str, options: ServerOptions) -> None:
        self._options = options
        self._policy = AccessPolicy(options.host, options.token, options.allowed_origins)
        self._tls = None if options.tls is None else options.tls.context()
        self._engines = {
            offer.info.name: dataclasses.replace(offer, info=capped(offer.info, options.max_depth))
            for offer in engines
        }
        self._catalogue = Catalogue(
            {name: offer.info for name, offer in self._engines.items()},
            default_engine,
            options.default_limit,
            options.max_time_ms,
            options.max_connections,
        )
        self._session = Session(self._catalogue)
        self._refusals = RefusalLog()
        self._admission = Admission(options.max_connections, options.max_handshakes, self._refusals)
        self._conversations: set[Conversation] = set()
        self._running: _Running | None = None
        self._abandoned = False

    @property
    def url(self) -> str:
        """Where clients connect to, with the port that is really used.

        Raises:
            SolverError: the server does not listen.
        """
        return self._listening().url

    @property
    def abandoned(self) -> bool:
        """Whether a search still ran when the server had stopped; its thread would keep the process alive."""
        return self._abandoned

    async def __aenter__(self) -> Self:
        """Listen, and begin to load the default engine.

        Raises:
            SolverError: the address cannot be listened on.
        """
        options = self._options
        pool = EnginePool(self._engines, options.threads)
        live = LiveCounts(lambda: self._admission.open_count, self._count_waiting, lambda: pool.searching)
        metrics = ServerMetrics(live, options.max_connections)
        server = await self._bound(pool, metrics)
        host, port = server.sockets[0].getsockname()[:2]
        scheme = "ws" if self._tls is None else "wss"
        url = f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
        warm_up = asyncio.create_task(pool.warm_up(self._catalogue.default_engine))
        self._running = _Running(url, server, pool, warm_up)
        # Only now: the first client may be waiting.
        await server.start_serving()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Answer what was asked, within the grace, and close every connection (1001, going away)."""
        running = self._listening()
        running.server.close(close_connections=False)
        self._admission.stop_waiting()
        requests = {task for task in running.server.handler_tasks if not task.done()}
        farewells = {asyncio.create_task(talk.finish()) for talk in self._conversations}
        if farewells or requests:
            await asyncio.wait(farewells | requests, timeout=self._options.stop_grace)
        for talk in self._conversations:
            talk.abandon()
        if farewells:
            await asyncio.wait(farewells, timeout=_CLOSE_SECONDS)
        self._admission.drop_all()
        await running.server.wait_closed()
        await asyncio.gather(*farewells, return_exceptions=True)
        running.warm_up.cancel()
        await asyncio.gather(running.warm_up, return_exceptions=True)
        # Nobody waits for a search any more; one that loads or compiles cannot be stopped.
        self._abandoned = not await running.pool.close(_CLOSE_SECONDS)
        self._refusals.close()

    async def run_until(self, stop: asyncio.Event) -> None:
        """Serve until the event is set.

        Raises:
            SolverError: the default engine cannot be loaded.
        """
        warm_up = self._listening().warm_up
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({stopped, warm_up}, return_when=asyncio.FIRST_COMPLETED)
            if not stopped.done():
                await warm_up
            await stopped
        finally:
            stopped.cancel()

    def _listening(self) -> _Running:
        if self._running is None:
            raise SolverError("the server does not listen; use it in an `async with` block")
        return self._running

    async def _bound(self, pool: EnginePool, metrics: ServerMetrics) -> Server:
        """Return a websockets server that is bound to the address and does not serve yet."""
        options = self._options
        http = HttpRequests(self._session, pool, metrics, self._policy, options.max_connections)
        make = functools.partial(
            BoundedConnection, admission=self._admission, unread_timeout=options.ping_timeout
        )
        tls: dict[str, Any] = (
            {} if self._tls is None else {"ssl": self._tls, "ssl_handshake_timeout": _TLS_SECONDS}
        )
        try:
            return await serve(
                functools.partial(self._converse, pool, metrics),
                options.host,
                options.port,
                process_request=functools.partial(self._check_request, http),
                select_subprotocol=_agreed_subprotocol,
                compression=None,  # short messages; and nothing to decompress can be too large
                server_header=None,
                open_timeout=_HANDSHAKE_SECONDS,
                ping_interval=options.ping_interval,
                ping_timeout=options.ping_timeout,
                close_timeout=_CLOSE_SECONDS,
                # A message somewhat too long is answered ``too_long``; this ends the connection (1009).
                max_size=4 * MAX_MESSAGE_BYTES,
                logger=logging.getLogger(WEBSOCKET_LOGGER),
                create_connection=cast(Any, make),
                start_serving=False,
                backlog=_BACKLOG,
                **tls,
            )
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                reason = "the port is in use; stop the other server, or take a free port with --port 0"
            else:
                reason = f"{error.strerror or error}; try another --host or --port"
            raise SolverError(f"cannot listen on {options.host}:{options.port}: {reason}") from error

    async def _check_request(
        self, http: HttpRequests, connection: ServerConnection, request: Request
    ) -> Response | None:
        assert isinstance(connection, BoundedConnection)
        response = await self._response_to(http, connection, request)
        await connection.drop_if_broken()
        return response

    async def _response_to(
        self, http: HttpRequests, connection: BoundedConnection, request: Request
    ) -> Response | None:
        self._admission.requested(connection)
        address = connection.remote_address[0] if connection.remote_address else None
        preflight = request.method == "OPTIONS"
        refusal = self._policy.refusal(request.headers, preflight=preflight)
        is_websocket = "websocket" in request.headers.get("Upgrade", "").lower()
        if refusal is None and preflight:
            return http.preflight(request)
        if refusal is None:
            self._admission.forgive(address)
            if not is_websocket:
                return await http.respond(request, connection.lost)
            if not self._admission.is_full:
                self._admission.opened(connection)
                return None
            limit = self._admission.max_connections
            refusal = Refusal(
                503, "full", f"the server has {limit} clients, as many as it takes; try again later"
            )
        self._refusals.add(refusal.cause, f"{address}: {refusal.reason}")
        if refusal.status == 401 and not await self._admission.slow_down(address):
            connection.drop()
        response = connection.respond(refusal.status, refusal.reason + "\n")
        if refusal.status == 401:
            response.headers["WWW-Authenticate"] = "Bearer"
        return response

    async def _converse(self, pool: EnginePool, metrics: ServerMetrics, connection: ServerConnection) -> None:
        assert isinstance(connection, BoundedConnection)
        talk = Conversation(connection, self._session, pool, metrics, self._options.max_waiting)
        self._conversations.add(talk)
        try:
            await talk.run()
        finally:
            self._conversations.discard(talk)

    def _count_waiting(self) -> int:
        return sum(talk.waiting for talk in self._conversations)


def _agreed_subprotocol(_: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """Return what a client that names subprotocols hears; browsers want one of those they named."""
    return Subprotocol(SUBPROTOCOL) if SUBPROTOCOL in offered else None


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
