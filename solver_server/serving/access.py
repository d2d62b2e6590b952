"""Who may talk to the server: the checks on the opening request of a connection, without I/O."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from websockets.datastructures import Headers

from game2048.errors import SolverError
from game2048.net import authorization, is_loopback


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a connection is not opened: an HTTP status and a line for people."""

    status: int
    reason: str


class AccessPolicy:
    """What an opening request must carry.

    A browser lets any page open a websocket to this machine, but always names the page in ``Origin``; and a
    page whose own name was made to resolve to 127.0.0.1 (DNS rebinding) still shows that name in ``Host``.

    Args:
        host: the address listened on; one that other machines reach needs a token.
        token: what clients send as ``Authorization: Bearer …``, if they must.
        allowed_origins: the web pages that may connect, as ``scheme://host[:port]``.

    Raises:
        SolverError: other machines would reach the server without a token, or an origin is no origin.
        WireError: the token cannot stand in a header.
    """

    def __init__(self, host: str, token: str | None, allowed_origins: Iterable[str] = ()) -> None:
        if token is None and not is_loopback(host):
            raise SolverError(
                f"listening on {host!r} lets other machines in: "
                "give a --token (or set BOT2048_TOKEN), or listen on 127.0.0.1"
            )
        self._authorization = None if token is None else authorization(token)
        self._origins = frozenset(_normal_origin(origin) for origin in allowed_origins)

    def refusal(self, headers: Headers) -> Refusal | None:
        """Why a request with these headers is refused; ``None`` if it is not."""
        for origin in headers.get_all("Origin"):
            if origin.lower() not in self._origins:
                return Refusal(403, f"page {origin[:80]!r} may not connect: serve with --allow-origin ORIGIN")
        if self._authorization is not None:
            return self._check_token(headers.get_all("Authorization"))
        for host in headers.get_all("Host"):
            if not is_loopback(_host_name(host)):
                return Refusal(403, f"host {host[:80]!r} is not this machine: connect to 127.0.0.1")
        return None

    def _check_token(self, given: list[str]) -> Refusal | None:
        expected = self._authorization or ""
        offered = given[0] if len(given) == 1 else ""
        # Constant-time, on bytes: header values may hold characters beyond ASCII.
        if hmac.compare_digest(offered.encode("utf-8", "surrogateescape"), expected.encode()):
            return None
        return Refusal(401, "this server needs its token: send 'Authorization: Bearer TOKEN'")


def _normal_origin(origin: str) -> str:
    parts = urlsplit(origin.strip().lower())
    if not parts.scheme or not parts.netloc or parts.path.strip("/") or parts.query or parts.fragment:
        raise SolverError(
            f"origin {origin!r} is not usable: expected scheme://host[:port], e.g. http://localhost:8000 "
            "('*' and 'null' would let any page in)"
        )
    return f"{parts.scheme}://{parts.netloc}"


def _host_name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
