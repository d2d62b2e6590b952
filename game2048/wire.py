"""The messages between a client and the solver server, and how they become JSON text (docs/protocol.md).

Messages are frozen structs; JSON is decoded strictly, so that whatever `decode_request` returns is well
formed. Boards cross the wire as face values, directions as names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from game2048.board import Board
from game2048.errors import RulesError, WireError

PROTOCOL_VERSION = 1
"""Raised when a message changes in a way that an older peer cannot ignore."""

MAX_MESSAGE_BYTES = 65_536
"""No message of the protocol comes near this; a longer one is refused before it is parsed."""

DirectionName = Literal["up", "right", "down", "left"]

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
]
"""What ``ErrorMessage.code`` may be; docs/protocol.md says when. A later server may know more of them."""


class EngineInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=False):
    """One engine that a server offers.

    Attributes:
        name: what ``choose`` calls it.
        summary: one line for people.
        boards: the sizes it plays, as ``"4x4"``; ``"any"`` for every size from 2×2 to 8×8.
        max_depth: the deepest ``depth`` it takes.
        default_depth: the depth it plays without a limit; ``None`` if it chooses by itself.
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
        """Whether it plays boards of that size."""
        return "any" in self.boards or f"{rows}x{columns}" in self.boards


class Hello(msgspec.Struct, frozen=True, tag="hello", tag_field="type"):
    """What the server says first on every connection."""

    protocol: int
    server: str
    engines: tuple[EngineInfo, ...]
    default_engine: str
    min_side: int
    max_side: int
    max_time_ms: float
    max_message_bytes: int

    def engine_for(self, rows: int, columns: int) -> str:
        """The engine that answers requests that name none (`default_for`)."""
        return default_for(self.engines, self.default_engine, rows, columns)


def default_for(engines: Iterable[EngineInfo], default: str, rows: int, columns: int) -> str:
    """The engine for boards of a size that no one was named for.

    Args:
        engines: on offer, in order.
        default: one of them.
        rows: of the board.
        columns: of the board.

    Returns:
        The default one, unless it does not play such boards and another does: then the first of these.
    """
    fitting = [info.name for info in engines if info.plays(rows, columns)]
    return default if default in fitting or not fitting else fitting[0]


class Choose(msgspec.Struct, frozen=True, tag="choose", tag_field="type"):
    """A client asks for a move. Fields left out take the server's defaults."""

    id: RequestId
    board: list[list[int]]
    engine: str | None = None
    depth: int | None = None
    time_ms: float | None = None


class DecisionMessage(msgspec.Struct, frozen=True, tag="decision", tag_field="type", omit_defaults=False):
    """The move chosen.

    Attributes:
        values: the engine's value of every legal direction; only values of one answer may be compared.
        depth: how deep the search went, in the engine's own count.
        nodes: positions evaluated or expanded.
        elapsed_ms: time of the search alone, without queue and transport.
    """

    id: RequestId
    direction: DirectionName
    values: dict[DirectionName, float]
    depth: int
    nodes: int
    elapsed_ms: float
    engine: str


class GameOver(msgspec.Struct, frozen=True, tag="game_over", tag_field="type"):
    """No direction changes the board that was asked about."""

    id: RequestId


class ErrorMessage(msgspec.Struct, frozen=True, tag="error", tag_field="type"):
    """A request that could not be answered. The connection lives on.

    Attributes:
        id: the ``id`` of the request, ``None`` where it could not be read.
        code: short and stable, for programs.
        message: a sentence, for people.
    """

    id: RequestId | None
    code: str
    message: str


Answer = Hello | DecisionMessage | GameOver | ErrorMessage
Message = Choose | Answer


class _Envelope(msgspec.Struct):
    """What every message has, of this version of the protocol and of any other."""

    type: Any = None
    id: Any = None
    protocol: Any = None


_encoder = msgspec.json.Encoder()
_envelope_decoder = msgspec.json.Decoder(_Envelope)
_request_decoder = msgspec.json.Decoder(Choose)
_answer_decoder: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)


def encode(message: Message) -> str:
    """The JSON text of a message."""
    return _encoder.encode(message).decode()


def decode_request(data: str | bytes) -> Choose:
    """What a client sent.

    Raises:
        WireError: longer than `MAX_MESSAGE_BYTES` (``too_long``), not JSON (``bad_json``), of a type that is
            no request (``unknown_type``), or not of that type's form (``bad_request``); the request's
            ``id`` is kept where it can be read.
    """
    raw, envelope = _open(data)
    if not isinstance(envelope.type, str):
        raise WireError("bad_request", "the message has no type: expected 'choose'", _id_of(envelope))
    if envelope.type != "choose":
        raise WireError(
            "unknown_type",
            f"a message of type {envelope.type[:40]!r} is no request: expected 'choose'",
            _id_of(envelope),
        )
    return _decode(_request_decoder, raw, envelope)


def decode_answer(data: str | bytes) -> Answer:
    """What a server sent.

    Raises:
        WireError: as `decode_request`; an unknown type is a ``bad_request`` here.
    """
    return _decode(_answer_decoder, *_open(data))


def protocol_of(data: str | bytes) -> int | None:
    """The version that a greeting of any version names; ``None`` if the message is no greeting."""
    try:
        envelope = _open(data)[1]
    except WireError:
        return None
    version = envelope.protocol
    return version if envelope.type == "hello" and type(version) is int else None


def board_of(request: Choose) -> Board:
    """The board of a request.

    Raises:
        WireError: it is none (``bad_board``).
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
            "too_long", f"a message of {len(raw)} bytes is too long: expected at most {MAX_MESSAGE_BYTES}"
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


def _id_of(envelope: _Envelope) -> RequestId | None:
    """The ``id`` of a message that is otherwise not understood."""
    try:
        found: RequestId | None = msgspec.convert(envelope.id, RequestId | None)
    except msgspec.ValidationError:
        return None
    return found
