"""Tune the numbers of `order` by CMA-ES: games at a shallow depth, the same spawns for all candidates.

    python benchmarks/tune_order.py --out tuned.jsonl --minutes 90
    python benchmarks/tune_order.py --out tuned.jsonl --compare 1000 --depth 3

The first form tunes; a run that was stopped continues from what its file holds. The second plays the best
candidate and the weights in use on fresh seeds and prints both with 95 % intervals. Endgame tables must be
built. A game counts as won when its tiles add up to 31,900: before the last pass, which tables alone decide.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import cma
import numpy as np
import numpy.typing as npt

from game2048.kernels import bitboard
from game2048.kernels.bitboard import RowTables, make_row_tables, slide
from game2048.kernels.jit import kernel
from game2048.spawn import game_state
from solver_server.limits import PLAYER_MOVES
from solver_server.search.expectimax import Span
from solver_server.search.order import OrderSearch, OrderWeights, decide_by_order, make_order_search
from solver_server.search.order_engine import EFFORT, FIRST_DEPTH
from solver_server.tables.engine import load_tables
from solver_server.tables.lookup import TableSet, make_table_set, table_moves

ENOUGH = 31_900
"""Sum of the tiles at which a game counts as won: only the last pass before a 32768 is left."""
SPREADS = OrderWeights(
    disorder=3.0, equal=0.5, before=0.3, power=0.2, cut=0.5, uncut=0.7, loss=1.0, bits=0.7, bits_each=0.15
)
"""First standard deviation of each weight."""


@kernel
def _play(
    state: np.uint64, span: Span, rows: RowTables, tables: TableSet, search: OrderSearch, scratch: Any
) -> Any:
    """Play a game until it is won or over; return the sum of its tiles, its moves and whether it is won."""
    board, state = bitboard.start(state)
    moves = 0
    while True:
        total = 0
        for cell in range(16):
            rank = np.int64((board >> np.uint64(4 * cell)) & np.uint64(15))
            total += (1 << rank) if rank > 0 else 0
        if total >= ENOUGH:
            return total, moves, True
        direction = table_moves(board, rows, tables, scratch[0], scratch[1])
        if direction < 0:
            direction, _ = decide_by_order(board, span.first, span.last, np.inf, span.nodes, search)
        if direction < 0:
            return total, moves, False
        after, _ = slide(board, direction, rows)
        board, state = bitboard.spawn(after, state)
        moves += 1


class Table:
    """Plays batches of games with any weights."""

    def __init__(self, depth: int | None) -> None:
        self._tables = load_tables()
        if not self._tables:
            raise click.UsageError("no endgame tables are built; run `bot2048 tables build` first")
        self._known = make_table_set(self._tables)
        self._rows = make_row_tables()
        self._span = (
            Span(FIRST_DEPTH, PLAYER_MOVES.maximum, np.inf, EFFORT, 0.0)
            if depth is None
            else Span(depth, depth, np.inf, 0, 0.0)
        )
        self._scratch = np.zeros((2, 4), dtype=np.int64)

    def play(self, weights: OrderWeights, seed: int, games: int, first: int = 0) -> npt.NDArray[np.int64]:
        """Play games; return sum of the tiles, moves and whether it is won for each, int64 [games, 3]."""
        search = make_order_search(weights=weights)
        played = [
            _play(
                np.uint64(game_state(seed, game)), self._span, self._rows, self._known, search, self._scratch
            )
            for game in range(first, first + games)
        ]
        return np.array(played, dtype=np.int64)


def weights_at(point: Sequence[float]) -> OrderWeights:
    """The weights at a point in units of `SPREADS` from those in use."""
    return OrderWeights(
        *(
            max(0.0, use + spread * step)
            if name in ("disorder", "before", "cut", "power")
            else use + spread * step
            for name, use, spread, step in zip(
                OrderWeights._fields, OrderWeights(), SPREADS, point, strict=True
            )
        )
    )


def worth(played: npt.NDArray[np.int64]) -> float:
    """What a candidate's games are worth: the mean part of the way, so that late losses count less."""
    return float(np.minimum(played[:, 0] / ENOUGH, 1.0).mean())


def tune(out: Path, minutes: float, depth: int, games: int, candidates: int, seed: int) -> None:
    """Tune until the time is over; every generation is a line of the file."""
    table = Table(depth)
    strategy = cma.CMAEvolutionStrategy(
        [0.0] * len(OrderWeights._fields),
        0.7,
        {"popsize": candidates, "seed": seed + 1, "verbose": -9, "tolfun": 0, "tolx": 0},
    )
    end = time.monotonic() + 60 * minutes
    generation = 0
    if out.exists():
        for line in out.read_text().splitlines():
            told = json.loads(line)
            strategy.ask()  # keeps the sequence of random numbers
            strategy.tell([np.array(point) for point in told["points"]], [-worth for worth in told["worths"]])
            generation += 1
    while time.monotonic() < end:
        points = strategy.ask()
        # All candidates of a generation play the same games.
        worths = [
            worth(table.play(weights_at(point), seed, games, first=generation * games)) for point in points
        ]
        strategy.tell(points, [-value for value in worths])
        line: dict[str, Any] = {
            "generation": generation,
            "points": [list(point) for point in points],
            "worths": worths,
            "mean": list(strategy.mean),
            "sigma": strategy.sigma,
        }
        with out.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(
            f"generation {generation}: mean {np.mean(worths):.4f}, sigma {strategy.sigma:.3f}, "
            + ", ".join(
                f"{name} {value:.2f}"
                for name, value in zip(OrderWeights._fields, weights_at(strategy.mean), strict=True)
            ),
            flush=True,
        )
        generation += 1


def compare(out: Path, games: int, depth: int, seed: int) -> None:
    """Play the tuned weights and those in use on fresh seeds."""
    table = Table(depth)
    last = json.loads(out.read_text().splitlines()[-1])
    shares = []
    for name, weights in (("in use", OrderWeights()), ("tuned", weights_at(last["mean"]))):
        begun = time.thread_time()
        played = table.play(weights, seed, games)
        per_move = 1000 * (time.thread_time() - begun) / played[:, 1].sum()
        share = played[:, 2].mean()
        half = 1.96 * (share * (1 - share) / games) ** 0.5
        shares.append(share)
        print(
            f"| {name} | depth {depth} | {games} | {100 * share:.1f} ± {100 * half:.1f} % | {per_move:.3f} |",
            flush=True,
        )
    half = 1.96 * sum(share * (1 - share) / games for share in shares) ** 0.5
    print(f"difference {100 * (shares[1] - shares[0]):+.1f} ± {100 * half:.1f} %")


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File of the generations.")
@click.option("--minutes", default=60.0, show_default=True, help="Time to tune.")
@click.option("--depth", default=3, show_default=True, help="Player moves to look ahead.")
@click.option("--games", default=60, show_default=True, help="Games of each candidate in a generation.")
@click.option("--candidates", default=12, show_default=True, help="Candidates of a generation.")
@click.option("--seed", default=1, show_default=True)
@click.option("--compare", "fresh", default=0, help="Play so many games with the tuned weights instead.")
def main(out: Path, minutes: float, depth: int, games: int, candidates: int, seed: int, fresh: int) -> None:
    if fresh:
        compare(out, fresh, depth, seed + 1000)
    else:
        tune(out, minutes, depth, games, candidates, seed)


if __name__ == "__main__":
    main()
