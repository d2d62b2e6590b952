"""The two tables that a dataset is in columnar files: a row a move, and a row a game.

`move_table` and `game_rows` make them of games; `assemble` makes games of them. Parquet, HDF5 and CSV files
are these tables in three spellings. What only follows from the rest (legal directions, rewards, afterstates,
spawns, returns) is for readers' convenience and is not read back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from game2048.board import highest_exponent
from game2048.errors import RecordError
from game2048.size import MAX_SIDE, MIN_SIDE, Size
from recordings.game_arrays import MISSING, GameArrays
from recordings.record import MAX_RECORDED_SCORE, GameInfo, info_from

Column = npt.NDArray[Any]

OUTCOMES = ("game_over", "stopped", "interrupted")
GAME_SHAPE = ("rows", "columns", "plies", "final_score")
OPTIONAL_TEXTS = ("source", "solver", "outcome", "id", "weights", "rules")
OPTIONAL_NUMBERS = ("seed", "game_number", "depth", "symmetry")
OPTIONAL = frozenset((*OPTIONAL_TEXTS, *OPTIONAL_NUMBERS))
"""Columns of the table of games that a file of another version may lack."""
LONGEST_GAME = 1 << 22
"""The longest game that is read: twice what a line of JSON can hold."""
BATCH_PLIES = 1 << 17
"""How many moves go into one row group or one piece of a file, up to the end of a game."""

_FITS_A_NIBBLE = 15


@dataclass(frozen=True, slots=True)
class MoveTable:
    """The rows of the moves of some games.

    Attributes:
        columns: one array [n] each (``values`` [n, 4]), by the name that it has in files; without ``cells``
            and ``afterstate_cells``.
        cells: uint8 [n, width], or flat where boards of several sizes meet.
        after: uint8, likewise, the afterstates.
        widths: int32 [n], cells of each row's board.
    """

    columns: dict[str, Column]
    cells: npt.NDArray[np.uint8]
    after: npt.NDArray[np.uint8]
    widths: npt.NDArray[np.int32]


def pack_nibbles(cells: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """Pack 4×4 boards, cell i at bit 4 · i; 0 for a board that does not fit or is of another size.

    Args:
        cells: uint8 [n, cells of a board].
    """
    if cells.shape[1] != 16:
        return np.zeros(len(cells), dtype=np.uint64)
    packed = np.ascontiguousarray(cells[:, 0::2] | (cells[:, 1::2] << 4)).view("<u8")[:, 0]
    too_large = cells.max(axis=1, initial=0) > _FITS_A_NIBBLE
    return np.where(too_large, np.uint64(0), packed)


def move_table(games: Sequence[GameArrays], first: int) -> MoveTable:
    """Make the rows of the moves of some games.

    Args:
        games: at least one.
        first: the number of the first of them in its file.
    """
    from game2048.kernels.transitions import find_facts  # loads kernels

    facts = [find_facts(game.cells, game.directions) for game in games]
    plies = np.array([game.plies for game in games])
    boards = [_flat_boards(game.cells[:-1]) for game in games]
    afters = [_flat_boards(fact.after) for fact in facts]

    def per_game(numbers: Iterable[Any], dtype: Any) -> Column:
        return np.repeat(np.array(list(numbers), dtype=dtype), plies)

    scores = np.concatenate([game.scores[:-1] for game in games])
    final_scores = per_game((game.final_score for game in games), np.int64)
    columns = {
        "game": per_game(range(first, first + len(games)), np.int64),
        "ply": np.concatenate([np.arange(1, n + 1, dtype=np.int32) for n in plies]),
        "board": np.concatenate([pack_nibbles(board) for board in boards]),
        "direction": np.concatenate([game.directions for game in games]),
        "legal": np.concatenate([fact.legal for fact in facts]),
        "reward": np.concatenate([fact.reward for fact in facts]),
        "score": scores,
        "afterstate": np.concatenate([pack_nibbles(after) for after in afters]),
        "spawn_cell": np.concatenate([fact.spawn_cell for fact in facts]),
        "spawn_exponent": np.concatenate([fact.spawn_exponent for fact in facts]),
        "values": np.concatenate([_or(game.values, (game.plies, 4), np.nan, np.float64) for game in games]),
        "nodes": np.concatenate([_or(game.nodes, game.plies, MISSING, np.int64) for game in games]),
        "depth": np.concatenate([_or(game.depths, game.plies, MISSING, np.int16) for game in games]),
        "return_to_go": final_scores - scores,
        "final_score": final_scores,
        "max_tile": per_game((game.info.max_tile for game in games), np.int64),
        "outcome": per_game((_outcome_code(game.info) for game in games), np.int8),
    }
    widths = per_game((game.cells.shape[1] * game.cells.shape[2] for game in games), np.int32)
    return MoveTable(columns, _join(boards), _join(afters), widths)


def _flat_boards(cells: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    return cells.reshape(len(cells), cells.shape[1] * cells.shape[2])


def _outcome_code(info: GameInfo) -> int:
    return MISSING if info.outcome is None else OUTCOMES.index(info.outcome)


def _or(array: Column | None, shape: Any, missing: float, dtype: Any) -> Column:
    return np.full(shape, missing, dtype=dtype) if array is None else array


def _join(boards: Sequence[npt.NDArray[np.uint8]]) -> npt.NDArray[np.uint8]:
    if len({board.shape[1] for board in boards}) == 1:
        return np.concatenate(boards)
    return np.concatenate([board.reshape(-1) for board in boards])


def padded(flat: npt.NDArray[np.uint8], widths: npt.NDArray[np.int32]) -> npt.NDArray[np.uint8]:
    """Fill up boards of several sizes with zeros: uint8 [n, largest width]."""
    if flat.ndim == 2:
        return flat
    rows = np.zeros((widths.size, int(widths.max(initial=0))), dtype=np.uint8)
    rows[np.arange(rows.shape[1]) < widths[:, np.newaxis]] = flat
    return rows


def fields_of(info: GameInfo) -> dict[str, Any]:
    """Return the fields of an info as columns; a list is a text of JSON."""
    fields = {name: getattr(info, name) for name in GameInfo.__struct_fields__}
    fields["rules"] = None if info.rules is None else msgspec.json.encode(info.rules).decode()
    return fields


class GameRow(msgspec.Struct, frozen=True):
    """A row of the table of games.

    Attributes:
        info: the fields of `GameInfo` are columns of the same names.
        rows: of the board.
        columns: of the board.
        plies: how many rows the game has in the table of moves.
        final_score: the score after the last move.
        final_cells: the exponents after the last move.
    """

    info: GameInfo
    rows: int
    columns: int
    plies: int
    final_score: int
    final_cells: bytes


def game_rows(games: Iterable[GameArrays]) -> list[GameRow]:
    """Make the table of games."""
    return [
        GameRow(game.info, *game.size, game.plies, game.final_score, game.cells[-1].tobytes())
        for game in games
    ]


# -- and back -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MoveRows:
    """What is read back of some rows of the table of moves; boards lie one behind the other in ``flat``."""

    game: npt.NDArray[np.int64]
    ply: npt.NDArray[np.int64]
    flat: npt.NDArray[np.uint8]
    widths: npt.NDArray[np.int32]
    directions: npt.NDArray[np.uint8]
    scores: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    nodes: npt.NDArray[np.int64]
    depths: npt.NDArray[np.int16]

    @property
    def count(self) -> int:
        """How many rows."""
        return self.game.size

    def take(self, count: int) -> tuple[MoveRows, MoveRows]:
        """Split off the first rows."""
        cut = int(self.widths[:count].sum(dtype=np.int64))
        pairs = [
            (array[:cut], array[cut:]) if name == "flat" else (array[:count], array[count:])
            for name, array in self._arrays()
        ]
        return MoveRows(*(pair[0] for pair in pairs)), MoveRows(*(pair[1] for pair in pairs))

    def joined(self, more: MoveRows) -> MoveRows:
        """Return these rows and then those."""
        return MoveRows(
            *(
                np.concatenate([mine, theirs])
                for (_, mine), (_, theirs) in zip(self._arrays(), more._arrays(), strict=True)
            )
        )

    def _arrays(self) -> list[tuple[str, Column]]:
        return [(name, getattr(self, name)) for name in self.__slots__]


def assemble(
    path: Path, rows: Iterable[GameRow], moves: Iterator[MoveRows], *, first: int = 0
) -> Iterator[GameArrays]:
    """Put two tables together again; yield the games one at a time.

    Args:
        path: the file, for errors.
        rows: the table of games, or a part of it.
        moves: the moves of these games, in pieces.
        first: the number of the first game of ``rows``.

    Raises:
        RecordError: the tables do not belong together, or hold what no game of 2048 has.
    """
    waiting: MoveRows | None = None
    for number, row in enumerate(rows, first):
        if not 0 <= row.plies <= LONGEST_GAME:
            raise RecordError(
                f"{path}, game {number + 1}: {row.plies} moves; expected 0 to {LONGEST_GAME}", path=path
            )
        while (waiting.count if waiting else 0) < row.plies:
            more = next(moves, None)
            if more is None:
                raise RecordError(
                    f"{path}, game {number + 1}: its {row.plies} moves are not all there; "
                    "expected both tables as they were written together",
                    path=path,
                )
            waiting = more if waiting is None or waiting.count == 0 else waiting.joined(more)
        mine, waiting = waiting.take(row.plies) if waiting else (None, None)
        try:
            yield _game_of(row, mine, number)
        except RecordError as error:
            raise RecordError(f"{path}, game {number + 1}: {error}", path=path) from error
    if (waiting and waiting.count) or any(more.count for more in moves):
        raise RecordError(f"{path} has moves of games that its table of games does not know", path=path)


def _game_of(row: GameRow, moves: MoveRows | None, number: int) -> GameArrays:
    size = Size(row.rows, row.columns)
    if not all(MIN_SIDE <= side <= MAX_SIDE for side in size):
        raise RecordError(f"a board of {size} is not supported; expected 2 to 8 rows and columns")
    final = np.frombuffer(row.final_cells, dtype=np.uint8)
    if moves is None:
        return GameArrays(
            row.info,
            _checked(final, 1, size),
            np.zeros(0, dtype=np.uint8),
            np.array([row.final_score], dtype=np.int64),
        )
    if (moves.game != number).any() or (moves.ply != np.arange(1, row.plies + 1)).any():
        raise RecordError("its moves are not in order; expected rows sorted by game and ply")
    if (moves.widths != size.cells).any():
        raise RecordError(
            f"the board of a move does not have {size.cells} cells; expected {size} in all rows"
        )
    if (moves.directions > 3).any():
        raise RecordError("a direction is unknown; expected up, right, down or left")
    return GameArrays(
        info=row.info,
        cells=_checked(np.concatenate([moves.flat, final]), row.plies + 1, size),
        directions=moves.directions,
        scores=np.concatenate([moves.scores, np.array([row.final_score], dtype=np.int64)]),
        values=None if np.isnan(moves.values).all() else moves.values,
        nodes=None if (moves.nodes == MISSING).all() else moves.nodes,
        depths=None if (moves.depths == MISSING).all() else moves.depths,
    )


def _checked(flat: npt.NDArray[np.uint8], count: int, size: Size) -> npt.NDArray[np.uint8]:
    if flat.size != count * size.cells:
        raise RecordError(f"its final board does not have {size.cells} cells; expected {size}")
    if flat.max(initial=0) > highest_exponent(*size):
        raise RecordError(
            f"{flat.max()} is not the exponent of a tile; expected 0 to {highest_exponent(*size)}"
        )
    return flat.reshape(count, *size)


def game_row(
    path: Path, number: int, fields: dict[str, Any], shape: Iterable[int], final_cells: bytes
) -> GameRow:
    """Check a row of the table of games that was read back.

    Args:
        path: the file, for errors.
        number: the number of the game, from 0.
        fields: as `fields_of` gives them.
        shape: the numbers that `GAME_SHAPE` names.
        final_cells: see `GameRow`.

    Raises:
        RecordError: a field is missing or of another kind.
    """
    try:
        if fields.get("rules") is not None:
            fields = fields | {"rules": msgspec.json.decode(fields["rules"])}
        info = info_from(fields)
        rows, columns, plies, final_score = map(int, shape)
        if not 0 <= final_score <= MAX_RECORDED_SCORE:
            raise ValueError(f"the final score is {final_score}; expected 0 to {MAX_RECORDED_SCORE}")
    except (msgspec.DecodeError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise RecordError(
            f"{path}, game {number + 1}: not a row of the table of games: {error}", path=path
        ) from error
    return GameRow(info, rows, columns, plies, final_score, final_cells)
