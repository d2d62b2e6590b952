"""How fast datasets are made: whole runs of ``bot2048 generate``, from its start to the finished file.

    python benchmarks/dataset.py                                   # greedy games to Parquet on two processes
    python benchmarks/dataset.py --format jsonl --games 1000
    python benchmarks/dataset.py --weights big.n2048 --games 1000 --repeat 5

Prints one line of Markdown for benchmarks/RESULTS.md. Beside the moves a second of the clock stand those of a
second of processor time, of all processes together, which a busy machine does not lower.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click


def run(words: list[str]) -> tuple[int, float, float]:
    """Moves, seconds of the clock and of the processors."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "bot.cli.main", "generate", *words], stdout=subprocess.PIPE, check=True
    )
    seconds = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout)["moves"], seconds, used


@click.command()
@click.option(
    "--weights",
    type=click.Path(exists=True, path_type=Path),
    help="Played greedily. [default: the network that comes with bot2048]",
)
@click.option("--games", default=2000, show_default=True)
@click.option("--workers", default=2, show_default=True)
@click.option("--format", "extension", default="parquet", show_default=True)
@click.option("--metadata", is_flag=True)
@click.option("--repeat", default=3, show_default=True, help="Runs; the median is printed.")
def main(weights: Path | None, games: int, workers: int, extension: str, metadata: bool, repeat: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / f"games.{extension}"
        words = ["--engine", "greedy", "--seed", "1", "--json", "--force"]
        words += [] if weights is None else ["--weights", str(weights)]
        words += ["--workers", str(workers), "-o", str(output), *(["--metadata"] if metadata else [])]
        run([*words, "-g", "1"])  # compiles the kernels
        runs = [run([*words, "-g", str(games)]) for _ in range(repeat)]
        size = sum(file.stat().st_size for file in Path(folder).iterdir()) / runs[0][0]
    clock, processors = (
        statistics.median(moves / run[i] for run in runs for moves in [run[0]]) for i in (1, 2)
    )
    what = f"greedy{f' `{weights.name}`' if weights else ''} to {extension}{', metadata' if metadata else ''}"
    print(
        f"| {what} | {workers} | {games} | {runs[0][0]:,} | {clock:,.0f} | {processors:,.0f} | {size:.1f} |"
    )


if __name__ == "__main__":
    main()
