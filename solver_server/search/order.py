"""Expectimax that keeps the large tiles in order, with a small and very fast evaluation.

The evaluation wants rows and columns to fall from one corner, weighted by the tiles' own points. Boards out
of order are not searched deeper, so the search follows the few lines of play that keep the order. By itself
it plays poorly. It plays well with endgame tables (`solver_server.tables`), which take over as soon as the
large tiles are in formation. Evaluation and cut are those of github.com/macroxue/2048-ai (docs/tables.md).

Depth counts player moves; the afterstates of the last one are evaluated.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.kernels.bitboard import (
    IMAGE_DIRECTIONS,
    IMAGES,
    RowTables,
    count_empty,
    make_row_tables,
    max_exponent,
    next_image,
    slid_rows,
    transpose,
)
from game2048.kernels.jit import kernel
from solver_server.search.clock import now
from solver_server.search.expectimax import Span
from solver_server.search.transposition import slot_of

_GROWTH = 4
"""Nodes of a depth, as a multiple of the nodes of all depths before it."""
_ANY = -(2**62)
_CLOCK_EVERY = 64  # expanded nodes between two looks at the clock
_U0, _U15, _U16, _U32, _U48 = np.uint64(0), np.uint64(15), np.uint64(16), np.uint64(32), np.uint64(48)
_ROW = np.uint64(0xFFFF)

# One record an entry, so that a probe touches one cache line. `stamp` is generation · 16 + depth.
_ENTRY = np.dtype(
    [("key", np.uint64), ("stamp", np.int64), ("probability", np.float32), ("value", np.int32)], align=True
)

# One array for all numbers: the recursive search hands the fields of every array down at each call.
_STATE = np.dtype(
    [
        ("nodes", np.int64),
        ("late", np.int64),
        ("generation", np.int64),
        ("least_value", np.int64),
        ("dead_value", np.int64),
        ("least_probability", np.float64),
        ("deadline", np.float64),
        ("cut", np.float64),
        ("uncut", np.float64),
        ("loss", np.float64),
        ("bits", np.float64),
        ("bits_each", np.float64),
    ]
)
"""The numbers of a search.

* ``nodes``: number of afterstates evaluated; ``late``: 1 once a limit has been passed;
* ``generation``: raising it empties the entries;
* ``least_value``: least value of an afterstate to search deeper; ``dead_value``: value of a dead board;
* ``least_probability``: least probability from the root at which an afterstate is searched deeper;
* ``deadline``: in seconds of `clock.now`;
* ``cut``, ``uncut``, ``loss``, ``bits``, ``bits_each``: see `OrderWeights`.
"""
_LEAST_LOSS = 1 << 17


class OrderWeights(NamedTuple):
    """The numbers of the evaluation and of the cuts. The points of a tile are about the score of making it.

    Attributes:
        disorder: factor of the difference of two tiles' points at a step up within a line.
        equal: factor of the points of two equal neighbours, once more.
        before: factor of the points of the tile before each further tile.
        power: of the exponent, in the points of a tile: exponent ** power · tile.
        cut: least value of an afterstate to search deeper, in points of the largest tile,
        uncut: unless the board itself is worth less than so many of these points.
        loss: what a dead board costs, in these points.
        bits: an afterstate is searched deeper down to a probability of 2 ** −(bits + bits_each · depth).
        bits_each: see ``bits``.
    """

    disorder: float = 12.0
    equal: float = 1.0
    before: float = 1.0
    power: float = 1.0
    cut: float = 2.0
    uncut: float = 0.0
    loss: float = 2.0
    bits: float = 3.0
    bits_each: float = 1.0


ORDER_WEIGHTS = OrderWeights()
"""The numbers in use."""


class OrderSearch(NamedTuple):
    """Everything that the search needs.

    Attributes:
        rows: the row tables.
        lines: int32 [65536], the value of a row of nibbles that falls from its lowest nibble on.
        entries: records [2**n], values of afterstates searched before.
        state: records [1], see `_STATE`.
        values: int64 [2, 4], values of the directions: by the deepest finished search, by the current one.
        clock: int64 [2], working memory of `clock.now`.
        stop: int64 [1], not 0 once the caller wants the search to stop (`StopFlag.array`).
    """

    rows: RowTables
    lines: npt.NDArray[np.int32]
    entries: npt.NDArray[np.void]
    state: npt.NDArray[np.void]
    values: npt.NDArray[np.int64]
    clock: npt.NDArray[np.int64]
    stop: npt.NDArray[np.int64]


def make_lines(weights: OrderWeights = ORDER_WEIGHTS) -> npt.NDArray[np.int32]:
    """Make the values of all rows of nibbles, which should fall from the lowest nibble on."""
    rows = np.arange(65536)
    exponents = [(rows >> (4 * i)) & 15 for i in range(4)]
    tiles: list[Any] = [exponent**weights.power * 2.0**exponent for exponent in exponents]
    values: npt.NDArray[Any] = tiles[0].copy()
    for before, after in pairwise(tiles):
        falls = weights.before * before + after
        values += np.where(before >= after, falls, weights.disorder * (before - after))
        values += np.where(before == after, weights.equal * before, 0)
    rounded: npt.NDArray[np.int32] = np.rint(values).astype(np.int32)
    return rounded


def make_order_search(log2_entries: int = 16, weights: OrderWeights = ORDER_WEIGHTS) -> OrderSearch:
    """Make a search with a table of ``2**log2_entries`` entries; one for each thread."""
    state = np.zeros(1, dtype=_STATE)
    for name in ("cut", "uncut", "loss", "bits", "bits_each"):
        state[name] = getattr(weights, name)
    return OrderSearch(
        rows=make_row_tables(),
        lines=make_lines(weights),
        entries=np.zeros(1 << log2_entries, dtype=_ENTRY),
        state=state,
        values=np.zeros((2, 4), dtype=np.int64),
        clock=np.zeros(2, dtype=np.int64),
        stop=np.zeros(1, dtype=np.int64),
    )


@kernel
def _lines_value(board: np.uint64, lines: Any) -> int:
    return int(
        np.int64(lines[board & _ROW])
        + lines[(board >> _U16) & _ROW]
        + lines[(board >> _U32) & _ROW]
        + lines[board >> _U48]
    )


@kernel
def order_value(board: np.uint64, search: OrderSearch) -> int:
    """Compute the value of a board whose rows and columns should fall from its first cell on."""
    return _lines_value(board, search.lines) + _lines_value(transpose(board), search.lines)


@kernel
def _slide_both(board: np.uint64, turned: np.uint64, direction: int, rows: RowTables) -> Any:
    """Slide a board and its transposition at once; the evaluation needs both."""
    if direction % 2 == 1:
        after = slid_rows(board, rows.left if direction == 3 else rows.right)
        return after, transpose(after)
    after = slid_rows(turned, rows.left if direction == 0 else rows.right)
    return transpose(after), after


@kernel
def _is_late(search: OrderSearch) -> bool:
    """Tell whether a limit has been passed or the caller wants to stop; checked only now and then."""
    state: Any = search.state[0]
    if state.nodes % _CLOCK_EVERY == 0 and (search.stop[0] != 0 or now(search.clock) > state.deadline):
        state.late = 1
    return bool(state.late != 0)


@kernel
def _mean_after(
    after: np.uint64, turned: np.uint64, depth: int, probability: float, search: OrderSearch
) -> int:
    """Compute the mean over the spawns on an afterstate of the best value after each.

    Args:
        after: the afterstate; it has an empty cell.
        turned: its transposition.
        depth: number of player moves to look ahead, at least 1.
        probability: probability of the afterstate.
        search: the search.
    """
    entry: Any = search.entries[slot_of(after, search.entries.size)]
    state: Any = search.state[0]
    stamp = (state.generation << 4) + depth
    if entry.key == after and entry.stamp >= stamp and entry.probability >= probability:
        return int(entry.value)
    if _is_late(search):
        return 0
    share = 0.1 / count_empty(after)
    mean = 0.0
    for spawn in range(32):
        cell = spawn >> 1
        if (after >> np.uint64(4 * cell)) & _U15 != _U0:
            continue
        rank = np.uint64(1 + (spawn & 1))
        weight = share if spawn & 1 else 9 * share
        board = after | (rank << np.uint64(4 * cell))
        board_turned = turned | (rank << np.uint64(4 * ((cell & 3) * 4 + (cell >> 2))))
        best: Any = np.int64(_ANY)
        moved = False
        for direction in range(4):
            next_after, next_turned = _slide_both(board, board_turned, direction, search.rows)
            if next_after == board:
                continue
            moved = True
            value = _lines_value(next_after, search.lines) + _lines_value(next_turned, search.lines)
            state.nodes += 1
            if depth > 1 and value >= state.least_value and weight * probability >= state.least_probability:
                value = _mean_after(next_after, next_turned, depth - 1, weight * probability, search)
            best = max(best, value)
        mean += weight * (best if moved else state.dead_value)
    entry.key = after
    entry.stamp = stamp
    entry.probability = probability
    entry.value = mean
    return int(mean)


@kernel
def _nearness(board: np.uint64) -> int:
    """Measure how near the large tiles are to the first cell: Σ points · steps to the opposite corner."""
    total: Any = 0
    for cell in range(16):
        rank = np.int64((board >> np.uint64(4 * cell)) & _U15)
        total += (rank << rank) * (6 - (cell >> 2) - (cell & 3))
    return int(total)


@kernel
def _turn_to_corner(board: np.uint64) -> Any:
    """Find the image with the large tiles nearest to the first cell, and its number (`next_image`).

    The large tiles decide, not the order of all tiles: a game must not change its corner because its small
    tiles are out of order.
    """
    image = best = board
    number = 0
    largest = _nearness(board)
    for turn in range(1, IMAGES):
        image = next_image(image, turn - 1)
        nearness = _nearness(image)
        if nearness > largest:
            best, number, largest = image, turn, nearness
    return best, number


@kernel
def _search_root(board: np.uint64, number: int, depth: int, search: OrderSearch, values: Any) -> int:
    """Search every direction of an image; write ``values`` by the directions of the board itself."""
    state: Any = search.state[0]
    state.least_probability = 2.0 ** -(state.bits + state.bits_each * depth)
    turned = transpose(board)
    best: Any = -1
    for direction in range(4):
        after, after_turned = _slide_both(board, turned, direction, search.rows)
        back = IMAGE_DIRECTIONS[number, direction]
        values[back] = _ANY
        if after == board:
            continue
        value = _lines_value(after, search.lines) + _lines_value(after_turned, search.lines)
        state.nodes += 1
        if depth > 1 and value >= state.least_value:
            value = _mean_after(after, after_turned, depth - 1, 1.0, search)
        values[back] = value
        if best < 0 or value > values[best]:
            best = back
    return int(best)


@kernel
def decide_by_order(
    board: np.uint64, first: int, last: int, seconds: float, nodes: int, search: OrderSearch
) -> Any:
    """Deepen from ``first`` to ``last`` player moves within limits.

    The first depth is always finished, unless ``search.stop`` is set; a depth that the time limit cuts
    short is dropped. The values of the deepest finished search are in ``search.values[0]`` afterwards.

    Args:
        board: the player is to move.
        first: at least 1.
        last: at most 15.
        seconds: limit on all but the first depth.
        nodes: a depth that would take more, by what those before it took, is not begun.
        search: see `OrderSearch`.

    Returns:
        The best direction (−1 if none is legal) and the deepest finished depth.
    """
    image, number = _turn_to_corner(board)
    largest = np.int64(max_exponent(image))
    points: Any = largest << largest
    state: Any = search.state[0]
    state.least_value = (
        _ANY if order_value(image, search) < state.uncut * points else np.int64(state.cut * points)
    )
    loss: Any = np.int64(state.loss * points)
    state.dead_value = -max(_LEAST_LOSS, int(loss))
    state.generation += 1
    state.nodes = 0
    state.late = 0
    state.deadline = np.inf
    limit = now(search.clock) + seconds
    best = _search_root(image, number, first, search, search.values[0])
    reached = first
    state.deadline = limit
    for depth in range(first + 1, last + 1):
        if best < 0 or now(search.clock) > limit or state.nodes * _GROWTH > nodes:
            break
        found = _search_root(image, number, depth, search, search.values[1])
        if state.late != 0:
            break
        best, reached = found, depth
        for direction in range(4):
            search.values[0, direction] = search.values[1, direction]
    return best, reached


@kernel
def decide_many_by_order(boards: Any, span: Span, turn: float, search: OrderSearch, directions: Any) -> int:
    """Decide one board after another, each as `decide_by_order` does.

    Args:
        boards: uint64 [n], the boards to move on.
        span: how far to deepen on each board; ``first`` and ``last`` in player moves, ``growth`` unused.
        turn: seconds after which no further board is begun; the first always is.
        search: see `OrderSearch`.
        directions: int8 [n], overwritten: the best direction, or −1 where none is legal.

    Returns:
        How many boards, from the first on, have their direction.
    """
    end = now(search.clock) + turn
    for i in range(directions.size):
        if i > 0 and now(search.clock) > end:
            return i
        best, _ = decide_by_order(boards[i], span.first, span.last, span.seconds, span.nodes, search)
        if search.stop[0] != 0:
            return i
        directions[i] = best
    return int(directions.size)
