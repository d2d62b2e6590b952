"""Open one connection to a solver server, read the greeting, send messages and receive answers."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from pathlib import Path
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

from game2048.errors import SolverError, SolverRefusedError, WireError
from game2048.net import authorization, is_loopback
from game2048.solver_options import SERVER_PATIENCE
from game2048.wire.frames import PackedDirections, decode_directions
from game2048.wire.messages import (
    MAX_MESSAGE_BYTES,
    PROTOCOL_VERSION,
    ErrorMessage,
    Hello,
    RequestId,
    ServerMessage,
    decode_answer,
    protocol_of,
)


class ConnectionTroubleError(Exception):
    """The connection failed or broke for a reason that may pass; try again."""


@dataclass(frozen=True, slots=True)
class ClientPatience:
    """How long a client waits; all times are seconds.

    Attributes:
        connect: for one attempt to connect, including the server's greeting.
        answer: for one answer; before its first answer a server may have to compile its kernels.
        outage: from the loss of a connection until the missing answer, over all attempts to reconnect.
        first_delay: the longest wait before the first attempt to reconnect; later waits double.
        longest_delay: the longest wait between two attempts.
        ping: between two keep-alive pings, and for the answer to one.
    """

    connect: float = 10.0
    answer: float = 300.0
    outage: float = SERVER_PATIENCE
    first_delay: float = 0.1
    longest_delay: float = 3.0
    ping: float = 20.0


@dataclass(frozen=True, slots=True)
class ClientAccess:
    """The token that a client sends, and the certificates that it trusts.

    Attributes:
        token: the server's token; ``None`` for a server without a token.
        ca: a PEM file of certificates to trust in addition to the system's, for ``wss://``.
    """

    token: str | None = None
    ca: Path | None = None

    def tls(self) -> ssl.SSLContext:
        """Return the TLS context that verifies the server's certificate.

        Raises:
            SolverError: the file of certificates cannot be read.
        """
        context = ssl.create_default_context()
        if self.ca is not None:
            try:
                context.load_verify_locations(self.ca)
            except (OSError, ssl.SSLError) as error:
                raise SolverError(
                    f"certificate file {self.ca} is not usable ({error}); expected certificates in PEM form"
                ) from error
        return context


class SolverConnection:
    """A connection whose greeting has arrived.

    Attributes:
        url: the address of the server.
        hello: the server's greeting.
    """

    def __init__(self, url: str, connection: ClientConnection, hello: Hello) -> None:
        self.url = url
        self.hello = hello
        self._connection = connection

    @classmethod
    async def open(cls, url: str, access: ClientAccess, patience: ClientPatience) -> Self:
        """Connect and read the greeting.

        Raises:
            ConnectionTroubleError: no server answers, or it is full or stopping.
            SolverError: the address is wrong, or the server is not a solver server, speaks another protocol
                version, or refuses the client.
        """
        connection = await _connected(url, access, patience)
        try:
            return cls(url, connection, await _greeting(url, connection, patience))
        except BaseException:
            connection.transport.abort()
            raise

    async def send(self, message: str | bytes) -> None:
        """Send a message.

        Raises:
            ConnectionTroubleError: the connection broke.
        """
        try:
            await self._connection.send(message)
        except ConnectionClosed as error:
            raise ConnectionTroubleError(trouble_of(error)) from error

    async def answer_to(self, request_id: RequestId) -> ServerMessage | PackedDirections:
        """Return the answer to a request; skip answers to earlier requests that nobody waits for.

        Raises:
            ConnectionTroubleError: the connection broke.
            SolverRefusedError: the answer is an error.
            SolverError: the message is not an answer.
        """
        while True:
            try:
                data = await self._connection.recv()
            except ConnectionClosed as error:
                raise ConnectionTroubleError(trouble_of(error)) from error
            answer = _decoded(self.url, data)
            if isinstance(answer, Hello):
                raise SolverError(f"the solver server {self.url} greeted twice; it breaks the protocol")
            answered = answer.answer.id if isinstance(answer, PackedDirections) else answer.id
            if answered not in {request_id, None}:
                continue
            if isinstance(answer, ErrorMessage):
                raise SolverRefusedError(
                    answer.code, f"the solver server {self.url} refused: {answer.message} ({answer.code})"
                )
            return answer

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()

    def abort(self) -> None:
        """Drop the connection at once."""
        self._connection.transport.abort()


def trouble_of(error: Exception) -> str:
    """Return why a connection broke, in words."""
    if isinstance(error, ConnectionClosed):
        close = error.rcvd or error.sent
        if close is None:
            return "connection lost"
        return f"connection closed, {close.code} {close.reason}".rstrip()
    if isinstance(error, TimeoutError):
        return "timed out"
    return str(error) or type(error).__name__


async def _connected(url: str, access: ClientAccess, patience: ClientPatience) -> ClientConnection:
    headers = {} if access.token is None else {"Authorization": authorization(access.token)}
    try:
        return await connect(
            url,
            additional_headers=headers,
            # The environment may name a proxy, but no proxy reaches the loopback of this machine.
            proxy=None if is_loopback(urlsplit(url).hostname or "") else True,
            ssl=access.tls() if urlsplit(url).scheme == "wss" else None,
            compression=None,
            open_timeout=patience.connect,
            ping_interval=patience.ping,
            ping_timeout=patience.ping,
            close_timeout=2,
            max_size=4 * MAX_MESSAGE_BYTES,
        )
    except InvalidStatus as error:
        raise _refused(url, error) from error
    except ssl.SSLCertVerificationError as error:
        raise SolverError(
            f"the certificate of {url} is not trusted ({error.verify_message}); try --ca with the file "
            "of the authority that signed it, or an address that the certificate names"
        ) from error
    except (ssl.SSLError, InvalidHandshake, InvalidProxy, ImportError) as error:  # the last: no SOCKS
        if isinstance(error, InvalidMessage):  # a stopping server closed the connection half-way
            raise ConnectionTroubleError(trouble_of(error)) from error
        raise SolverError(
            f"{url} is not a solver server, or it refuses this client: {trouble_of(error)}"
        ) from error
    except (InvalidURI, ValueError) as error:
        raise SolverError(
            f"server address {url!r} is not usable; expected e.g. ws://127.0.0.1:8765"
        ) from error
    except OSError as error:  # TimeoutError too
        raise ConnectionTroubleError(trouble_of(error)) from error


def _refused(url: str, error: InvalidStatus) -> SolverError | ConnectionTroubleError:
    status = error.response.status_code
    body = (error.response.body or b"").decode("utf-8", "replace").strip()[:200]
    said = f"HTTP status {status}" + (f", {body!r}" if body else "")
    if status >= 500:  # the server is full or stopping, or a gateway does not reach it
        return ConnectionTroubleError(said)
    advice = "; give its --token (or set BOT2048_TOKEN)" if status == 401 else ""
    return SolverError(f"the solver server {url} refused the connection: {said}{advice}")


async def _greeting(url: str, connection: ClientConnection, patience: ClientPatience) -> Hello:
    try:
        async with asyncio.timeout(patience.connect):
            data = await connection.recv()
    except TimeoutError as error:
        raise SolverError(
            f"{url} is not a solver server: no greeting within {patience.connect:g} s"
        ) from error
    except ConnectionClosed as error:
        raise ConnectionTroubleError(trouble_of(error)) from error
    version = protocol_of(data)
    if version is not None and version != PROTOCOL_VERSION:
        raise SolverError(
            f"the solver server {url} speaks protocol {version}, this client {PROTOCOL_VERSION}: "
            f"update the {'client' if version > PROTOCOL_VERSION else 'server'}"
        )
    hello = _decoded(url, data)
    if not isinstance(hello, Hello):
        raise SolverError(f"{url} is not a solver server: it did not begin with a greeting")
    return hello


def _decoded(url: str, data: str | bytes) -> ServerMessage | PackedDirections:
    try:
        return decode_directions(data) if isinstance(data, bytes) else decode_answer(data)
    except WireError as error:
        raise SolverError(f"{url} is not a solver server: {error}") from error
