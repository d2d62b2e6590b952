"""How a server runs: addresses, limits, access, times."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

from game2048.errors import SolverError
from solver_server.engine import Limit
from solver_server.limits import LONGEST_MS, UNLIMITED

DEFAULT_PORT = 8765


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """The certificate of a server and its key, both in PEM form.

    Attributes:
        certificate: the certificate, and those that lead to its authority.
        key: the private key; ``None`` where it is in the certificate's file.
    """

    certificate: Path
    key: Path | None = None

    def context(self) -> ssl.SSLContext:
        """Return what encrypts connections.

        Raises:
            SolverError: a file cannot be read, or the key does not fit the certificate.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            # Without a password, a locked key would be asked for on the terminal.
            context.load_cert_chain(self.certificate, self.key, password="")
        except (OSError, ssl.SSLError) as error:
            raise SolverError(
                f"certificate {self.certificate} with key {self.key or self.certificate} cannot be used "
                f"({error}); expected PEM files, the key without a password"
            ) from error
        return context


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a server runs.

    Attributes:
        host: the address to listen on; one that is not loopback needs a token.
        port: 0 takes a free one.
        threads: searches that run at a time.
        token: what clients must send as ``Authorization: Bearer …``; ``None`` asks for none.
        allowed_origins: the web pages that may connect.
        tls: the certificate; ``None`` for no encryption.
        default_limit: for requests to the default engine that have no limit of their own.
        max_connections: further clients are turned away with HTTP status 503.
        max_handshakes: connections that have not sent their request; of more, the oldest are dropped.
        max_waiting: requests of one connection that wait; further ones are answered ``busy``.
        max_time_ms: the greatest ``time_ms`` of a request; also ends searches to a depth.
        max_depth: the greatest ``depth`` of a request, if less than the engine's.
        ping_interval: seconds between keep-alive pings.
        ping_timeout: seconds after which a client that neither answers a ping nor takes an answer is dropped.
        stop_grace: seconds in which a server that stops still answers what was asked.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    threads: int = 1
    token: str | None = None
    allowed_origins: tuple[str, ...] = ()
    tls: TlsFiles | None = None
    default_limit: Limit = UNLIMITED
    max_connections: int = 64
    max_handshakes: int = 64
    max_waiting: int = 32
    max_time_ms: float = LONGEST_MS
    max_depth: int | None = None
    ping_interval: float = 20.0
    ping_timeout: float = 20.0
    stop_grace: float = 5.0
