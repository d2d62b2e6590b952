"""The record of one game: the structs behind a line of ``games.jsonl`` (docs/records.md)."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from game2048.board import Board
from game2048.direction import Direction
from game2048.errors import RecordError
from game2048.size import MAX_SIDE, MIN_SIDE
from game2048.wire.messages import DirectionName

SCHEMA_VERSION = 1
"""Grows when a line changes in a way that an older reader cannot ignore; optional fields do not count."""

WINNING_TILE = 2048

Outcome = Literal["game_over", "stopped", "interrupted"]

# Bounds that JSON from outside is held to; 2**53 is what every JSON reader keeps exactly.
MAX_RECORDED_SCORE = (1 << 53) - 1
Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_RECORDED_SCORE)]
_Row = Annotated[list[Count], msgspec.Meta(min_length=MIN_SIDE, max_length=MAX_SIDE)]
Tiles = Annotated[list[_Row], msgspec.Meta(min_length=MIN_SIDE, max_length=MAX_SIDE)]
"""Face values, row by row, 0 for empty. Whether they are a board of the rules `Board.from_tiles` says."""


class Move(msgspec.Struct, frozen=True, omit_defaults=True):
    """One move, and what stood before it.

    What the engine knew is there only where it was recorded; `of_search` makes it consistent.

    Attributes:
        board: face values before the move.
        direction: ``up``, ``right``, ``down`` or ``left``.
        score: the score before the move.
        values: the engine's value of every legal direction.
        evaluation_score: the value of the direction chosen.
        alternative_moves: the other legal directions, the best first.
        nodes_evaluated: how many positions the engine looked at.
        depth: how deep it searched, in the engine's own unit.
    """

    board: Tiles
    direction: DirectionName
    score: Count
    values: dict[DirectionName, float] | None = None
    evaluation_score: float | None = None
    alternative_moves: list[DirectionName] | None = None
    nodes_evaluated: Count | None = None
    depth: Count | None = None

    @classmethod
    def of(cls, board: Board, direction: Direction, score: int) -> Move:
        """Return the move of that direction, made on ``board`` at ``score`` points."""
        return cls(board.tiles(), direction.value, score)

    @classmethod
    def of_search(
        cls,
        move: Move,
        values: dict[DirectionName, float],
        nodes: int | None = None,
        depth: int | None = None,
    ) -> Move:
        """Add to a move what the engine knew; the evaluation and the alternatives follow from its values."""
        others: list[DirectionName] = [name for name in values if name != move.direction]
        others.sort(key=lambda name: -values[name])
        chosen = values.get(move.direction)
        return cls(move.board, move.direction, move.score, values, chosen, others, nodes, depth)


class GameInfo(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """What is recorded of a game beside its boards, moves and scores. In JSON the names are camelCase.

    The first four fields are always there. The others may be missing in files of other programs.

    Attributes:
        total_moves: how many moves were made.
        max_tile: the largest tile.
        won: whether ``max_tile`` is 2048 or more.
        timestamp: when the game ended, ISO 8601.
        source: a url, or ``self-play``.
        solver: the engine that chose the moves.
        seed: the seed that a seeded game was started from.
        outcome: ``game_over`` (no legal move is left), ``stopped`` (on purpose, e.g. a target was reached) or
            ``interrupted`` (Ctrl-C, a fault, or recovered from a journal).
        id: names a journaled game, so that it is never written twice; the symmetric images of a game share
            it.
        game_number: which game of its run it was, from 0; with ``seed`` it names the spawns (`Spawner`).
        depth: the depth that the engine was given, in the engine's own unit.
        weights: the SHA-256 of the weights that it played with.
        symmetry: which symmetric image of the game as played this is (`game2048.symmetry`); ``None`` for the
            game itself.
        rules: how the rules of the page differ from those of 2048, in words; ``None`` for not at all.
        schema_version: 0 for a line that carries none.
    """

    total_moves: Count
    max_tile: Count
    won: bool
    timestamp: str
    source: str | None = None
    solver: str | None = None
    seed: int | None = None
    outcome: Outcome | None = None
    id: str | None = None
    game_number: Count | None = None
    depth: Count | None = None
    weights: str | None = None
    symmetry: Annotated[int, msgspec.Meta(ge=0, lt=8)] | None = None
    rules: list[str] | None = None
    schema_version: Count = 0


class GameRecord(GameInfo, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """One game: a line of ``games.jsonl``. In JSON what is ``None`` is left out, and the moves come last.

    Unknown fields are ignored, so that later versions can add some.

    Attributes:
        final_score: the score after the last move.
        final_board: face values after the last move.
        moves: all moves, in order.
    """

    final_score: Count
    final_board: Tiles
    moves: list[Move]


INFO_FIELDS = GameInfo.__struct_fields__
_JSON_NAMES = dict(zip(INFO_FIELDS, GameInfo.__struct_encode_fields__, strict=True))


def info_of(record: GameRecord) -> GameInfo:
    """Return the info of a record. An empty text counts as missing."""
    fields = {name: getattr(record, name) for name in INFO_FIELDS}
    return GameInfo(**{name: value for name, value in fields.items() if value != ""})


def info_from(fields: Mapping[str, Any]) -> GameInfo:
    """Check the fields of an info, as files hold them.

    Args:
        fields: values by field name; ``None`` for what is missing.

    Raises:
        ValueError: a field is missing or out of range; names it.
    """
    given = {_JSON_NAMES.get(name, name): value for name, value in fields.items() if value is not None}
    return msgspec.convert(given, GameInfo)


def new_info(
    *, source: str, solver: str, outcome: Outcome, timestamp: str | None = None, **more: Any
) -> GameInfo:
    """Return the info of a game that was just played; `build_record` and `GameArrays.with_totals` add totals.

    Args:
        source: a url, or ``self-play``.
        solver: the engine that chose the moves.
        outcome: how the game ended.
        timestamp: when the game ended; by default now.
        more: other fields of `GameInfo`.
    """
    return GameInfo(
        total_moves=0,
        max_tile=0,
        won=False,
        timestamp=timestamp or timestamp_now(),
        source=source,
        solver=solver,
        outcome=outcome,
        schema_version=SCHEMA_VERSION,
        **more,
    )


def timestamp_now() -> str:
    """Return the present moment as a record's ``timestamp``."""
    return timestamp_of(datetime.datetime.now(datetime.UTC))


def timestamp_of(moment: datetime.datetime) -> str:
    """Return a moment as a record's ``timestamp``: ISO 8601, whole seconds, with its offset."""
    return moment.isoformat(timespec="seconds")


def build_record(moves: Sequence[Move], final_board: Board, final_score: int, info: GameInfo) -> GameRecord:
    """Return a record whose totals follow from the moves and the final board.

    Args:
        moves: all moves made, each with the board and the score before it.
        final_board: the board after the last move.
        final_score: the score after the last move.
        info: all else; its totals are replaced.
    """
    totals = {
        "total_moves": len(moves),
        "max_tile": final_board.max_tile,
        "won": final_board.max_tile >= WINNING_TILE,
    }
    return GameRecord(
        **(msgspec.structs.asdict(info) | totals),
        final_score=final_score,
        final_board=final_board.tiles(),
        moves=list(moves),
    )


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(GameRecord)


def encode_record(record: GameRecord) -> bytes:
    """Encode a record as one line of JSON, line end included.

    Raises:
        RecordError: it holds what JSON cannot (an integer beyond 64 bits, broken Unicode).
    """
    try:
        return _encoder.encode(record) + b"\n"
    except (OverflowError, UnicodeEncodeError) as error:
        raise RecordError(f"the game record cannot be written as JSON: {error}") from error


def decode_record(line: bytes) -> GameRecord:
    """Decode the record of one line of JSON.

    Raises:
        RecordError: not JSON, not the schema (the message names the field, as ``$.moves[3].board``), or a
            schema version that this program does not know.
    """
    try:
        record = _decoder.decode(line)
    except msgspec.ValidationError as error:
        raise RecordError(f"not a game record: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordError(f"not JSON: {error}") from error
    if record.schema_version > SCHEMA_VERSION:
        raise RecordError(
            f"schemaVersion {record.schema_version} is newer than this program: expected at most "
            f"{SCHEMA_VERSION}; a newer bot2048 reads it"
        )
    return record
