"""Solve a small board: find every position that play can reach, then the exact value of each.

A spawn adds 2 or 4 to the sum of the tiles and a slide keeps it. So the afterstates of one sum, a *layer*,
lead to the next two layers only: the positions are found layer by layer from the first ones on, the values
from the last ones back.

* value(afterstate) = mean over empty cells of 0.9 · best(with a 2) + 0.1 · best(with a 4);
* best(board) = maximum over the legal directions of merge reward + value(afterstate); 0 without any.

With a tile as the goal there are no merge rewards, and an afterstate with that tile has value 1: the values
are the chances to make it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.board import Board
from game2048.direction import DIRECTIONS, Direction
from game2048.errors import SolverError
from game2048.kernels.bitboard import max_exponent
from game2048.kernels.jit import kernel
from game2048.size import Size
from solver_server.search.transposition import slot_of
from solver_server.solutions.small_board import (
    SmallRules,
    make_small_rules,
    pack_small,
    slide_small,
    small_board_of,
    small_key_of,
    unpack_small,
    upright,
)

Keys = npt.NDArray[np.uint32]
_FIRST_SLOTS = 1 << 12
_MISSING = -1.0
_ROUNDING = 1e-6  # of a float32, relative
_U0, _U1, _U15 = np.uint64(0), np.uint64(1), np.uint64(15)


@dataclass(frozen=True, slots=True)
class Positions:
    """Every afterstate that play can reach, and the boards with the first tile alone.

    Attributes:
        size: size of the board, its shorter side first.
        keys: uint32 [positions], keys (`small_board.small_key_of`), sorted within each layer.
        starts: int64 [layers + 1], start of each layer; layer i has the sum 2 · i.
    """

    size: Size
    keys: Keys
    starts: npt.NDArray[np.int64]

    @property
    def layers(self) -> int:
        """Number of layers."""
        return int(self.starts.size) - 1


@dataclass(frozen=True, slots=True)
class Solution:
    """The exact values of all positions.

    Attributes:
        positions: the positions.
        values: float32 [positions], expected score still to come from each under best play.
        start_value: expected score of a game under best play.
    """

    positions: Positions
    values: npt.NDArray[np.float32]
    start_value: float


@kernel
def find_key(key: np.uint32, keys: Any, begin: int, end: int) -> int:
    """Return the place of a key among sorted ones from ``begin`` to ``end`` − 1; −1 if it is missing."""
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < end and keys[low] == key else -1


@kernel
def _add(key: np.uint32, table: Any) -> int:
    """Add a key to an open hash table of keys + 1; return how many are new."""
    last = np.uint64(table.size - 1)
    wanted = np.uint64(key) + _U1
    slot = np.uint64(slot_of(wanted, table.size))
    while np.uint64(table[slot]) != _U0 and np.uint64(table[slot]) != wanted:
        slot = (slot + _U1) & last
    if np.uint64(table[slot]) == wanted:
        return 0
    table[slot] = wanted
    return 1


@kernel
def _add_successors(keys: Any, rank: int, rules: SmallRules, table: Any, filled: int) -> int:
    """Add every afterstate that one move after a spawn makes.

    Args:
        keys: uint32 [n], afterstates to spawn on.
        rank: exponent that spawns.
        rules: shape of the board.
        table: uint32 [2**n], open hash table of keys + 1; 0 in a free slot.
        filled: number of keys in it.

    Returns:
        The number of keys in it now; −1 once it is half full.
    """
    for i in range(keys.size):
        after = small_board_of(keys[i], rules)
        for shift in rules.shifts:
            if (after >> shift) & _U15 != _U0:
                continue
            board = after | (np.uint64(rank) << shift)
            for direction in range(4):
                following, _ = slide_small(board, direction, rules)
                if following == board:
                    continue
                filled += _add(small_key_of(following, rules), table)
                if 2 * filled > table.size:
                    return -1
    return filled


def _layer_after(lower: Keys, low: Keys, rules: SmallRules, roots: Keys) -> Keys:
    """Return the sorted keys of a layer, from the two layers below it and the positions it begins with."""
    slots = _FIRST_SLOTS
    while slots < 4 * low.size:
        slots *= 2
    while True:
        table = np.zeros(slots, dtype=np.uint32)
        filled = _add_successors(low, 1, rules, table, 0)
        if filled >= 0:
            filled = _add_successors(lower, 2, rules, table, filled)
        if filled >= 0:
            found = table[table != 0] - np.uint32(1)
            return np.union1d(found, roots).astype(np.uint32)
        slots *= 2


def find_positions(size: Size, advance: Callable[[int], None] = lambda count: None) -> Positions:
    """Find every position that play can reach on a small board.

    Args:
        size: at most nine cells, sides of at most four.
        advance: called with the number of positions of each layer.

    Raises:
        SolverError: such boards have too many positions.
    """
    rules = make_small_rules(size)
    none = np.zeros(0, dtype=np.uint32)
    layers = [none]  # no position has the sum 0
    lower = none
    for sum_of_two in range(1, (2 << (size.cells + 1)) // 2):
        roots = _first_tiles(rules, sum_of_two) if sum_of_two <= 2 else none
        layer = _layer_after(lower, layers[-1], rules, roots)
        if not layer.size and not layers[-1].size:
            break
        lower = layers[-1]
        layers.append(layer)
        advance(int(layer.size))
    starts = np.zeros(len(layers) + 1, dtype=np.int64)
    np.cumsum([layer.size for layer in layers], out=starts[1:])
    return Positions(upright(size), np.concatenate(layers), starts)


def _first_tiles(rules: SmallRules, rank: int) -> Keys:
    """Return the keys of all boards with a single tile."""
    keys = [small_key_of(np.uint64(rank) << shift, rules) for shift in rules.shifts]
    return np.unique(np.array(keys, dtype=np.uint32))


class Known(NamedTuple):
    """Positions with values, as kernels take them.

    Attributes:
        keys: uint32 [positions].
        starts: int64 [layers + 3], as `Positions.starts`, with two empty layers for spawns on the last ones.
        values: float64 or float32 [positions].
    """

    keys: Keys
    starts: npt.NDArray[np.int64]
    values: npt.NDArray[Any]


def make_known(positions: Positions, values: npt.NDArray[Any]) -> Known:
    """Describe positions and their values for kernels."""
    return Known(
        positions.keys, np.concatenate((positions.starts, np.repeat(positions.starts[-1:], 2))), values
    )


@kernel
def best_move(board: np.uint64, layer: int, known: Known, rules: SmallRules, goal: int) -> Any:
    """Find the best direction of a board.

    Args:
        board: the player is to move.
        layer: its layer.
        known: the values of the afterstates.
        rules: shape of the board.
        goal: exponent of the tile to make; 0 for the score.

    Returns:
        The value of the best direction and itself: 0 and −1 if the game is over, −1 and −1 if a position is
        missing.
    """
    best, chosen = _MISSING, -1
    for direction in range(4):
        after, reward = slide_small(board, direction, rules)
        if after == board:
            continue
        place = find_key(small_key_of(after, rules), known.keys, known.starts[layer], known.starts[layer + 1])
        if place < 0:
            return _MISSING, -1
        value = np.float64(known.values[place]) + (reward if goal == 0 else 0)
        if value > best:
            best, chosen = value, direction
    return (0.0, -1) if chosen < 0 else (best, chosen)


@kernel
def value_after(after: np.uint64, layer: int, known: Known, rules: SmallRules, goal: int) -> float:
    """Compute the value of an afterstate from those of the next two layers: the mean over all spawns.

    Args:
        after: the afterstate.
        layer: its layer.
        known: the values.
        rules: shape of the board.
        goal: exponent of the tile to make; 0 for the score.

    Returns:
        The value; −1 if a position is missing.
    """
    if goal > 0 and max_exponent(after) >= goal:
        return 1.0
    total = 0.0
    empty = 0
    for shift in rules.shifts:
        if (after >> shift) & _U15 != _U0:
            continue
        empty += 1
        for rank in range(1, 3):
            value, _ = best_move(after | (np.uint64(rank) << shift), layer + rank, known, rules, goal)
            if value < 0:
                return _MISSING
            total += value if rank == 2 else 9.0 * value
    return float(total / (10.0 * empty))


@kernel
def _fill_layer(layer: int, known: Known, rules: SmallRules, goal: int) -> bool:
    """Write the values of a layer; return whether no position of the next two was missing."""
    for i in range(known.starts[layer], known.starts[layer + 1]):
        value = value_after(small_board_of(known.keys[i], rules), layer, known, rules, goal)
        if value < 0:
            return False
        known.values[i] = value
    return True


@kernel
def _follow_layer(layer: int, known: Known, rules: SmallRules, goal: int, chances: Any) -> None:
    """Write the chances to make a tile from the positions of a layer by play for the score."""
    for i in range(known.starts[layer], known.starts[layer + 1]):
        after = small_board_of(known.keys[i], rules)
        if max_exponent(after) >= goal:
            chances[i] = 1.0
            continue
        total = 0.0
        empty = 0
        for shift in rules.shifts:
            if (after >> shift) & _U15 != _U0:
                continue
            empty += 1
            for rank in range(1, 3):
                board = after | (np.uint64(rank) << shift)
                _, direction = best_move(board, layer + rank, known, rules, 0)
                if direction < 0:
                    continue
                following, _ = slide_small(board, direction, rules)
                begin, end = known.starts[layer + rank], known.starts[layer + rank + 1]
                chance = chances[find_key(small_key_of(following, rules), known.keys, begin, end)]
                total += chance if rank == 2 else 9.0 * chance
        chances[i] = total / (10.0 * empty)


def values_of(
    positions: Positions, goal: int = 0, advance: Callable[[int], None] = lambda count: None
) -> npt.NDArray[np.float64]:
    """Compute the value of every position under best play.

    Args:
        positions: from `find_positions`.
        goal: exponent of the tile to make; 0 for the score.
        advance: called with the number of positions of each layer.

    Returns:
        float64 [positions]: score points still to come, or chances.

    Raises:
        SolverError: a position is missing.
    """
    rules = make_small_rules(positions.size)
    values = np.zeros(positions.keys.size, dtype=np.float64)
    known = make_known(positions, values)
    for layer in range(positions.layers - 1, -1, -1):
        if not _fill_layer(layer, known, rules, goal):
            raise SolverError(
                f"positions of {positions.size} with the sum {2 * layer + 2} or {2 * layer + 4} are missing"
            )
        advance(int(known.starts[layer + 1] - known.starts[layer]))
    return values


def chances_by_score(
    positions: Positions, values: npt.NDArray[np.float64], goal: int
) -> npt.NDArray[np.float64]:
    """Compute the chance to make a tile from every position by play for the score.

    Args:
        positions: from `find_positions`.
        values: their values for the score (`values_of`).
        goal: exponent of the tile.
    """
    rules = make_small_rules(positions.size)
    chances = np.zeros(positions.keys.size, dtype=np.float64)
    known = make_known(positions, values)
    for layer in range(positions.layers - 1, -1, -1):
        _follow_layer(layer, known, rules, goal, chances)
    return chances


def value_of_start(positions: Positions, values: npt.NDArray[Any]) -> float:
    """Compute the mean value of a game's first board, which has two tiles."""
    rules = make_small_rules(positions.size)
    total = 0.0
    for rank, weight in ((1, 0.9), (2, 0.1)):
        begin, end = (int(start) for start in positions.starts[rank : rank + 2])
        for shift in rules.shifts:
            key = small_key_of(np.uint64(rank) << shift, rules)
            total += weight * float(values[find_key(key, positions.keys, begin, end)])
    return total / positions.size.cells


def solve(size: Size, advance: Callable[[int], None] = lambda count: None) -> Solution:
    """Solve a small board for the score.

    Args:
        size: at most nine cells, sides of at most four.
        advance: called with numbers of positions; each position counts twice.

    Raises:
        SolverError: such boards have too many positions.
    """
    positions = find_positions(size, advance)
    values = values_of(positions, advance=advance)
    return Solution(positions, values.astype(np.float32), value_of_start(positions, values))


def move_values(board: Board, solution: Solution) -> dict[Direction, float] | None:
    """Return the value of each legal direction of a board, the merge reward included.

    Args:
        board: a board of the solution's size, in either orientation; the player is to move.
        solution: the solution.

    Returns:
        ``None`` if the solution does not know the board, because no game reaches it.
    """
    positions = solution.positions
    layer = sum(1 << exponent for exponent in board.cells if exponent) // 2
    if layer >= positions.layers:
        return None
    begin, end = int(positions.starts[layer]), int(positions.starts[layer + 1])
    rules = make_small_rules(positions.size)
    values = {}
    for direction in DIRECTIONS:
        slide = board.slide(direction)
        if not slide.moved:
            continue
        place = find_key(small_key_of(pack_small(slide.afterstate), rules), positions.keys, begin, end)
        if place < 0:
            return None
        values[direction] = slide.reward + float(solution.values[place])
    return values


def first_wrong_position(solution: Solution, count: int, seed: int = 0) -> Board | None:
    """Compare random positions with their equation; return the first wrong one.

    Args:
        solution: the solution.
        count: number of positions to draw.
        seed: seed of the draw.
    """
    positions = solution.positions
    rules = make_small_rules(positions.size)
    known = make_known(positions, solution.values)
    places = np.random.default_rng(seed).integers(0, positions.keys.size, count)
    layers = np.searchsorted(positions.starts, places, side="right") - 1
    for place, layer in zip(places, layers, strict=True):
        board = np.uint64(small_board_of(positions.keys[place], rules))
        expected = value_after(board, layer, known, rules, 0)
        if abs(expected - float(solution.values[place])) > _ROUNDING * max(1.0, expected):
            return unpack_small(board, positions.size)
    return None
