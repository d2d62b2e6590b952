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
from game2048.size import MAX_SIDE, MIN_SIDE, Size
from recordings.record import WINNING_TILE, GameInfo, GameRecord, Move, info_of

MISSING = -1
"""What stands for a number that was not recorded, in columns of integers."""

_NAMES = [direction.value for direction in DIRECTIONS]
_INDEX = {name: index for index, name in enumerate(_NAMES)}


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
    def size(self) -> Size:
        """Rows and columns of the board."""
        return Size(self.cells.shape[1], self.cells.shape[2])

    @property
    def final_score(self) -> int:
        """The score after the last move."""
        return int(self.scores[-1])

    def with_info(self, **changes: Any) -> GameArrays:
        """Return this game with some of its info changed; the arrays are shared."""
        return replace(self, info=msgspec.structs.replace(self.info, **changes))

    def with_totals(self) -> GameArrays:
        """Return this game with the totals that follow from its arrays."""
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
        """Return all arrays, in the order of the fields."""
        return (self.cells, self.directions, self.scores, self.values, self.nodes, self.depths)


def check_arrays(game: GameArrays) -> None:
    """Make sure that arrays from outside fit together and hold boards and directions of the rules.

    Raises:
        RecordError: they do not.
    """
    cells, directions, scores, values, nodes, depths = game.arrays()
    if cells is None or directions is None or scores is None:
        raise RecordError("its boards, directions or scores are missing")
    plies = directions.size
    shapes = ((cells, (plies + 1, *cells.shape[1:])), (directions, (plies,)), (scores, (plies + 1,)))
    more = ((values, (plies, 4)), (nodes, (plies,)), (depths, (plies,)))
    if any(array is not None and array.shape != shape for array, shape in (*shapes, *more)):
        raise RecordError("its arrays differ in length")
    if cells.ndim != 3 or not all(MIN_SIDE <= side <= MAX_SIDE for side in cells.shape[1:]):
        raise RecordError("its boards are not supported; expected 2 to 8 rows and columns")
    if cells.max() > highest_exponent(*game.size) or directions.max(initial=0) > 3:
        raise RecordError("a tile or a direction is unknown")


def _same(mine: npt.NDArray[Any], theirs: npt.NDArray[Any]) -> bool:
    return mine.shape == theirs.shape and bool(np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f"))


# -- from records ---------------------------------------------------------------------------------------


def arrays_of(record: GameRecord) -> GameArrays:
    """Convert a record to arrays. An empty text counts as missing.

    Raises:
        RecordError: a board is invalid, boards differ in size, or a number is out of range.
    """
    moves = record.moves
    return GameArrays(
        info=info_of(record),
        cells=cells_of([*(move.board for move in moves), record.final_board]),
        directions=np.array([_INDEX[move.direction] for move in moves], dtype=np.uint8),
        scores=np.array([*(move.score for move in moves), record.final_score], dtype=np.int64),
        values=_values_of(moves),
        nodes=_optional([move.nodes_evaluated for move in moves], np.int64),
        depths=_optional([move.depth for move in moves], np.int16),
    )


def cells_of(boards: Sequence[list[list[int]]]) -> npt.NDArray[np.uint8]:
    """Convert boards of face values to exponents, uint8 [n, rows, columns].

    Raises:
        RecordError: a board is invalid, or they differ in size.
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
    """Return the error that names the first board at fault."""
    first = None
    for number, tiles in enumerate(boards, 1):
        place = "the final board" if number == len(boards) else f"the board before ply {number}"
        try:
            board = Board.from_tiles(tiles)
        except RulesError as error:
            return RecordError(f"{place} is invalid: {error}")
        first = first or board
        if (board.rows, board.columns) != (first.rows, first.columns):
            return RecordError(
                f"{place} is {board.rows}×{board.columns}, the first {first.rows}×{first.columns}; "
                "expected boards of one size in a game"
            )
    return RecordError("the game has boards that do not fit together; expected boards of one size")


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
    highest = np.iinfo(dtype).max
    if any(number is not None and number > highest for number in numbers):
        raise RecordError(f"a move's depth is out of range; expected at most {highest}")
    return np.array([MISSING if number is None else number for number in numbers], dtype=dtype)


# -- to records -----------------------------------------------------------------------------------------


def tiles_of(cells: npt.NDArray[np.uint8]) -> Any:
    """Convert exponents to face values, as nested lists."""
    return np.where(cells > 0, np.int64(1) << cells.astype(np.int64), 0).tolist()


def record_of(game: GameArrays) -> GameRecord:
    """Return the record of a game; the inverse of `arrays_of`."""
    return GameRecord(
        **msgspec.structs.asdict(game.info),
        final_score=game.final_score,
        final_board=tiles_of(game.cells[-1]),
        moves=_moves_of(game),
    )


def _moves_of(game: GameArrays) -> list[Move]:
    boards = tiles_of(game.cells[:-1])
    names = [_NAMES[index] for index in game.directions.tolist()]
    moves = [Move(*move) for move in zip(boards, names, game.scores[:-1].tolist(), strict=True)]
    if game.values is None and game.nodes is None and game.depths is None:
        return moves
    values = np.full((len(moves), 4), np.nan) if game.values is None else game.values
    known = (~np.isnan(values)).tolist()
    rows = values.tolist()
    nodes = _or_none(game.nodes, len(moves))
    depths = _or_none(game.depths, len(moves))
    for i, move in enumerate(moves):
        found: Any = {_NAMES[d]: rows[i][d] for d in range(4) if known[i][d]}
        if found:
            moves[i] = Move.of_search(move, found, nodes[i], depths[i])
        else:
            moves[i] = msgspec.structs.replace(move, nodes_evaluated=nodes[i], depth=depths[i])
    return moves


def _or_none(numbers: npt.NDArray[Any] | None, count: int) -> list[int | None]:
    if numbers is None:
        return [None] * count
    return [None if number == MISSING else number for number in numbers.tolist()]
