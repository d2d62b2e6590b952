"""How well a time limit is kept: whole games with a limit, and what each decision really took.

    python benchmarks/time_limit.py --time-ms 5 --moves 3000

Prints one line of Markdown for benchmarks/strength.md: wall-clock of a decision as its caller sees it, as
multiples of the limit, and the nodes of a decision. On a busy machine the longest are those that the machine
took away.
"""

from __future__ import annotations

import time

import click
import numpy as np

from game2048.engine_names import DEFAULT_FOR_DATA
from game2048.spawn import Spawner
from solver_server.engine import Limit
from solver_server.engines import spec_of


@click.command()
@click.option("--engine", default=DEFAULT_FOR_DATA, show_default=True)
@click.option("--time-ms", default=5.0, show_default=True)
@click.option("--moves", default=3000, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--search-threads", default=1, show_default=True)
def main(engine: str, time_ms: float, moves: int, seed: int, search_threads: int) -> None:
    agent = spec_of(engine).create(search_threads)
    limit = Limit(time_ms=time_ms)
    spawner = Spawner(seed)
    board = spawner.start(4, 4)
    agent.choose(board, limit)
    took: list[float] = []
    nodes = 0
    while len(took) < moves:
        begun = time.perf_counter()
        decision = agent.choose(board, limit)
        took.append(1000 * (time.perf_counter() - begun))
        nodes += 0 if decision is None else decision.nodes
        board = (
            spawner.start(4, 4)
            if decision is None
            else spawner.spawn(board.slide(decision.direction).afterstate)
        )
    p50, p95, p99, most = np.percentile(took, [50, 95, 99, 100]) / time_ms
    print(
        f"| `{engine}` | {time_ms:g} ms | {search_threads} | {moves:,} "
        f"| {p50:.2f} | {p95:.2f} | {p99:.2f} | {most:.2f} | {nodes / moves:,.0f} |"
    )


if __name__ == "__main__":
    main()
