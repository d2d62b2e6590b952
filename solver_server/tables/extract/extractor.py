"""Make an extract: find the boards that play by tables meets most, and the best move of each.

First, games are played to find the boards on which play enters the tables. Then play continues from these,
many times, until it leaves the tables. That counts millions of boards in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError
from game2048.kernels import bitboard
from game2048.kernels.bitboard import IMAGE_DIRECTIONS, RowTables, make_row_tables, slide
from game2048.kernels.jit import kernel
from game2048.kernels.rules import compiled_next_random
from game2048.spawn import game_state
from solver_server.search.order import OrderSearch, decide_by_order, make_order_search
from solver_server.search.transposition import slot_of
from solver_server.tables import storage
from solver_server.tables.build.builder import EndgameTable
from solver_server.tables.extract import extract_file
from solver_server.tables.extract.extract_file import (
    Bytes,
    ExtractHeader,
    Numbering,
    Numbers,
    make_numbering,
    number_in_extract,
)
from solver_server.tables.lookup import (
    TableSet,
    best_direction,
    best_image,
    image_moves,
    make_table_set,
    table_moves,
)
from solver_server.tables.matching import goal_at_hand

_DEPTH = 3  # depth of the games, which need not be the best
_MOST_ENTRIES = 1 << 16  # in one game
_VISITS_AT_ONCE = 2_000_000
_LOG2_SLOTS = 25
_MOST_FILLED = 0.75
_U0, _U1, _U20 = np.uint64(0), np.uint64(1), np.uint64(20)


class Tally(NamedTuple):
    """Counts of the boards that were met: an open hash table.

    Attributes:
        numbers: uint64 [2**n], 1 + number of a board; 0 in a free slot.
        counts: uint32 [2**n], how often the board was met.
        moves: uint8 [2**n], its best direction.
        filled: int64 [1], number of slots in use.
    """

    numbers: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.uint32]
    moves: npt.NDArray[np.uint8]
    filled: npt.NDArray[np.int64]


def make_tally(log2_slots: int = _LOG2_SLOTS) -> Tally:
    """Make an empty tally of ``2**log2_slots`` slots."""
    slots = 1 << log2_slots
    return Tally(
        np.zeros(slots, dtype=np.uint64),
        np.zeros(slots, dtype=np.uint32),
        np.zeros(slots, dtype=np.uint8),
        np.zeros(1, dtype=np.int64),
    )


@kernel
def _count(number: np.uint64, move: int, tally: Tally) -> None:
    """Count a board. A new one is left out when the tally is full."""
    last = np.uint64(tally.numbers.size - 1)
    slot = np.uint64(slot_of(number, tally.numbers.size))
    while tally.numbers[slot] != _U0 and tally.numbers[slot] != number + _U1:
        slot = (slot + _U1) & last
    if tally.numbers[slot] == _U0:
        if tally.filled[0] >= _MOST_FILLED * tally.numbers.size:
            return
        tally.numbers[slot] = number + _U1
        tally.moves[slot] = move
        tally.filled[0] += 1
    tally.counts[slot] += np.uint32(1)


class _Play(NamedTuple):
    """What play by tables needs.

    Attributes:
        rows: the row tables.
        tables: the tables.
        found: int64 [4], scratch.
    """

    rows: RowTables
    tables: TableSet
    found: npt.NDArray[np.int64]


@kernel
def _play_for_entries(
    state: np.uint64, rows: RowTables, tables: TableSet, search: OrderSearch, scratch: Any, entries: Any
) -> Any:
    """Play a game and write the boards on which it enters the tables; return their number and the state."""
    board, state = bitboard.start(state)
    written = 0
    follows = False
    while True:
        direction = table_moves(board, rows, tables, scratch[0], scratch[1])
        if direction >= 0 and not follows and written < entries.size:
            entries[written] = board
            written += 1
        follows = direction >= 0
        if direction < 0:
            direction, _ = decide_by_order(board, _DEPTH, _DEPTH, np.inf, 0, search)
        if direction < 0:
            return written, state
        after, _ = slide(board, direction, rows)
        board, state = bitboard.spawn(after, state)


@kernel
def _visit(
    visits: int,
    entries: Any,
    state: np.uint64,
    play: _Play,
    numbering: Numbering,
    tally: Tally,
) -> np.uint64:
    """Play by the tables from random entries and count each board; return the generator's state."""
    rows, tables, found = play.rows, play.tables, play.found
    board = _U0
    for _ in range(visits):
        formation, image, turn, top = best_image(board, rows, tables, found)
        if formation < 0:
            state, drawn = compiled_next_random(state)
            board = entries[np.int64(drawn >> _U20) % entries.size]
            continue
        image_moves(image, formation, top, rows, tables, found)
        best = best_direction(found)
        # A goal at hand depends on the locked tiles too, and play sees it without an extract.
        if goal_at_hand(image, formation, top, rows, tables.fits) < 0:
            _count(number_in_extract(image, formation, numbering), best, tally)
        after, _ = slide(board, IMAGE_DIRECTIONS[turn, best], rows)
        board, state = bitboard.spawn(after, state)
    return np.uint64(state)


def find_most_met(
    tables: Sequence[EndgameTable],
    *,
    games: int,
    visits: int,
    count: int,
    seed: int = 0,
    advance: Callable[[int], None] = lambda done: None,
    log2_slots: int = _LOG2_SLOTS,
) -> tuple[Numbers, Bytes]:
    """Find the boards that play by tables meets most, and their best moves.

    Args:
        tables: tables of 4×4 boards.
        games: number of games to play for the boards on which play enters the tables.
        visits: number of boards to meet from there.
        count: most boards to keep.
        seed: seed of all random numbers.
        advance: called with the number of visits after each piece.
        log2_slots: size of the tally.

    Returns:
        The numbers, uint32 and sorted, and the moves, four a byte (`extract_file.make_extract`).

    Raises:
        SolverError: no game entered a table.
    """
    rows, known = make_row_tables(), make_table_set(tables)
    numbering = make_numbering(known.fits)
    entries = _entries(games, game_state(seed), rows, known)
    tally = make_tally(log2_slots)
    state = np.uint64(game_state(seed, 1))
    play = _Play(rows, known, np.zeros(4, dtype=np.int64))
    while visits > 0:
        now = min(visits, _VISITS_AT_ONCE)
        state = np.uint64(_visit(now, entries, state, play, numbering, tally))
        visits -= now
        advance(now)
    return _most_met(tally, count)


def _entries(games: int, state: int, rows: RowTables, known: TableSet) -> npt.NDArray[np.uint64]:
    """Find the boards on which some games enter the tables.

    Raises:
        SolverError: there are none.
    """
    search = make_order_search()
    scratch = np.zeros((2, 4), dtype=np.int64)
    room = np.zeros(_MOST_ENTRIES, dtype=np.uint64)
    parts = []
    following = np.uint64(state)
    for _ in range(games):
        written, following = _play_for_entries(following, rows, known, search, scratch, room)
        following = np.uint64(following)
        parts.append(room[:written].copy())
    entries = np.concatenate(parts) if parts else room[:0]
    if not entries.size:
        raise SolverError(
            f"none of {games} games entered a table, so there is nothing to extract; try more --games"
        )
    return entries


def _most_met(tally: Tally, count: int) -> tuple[Numbers, Bytes]:
    """Return the boards counted most often; of those met equally often, the lowest numbers."""
    slots = np.flatnonzero(tally.numbers)
    numbers = (tally.numbers[slots] - 1).astype(np.uint32)
    chosen = np.lexsort((numbers, -tally.counts[slots].astype(np.int64)))[:count]
    chosen = chosen[np.argsort(numbers[chosen])]
    moves = tally.moves[slots[chosen]]
    packed = np.zeros(-(-moves.size // 4), dtype=np.uint8)
    for place in range(4):
        part = moves[place::4]
        packed[: part.size] |= part << np.uint8(2 * place)
    return numbers[chosen], packed


def write_most_met(
    path: Path,
    tables: Sequence[EndgameTable],
    *,
    games: int,
    visits: int,
    count: int,
    seed: int = 0,
    advance: Callable[[int], None] = lambda done: None,
) -> int:
    """Write an extract of tables (see `find_most_met`); return its number of boards."""
    numbers, moves = find_most_met(
        tables, games=games, visits=visits, count=count, seed=seed, advance=advance
    )
    header = ExtractHeader(
        tables=[
            msgspec.structs.replace(
                storage.table_header(table.spec, int(table.values.size)), sha256=table.sha256
            )
            for table in tables
        ],
        games=games,
        visits=visits,
        seed=seed,
    )
    extract_file.write_extract(path, header, numbers, moves)
    return int(numbers.size)
