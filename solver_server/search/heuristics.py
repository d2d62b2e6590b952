"""Hand-made evaluations: the row heuristic of ``fast``, and those of two older players."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from game2048.kernels import grid
from game2048.kernels.bitboard import transpose
from game2048.kernels.jit import allocating_kernel, kernel, overload
from solver_server.search.board_ops import is_grid
from solver_server.search.evaluator import is_evaluator, value_of_leaf

# -- fast: a sum over rows and columns ---------------------------------------------------------------------


class LineHeuristic(NamedTuple):
    """The evaluation published by nneonneo (github.com/nneonneo/2048-ai), tuned there by CMA-ES.

    Per row and column: 200,000 + 270 · empty cells + 700 · mergeable tiles − 47 · the lesser of the two
    monotonicity losses in rank⁴ − 11 · Σ rank^3.5.

    Attributes:
        reward_weight, dead_value: see `evaluator`; a dead board has the value 0, less than any other.
        line_values: float64 [65536], the value of every 4-cell row of nibbles.
        power_4: float64 [64], rank⁴.
        power_3_5: float64 [64], rank^3.5.
    """

    reward_weight: float
    dead_value: float
    line_values: npt.NDArray[np.float64]
    power_4: npt.NDArray[np.float64]
    power_3_5: npt.NDArray[np.float64]


@kernel
def _line_value(line: Any, power_4: Any, power_3_5: Any) -> float:
    empty = mergeable = run = previous = 0
    rank_sum = left_loss = right_loss = 0.0
    for i in range(line.size):
        rank = line[i]
        rank_sum += power_3_5[rank]
        if rank == 0:
            empty += 1
        else:
            run = run + 1 if rank == previous else 1
            if run > 1:
                mergeable += 2 if run == 2 else 1
            previous = rank
        if i > 0:
            step = power_4[line[i - 1]] - power_4[rank]
            left_loss += max(step, 0.0)
            right_loss += max(-step, 0.0)
    return float(200_000 + 270 * empty + 700 * mergeable - 47 * min(left_loss, right_loss) - 11 * rank_sum)


@allocating_kernel
def _fill_line_values(values: Any, power_4: Any, power_3_5: Any) -> None:
    line = np.zeros(4, dtype=np.uint8)
    for row in range(65536):
        for i in range(4):
            line[i] = (row >> (4 * i)) & 15
        values[row] = _line_value(line, power_4, power_3_5)


def make_line_heuristic() -> LineHeuristic:
    """Make the evaluator of ``fast``."""
    ranks = np.arange(64, dtype=np.float64)
    heuristic = LineHeuristic(0.0, 0.0, np.empty(65536), ranks**4, ranks**3.5)
    _fill_line_values(heuristic.line_values, heuristic.power_4, heuristic.power_3_5)
    return heuristic


@kernel
def _rows_value(board: np.uint64, heuristic: LineHeuristic) -> float:
    values = heuristic.line_values
    mask = np.uint64(0xFFFF)
    upper = values[board & mask] + values[(board >> np.uint64(16)) & mask]
    return float(upper + values[(board >> np.uint64(32)) & mask] + values[board >> np.uint64(48)])


@kernel
def _line_heuristic_bitboard(board: np.uint64, heuristic: LineHeuristic) -> float:
    return _rows_value(board, heuristic) + _rows_value(transpose(board), heuristic)


@kernel
def _line_heuristic_grid(board: grid.Grid, heuristic: LineHeuristic) -> float:
    rows, columns = board.shape
    total = 0.0
    for r in range(rows):
        total += _line_value(board[r, :], heuristic.power_4, heuristic.power_3_5)
    for c in range(columns):
        total += _line_value(board[:, c], heuristic.power_4, heuristic.power_3_5)
    return total


@overload(value_of_leaf)
def _(board: Any, evaluator: Any) -> Any:
    if not is_evaluator(evaluator, LineHeuristic):
        return None
    if is_grid(board):
        return lambda board, evaluator: _line_heuristic_grid(board, evaluator)
    return lambda board, evaluator: _line_heuristic_bitboard(board, evaluator)


# -- composite: five weighted parts ------------------------------------------------------------------------

COMPOSITE_EXPONENTS = ((12, 13, 14, 15), (11, 10, 9, 8), (4, 5, 6, 7), (3, 2, 1, 0))
"""Powers of four of the position weights.

The player this comes from printed the mirror image, with the largest weight top-left, while its own text and
its corner bonus say top-right. Mirrored, all three agree.
"""


class Composite(NamedTuple):
    """Position, empty cells, monotonicity, smoothness and corner of a 4×4 board, in face values.

    Attributes:
        reward_weight, dead_value: see `evaluator`.
        weights: float64 [4, 4], the position weights.
    """

    reward_weight: float
    dead_value: float
    weights: npt.NDArray[np.float64]


def make_composite() -> Composite:
    """Make the evaluator of ``composite``. A dead board has the value 0; any other has more."""
    return Composite(0.0, 0.0, 4.0 ** np.array(COMPOSITE_EXPONENTS, dtype=np.float64))


@kernel
def _trend(line: Any) -> int:
    """Count the steps of a line that follow its better trend; a level step follows both."""
    rising = falling = 0
    for i in range(line.size - 1):
        if line[i] <= line[i + 1]:
            rising += 1
        if line[i] >= line[i + 1]:
            falling += 1
    return max(rising, falling)


@kernel
def _roughness(board: grid.Grid) -> int:
    """Σ |difference of exponents| over neighbouring pairs of tiles, right and down."""
    rows, columns = board.shape
    total: Any = 0
    for r in range(rows):
        for c in range(columns):
            here = np.int64(board[r, c])  # int() of a uint8 would stay unsigned in a kernel
            if here == 0:
                continue
            if c + 1 < columns and board[r, c + 1] != 0:
                total += abs(here - np.int64(board[r, c + 1]))
            if r + 1 < rows and board[r + 1, c] != 0:
                total += abs(here - np.int64(board[r + 1, c]))
    return int(total)


@kernel
def composite_value(board: grid.Grid, composite: Composite) -> float:
    """Σ tile · weight + 50,000 · empty + 10,000 · monotonicity − 1,000 · roughness + corner bonus."""
    position = 0.0
    empty = monotonicity = 0
    top: Any = 0
    for r in range(4):
        monotonicity += _trend(board[r, :]) + _trend(board[:, r])
        for c in range(4):
            exponent: Any = np.int64(board[r, c])
            if exponent == 0:
                empty += 1
            else:
                position += (1 << exponent) * composite.weights[r, c]
                top = max(top, exponent)
    corner = 10_000 * (1 << top) if top > 0 and board[0, 3] == top else 0
    return position + 50_000 * empty + 10_000 * monotonicity - 1_000 * _roughness(board) + corner


@overload(value_of_leaf)
def _(board: Any, evaluator: Any) -> Any:
    if is_evaluator(evaluator, Composite) and is_grid(board):
        return lambda board, evaluator: composite_value(board, evaluator)
    return None


# -- gradient: three weighted parts ------------------------------------------------------------------------

GRADIENT_WEIGHTS = ((16, 15, 14, 13), (9, 10, 11, 12), (8, 7, 6, 5), (1, 2, 3, 4))


class Gradient(NamedTuple):
    """2.7 · empty cells + 1.0 · Σ weight · exponent − 0.1 · roughness, on a 4×4 board.

    Attributes:
        reward_weight, dead_value: see `evaluator`.
        weights: float64 [4, 4], a snake from the upper left corner.
    """

    reward_weight: float
    dead_value: float
    weights: npt.NDArray[np.float64]


def make_gradient() -> Gradient:
    """Make the evaluator of ``gradient``, with its player's own −1e6 for a dead board."""
    return Gradient(0.0, -1e6, np.array(GRADIENT_WEIGHTS, dtype=np.float64))


@kernel
def gradient_value(board: grid.Grid, gradient: Gradient) -> float:
    """See `Gradient`."""
    empty = 0
    snake = 0.0
    for r in range(4):
        for c in range(4):
            if board[r, c] == 0:
                empty += 1
            snake += gradient.weights[r, c] * board[r, c]
    return 2.7 * empty + snake - 0.1 * _roughness(board)


@overload(value_of_leaf)
def _(board: Any, evaluator: Any) -> Any:
    if is_evaluator(evaluator, Gradient) and is_grid(board):
        return lambda board, evaluator: gradient_value(board, evaluator)
    return None


# -- constant: nothing but merges --------------------------------------------------------------------------


class Constant(NamedTuple):
    """Gives every leaf the same value, so that only the merges count: the plainest baseline.

    Attributes:
        reward_weight, dead_value: see `evaluator`.
        leaf: the value of a leaf.
    """

    reward_weight: float
    dead_value: float
    leaf: float


@kernel
def _constant_value(board: Any, constant: Constant) -> float:
    return constant.leaf


@overload(value_of_leaf)
def _(board: Any, evaluator: Any) -> Any:
    if is_evaluator(evaluator, Constant):
        return lambda board, evaluator: _constant_value(board, evaluator)
    return None
