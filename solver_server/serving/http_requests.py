"""Plain HTTP on the server's port: `/healthz`, `/metrics`, `/status` and `/move` (docs/protocol.md)."""

from __future__ import annotations

import asyncio
import json
import math
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import Error2048, SolverError, WireError
from game2048.wire.messages import Choose, encode
from solver_server.engine import Decision
from solver_server.serving.access import AccessPolicy
from solver_server.serving.metrics import ServerMetrics
from solver_server.serving.pool import EnginePool
from solver_server.serving.session import (
    SearchRequest,
    Session,
    answered,
    busy,
    cancelled,
    failed,
    overdue,
)

MAX_SECONDS = 8.0
"""After so long a one-shot move is given up; the connection would end soon after."""

_GAME_OVER = "x"
_TEXT = "text/plain; charset=utf-8"
_ONLY_GET = "the method is not usable; expected GET\n"
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "Authorization",
    "Access-Control-Allow-Private-Network": "true",
    "Access-Control-Max-Age": "600",
}
_SAFE = {
    # Nothing that this server says may run as a page of its origin.
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class HttpRequests:
    """Answers requests that do not ask for a websocket.

    Args:
        session: makes requests of one-shot moves.
        pool: searches.
        metrics: counts, and what `/metrics` and `/status` show.
        policy: which pages may read answers.
        max_moves: one-shot moves that are searched at a time.
    """

    def __init__(
        self,
        session: Session,
        pool: EnginePool,
        metrics: ServerMetrics,
        policy: AccessPolicy,
        max_moves: int,
    ) -> None:
        self._session = session
        self._max_moves = max_moves
        self._moves = 0
        self._pool = pool
        self._metrics = metrics
        self._policy = policy

    def preflight(self, request: Request) -> Response:
        """Return the answer to a browser that asks whether an allowed page may send its token."""
        if "Origin" not in request.headers or "Access-Control-Request-Method" not in request.headers:
            return self._response(request, 405, _ONLY_GET)
        response = self._response(request, 204, "")
        for name, value in _PREFLIGHT.items():
            response.headers[name] = value
        return response

    async def respond(self, request: Request, lost: asyncio.Event) -> Response:
        """Return the answer to a request that passed the access rules.

        Args:
            request: the request.
            lost: set when its client has gone; a search for it then ends.
        """
        parts = urlsplit(request.path)
        if request.method not in {"GET", "HEAD"}:
            return self._response(request, 405, _ONLY_GET)
        if parts.path == "/healthz":
            return self._response(request, 200, "ok\n" if self._pool.is_ready else "loading\n")
        if parts.path == "/metrics":
            return self._response(
                request, 200, self._metrics.prometheus(), "text/plain; version=0.0.4; charset=utf-8"
            )
        if parts.path == "/status":
            status = self._metrics.status(ready=self._pool.is_ready)
            return self._response(request, 200, json.dumps(status) + "\n", "application/json")
        if parts.path == "/move":
            status_code, text = await self._move(parts.query, lost)
            return self._response(request, status_code, text)
        return self._response(
            request, 404, "expected a websocket, or /healthz, /metrics, /status or /move?board=…\n"
        )

    async def _move(self, query: str, lost: asyncio.Event) -> tuple[int, str]:
        try:
            work = self._request_for(query)
        except Error2048 as error:
            return 400, f"{error}\n"
        if self._moves >= self._max_moves:
            self._metrics.answered(work, busy(work, self._moves), 0.0)
            return 503, f"the server is busy with {self._moves} moves; try again later\n"
        self._moves += 1
        try:
            decision = await self._decision(work, lost)
        except TimeoutError:
            late = overdue(work)
            self._metrics.answered(work, late, MAX_SECONDS)
            return 503, f"no move within {MAX_SECONDS:g} s; ask for less depth or time\n"
        except ConnectionResetError:
            self._metrics.answered(work, cancelled(work), 0.0)
            return 503, "the client has gone\n"
        except SolverError as error:
            self._metrics.answered(work, failed(work, str(error)), 0.0)
            return 500, f"{error}\n"
        finally:
            self._moves -= 1
        answer = answered(work, decision)
        elapsed = 0.0 if decision is None else decision.elapsed_ms / 1000
        self._metrics.answered(work, answer, elapsed)
        return 200, _GAME_OVER if decision is None else _letter(decision.direction)

    async def _decision(self, work: SearchRequest, lost: asyncio.Event) -> Decision | None:
        """Search for a one-shot move.

        Raises:
            TimeoutError: it takes too long.
            ConnectionResetError: the client has gone.
            SolverError: the engine refused.
        """
        search = asyncio.ensure_future(self._pool.choose(work.engine, work.board, work.limit))
        gone = asyncio.ensure_future(lost.wait())
        try:
            await asyncio.wait({search, gone}, timeout=MAX_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if search.done():
                return search.result()
            raise ConnectionResetError if gone.done() else TimeoutError
        finally:
            search.cancel()
            gone.cancel()

    def _request_for(self, query: str) -> SearchRequest:
        """Return the request that a query stands for.

        Raises:
            Error2048: the query is not usable.
        """
        try:
            fields = {name: values[-1] for name, values in parse_qs(query, max_num_fields=8).items()}
            depth = int(fields["depth"]) if "depth" in fields else None
            time_ms = float(fields["time_ms"]) if "time_ms" in fields else None
            if time_ms is not None and not math.isfinite(time_ms):
                raise ValueError("time_ms is not a finite number")
        except ValueError as error:
            raise WireError(
                "bad_request", f"the query is not usable ({error}); expected /move?board=…"
            ) from error
        board = board_of_digits(fields.get("board", ""))
        text = encode(Choose(0, board.tiles(), fields.get("engine"), depth, time_ms))
        work = self._session.handle(text)
        if not isinstance(work, SearchRequest):
            raise WireError(getattr(work, "code", "bad_request"), getattr(work, "message", "bad request"))
        return work

    def _response(self, request: Request, status: int, text: str, kind: str = _TEXT) -> Response:
        body = text.encode()
        headers = Headers({"Content-Type": kind, "Content-Length": str(len(body)), "Connection": "close"})
        for name, value in (_SAFE | self._policy.cors(request.headers)).items():
            headers[name] = value
        phrase = HTTPStatus(status).phrase
        return Response(status, phrase, headers, b"" if request.method == "HEAD" else body)


def board_of_digits(digits: str) -> Board:
    """Return the 4×4 board of 16 hexadecimal digits, the exponents row by row.

    Raises:
        WireError: these are not 16 hexadecimal digits.
    """
    if len(digits) != 16 or not all(digit in "0123456789abcdefABCDEF" for digit in digits):
        raise WireError(
            "bad_board",
            f"board {digits[:40]!r} is not usable; expected 16 hexadecimal digits, the exponents row by row "
            "(0 for empty, 1 for 2, b for 2048)",
        )
    return Board(4, 4, bytes(int(digit, 16) for digit in digits))


def _letter(direction: Direction) -> str:
    return direction.value[0]
