"""What best play is worth on small boards: exact figures, computed anew.

    python benchmarks/small_boards.py 2x2 2x3 2x4 3x3

Prints lines of Markdown for strength.md: for each board the mean score of best play for the score, and for
the largest tiles the chance to make them, by play for that tile and by play for the score.
"""

from __future__ import annotations

import time

import click

from game2048.size import Size
from solver_server.solutions.solve import chances_by_score, find_positions, value_of_start, values_of

_TILES = 4


@click.command()
@click.argument("sizes", nargs=-1, required=True, metavar="SIZE...")
def main(sizes: tuple[str, ...]) -> None:
    for size in map(Size.parse, sizes):
        begun = time.thread_time()
        positions = find_positions(size)
        values = values_of(positions)
        seconds = time.thread_time() - begun
        print(
            f"| {size} | {positions.keys.size:,} positions | {value_of_start(positions, values):,.2f} points "
            f"| {seconds:.0f} s |"
        )
        top = size.cells + 1
        for exponent in range(top - _TILES + 1, top + 1):
            aimed = value_of_start(positions, values_of(positions, exponent))
            by_score = value_of_start(positions, chances_by_score(positions, values, exponent))
            print(f"| {size} | {1 << exponent} | {100 * aimed:.3f} % | {100 * by_score:.3f} % |")


if __name__ == "__main__":
    main()
