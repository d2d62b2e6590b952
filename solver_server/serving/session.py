"""One conversation with a client, without I/O: a message in, a search to run or an answer out.

    session.hello()                      the greeting
    session.handle(data)                 → Search, or the ErrorMessage to answer with
    session.answered(search, decision)   → what to answer once the engine has chosen

`server` moves the messages and runs the searches; every word of the protocol is decided here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import metadata

from game2048.board import Board
from game2048.errors import WireError
from game2048.size import MAX_SIDE, MIN_SIDE
from game2048.wire import (
    MAX_MESSAGE_BYTES,
    PROTOCOL_VERSION,
    Choose,
    DecisionMessage,
    DirectionName,
    EngineInfo,
    ErrorCode,
    ErrorMessage,
    GameOver,
    Hello,
    RequestId,
    decode_request,
    engine_for_size,
    requested_board,
)
from solver_server import limits
from solver_server.engine import Decision, Limit
from solver_server.limits import LONGEST_MS, UNLIMITED, LimitError, UnsupportedBoardError


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What a server offers to every client.

    Attributes:
        engines: the engines by name.
        default_engine: the one for requests that name none (`wire.engine_for_size`).
        default_limit: the limit for requests that have none and go to the default engine.
        max_time_ms: the longest ``time_ms`` a request may ask for.
    """

    engines: dict[str, EngineInfo]
    default_engine: str
    default_limit: Limit = UNLIMITED
    max_time_ms: float = LONGEST_MS

    def __post_init__(self) -> None:
        info = self.find(self.default_engine)
        limits.check(info, self.default_limit, self.max_time_ms)

    def find(self, name: str) -> EngineInfo:
        """The engine of that name.

        Raises:
            WireError: there is none (``unknown_engine``).
        """
        info = self.engines.get(name)
        if info is None:
            known = ", ".join(self.engines)
            raise _fault("unknown_engine", f"engine {name[:80]!r} is unknown: expected one of {known}")
        return info

    def default_for(self, board: Board) -> str:
        """The engine for a board that no engine was named for."""
        return engine_for_size(self.engines.values(), self.default_engine, board.rows, board.columns)


@dataclass(frozen=True, slots=True)
class Search:
    """A well-formed request: what an engine has to do for it."""

    request_id: RequestId
    engine: str
    board: Board
    limit: Limit


class Session:
    """The server's side of one connection."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def hello(self) -> Hello:
        """The first message of the connection."""
        return Hello(
            protocol=PROTOCOL_VERSION,
            server=_server_name(),
            engines=tuple(self._catalogue.engines.values()),
            default_engine=self._catalogue.default_engine,
            min_side=MIN_SIDE,
            max_side=MAX_SIDE,
            max_time_ms=self._catalogue.max_time_ms,
            max_message_bytes=MAX_MESSAGE_BYTES,
        )

    def handle(self, data: str | bytes) -> Search | ErrorMessage:
        """What to do about one message of the client; whatever it is, it never raises.

        Args:
            data: the payload of a text frame (str) or of a binary one (bytes).
        """
        try:
            if not isinstance(data, str):
                raise _fault("not_text", "a binary frame is not of the protocol: send JSON in a text frame")
            request = decode_request(data)
            if not isinstance(request, Choose):
                raise WireError("unknown_type", "this server takes 'choose' only", request.id)
            return self._search_for(request)
        except WireError as error:
            return ErrorMessage(error.request_id, error.code, str(error))

    def answered(
        self, search: Search, decision: Decision | None
    ) -> DecisionMessage | GameOver | ErrorMessage:
        """The answer to a search that an engine has finished; ``None`` says that the game is over."""
        if decision is None:
            return GameOver(search.request_id)
        values: dict[DirectionName, float] = {
            direction.value: float(value) for direction, value in decision.values.items()
        }
        if not all(map(math.isfinite, values.values())):  # JSON has no infinity and no NaN
            return self.failed(search, f"engine {search.engine!r} gave a value that is not finite: {values}")
        return DecisionMessage(
            id=search.request_id,
            direction=decision.direction.value,
            values=values,
            depth=int(decision.depth),
            nodes=int(decision.nodes),
            elapsed_ms=float(decision.elapsed_ms),
            engine=search.engine,
        )

    def failed(self, search: Search, reason: str) -> ErrorMessage:
        """The answer to a search that the engine refused or broke off."""
        return _error(search, "engine_failed", reason)

    def busy(self, search: Search, waiting: int) -> ErrorMessage:
        """The answer to a search that has no room to wait in."""
        return _error(
            search,
            "busy",
            f"{waiting} requests of this connection are waiting already: wait for answers before asking more",
        )

    def _search_for(self, request: Choose) -> Search:
        catalogue = self._catalogue
        try:
            board = requested_board(request)
            info = catalogue.find(catalogue.default_for(board) if request.engine is None else request.engine)
            limit = Limit(request.depth, request.time_ms)
            if limit == UNLIMITED and info.name == catalogue.default_engine:
                limit = catalogue.default_limit
            limits.check(info, limit, catalogue.max_time_ms)
            limits.check_board(info, board)
        except WireError as error:
            raise WireError(error.code, str(error), request.id) from error
        except LimitError as error:
            raise WireError("bad_limit", str(error), request.id) from error
        except UnsupportedBoardError as error:
            raise WireError("unsupported_board", str(error), request.id) from error
        return Search(request.id, info.name, board, limit)


def _fault(code: ErrorCode, message: str) -> WireError:
    return WireError(code, message)


def _error(search: Search, code: ErrorCode, message: str) -> ErrorMessage:
    return ErrorMessage(search.request_id, code, message)


def _server_name() -> str:
    try:
        return f"bot2048/{metadata.version('bot2048')}"
    except metadata.PackageNotFoundError:  # run from a source tree
        return "bot2048"
