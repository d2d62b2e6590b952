"""A websocket connection that keeps what waits to be written within bounds."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from websockets.asyncio.server import Server, ServerConnection
from websockets.frames import CloseCode
from websockets.protocol import CONNECTING, OPEN
from websockets.server import ServerProtocol

from solver_server.serving.admission import Admission

log = logging.getLogger(__name__)

_MOST_UNREAD = 1 << 18
"""Bytes that may wait to be written; pongs pile up here, since nobody waits until they are read."""
_LAST_WORD = 1.0
"""Seconds in which a client that is given up may still read why."""


class BoundedConnection(ServerConnection):
    """Counts itself with `Admission` and closes where its client does not read.

    Args:
        protocol: see `ServerConnection`.
        server: see `ServerConnection`.
        admission: what counts connections.
        unread_timeout: seconds for which the buffer of unread answers may stay full.
        arguments: see `ServerConnection`.

    Attributes:
        lost: set when the connection has ended.

    Raises:
        TooManyConnectionsError: there are too many connections.
    """

    def __init__(
        self,
        protocol: ServerProtocol,
        server: Server,
        *,
        admission: Admission,
        unread_timeout: float,
        **arguments: Any,
    ) -> None:
        super().__init__(protocol, server, **arguments)
        self._admission = admission
        self._unread_timeout = unread_timeout
        self._unread_timer: asyncio.TimerHandle | None = None
        self.lost = asyncio.Event()
        admission.accept(self)

    @property
    def peer(self) -> str:
        """Address and port of the client, for people."""
        address = self.remote_address
        return f"{address[0]}:{address[1]}" if address else "an unknown address"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake."""
        super().connection_made(transport)
        self._admission.connected(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.lost.set()
        self._admission.lost(self)
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle bytes of the client, unless it leaves too much unread."""
        super().data_received(data)
        if self.transport.get_write_buffer_size() > _MOST_UNREAD and not self.transport.is_closing():
            self.give_up(CloseCode.POLICY_VIOLATION, "answers are not read")

    def eof_received(self) -> None:
        """Note that the client sends nothing more: before it has its answer, that means that it has gone."""
        if self.state is CONNECTING and self.request is not None:
            self.drop()  # the library would end its side, and then fail to write the answer
        else:
            super().eof_received()

    async def drop_if_broken(self) -> None:
        """Drop a client that sent what is not of the protocol before it had the answer to its request."""
        if self.protocol.eof_sent:  # the library has ended its side: the answer cannot be written
            self.drop()
            await self.lost.wait()

    def pause_writing(self) -> None:
        """Note that the buffer is full."""
        super().pause_writing()
        self._unread_timer = self.loop.call_later(
            self._unread_timeout, self.give_up, CloseCode.POLICY_VIOLATION, "answers are not read"
        )

    def resume_writing(self) -> None:
        """Note that the client reads again."""
        super().resume_writing()
        self._stop_timer()

    def give_up(self, code: int, reason: str) -> None:
        """Close the connection; drop it a moment later, whether or not the client has read why."""
        if self.state is OPEN:
            log.warning("the client at %s does not read its answers; closing its connection", self.peer)
            self.transport.pause_reading()
            self.protocol.fail(code, reason)
            self.send_data()
            self.loop.call_later(_LAST_WORD, self.drop)
        else:
            self.drop()

    def drop(self) -> None:
        """Close the connection at once."""
        transport = getattr(self, "transport", None)  # missing until TLS is agreed upon
        if transport is not None:
            transport.abort()

    def _stop_timer(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None
