"""Learning and play against a plain numba program of the same algorithm, turn by turn in one run.

The plain program is how one writes it first: shift-and-mask indices by runs of neighbouring cells, the board
turned for each direction, three row tables, no prefetching. Time is processor time of one thread; machines
are noisy even so, and only ratios of neighbouring turns mean anything.

    python benchmarks/training_speed.py [--network 4x6] [--turns 7] [--seconds 3]
"""

from __future__ import annotations

import statistics
import time
from typing import Any, NamedTuple

import click
import numba
import numpy as np

from game2048.kernels import bitboard
from game2048.spawn import game_state
from game2048.symmetry import permutations
from solver_server.ntuple.greedy_results import GreedyScorer
from solver_server.ntuple.patterns import PATTERNS, Pattern, active_weights
from solver_server.ntuple.training.settings import Settings
from solver_server.ntuple.training.training_state import Training


class Plain(NamedTuple):
    """The weights, and for each active one of a board its table and the runs of its cells."""

    weights: Any
    offsets: Any
    shifts: Any
    masks: Any
    places: Any


def make_plain(pattern: Pattern) -> Plain:
    offsets, runs = [], []
    offset = 0
    for cells in pattern.tuples:
        for image in permutations(4, 4):
            looked_at = [int(image[cell]) for cell in cells]
            offsets.append(offset)
            runs.append(_runs(looked_at))
        offset += 16 ** len(cells)
    most = max(map(len, runs))
    table = np.zeros((3, len(runs), most), dtype=np.uint64)
    for i, found in enumerate(runs):
        for j, run in enumerate(found):
            table[:, i, j] = run
    return Plain(np.zeros(offset, dtype=np.float32), np.array(offsets, dtype=np.uint64), *table)


def _runs(cells: list[int]) -> list[tuple[int, int, int]]:
    """Stretches of ascending neighbours: start on the board, mask, place in the index."""
    runs: list[tuple[int, int, int]] = []
    start = 0
    for end in range(1, len(cells) + 1):
        if end == len(cells) or cells[end] != cells[end - 1] + 1:
            runs.append((4 * cells[start], 16 ** (end - start) - 1, 4 * start))
            start = end
    return runs


@numba.njit(nogil=True)
def index_of(board, plain, i):
    index = plain.offsets[i]
    for j in range(plain.shifts.shape[1]):
        index += ((board >> plain.shifts[i, j]) & plain.masks[i, j]) << plain.places[i, j]
    return index


@numba.njit(nogil=True)
def value(board, plain):
    total = np.float32(0)
    for i in range(plain.offsets.size):
        total += plain.weights[index_of(board, plain, i)]
    return total


@numba.njit(nogil=True)
def play(plain, rows, state, games, step):
    """Greedy games; with a step above 0, TD(0) learning. Moves, and the generator's state."""
    moves = 0
    for _ in range(games):
        board, state = bitboard.start(state)
        before, before_value = np.uint64(0), np.float32(0)
        while True:
            best, best_after, best_value = np.float32(-1e30), np.uint64(0), np.float32(0)
            for direction in range(4):
                after, reward = bitboard.slide(board, direction, rows)
                if after != board:
                    worth = value(after, plain)
                    if worth + np.float32(reward) > best:
                        best, best_after, best_value = worth + np.float32(reward), after, worth
            over = best_after == 0
            if step > 0 and before != 0:
                change = step * ((np.float32(0) if over else best) - before_value)
                for i in range(plain.offsets.size):
                    plain.weights[index_of(before, plain, i)] += change
            if over:
                break
            moves += 1
            before, before_value = best_after, best_value
            board, state = bitboard.spawn(best_after, state)
    return moves, state


def rate(work: Any, seconds: float) -> float:
    moves = 0
    begun = time.process_time()
    while time.process_time() - begun < seconds:
        moves += work()
    return moves / (time.process_time() - begun)


@click.command()
@click.option("--network", default="4x6", show_default=True)
@click.option("--turns", default=7, show_default=True)
@click.option("--seconds", default=3.0, show_default=True, help="Of each program in each turn.")
def main(network: str, turns: int, seconds: float) -> None:
    """Print moves a second of both programs, and the median ratio."""
    pattern = PATTERNS[network]
    step = 0.1 / active_weights(pattern)
    plain, rows = make_plain(pattern), bitboard.make_row_tables()
    training = Training.start(pattern, Settings(method="td0", rate=0.1))
    state = np.uint64(game_state(1))
    games = 0

    def train_plain(step: float = step) -> int:
        nonlocal state
        moves, state = play(plain, rows, np.uint64(state), 20, np.float32(step))
        return int(moves)

    def train_ours() -> int:
        before = training.moves
        training.advance(1 << 62, 50_000)
        return training.moves - before

    def play_ours() -> int:
        nonlocal games
        games += 20
        return int(player.play(2, range(games, games + 20))[:, 2].sum())

    train_plain(), train_ours()
    compare("TD(0) learning", train_plain, train_ours, turns, seconds)
    # Both now play with the same weights.
    plain.weights[:] = training.network.weights_in("cells")
    player = GreedyScorer(training.network)
    play_ours()
    compare("greedy play", lambda: train_plain(0.0), play_ours, turns, seconds)


def compare(what: str, plain: Any, ours: Any, turns: int, seconds: float) -> None:
    ratios = []
    for turn in range(turns):
        slow, fast = rate(plain, seconds), rate(ours, seconds)
        ratios.append(fast / slow)
        click.echo(f"{what}, turn {turn + 1}: plain {slow / 1e6:.2f}, ours {fast / 1e6:.2f} M moves/s")
    click.echo(f"{what}: median ratio {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
