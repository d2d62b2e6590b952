"""One conversation with a client, without I/O: a message in, work to do or an answer out.

    session.hello()                        the greeting
    session.handle(data)                   → a request to work on, or the ErrorMessage to answer with
    session.answered(request, decision)    → the answer once the engine has chosen

`conversation` moves the messages and runs the searches; every word of the protocol is decided here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata

import msgspec
import numpy as np
import numpy.typing as npt

from game2048.board import Board
from game2048.direction import DIRECTIONS
from game2048.errors import RulesError, WireError
from game2048.size import MAX_SIDE, MIN_SIDE
from game2048.wire.frames import (
    PackedAnswer,
    PackedBoards,
    decode_boards,
    encode_directions,
    exponents_of_tiles,
)
from game2048.wire.messages import (
    MAX_BOARDS,
    MAX_MESSAGE_BYTES,
    PROTOCOL_VERSION,
    Cancel,
    Choose,
    ChooseMany,
    DecisionMessage,
    DirectionName,
    Directions,
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
from solver_server.engine import Decision, Limit
from solver_server.limits import LONGEST_MS, UNLIMITED, LimitError, UnsupportedBoardError, check, check_board

_LONGEST_DEADLINE_MS = 86_400_000.0
_SQUARE = Board()
_NAMES: tuple[DirectionName | None, ...] = (*(direction.value for direction in DIRECTIONS), None)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What a server offers to every client.

    Attributes:
        engines: the engines by name.
        default_engine: the engine for requests that name none (`wire.engine_for_size`).
        default_limit: the limit for requests that have none and go to the default engine.
        max_time_ms: the greatest ``time_ms`` of a request.
        max_connections: how many clients there may be at a time.
    """

    engines: dict[str, EngineInfo]
    default_engine: str
    default_limit: Limit = UNLIMITED
    max_time_ms: float = LONGEST_MS
    max_connections: int | None = None

    def __post_init__(self) -> None:
        info = self.find(self.default_engine)
        check(info, self.default_limit, self.max_time_ms)

    def find(self, name: str) -> EngineInfo:
        """Return the engine of that name.

        Raises:
            WireError: there is none (``unknown_engine``).
        """
        info = self.engines.get(name)
        if info is None:
            known = ", ".join(self.engines)
            raise _fault("unknown_engine", f"engine {name[:80]!r} is unknown; expected one of {known}")
        return info

    def engine_for(self, rows: int, columns: int) -> str:
        """Return the engine for a board where the request names none."""
        return engine_for_size(self.engines.values(), self.default_engine, rows, columns)

    def limit_for(self, info: EngineInfo, depth: int | None, time_ms: float | None) -> Limit:
        """Return the limit of a request, within what the operator allows.

        Raises:
            LimitError: depth or time are out of range.
        """
        limit = Limit(depth, time_ms)
        if limit == UNLIMITED and info.name == self.default_engine:
            limit = self.default_limit
        check(info, limit, self.max_time_ms)
        if limit.depth is not None and limit.time_ms is None and self.max_time_ms < LONGEST_MS:
            return Limit(limit.depth, self.max_time_ms)
        return limit


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A well-formed request: what an engine has to do for it.

    Attributes:
        request_id: the ``id`` of the answer.
        engine: the name of the engine.
        board: the board to move on.
        limit: how far to search.
        deadline: seconds from the request's arrival after which the answer is of no use.
    """

    request_id: RequestId
    engine: str
    board: Board
    limit: Limit
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """A well-formed request for many boards; see `SearchRequest`.

    Attributes:
        boards: packed and not downgraded, the exponents of 4×4 boards (uint8 [n, 16]), or any boards.
        packed: whether the answer goes out in a binary frame.
    """

    request_id: RequestId
    engine: str
    boards: npt.NDArray[np.uint64] | npt.NDArray[np.uint8] | Sequence[Board]
    limit: Limit
    deadline: float | None = None
    packed: bool = False


Work = SearchRequest | BatchRequest


class Session:
    """The server's side of one connection."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def hello(self) -> Hello:
        """Return the first message of the connection."""
        catalogue = self._catalogue
        return Hello(
            protocol=PROTOCOL_VERSION,
            server=_server_name(),
            engines=tuple(catalogue.engines.values()),
            default_engine=catalogue.default_engine,
            min_side=MIN_SIDE,
            max_side=MAX_SIDE,
            max_time_ms=catalogue.max_time_ms,
            max_message_bytes=MAX_MESSAGE_BYTES,
            max_boards=MAX_BOARDS,
            max_connections=catalogue.max_connections,
        )

    def handle(self, data: str | bytes) -> Work | Cancel | ErrorMessage:
        """Return what to do about one message of the client; never raise, whatever the message is.

        Args:
            data: the payload of a text frame (str) or of a binary one (bytes).
        """
        request: Choose | ChooseMany | Cancel | PackedBoards
        try:
            request = decode_boards(data) if isinstance(data, bytes) else decode_request(data)
        except WireError as error:
            return ErrorMessage(error.request_id, error.code, str(error))
        if isinstance(request, Cancel):
            return request
        request_id = request.request.id if isinstance(request, PackedBoards) else request.id
        try:
            if isinstance(request, Choose):
                return self._search_for(request)
            if isinstance(request, ChooseMany):
                return self._batch_of_tiles(request)
            return self._batch_of_packed(request)
        except WireError as error:
            return ErrorMessage(request_id, error.code, str(error))
        except LimitError as error:
            return ErrorMessage(request_id, "bad_limit", str(error))
        except UnsupportedBoardError as error:
            return ErrorMessage(request_id, "unsupported_board", str(error))

    def _search_for(self, request: Choose) -> SearchRequest:
        board = requested_board(request)
        info = self._engine(request.engine, board.rows, board.columns)
        limit = self._catalogue.limit_for(info, request.depth, request.time_ms)
        check_board(info, board)
        return SearchRequest(request.id, info.name, board, limit, _seconds(request.deadline_ms))

    def _batch_of_tiles(self, request: ChooseMany) -> BatchRequest:
        count = len(request.boards)
        if not 0 < count <= MAX_BOARDS:
            raise _fault("bad_board", f"the request has {count} boards; expected 1 to {MAX_BOARDS}")
        exponents = exponents_of_tiles(request.boards)
        boards = _boards_of(request.boards) if exponents is None else None
        rows, columns = (4, 4) if boards is None else (boards[0].rows, boards[0].columns)
        info = self._engine(request.engine, rows, columns)
        limit = self._catalogue.limit_for(info, request.depth, request.time_ms)
        if boards is None:
            check_board(info, _SQUARE)
        else:
            for board in boards:
                check_board(info, board)
        work = exponents if boards is None else boards
        assert work is not None
        return BatchRequest(request.id, info.name, work, limit, _seconds(request.deadline_ms))

    def _batch_of_packed(self, packed: PackedBoards) -> BatchRequest:
        request = packed.request
        info = self._engine(request.engine, 4, 4)
        limit = self._catalogue.limit_for(info, request.depth, request.time_ms)
        check_board(info, _SQUARE)
        deadline = _seconds(request.deadline_ms)
        return BatchRequest(request.id, info.name, packed.boards, limit, deadline, packed=True)

    def _engine(self, name: str | None, rows: int, columns: int) -> EngineInfo:
        catalogue = self._catalogue
        return catalogue.find(catalogue.engine_for(rows, columns) if name is None else name)


def answered(request: SearchRequest, decision: Decision | None) -> DecisionMessage | GameOver | ErrorMessage:
    """Return the answer to a search that an engine has finished; ``None`` means that the game is over."""
    if decision is None:
        return GameOver(request.request_id)
    values: dict[DirectionName, float] = {
        direction.value: float(value) for direction, value in decision.values.items()
    }
    if not all(map(math.isfinite, values.values())):  # JSON has no infinity and no NaN
        return failed(request, f"engine {request.engine!r} gave a value that is not finite: {values}")
    return DecisionMessage(
        id=request.request_id,
        direction=decision.direction.value,
        values=values,
        depth=int(decision.depth),
        nodes=int(decision.nodes),
        elapsed_ms=float(decision.elapsed_ms),
        engine=request.engine,
        found_by=decision.found_by,
    )


def answered_many(
    request: BatchRequest, directions: npt.NDArray[np.int8], elapsed_ms: float
) -> Directions | bytes:
    """Return the answer to a request for many boards.

    Args:
        request: the request.
        directions: int8 [n], the indices of directions, −1 where the game is over.
        elapsed_ms: time from the first search to the last.
    """
    if request.packed:
        answer = PackedAnswer(request.request_id, request.engine, elapsed_ms)
        return encode_directions(answer, directions.view(np.uint8))
    names = [_NAMES[index] for index in directions.tolist()]
    return Directions(request.request_id, names, request.engine, elapsed_ms)


def failed(request: Work, reason: str) -> ErrorMessage:
    """Return the answer to a request that the engine refused or broke off."""
    return _error(request, "engine_failed", reason)


def busy(request: Work, waiting: int) -> ErrorMessage:
    """Return the answer to a request that has no room to wait in."""
    return _error(
        request,
        "busy",
        f"{waiting} requests of this connection wait, as many as may; try again after an answer",
    )


def cancelled(request: Work) -> ErrorMessage:
    """Return the answer to a request that the client has withdrawn."""
    return _error(request, "cancelled", "the client has withdrawn the request")


def overdue(request: Work) -> ErrorMessage:
    """Return the answer to a request whose deadline has passed."""
    return _error(
        request, "deadline_passed", f"no answer within the {request.deadline or 0:g} s of its deadline"
    )


def capped(info: EngineInfo, max_depth: int | None) -> EngineInfo:
    """Return an engine as clients see it where the operator caps the depth."""
    if max_depth is None:
        return info
    deepest = max(info.min_depth, min(info.max_depth, max_depth))
    default = None if info.default_depth is None else min(info.default_depth, deepest)
    return msgspec.structs.replace(info, max_depth=deepest, default_depth=default)


def _boards_of(tiles: Sequence[Sequence[Sequence[int]]]) -> list[Board]:
    boards = []
    for number, rows in enumerate(tiles):
        try:
            boards.append(Board.from_tiles(rows))
        except RulesError as error:
            raise _fault("bad_board", f"board {number} (counted from 0): {error}") from error
    return boards


def _seconds(deadline_ms: float | None) -> float | None:
    if deadline_ms is None:
        return None
    if not 0 < deadline_ms <= _LONGEST_DEADLINE_MS:
        raise _fault(
            "bad_limit",
            f"deadline_ms {deadline_ms:g} is out of range; expected more than 0, "
            f"at most {_LONGEST_DEADLINE_MS:g}",
        )
    return deadline_ms / 1000


def _fault(code: ErrorCode, message: str) -> WireError:
    return WireError(code, message)


def _error(request: Work, code: ErrorCode, message: str) -> ErrorMessage:
    return ErrorMessage(request.request_id, code, message)


def _server_name() -> str:
    try:
        return f"bot2048/{metadata.version('bot2048')}"
    except metadata.PackageNotFoundError:  # run from a source tree
        return "bot2048"
