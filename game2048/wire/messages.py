"""The messages between a client and the solver server, as JSON text (docs/protocol.md).

Messages are frozen structs. JSON is decoded strictly: what `decode_request` returns is well formed. Boards
cross the wire as face values, directions as names. `game2048.wire.frames` has the binary frames.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import RulesError, WireError

PROTOCOL_VERSION = 1
"""Rises when a message changes in a way that an older peer cannot ignore."""

MAX_MESSAGE_BYTES = 65_536
"""A longer message is refused before it is parsed."""

MAX_BOARDS = 4096
"""The most boards of one ``choose_many``."""

DirectionName = Literal["up", "right", "down", "left"]

FoundBy = Literal["search", "table", "extract"]
"""What knew a move: a search, a whole endgame table, or an extract of tables."""

# Integers that every JSON client holds exactly; short strings, for an id is kept while its request waits.
RequestId = (
    Annotated[int, msgspec.Meta(ge=-(2**53) + 1, le=2**53 - 1)] | Annotated[str, msgspec.Meta(max_length=128)]
)

ErrorCode = Literal[
    "not_text",
    "too_long",
    "bad_json",
    "unknown_type",
    "bad_request",
    "bad_board",
    "unknown_engine",
    "unsupported_board",
    "bad_limit",
    "busy",
    "engine_failed",
    "cancelled",
    "deadline_passed",
]
"""The values of ``ErrorMessage.code``; docs/protocol.md says when. A later server may know more of them."""


class EngineInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=False):
    """One engine that a server offers.

    Attributes:
        name: its name in ``choose``.
        summary: one line for people.
        boards: the sizes it plays, as ``"4x4"``; ``"any"`` for every size from 2×2 to 8×8.
        max_depth: the greatest ``depth`` it takes.
        default_depth: the depth it plays without a limit; ``None`` if it chooses the depth itself.
        min_depth: the least ``depth`` it takes.
        in_points: whether its values are score points still to come, the merge reward of the move included;
            the value minus the reward is then the value of the afterstate.
    """

    name: str
    summary: str
    boards: tuple[str, ...]
    max_depth: int
    default_depth: int | None = None
    min_depth: int = 1
    in_points: bool = False

    def plays(self, rows: int, columns: int) -> bool:
        """Return whether the engine plays boards of that size."""
        return "any" in self.boards or f"{rows}x{columns}" in self.boards


class Hello(msgspec.Struct, frozen=True, tag="hello", tag_field="type"):
    """The first message of the server on every connection.

    Attributes:
        protocol: the version of the protocol.
        server: name and version of the program.
        engines: the engines on offer.
        default_engine: the engine for requests that name none, if it plays their board.
        min_side: the fewest rows or columns of a board.
        max_side: the most.
        max_time_ms: the greatest ``time_ms`` that the server takes.
        max_message_bytes: the longest message that the server takes.
        max_boards: the most boards of one ``choose_many``; 0 for a server that does not know it.
        max_connections: how many clients the server takes at a time; ``None`` where it does not say.
    """

    protocol: int
    server: str
    engines: tuple[EngineInfo, ...]
    default_engine: str
    min_side: int
    max_side: int
    max_time_ms: float
    max_message_bytes: int
    max_boards: int = 0
    max_connections: int | None = None

    def engine_for(self, rows: int, columns: int) -> str:
        """Return the engine that answers requests that name none (`engine_for_size`)."""
        return engine_for_size(self.engines, self.default_engine, rows, columns)


def engine_for_size(engines: Iterable[EngineInfo], default: str, rows: int, columns: int) -> str:
    """Return the engine for boards of a size where the request names no engine.

    Args:
        engines: the engines on offer, in order.
        default: the name of one of them.
        rows: rows of the board.
        columns: columns of the board.

    Returns:
        The default engine. If it does not play such boards and others do, the first of these.
    """
    fitting = [info.name for info in engines if info.plays(rows, columns)]
    return default if default in fitting or not fitting else fitting[0]


class Choose(msgspec.Struct, frozen=True, tag="choose", tag_field="type"):
    """Ask for a move. Fields that are left out take the server's defaults.

    Attributes:
        id: the answer carries it.
        board: face values, row by row.
        engine: the name of an engine.
        depth: how deep to search, in the engine's own count.
        time_ms: how long to search, in milliseconds.
        deadline_ms: milliseconds from the arrival of the request after which the answer is of no use; the
            server then breaks off the search and answers ``deadline_passed``.
    """

    id: RequestId
    board: list[list[int]]
    engine: str | None = None
    depth: int | None = None
    time_ms: float | None = None
    deadline_ms: float | None = None


class ChooseMany(msgspec.Struct, frozen=True, tag="choose_many", tag_field="type"):
    """Ask for the moves of many boards. Fields that are left out take the server's defaults.

    Attributes:
        id: the answer carries it.
        boards: 1 to `max_boards` boards of face values, row by row.
        engine: the name of the engine that plays all boards.
        depth: how deep to search each board, in the engine's own count.
        time_ms: how long to search each board, in milliseconds.
        deadline_ms: milliseconds from the arrival of the request after which the answer is of no use; the
            server then breaks off the search and answers ``deadline_passed``.
    """

    id: RequestId
    boards: list[list[list[int]]]
    engine: str | None = None
    depth: int | None = None
    time_ms: float | None = None
    deadline_ms: float | None = None


class Cancel(msgspec.Struct, frozen=True, tag="cancel", tag_field="type"):
    """Withdraw the requests with an ``id``.

    A request that is not answered yet is answered ``cancelled``. The message itself gets no answer.

    Attributes:
        id: that of the requests.
    """

    id: RequestId


class DecisionMessage(msgspec.Struct, frozen=True, tag="decision", tag_field="type", omit_defaults=False):
    """The move that the engine chose.

    Attributes:
        id: that of the request.
        direction: the name of the direction.
        values: the engine's value of every legal direction; compare values of one answer only.
        depth: how deep the search went, in the engine's own count.
        nodes: positions evaluated or expanded.
        elapsed_ms: time of the search alone, without queue and transport.
        engine: the name of the engine.
        found_by: what knew the move (`FoundBy`); other servers may have words of their own.
    """

    id: RequestId
    direction: DirectionName
    values: dict[DirectionName, float]
    depth: int
    nodes: int
    elapsed_ms: float
    engine: str
    found_by: str = "search"

    @property
    def chosen(self) -> Direction:
        """The direction of the move."""
        return Direction.parse(self.direction)

    @property
    def by_direction(self) -> dict[Direction, float]:
        """The value of each legal direction."""
        return {Direction.parse(name): value for name, value in self.values.items()}


class Directions(msgspec.Struct, frozen=True, tag="directions", tag_field="type"):
    """The moves for the boards of a ``choose_many``, in their order.

    Attributes:
        id: that of the request.
        directions: the name of a direction for each board, ``None`` where the game is over.
        engine: the name of the engine.
        elapsed_ms: time from the first search to the last, without transport.
    """

    id: RequestId
    directions: list[DirectionName | None]
    engine: str
    elapsed_ms: float


class GameOver(msgspec.Struct, frozen=True, tag="game_over", tag_field="type"):
    """No direction changes the board of the request.

    Attributes:
        id: that of the request.
    """

    id: RequestId


class ErrorMessage(msgspec.Struct, frozen=True, tag="error", tag_field="type"):
    """The server cannot answer a request. The connection stays open.

    Attributes:
        id: the ``id`` of the request, ``None`` where the server could not read it.
        code: short and stable, for programs; docs/protocol.md lists the codes.
        message: a sentence, for people.
    """

    id: RequestId | None
    code: str
    message: str


Request = Choose | ChooseMany | Cancel
ServerMessage = Hello | DecisionMessage | Directions | GameOver | ErrorMessage
Message = Request | ServerMessage


class _Envelope(msgspec.Struct):
    """The fields that every message of every protocol version has."""

    type: Any = None
    id: Any = None
    protocol: Any = None


_encoder = msgspec.json.Encoder()
_envelope_decoder = msgspec.json.Decoder(_Envelope)
_request_decoders: dict[str, msgspec.json.Decoder[Any]] = {
    "choose": msgspec.json.Decoder(Choose),
    "choose_many": msgspec.json.Decoder(ChooseMany),
    "cancel": msgspec.json.Decoder(Cancel),
}
_answer_decoder: msgspec.json.Decoder[ServerMessage] = msgspec.json.Decoder(ServerMessage)


def encode(message: Message) -> str:
    """Return the JSON text of a message."""
    return _encoder.encode(message).decode()


def decode_request(data: str | bytes) -> Request:
    """Decode a message of a client.

    Raises:
        WireError: it is longer than `MAX_MESSAGE_BYTES` (``too_long``), not JSON (``bad_json``), of a type
            that is not a request (``unknown_type``), or a field is wrong (``bad_request``). The error has
            the request's ``id`` where it can be read.
    """
    raw, envelope = _open(data)
    known = " or ".join(map(repr, _request_decoders))
    if not isinstance(envelope.type, str):
        raise WireError("bad_request", f"the message has no type; expected {known}", _id_of(envelope))
    decoder = _request_decoders.get(envelope.type)
    if decoder is None:
        raise WireError(
            "unknown_type", f"type {envelope.type[:40]!r} is unknown; expected {known}", _id_of(envelope)
        )
    request: Request = _decode(decoder, raw, envelope)
    return request


def decode_answer(data: str | bytes) -> ServerMessage:
    """Decode a message of a server.

    Raises:
        WireError: as `decode_request`; an unknown type is a ``bad_request`` here.
    """
    return _decode(_answer_decoder, *_open(data))


def protocol_of(data: str | bytes) -> int | None:
    """Return the version that a greeting of any version names; ``None`` if the message is not a greeting."""
    try:
        envelope = _open(data)[1]
    except WireError:
        return None
    version = envelope.protocol
    return version if envelope.type == "hello" and type(version) is int else None


def requested_board(request: Choose) -> Board:
    """Return the board of a request.

    Raises:
        WireError: the tiles are not a board (``bad_board``).
    """
    try:
        return Board.from_tiles(request.board)
    except RulesError as error:
        raise WireError("bad_board", str(error), request.id) from error


T = TypeVar("T")


def _open(data: str | bytes) -> tuple[bytes, _Envelope]:
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if len(raw) > MAX_MESSAGE_BYTES:
        raise WireError(
            "too_long", f"the message is {len(raw)} bytes long; expected at most {MAX_MESSAGE_BYTES}"
        )
    try:
        return raw, _envelope_decoder.decode(raw)
    except msgspec.ValidationError as error:
        raise WireError("bad_request", f"the message is not of the protocol: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireError("bad_json", f"the message is not JSON: {error}") from error


def _decode(decoder: msgspec.json.Decoder[T], raw: bytes, envelope: _Envelope) -> T:
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        raise WireError(
            "bad_request", f"the message is not of the protocol: {error}", _id_of(envelope)
        ) from error
    except UnicodeDecodeError as error:  # in a field that the envelope does not have
        raise WireError("bad_json", f"the message is not JSON: {error}", _id_of(envelope)) from error


def _id_of(envelope: _Envelope) -> RequestId | None:
    """Return the ``id`` of a message that otherwise cannot be understood."""
    try:
        found: RequestId | None = msgspec.convert(envelope.id, RequestId | None)
    except msgspec.ValidationError:
        return None
    return found
