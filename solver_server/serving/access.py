"""Who may talk to the server: the checks on the opening request of a connection, without I/O."""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from websockets.datastructures import Headers

from game2048.errors import SolverError
from game2048.net import MIN_TOKEN_LENGTH, authorization, is_loopback

SUBPROTOCOL = "bot2048"
"""What a page offers beside its token, and what the server then agrees to."""

TOKEN_SUBPROTOCOL = "bot2048.token."
"""A subprotocol that begins so carries a token: a page cannot send ``Authorization`` with a websocket."""

_WEB_PORTS = {"http": 80, "https": 443}
_EXTENSIONS = {"chrome-extension", "moz-extension", "safari-web-extension"}
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?")
# A browser always sends at least the first of these, and no page can take them away.
_BROWSER_HEADERS = ("User-Agent", "Accept-Language", "Sec-Fetch-Site", "Sec-Fetch-Mode")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a connection is not opened.

    Attributes:
        status: an HTTP status.
        cause: a few words for counts in the log.
        reason: a line for people.
    """

    status: int
    cause: str
    reason: str


class AccessPolicy:
    """Decides by its headers whether a request may be served.

    A browser lets any page open a websocket to this machine, but always names the page in ``Origin``. A page
    whose own name was made to resolve to 127.0.0.1 (DNS rebinding) still shows that name in ``Host``.

    Args:
        host: the address listened on; one that other machines reach needs a token.
        token: what clients must send as ``Authorization: Bearer …`` (pages: as a subprotocol), if anything.
        allowed_origins: the web pages that may connect, as ``scheme://host[:port]``.

    Raises:
        SolverError: other machines would reach the server without a token, the token is too short, or an
            origin is not one that a browser sends.
        WireError: the token cannot stand in a header.
    """

    def __init__(self, host: str, token: str | None, allowed_origins: Iterable[str] = ()) -> None:
        if token is None and not is_loopback(host):
            raise SolverError(
                f"listening on {host!r} lets other machines in: "
                "give a --token (or set BOT2048_TOKEN), or listen on 127.0.0.1"
            )
        self._authorization = None if token is None else checked_token(token)
        self._origins = frozenset(normal_origin(origin) for origin in allowed_origins)

    def refusal(self, headers: Headers, *, preflight: bool = False) -> Refusal | None:
        """Return why a request with these headers is refused; ``None`` if it is not.

        Args:
            headers: the headers of the request.
            preflight: whether a browser only asks which requests a page may send; it shows no token then.
        """
        origins = headers.get_all("Origin")
        for origin in origins:
            if origin.lower() not in self._origins and not _is_own_client(origin, headers):
                return Refusal(403, "page not allowed", _page_not_allowed(origin))
        if not origins and not set(headers.get_all("Sec-Fetch-Site")) <= {"none", "same-origin"}:
            return Refusal(
                403,
                "page not allowed",
                "the page that asks is not known; expected a page that --allow-origin names; "
                "try to ask with its Origin (fetch in mode 'cors')",
            )
        if self._authorization is not None:
            return None if preflight else self._check_token(headers)
        for host in headers.get_all("Host"):
            if not is_loopback(_host_name(host)):
                return Refusal(
                    403,
                    "host not this machine",
                    f"host {host[:80]!r} is not this machine; expected 127.0.0.1 or localhost; "
                    "to serve other names start the server with --token",
                )
        return None

    def cors(self, headers: Headers) -> dict[str, str]:
        """Return the headers that let an allowed page read an answer."""
        allowed = [origin for origin in headers.get_all("Origin") if origin.lower() in self._origins]
        return (
            {"Access-Control-Allow-Origin": allowed[0], "Vary": "Origin"} if allowed else {"Vary": "Origin"}
        )

    def _check_token(self, headers: Headers) -> Refusal | None:
        expected = self._authorization or ""
        given = headers.get_all("Authorization") + [
            f"Bearer {name.strip().removeprefix(TOKEN_SUBPROTOCOL)}"
            for names in headers.get_all("Sec-WebSocket-Protocol")
            for name in names.split(",")
            if name.strip().startswith(TOKEN_SUBPROTOCOL)
        ]
        offered = given[0] if len(given) == 1 else ""
        # Constant-time, on bytes: header values may hold characters beyond ASCII.
        if hmac.compare_digest(offered.encode("utf-8", "surrogateescape"), expected.encode()):
            return None
        said = "the token is wrong" if given else "the token is missing"
        return Refusal(
            401,
            "wrong or no token",
            f"{said}; expected 'Authorization: Bearer TOKEN', or from a page the subprotocols "
            f"{SUBPROTOCOL!r} and '{TOKEN_SUBPROTOCOL}TOKEN'",
        )


def make_token() -> str:
    """Return a new token of 256 random bits."""
    return secrets.token_urlsafe(32)


def checked_token(token: str) -> str:
    """Return the ``Authorization`` header of a token that is long enough.

    Raises:
        WireError: the token cannot stand in a header.
        SolverError: it is too short to withstand guessing.
    """
    header = authorization(token)
    if len(token) < MIN_TOKEN_LENGTH:
        raise SolverError(
            f"the token has {len(token)} characters; expected at least {MIN_TOKEN_LENGTH}; "
            "try --new-token, which makes and prints one"
        )
    return header


def read_token(path: Path) -> str:
    """Return the token in a file: its only line.

    Raises:
        SolverError: the file cannot be read, or has more than one line.
    """
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(4097).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SolverError(f"token file {path} cannot be read ({error}); expected one line of text") from error
    if len(text.splitlines()) != 1 or len(text) > 4096:
        raise SolverError(f"token file {path} has {len(text.splitlines())} lines; expected one, the token")
    return text


def normal_origin(origin: str) -> str:
    """Return an origin as browsers write it: in lower case, without the default port.

    Raises:
        SolverError: no browser sends such an origin.
    """
    try:
        return _normal(urlsplit(origin.strip().lower()))
    except ValueError as error:
        raise SolverError(
            f"origin {origin!r} is not usable ({error}); expected scheme://host[:port], e.g. "
            "http://localhost:8000"
        ) from error


def _normal(parts: SplitResult) -> str:
    scheme, name = parts.scheme, parts.hostname
    if scheme not in _WEB_PORTS and scheme not in _EXTENSIONS:
        raise ValueError("its scheme is not http or https" if scheme else "it has no scheme")
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise ValueError("it has more than scheme, host and port")
    if "@" in parts.netloc:
        raise ValueError("it has a user name")
    if not name:
        raise ValueError("it has no host")
    port = parts.port  # raises ValueError
    if parts.netloc.endswith(":") or port == 0:
        raise ValueError("its port is not a number from 1 to 65535")
    shown = "" if port is None or port == _WEB_PORTS.get(scheme) else f":{port}"
    return f"{scheme}://{_normal_host(name)}{shown}"


def _normal_host(name: str) -> str:
    if ":" in name:
        return f"[{ipaddress.IPv6Address(name).compressed}]"
    if not name.isascii():
        name = name.encode("idna").decode()
    labels = name.removesuffix(".").split(".")
    if labels[-1].isdigit():
        return str(ipaddress.IPv4Address(name))
    if not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError(f"{name!r} is not the name of a host")
    return name


def _page_not_allowed(origin: str) -> str:
    return (
        f"page {origin[:80]!r} may not connect; expected a page that --allow-origin names; try "
        f"`bot2048 serve --allow-origin ORIGIN`, or, in a program that is not a page, send no Origin "
        "(websocket-client: suppress_origin=True)"
    )


def _is_own_client(origin: str, headers: Headers) -> bool:
    """Return whether a program that is not a browser named our own address as its origin.

    Some libraries do (websocket-client for Python). This server serves no page that could send that origin. A
    page that another program served at this address earlier could, but in a browser only.
    """
    hosts = headers.get_all("Host")
    if len(hosts) != 1 or not is_loopback(_host_name(hosts[0])):
        return False
    if any(name in headers for name in _BROWSER_HEADERS):
        return False
    try:
        own = {normal_origin(f"{scheme}://{hosts[0]}") for scheme in _WEB_PORTS}
        return normal_origin(origin) in own
    except SolverError:
        return False


def _host_name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
