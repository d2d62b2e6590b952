"""How often an engine survives a stretch of play: from boards of given tile sums, seeded.

    python benchmarks/survival.py --engine order --depth 6
    python benchmarks/survival.py --engine ntuple --depth 2 --tiles 24736 --moves 1500

Whole games tell two engines apart only after hundreds of them, as one unlucky pass decides half of a score.
This starts every engine from the same boards, reached by `order` at depth 4, and counts who is alive some
moves later. By default these boards have a 16384, an 8192 and small tiles: what one should survive.
"""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache

import click
from engines import label, made
from tqdm import tqdm

from game2048 import Board
from game2048.spawn import Spawner
from solver_server.engine import Engine, Limit


@cache
def agent_of(engine: str, tables: bool) -> Engine:
    """An engine; one for each process."""
    return made(engine, tables, Limit(depth=2))


def reach(seed: int, game: int, tiles: int) -> Board | None:
    """The first board of a game whose tiles add up to so much; ``None`` if it ends before."""
    agent = agent_of("order", False)
    spawner = Spawner(seed, game)
    board = spawner.start(4, 4)
    while sum(1 << exponent for exponent in board.cells if exponent) < tiles:
        decision = agent.choose(board, Limit(depth=4))
        if decision is None:
            return None
        board = spawner.spawn(board.slide(decision.direction).afterstate)
    return board


def survive(
    engine: str, tables: bool, limit: Limit, board: Board, spawner: Spawner, moves: int
) -> tuple[int, float]:
    """How many of so many moves an engine makes before it is stuck, and the processor time of its thread."""
    agent = agent_of(engine, tables)
    begun = time.thread_time()
    for move in range(moves):
        decision = agent.choose(board, limit)
        if decision is None:
            return move, time.thread_time() - begun
        board = spawner.spawn(board.slide(decision.direction).afterstate)
    return moves, time.thread_time() - begun


@click.command()
@click.option("--engine", default="order", show_default=True)
@click.option("--depth", type=int)
@click.option("--time-ms", type=float)
@click.option("--tables", is_flag=True, help="Let the engine play by what is known of late boards, too.")
@click.option("--tiles", default=24736, show_default=True, help="Sum of the tiles to start from.")
@click.option("--moves", default=1500, show_default=True, help="Moves to survive.")
@click.option("--games", default=90, show_default=True, help="To reach boards in.")
@click.option("--repeats", default=4, show_default=True, help="Runs from each board.")
@click.option("--seed", default=1, show_default=True)
@click.option("--threads", default=1, show_default=True, help="Processes.")
def main(
    engine: str,
    depth: int | None,
    time_ms: float | None,
    tables: bool,
    tiles: int,
    moves: int,
    games: int,
    repeats: int,
    seed: int,
    threads: int,
) -> None:
    limit = Limit(depth, time_ms)
    with ProcessPoolExecutor(threads) as pool:
        reached = pool.map(reach, [seed] * games, range(games), [tiles] * games)
        boards = [board for board in tqdm(reached, total=games, unit=" boards") if board is not None]
        if not boards:
            raise click.UsageError(f"no board of {tiles} in {games} games: ask for fewer tiles or more games")
        tasks = [
            pool.submit(survive, engine, tables, limit, board, Spawner(seed + 1 + repeat, i), moves)
            for repeat in range(repeats)
            for i, board in enumerate(boards)
        ]
        runs = [task.result() for task in tqdm(tasks, unit=" runs")]
    share = sum(lasted == moves for lasted, _ in runs) / len(runs)
    half = 1.96 * (share * (1 - share) / len(runs)) ** 0.5
    per_move = 1000 * sum(seconds for _, seconds in runs) / sum(lasted for lasted, _ in runs)
    print(
        f"| {label(engine, tables, limit)} | {len(runs)} "
        f"| {100 * share:.1f} ± {100 * half:.1f} % | {per_move:.2f} |"
    )


if __name__ == "__main__":
    main()
