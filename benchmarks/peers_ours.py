"""Our side of `peers.py`: says ``ready``, then ``moves N`` again and again, N since then. One thread."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click
import numba
import numpy as np

from game2048.kernels import bitboard
from game2048.kernels.one_word_board import has_high_ranks
from game2048.spawn import game_state
from solver_server.engine import Limit
from solver_server.ntuple.engine import NetworkEngine
from solver_server.ntuple.files.network_file import open_network
from solver_server.ntuple.files.packing import rounded
from solver_server.ntuple.greedy_results import GreedyScorer
from solver_server.ntuple.network import Network
from solver_server.ntuple.patterns import PATTERNS
from solver_server.ntuple.training.settings import Settings, default_lanes
from solver_server.ntuple.training.setup import DEFAULT_RATES
from solver_server.ntuple.training.trainer import TrainingPlan, Watch, run_training
from solver_server.ntuple.training.training_state import Training

EVER = 1 << 40
STEP = 4.0  # points; the bundled network has steps of this order
AT_ONCE = 32  # games that are searched by turns

weights_option = click.option("--weights", type=click.Path(exists=True, path_type=Path))
seed_option = click.option("--seed", default=0)


@click.group()
@click.argument("network", type=click.Choice(list(PATTERNS)))
def main(network: str) -> None:
    pass


def _say(moves: int) -> None:
    print(f"moves {moves}", flush=True)


@main.command()
@click.option("--method", type=click.Choice(["td0", "tc"]), required=True)
@click.option("--games", default=EVER)
@weights_option
@seed_option
@click.pass_context
def train(ctx: click.Context, method: str, games: int, weights: Path | None, seed: int) -> None:
    """Train as `bot2048 train` does, with its log, but without its checkpoints."""
    assert ctx.parent is not None
    pattern = PATTERNS[ctx.parent.params["network"]]
    lanes = default_lanes(method, pattern)
    settings = Settings(method=method, rate=DEFAULT_RATES[method], seed=seed, lanes=lanes)
    training = Training.start(pattern, settings)
    if weights is not None:
        training.network.weights[:] = open_network(weights).weights
    training.compile()
    print("ready", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        plan = TrainingPlan(Path(folder), games=games, checkpoint_seconds=float("inf"))
        run_training(training, plan, Watch(on_piece=lambda training, new: _count(training, games)))


def _count(training: Training, games: int) -> None:
    _say(training.moves)
    if training.games >= games:
        raise SystemExit  # before the last checkpoint


def _read(weights: Path, packed: bool) -> Network:
    network = open_network(weights, in_memory=True)
    return rounded(network, STEP) if packed and network.weights.dtype == np.float32 else network


@main.command()
@click.option("--packed", is_flag=True)
@weights_option
@seed_option
def greedy(packed: bool, weights: Path, seed: int) -> None:
    """Play by reward + value."""
    player = GreedyScorer(_read(weights, packed))
    player.play(seed, [0])
    print("ready", flush=True)
    moves = 0
    for first in range(1, EVER, 100):
        moves += int(player.play(seed, range(first, first + 100))[:, 2].sum())
        _say(moves)


@main.command()
@weights_option
@seed_option
def search(weights: Path, seed: int) -> None:
    """Search every spawn of three moves: no chance is cut, no effort limited, as in a 3-ply search there."""
    engine = NetworkEngine(open_network(weights, in_memory=True), min_probability=0.0)
    rows = bitboard.make_row_tables()
    states = np.array([game_state(seed, game) for game in range(AT_ONCE)], dtype=np.uint64)
    boards = np.zeros(AT_ONCE, dtype=np.uint64)
    directions = np.full(AT_ONCE, -1, dtype=np.int8)
    _move(boards, directions, states, rows)
    engine.choose_packed(boards[:1], Limit(3), directions[:1])
    print("ready", flush=True)
    moves = 0
    while True:
        engine.choose_packed(boards, Limit(3), directions)
        moves += int(_move(boards, directions, states, rows))
        _say(moves)


@numba.njit(nogil=True)
def _move(boards, directions, states, rows):  # type: ignore[no-untyped-def]
    """Make the chosen moves and count them. A game without a move, or with a tile too large, begins again."""
    moves = 0
    for i in range(boards.size):
        board, state = boards[i], states[i]
        if directions[i] >= 0:
            moves += 1
            board, _ = bitboard.slide(board, directions[i], rows)
        if directions[i] < 0 or has_high_ranks(board, 16):
            board, state = bitboard.spawn(np.uint64(0), state)
        boards[i], states[i] = bitboard.spawn(board, state)
    return moves


if __name__ == "__main__":
    main()
