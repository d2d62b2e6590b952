"""Decide who may use the dashboard, by the headers of a request, without I/O.

A browser lets any page send requests to this machine. It names that page in ``Origin`` or ``Sec-Fetch-Site``.
A page whose own name was made to resolve to 127.0.0.1 (DNS rebinding) still shows that name in ``Host``.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import urlsplit

from bot.dashboard.faults import DashboardError
from game2048.net import MIN_TOKEN_LENGTH, authorization, is_loopback

COOKIE = "bot2048-dashboard"

_LONGEST_TOKEN_FILE = 4096
_SAFE_METHODS = {"GET", "HEAD"}


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """Why a request is not answered.

    Attributes:
        status: an HTTP status; 401 where a token is missing.
        reason: a sentence for people.
    """

    status: int
    reason: str


class AccessRules:
    """Decides by its headers whether a request may be answered.

    Args:
        host: the address listened on; one that other machines reach needs a token.
        token: what a browser shows once and a program sends as ``Authorization: Bearer …``.
        names: further host names that a browser may ask for.

    Raises:
        DashboardError: other machines would reach the dashboard without a token, or the token is too short.
        WireError: the token cannot stand in a header.
    """

    def __init__(self, host: str, token: str | None, names: Iterable[str] = ()) -> None:
        self._is_local = is_loopback(host)
        if token is None and not self._is_local:
            raise DashboardError(
                f"other machines reach the address {host}; expected a token; "
                "give --token-file FILE, or leave --host out"
            )
        if token is not None and len(token) < MIN_TOKEN_LENGTH:
            raise DashboardError(
                f"the token has {len(token)} characters; expected at least {MIN_TOKEN_LENGTH}; "
                "make one with `python -c 'import secrets; print(secrets.token_urlsafe())'`"
            )
        self._bearer = None if token is None else authorization(token)
        self._names = {_plain(name) for name in (*names, host, socket.gethostname())}

    @property
    def needs_token(self) -> bool:
        """Whether a browser must show a token."""
        return self._bearer is not None

    def refusal(self, headers: Mapping[str, str], method: str) -> RefusedRequest | None:
        """Return why a request is refused, or ``None``.

        Args:
            headers: names in lower case.
            method: the HTTP method; ``WEBSOCKET`` for the opening of one.
        """
        return self.foreign(headers, method) or self._unknown(headers)

    def foreign(self, headers: Mapping[str, str], method: str) -> RefusedRequest | None:
        """Return why a request does not come from a page of this dashboard, or ``None``."""
        host = headers.get("host", "")
        if not self._is_own_name(host):
            return RefusedRequest(
                403,
                f"the host {host[:80]!r} is not this dashboard; expected the address that it printed; "
                "--name NAME allows another name",
            )
        origin = headers.get("origin")
        if origin is not None and not _is_same(origin, host):
            return RefusedRequest(
                403, f"the page {origin[:80]!r} may not use this dashboard; open the dashboard itself"
            )
        site = headers.get("sec-fetch-site", "none")
        opens_page = method in _SAFE_METHODS and headers.get("sec-fetch-mode") == "navigate"
        if site not in {"same-origin", "none"} and not opens_page:
            return RefusedRequest(403, "another page may not use this dashboard; open the dashboard itself")
        return None

    def cookie(self) -> str | None:
        """Return the value of the cookie of a browser that has shown the token: a digest of it."""
        if self._bearer is None:
            return None
        return hashlib.sha256(f"{COOKIE} {self._bearer}".encode()).hexdigest()

    def is_token(self, given: str) -> bool:
        """Return whether a text is the token, in constant time."""
        return self._bearer is not None and _same_text(f"Bearer {given}", self._bearer)

    def _unknown(self, headers: Mapping[str, str]) -> RefusedRequest | None:
        expected = self.cookie()
        if self._bearer is None or expected is None:
            return None
        if _same_text(headers.get("authorization", ""), self._bearer):
            return None
        if _same_text(_cookie_in(headers.get("cookie", "")), expected):
            return None
        return RefusedRequest(
            401, "the token is missing or wrong; expected the token that the dashboard began with"
        )

    def _is_own_name(self, host: str) -> bool:
        name = _host_name(host)
        if name is None:
            return False
        if is_loopback(name):
            return True
        return not self._is_local and (_is_address(name) or _plain(name) in self._names)


def checked_token_file(path: Path) -> str:
    """Return the token in a file, without the white space around it.

    Raises:
        DashboardError: the file cannot be read, or is too long for a token.
    """
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST_TOKEN_FILE + 1)
    except OSError as error:
        raise DashboardError(f"the token file {path} cannot be read: {error.strerror or error}") from error
    if len(text) > _LONGEST_TOKEN_FILE:
        raise DashboardError(f"the token file {path} is too long; expected one line with the token")
    return text.decode("utf-8", "replace").strip()


def _plain(name: str) -> str:
    return name.rstrip(".").lower()


def _host_name(host: str) -> str | None:
    """Return the name or address in a ``Host`` header; ``None`` if it is not one."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    return parts.hostname if parts.netloc == host and "@" not in host else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_same(origin: str, host: str) -> bool:
    parts = urlsplit(origin)
    return parts.scheme in {"http", "https"} and parts.netloc.lower() == host.lower()


def _same_text(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())


def _cookie_in(header: str) -> str:
    cookies: SimpleCookie = SimpleCookie()
    try:
        cookies.load(header)
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""
