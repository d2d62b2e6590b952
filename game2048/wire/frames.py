"""Binary frames of the wire protocol: many 4×4 boards in, their directions out (docs/protocol.md).

A frame is one line of JSON, a newline, and the data: 8 bytes a board in requests, 1 byte a board in answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from game2048.board import Board
from game2048.errors import WireError
from game2048.wire.messages import MAX_BOARDS, MAX_MESSAGE_BYTES, RequestId

GAME_OVER = 255
"""The byte of an answer for a board that no direction changes; others are the index of a direction."""

PACKED_EXPONENT = 15
"""The greatest exponent of a packed board: 32768."""

_BOARD_BYTES = 8


class PackedRequest(msgspec.Struct, frozen=True, tag="choose_many", tag_field="type"):
    """The line of a request for many packed boards, which follow it: 8 bytes a board.

    Attributes:
        id: the answer carries it.
        engine: the name of the engine that plays all boards.
        depth: how deep to search each board, in the engine's own count.
        time_ms: how long to search each board, in milliseconds.
        deadline_ms: milliseconds from the arrival of the request after which the answer is of no use.
    """

    id: RequestId
    engine: str | None = None
    depth: int | None = None
    time_ms: float | None = None
    deadline_ms: float | None = None


class PackedAnswer(msgspec.Struct, frozen=True, tag="directions", tag_field="type"):
    """The line of the answer to packed boards; the directions follow it: one byte a board.

    Attributes:
        id: that of the request.
        engine: the name of the engine.
        elapsed_ms: time from the first search to the last, without transport.
    """

    id: RequestId
    engine: str
    elapsed_ms: float


class PackedBoards(NamedTuple):
    """A request and its boards.

    Attributes:
        request: the line of the frame.
        boards: uint64 [n], a nibble a cell, the first cell lowest.
    """

    request: PackedRequest
    boards: npt.NDArray[np.uint64]


class PackedDirections(NamedTuple):
    """An answer and its directions.

    Attributes:
        answer: the line of the frame.
        directions: uint8 [n], the indices of directions, or `GAME_OVER`.
    """

    answer: PackedAnswer
    directions: npt.NDArray[np.uint8]


_encoder = msgspec.json.Encoder()
_request_decoder = msgspec.json.Decoder(PackedRequest)
_answer_decoder = msgspec.json.Decoder(PackedAnswer)


def encode_boards(request: PackedRequest, boards: npt.NDArray[np.uint64]) -> bytes:
    """Return the frame of a request."""
    return b"%s\n%s" % (_encoder.encode(request), boards.astype("<u8", copy=False).tobytes())


def encode_directions(answer: PackedAnswer, directions: npt.NDArray[np.uint8]) -> bytes:
    """Return the frame of an answer."""
    return b"%s\n%s" % (_encoder.encode(answer), directions.tobytes())


def decode_boards(frame: bytes) -> PackedBoards:
    """Decode the frame of a request.

    Raises:
        WireError: the frame is too long (``too_long``), has no line of JSON (``not_text``), its line is wrong
            (``bad_json``, ``bad_request``), or its boards are too many or cut short (``bad_board``).
    """
    line, data = _parted(frame)
    try:
        request: PackedRequest = _decoded(_request_decoder, line)
    except WireError as error:
        raise WireError(error.code, str(error), _id_of(line)) from error
    count, rest = divmod(len(data), _BOARD_BYTES)
    if rest or not 0 < count <= MAX_BOARDS:
        raise WireError(
            "bad_board",
            f"the frame has {len(data)} bytes of boards; expected 8 a board, 1 to {MAX_BOARDS} boards",
            request.id,
        )
    return PackedBoards(request, np.frombuffer(data, dtype="<u8").astype(np.uint64))


def decode_directions(frame: bytes) -> PackedDirections:
    """Decode the frame of an answer.

    Raises:
        WireError: as `decode_boards`; a byte that is not a direction is a ``bad_request``.
    """
    line, data = _parted(frame)
    answer: PackedAnswer = _decoded(_answer_decoder, line)
    directions = np.frombuffer(data, dtype=np.uint8)
    if np.any((directions > 3) & (directions != GAME_OVER)):
        raise WireError("bad_request", "the frame has a direction that is not 0 to 3 or 255", answer.id)
    return PackedDirections(answer, directions)


def pack_boards(boards: Sequence[Board]) -> npt.NDArray[np.uint64] | None:
    """Return boards as uint64 [n]; ``None`` unless all are 4×4 without a tile above 32768."""
    if any((board.rows, board.columns) != (4, 4) for board in boards):
        return None
    cells = np.frombuffer(b"".join(board.cells for board in boards), dtype=np.uint8).reshape(-1, 16)
    if cells.size and cells.max() > PACKED_EXPONENT:
        return None
    nibbles = cells[:, ::2] | (cells[:, 1::2] << 4)
    return np.ascontiguousarray(nibbles).view("<u8").reshape(-1).astype(np.uint64)


def exponents_of_tiles(boards: Sequence[Sequence[Sequence[int]]]) -> npt.NDArray[np.uint8] | None:
    """Return the exponents of 4×4 boards of face values at once, faster than `Board.from_tiles` for each.

    Returns:
        uint8 [n, 16]; ``None`` where a board is not 4×4 or has a number that is not a tile of a 4×4 board.
    """
    try:
        tiles = np.array(boards, dtype=np.int64)
    except (ValueError, OverflowError, TypeError):
        return None
    if tiles.ndim != 3 or tiles.shape[1:] != (4, 4):
        return None
    largest = 1 << 17  # `highest_exponent` of 4×4 boards
    if np.any((tiles < 0) | (tiles > largest) | (tiles == 1) | (tiles & (tiles - 1) != 0)):
        return None
    exponents = np.log2(np.maximum(tiles, 1)).astype(np.uint8)
    return np.ascontiguousarray(exponents.reshape(-1, 16))


def _parted(frame: bytes) -> tuple[bytes, bytes]:
    if len(frame) > MAX_MESSAGE_BYTES:
        raise WireError(
            "too_long", f"the frame is {len(frame)} bytes long; expected at most {MAX_MESSAGE_BYTES}"
        )
    line, newline, data = frame.partition(b"\n")
    if not newline:
        raise WireError("not_text", "the binary frame has no line of JSON; send JSON in a text frame")
    return line, data


def _decoded(decoder: msgspec.json.Decoder[Any], line: bytes) -> Any:
    try:
        return decoder.decode(line)
    except msgspec.ValidationError as error:
        raise WireError("bad_request", f"the line of the frame is not of the protocol: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireError("bad_json", f"the line of the frame is not JSON: {error}") from error


class _Named(msgspec.Struct):
    id: Any = None


def _id_of(line: bytes) -> RequestId | None:
    try:
        found: RequestId | None = msgspec.convert(msgspec.json.decode(line, type=_Named).id, RequestId | None)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return found
