"""Read the state of a running solver server (`/status`, `/metrics`)."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

import msgspec

from bot.dashboard.faults import DashboardError
from game2048.board import Board
from game2048.errors import RulesError, WireError
from game2048.net import authorization

_MOST_BYTES = 1 << 20
_SECONDS = 3.0
_SCHEMES = {"ws": "http", "wss": "https", "http": "http", "https": "https"}


class LastDecision(msgspec.Struct, frozen=True):
    """A move that a server chose.

    Attributes:
        engine: name of the engine.
        boards: how many boards the request had.
        board: face values; ``None`` for a request of many boards.
        direction: the move; ``None`` where the game was over.
        depth: how deep it searched.
        nodes: how many positions it looked at.
        elapsed_ms: time of the search.
    """

    engine: str
    boards: int = 1
    board: list[list[int]] | None = None
    direction: str | None = None
    depth: int | None = None
    nodes: int | None = None
    elapsed_ms: float | None = None


class ServerStatus(msgspec.Struct, frozen=True):
    """The state of a server; its fields are those of `/status`."""

    ready: bool
    uptime_s: float
    connections: int
    max_connections: int
    queue: int
    searching: int
    requests: int
    boards: int
    errors: int
    nodes: int
    boards_per_s: float
    last: list[LastDecision]

    def last_board(self) -> tuple[Board, LastDecision] | None:
        """Return the latest single board, and what was chosen for it."""
        for decision in reversed(self.last):
            if decision.board is not None:
                try:
                    return Board.from_tiles(decision.board), decision
                except RulesError:
                    continue
        return None


def status_url(server: str, path: str = "/status") -> str:
    """Return the address of a server's state.

    Args:
        server: its address, as ``ws://127.0.0.1:8765``.
        path: ``/status`` or ``/metrics``.

    Raises:
        DashboardError: it is not an address of a server.
    """
    try:
        parts = urlsplit(server.strip())
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in _SCHEMES or not parts.hostname or len(server) > 300 or "@" in parts.netloc:
        raise DashboardError(
            f"{server[:80]!r} is not the address of a server; expected e.g. ws://127.0.0.1:8765"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{_SCHEMES[parts.scheme]}://{host}{'' if port is None else f':{port}'}{path}"


async def read_status(server: str, token: str | None = None) -> ServerStatus:
    """Ask a server for its state.

    Raises:
        DashboardError: it does not answer, refuses, or answers something else.
    """
    raw = await asyncio.to_thread(_read, status_url(server), token or None)
    try:
        return msgspec.json.decode(raw, type=ServerStatus)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DashboardError(
            f"{server} is not a solver server of this version: {error}", status=502
        ) from error


async def read_metrics(server: str, token: str | None = None) -> str:
    """Ask a server for its counts, in Prometheus's text format.

    Raises:
        DashboardError: it does not answer, or refuses.
    """
    raw = await asyncio.to_thread(_read, status_url(server, "/metrics"), token or None)
    return raw.decode("utf-8", "replace")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: with one, a server could make this machine ask any address of its network."""

    def redirect_request(self, *_: Any) -> None:
        """Refuse to follow a redirect."""


def _read(url: str, token: str | None) -> bytes:
    try:
        headers = {} if token is None else {"Authorization": authorization(token)}
        request = urllib.request.Request(url, headers=headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects)
        with opener.open(request, timeout=_SECONDS) as answer:
            raw: bytes = answer.read(_MOST_BYTES)
    except urllib.error.HTTPError as error:
        why = "the token is missing or wrong" if error.code == 401 else f"HTTP status {error.code}"
        raise DashboardError(f"the server {url} refuses: {why}", status=502) from error
    except (OSError, ValueError, WireError) as error:
        reason = getattr(error, "reason", None) or error
        raise DashboardError(f"the server {url} does not answer: {reason}", status=502) from error
    return raw
