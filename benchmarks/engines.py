"""How strong an engine is, and how long it takes a move: whole games by the rules, seeded.

    python benchmarks/engines.py --engine fast --games 100
    python benchmarks/engines.py --engine composite --depth 4 --games 100 --threads 2

Prints one line of Markdown for RESULTS.md or strength.md. Time a move is processor time of the playing
thread, so that a busy machine does not count against the engine.
"""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import click
from tqdm import tqdm

from game2048 import Board
from game2048.engine_names import DEFAULT_FOR_DATA
from game2048.spawn import Spawner
from solver_server.engine import Engine, Limit
from solver_server.engines import spec_of, with_tables

REACH = (2048, 4096, 8192, 16384, 32768, 65536)


@dataclass(frozen=True, slots=True)
class Played:
    score: int
    max_tile: int
    moves: int
    seconds: float


def made(engine: str, tables: bool, limit: Limit, size: tuple[int, int] = (4, 4)) -> Engine:
    """An engine, its kernels compiled."""
    agent = (with_tables(spec_of(engine)) if tables else spec_of(engine)).create()
    agent.choose(Board(*size).with_tile(0, 1).with_tile(3, 1), limit)
    return agent


def label(engine: str, tables: bool, limit: Limit) -> str:
    """How an engine is named in the lines that are printed."""
    limits = " ".join(
        f"{name} {value:g}"
        for name, value in (("depth", limit.depth), ("ms", limit.time_ms))
        if value is not None
    )
    return f"`{engine}` {limits or 'as it comes'}{', tables' if tables else ''}"


def play(engine: str, tables: bool, limit: Limit, size: tuple[int, int], seed: int, game: int) -> Played:
    agent = made(engine, tables, limit, size)
    spawner = Spawner(seed, game)
    board = spawner.start(*size)
    score = moves = 0
    begun = time.thread_time()
    while (decision := agent.choose(board, limit)) is not None:
        slide = board.slide(decision.direction)
        score += slide.reward
        moves += 1
        board = spawner.spawn(slide.afterstate)
    return Played(score, board.max_tile, moves, time.thread_time() - begun)


@click.command()
@click.option("--engine", default=DEFAULT_FOR_DATA, show_default=True)
@click.option("--depth", type=int)
@click.option("--time-ms", type=float)
@click.option("--size", default=4, show_default=True)
@click.option("--games", default=100, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--first", default=0, show_default=True, help="Number of the first game of the seed.")
@click.option("--threads", default=1, show_default=True, help="Processes; each plays whole games.")
@click.option("--tables", is_flag=True, help="Play by the endgame tables that are built, too.")
def main(
    engine: str,
    depth: int | None,
    time_ms: float | None,
    size: int,
    games: int,
    seed: int,
    first: int,
    threads: int,
    tables: bool,
) -> None:
    limit = Limit(depth, time_ms)
    with ProcessPoolExecutor(threads) as pool:
        tasks = [
            pool.submit(play, engine, tables, limit, (size, size), seed, game)
            for game in range(first, first + games)
        ]
        played = [task.result() for task in tqdm(tasks, unit=" games")]
    scores = [game.score for game in played]
    mean = statistics.fmean(scores)
    half = 1.96 * statistics.stdev(scores) / games**0.5 if games > 1 else float("nan")
    reach = " | ".join(f"{100 * sum(game.max_tile >= tile for game in played) / games:.1f}" for tile in REACH)
    per_move = 1000 * sum(game.seconds for game in played) / sum(game.moves for game in played)
    print(
        f"| {label(engine, tables, limit)} | {games} | {mean:,.0f} ± {half:,.0f} "
        f"| {statistics.median(scores):,.0f} | {reach} | {per_move:.2f} |"
    )


if __name__ == "__main__":
    main()
