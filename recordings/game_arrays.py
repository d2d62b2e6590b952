"""A game as arrays: the form that datasets are made, checked and converted in.

A `GameRecord` is a view of it, a move at a time, and so is every file format. Nothing here but `record_of`
makes Python objects for every move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from game2048.board import Board, highest_exponent
from game2048.direction import DIRECTIONS
from game2048.errors import RecordError, RulesError
from recordings.record import SCHEMA_VERSION, WINNING_TILE, GameRecord, Move, Outcome, now

MISSING = -1
"""What stands for a number that was not recorded, in columns of integers."""

_NAMES = [direction.value for direction in DIRECTIONS]
_INDEX = {name: index for index, name in enumerate(_NAMES)}


class GameInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a game's record says beside its moves and scores; the fields are those of `GameRecord`."""

    total_moves: int
    max_tile: int
    won: bool
    timestamp: str
    source: str | None = None
    solver: str | None = None
    seed: int | None = None
    outcome: Outcome | None = None
    id: str | None = None
    game_number: int | None = None
    depth: int | None = None
    weights: str | None = None
    symmetry: int | None = None
    rules: list[str] | None = None
    schema_version: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class GameArrays:
    """One game of n moves.

    Attributes:
        info: what there is beside the arrays.
        cells: uint8 [n + 1, rows, columns], the exponents before each move and after the last one.
        directions: uint8 [n], indices of `DIRECTIONS`; files have names.
        scores: int64 [n + 1], the scores before each move and after the last one.
        values: float64 [n, 4], what the engine thought each direction worth, NaN where it is illegal or
            nothing was recorded; ``None`` when that is so everywhere.
        nodes: int64 [n], positions evaluated, `MISSING` where not recorded; ``None`` when nowhere.
        depths: int16 [n], how deep the search went, likewise.
    """

    info: GameInfo
    cells: npt.NDArray[np.uint8]
    directions: npt.NDArray[np.uint8]
    scores: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64] | None = None
    nodes: npt.NDArray[np.int64] | None = None
    depths: npt.NDArray[np.int16] | None = None

    @property
    def plies(self) -> int:
        """How many moves there are."""
        return self.directions.size

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of the board."""
        return self.cells.shape[1], self.cells.shape[2]

    @property
    def final_score(self) -> int:
        """The score after the last move."""
        return int(self.scores[-1])

    def with_info(self, **changes: Any) -> GameArrays:
        """This game with some of its info changed; the arrays are shared."""
        return replace(self, info=msgspec.structs.replace(self.info, **changes))

    def with_totals(self) -> GameArrays:
        """This game with the totals that follow from its arrays."""
        top = int(self.cells[-1].max())
        tile = 1 << top if top else 0
        return self.with_info(total_moves=self.plies, max_tile=tile, won=tile >= WINNING_TILE)

    def equals(self, other: GameArrays) -> bool:
        """Whether both hold the same game to the last bit."""
        return self.info == other.info and all(
            (mine is None) == (theirs is None) and (mine is None or theirs is None or _same(mine, theirs))
            for mine, theirs in zip(self.arrays(), other.arrays(), strict=True)
        )

    def arrays(self) -> tuple[npt.NDArray[Any] | None, ...]:
        """All arrays, in the order of the fields."""
        return (self.cells, self.directions, self.scores, self.values, self.nodes, self.depths)


def _same(mine: npt.NDArray[Any], theirs: npt.NDArray[Any]) -> bool:
    return mine.shape == theirs.shape and bool(np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f"))


def new_info(
    *,
    source: str,
    solver: str,
    outcome: Outcome,
    timestamp: str | None = None,
    **more: Any,
) -> GameInfo:
    """The info of a game that was just played; `GameArrays.with_totals` fills in the totals."""
    return GameInfo(
        0,
        0,
        False,
        timestamp or now(),
        source=source,
        solver=solver,
        outcome=outcome,
        schema_version=SCHEMA_VERSION,
        **more,
    )


# -- from records ---------------------------------------------------------------------------------------


def arrays_of(record: GameRecord) -> GameArrays:
    """The arrays of a record. An empty text counts as missing.

    Raises:
        RecordError: a board is none of the rules, boards differ in size, or a number is out of range.
    """
    moves = record.moves
    return GameArrays(
        info=_info_of(record),
        cells=cells_of([*(move.board for move in moves), record.final_board]),
        directions=np.array([_INDEX[move.direction] for move in moves], dtype=np.uint8),
        scores=np.array([*(move.score for move in moves), record.final_score], dtype=np.int64),
        values=_values_of(moves),
        nodes=_optional([move.nodes_evaluated for move in moves], np.int64),
        depths=_optional([move.depth for move in moves], np.int16),
    )


def _info_of(record: GameRecord) -> GameInfo:
    fields: dict[str, Any] = {name: getattr(record, name) for name in GameInfo.__struct_fields__}
    return msgspec.convert(
        {name: value for name, value in fields.items() if value not in ("", None)}, GameInfo
    )


def cells_of(boards: Sequence[list[list[int]]]) -> npt.NDArray[np.uint8]:
    """The exponents of boards of face values, uint8 [n, rows, columns].

    Raises:
        RecordError: a board is none of the rules, or they differ in size.
    """
    try:
        tiles = np.array(boards, dtype=np.int64)
    except (ValueError, OverflowError):
        raise _bad_board(boards) from None
    if tiles.ndim != 3:
        raise _bad_board(boards)
    mantissa, exponents = np.frexp(tiles.astype(np.float64))
    fits = (tiles == 0) | (
        (mantissa == 0.5) & (exponents > 1) & (exponents - 1 <= highest_exponent(*tiles.shape[1:]))
    )
    if not fits.all() or not all(2 <= side <= 8 for side in tiles.shape[1:]):
        raise _bad_board(boards)
    return np.where(tiles > 0, exponents - 1, 0).astype(np.uint8)


def _bad_board(boards: Sequence[list[list[int]]]) -> RecordError:
    """The error that names the first board at fault."""
    first = None
    for number, tiles in enumerate(boards, 1):
        place = "the final board" if number == len(boards) else f"the board before ply {number}"
        try:
            board = Board.from_tiles(tiles)
        except RulesError as error:
            return RecordError(f"{place} is none: {error}")
        first = first or board
        if (board.rows, board.columns) != (first.rows, first.columns):
            return RecordError(
                f"{place} is {board.rows}×{board.columns}, the first {first.rows}×{first.columns}: "
                "expected boards of one size in a game"
            )
    return RecordError("the game has boards that do not fit together: expected boards of one size")


def _values_of(moves: Sequence[Move]) -> npt.NDArray[np.float64] | None:
    if all(move.values is None and move.evaluation_score is None for move in moves):
        return None
    values = np.full((len(moves), 4), np.nan)
    for ply, move in enumerate(moves):
        known = move.values
        if known is None and move.evaluation_score is not None:
            known = {move.direction: move.evaluation_score}
        for name, value in (known or {}).items():
            values[ply, _INDEX[name]] = value
    return None if np.isnan(values).all() else values


def _optional(numbers: Sequence[int | None], dtype: Any) -> npt.NDArray[Any] | None:
    if all(number is None for number in numbers):
        return None
    try:
        return np.array([MISSING if number is None else number for number in numbers], dtype=dtype)
    except OverflowError:
        raise RecordError(f"a move's depth is out of range: expected at most {np.iinfo(dtype).max}") from None


# -- to records -----------------------------------------------------------------------------------------


def tiles_of(cells: npt.NDArray[np.uint8]) -> Any:
    """Face values of exponents, as nested lists."""
    return np.where(cells > 0, np.int64(1) << cells.astype(np.int64), 0).tolist()


def record_of(game: GameArrays) -> GameRecord:
    """The record of a game; the inverse of `arrays_of`."""
    boards = tiles_of(game.cells)
    scores = game.scores.tolist()
    names = [_NAMES[index] for index in game.directions.tolist()]
    if game.values is None and game.nodes is None and game.depths is None:
        moves = [Move(*move) for move in zip(boards, names, scores, strict=False)]
    else:
        moves = _moves_with_search(game, boards, names, scores)
    return GameRecord(
        final_score=scores[-1], final_board=boards[-1], moves=moves, **msgspec.structs.asdict(game.info)
    )


def _moves_with_search(game: GameArrays, boards: Any, names: Any, scores: Any) -> list[Move]:
    plies = game.plies
    values = np.full((plies, 4), np.nan) if game.values is None else game.values
    rows = values.tolist()
    known = (~np.isnan(values)).tolist()
    nodes = [None] * plies if game.nodes is None else _or_none(game.nodes)
    depths = [None] * plies if game.depths is None else _or_none(game.depths)
    moves = []
    for ply in range(plies):
        told: Any = {_NAMES[i]: rows[ply][i] for i in range(4) if known[ply][i]}
        if told:
            move = Move.of_search(
                boards[ply],
                names[ply],
                scores[ply],
                told,
                nodes[ply],
                depths[ply],
            )
        else:
            move = Move(boards[ply], names[ply], scores[ply], nodes_evaluated=nodes[ply], depth=depths[ply])
        moves.append(move)
    return moves


def _or_none(numbers: npt.NDArray[Any]) -> list[int | None]:
    return [None if number == MISSING else number for number in numbers.tolist()]
