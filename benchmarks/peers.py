"""Learning, greedy play and search beside TDL2048+, turn by turn in one run on one processor.

    python benchmarks/peers.py ~/TDL2048 --rows td0,tc
    python benchmarks/peers.py ~/TDL2048 --trained-4x6 runs/4x6/checkpoint-….n2048 --trained-8x6 …

The first argument is a checkout of github.com/moporgic/TDL2048, which is built by its own makefile unless its
program is there, or the program itself. Nothing is fetched.

Both programs are measured by the same rule: processor time (user and system) of the whole process, from the
line that says that it is ready, with its network made or read, until a later line that counts its moves.
Starting, compiling, reading and saving are outside. Both run on the same processor, one at a time, by turns.
A speed is moves by that time; a ratio compares the two runs of a turn; the table has the median of all turns.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

OURS = Path(__file__).with_name("peers_ours.py")
PEER_READY = re.compile(r"(optimize|evaluate): ")
PEER_COUNT = re.compile(r"\d+/\d+ (\d+)ms ([0-9.]+|inf|-?nan)ops")
OUR_READY = "ready"
OUR_COUNT = re.compile(r"moves (\d+)")
EVER = 10**6


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of work.

    Attributes:
        name: name on the command line.
        title: for the table.
        network: shape of the network.
        trained: whether it begins with a trained network.
        peer: arguments of TDL2048+ after its network.
        ours: arguments of `peers_ours.py` after its network.
        timed: whether it ends after some seconds, else after the games that the arguments name.
    """

    name: str
    title: str
    network: str
    trained: bool
    peer: tuple[str, ...]
    ours: tuple[str, ...]
    timed: bool = True


def rows_for(games: int) -> tuple[Row, ...]:
    """Return all rows; learning from zero lasts so many games."""
    from_zero = f"{games // 100}x100"
    ever = f"{EVER}x"
    td0, tc = ("--method", "td0"), ("--method", "tc")
    return (
        Row("td0", f"TD(0), from zero, {games:,} games", "4x6", False, ("-a", "0.1", "-t", from_zero),
            ("train", *td0, "--games", str(games)), timed=False),
        Row("td0-trained", "TD(0), from a trained network", "4x6", True, ("-a", "0.1", "-t", ever + "10"),
            ("train", *td0)),
        Row("tc", f"TC(0), from zero, {games:,} games", "4x6", False, ("-a", "1.0", "-t", from_zero),
            ("train", *tc, "--games", str(games)), timed=False),
        Row("greedy", "greedy play", "4x6", True, ("-e", ever + "10"), ("greedy",)),
        Row("greedy-packed", "greedy play, ours rounded to 16 bits", "4x6", True, ("-e", ever + "10"),
            ("greedy", "--packed")),
        Row("greedy-8x6", "greedy play", "8x6", True, ("-e", ever + "10"), ("greedy",)),
        Row("greedy-8x6-packed", "greedy play, ours rounded to 16 bits", "8x6", True, ("-e", ever + "10"),
            ("greedy", "--packed")),
        Row("search", "3-ply search", "4x6", True, ("-d", "3p", "-e", ever + "1"), ("search",)),
        Row("search-cached", "3-ply search, its with a table of 1 GB", "4x6", True,
            ("-d", "3p", "-c", "1G", "-e", ever + "1"), ("search",)),
    )  # fmt: skip


def peer_moves(line: str) -> int | None:
    """Return the moves that a line of TDL2048+ reports, ``None`` if it reports none.

    Raises:
        click.ClickException: the games of the line took no time that its clock shows.
    """
    found = PEER_COUNT.match(line)
    if found is None:
        return None
    milliseconds, speed = int(found[1]), found[2]
    if not milliseconds or not speed[0].isdigit():
        raise click.ClickException(f"{line!r} counts no moves: its games took less than 1 ms; ask for more")
    return round(milliseconds * float(speed) / 1000)


@dataclass(frozen=True, slots=True)
class Speed:
    """What one run did: moves, and seconds of processor time for them."""

    moves: int
    seconds: float

    @property
    def rate(self) -> float:
        """Moves a second."""
        return self.moves / self.seconds


def speed_of(lines: Iterable[str], clock: Iterator[float], seconds: float | None, *, peer: bool) -> Speed:
    """Measure a program by what it prints.

    Args:
        lines: its lines, as they come.
        clock: its processor time, asked for at each line that matters.
        seconds: when to stop reading; ``None`` for the end of the lines.
        peer: whether it is TDL2048+, which reports the moves since its last line, or ours, which reports all.

    Raises:
        click.ClickException: it ended before it had played.
    """
    begun: float | None = None
    moves, spent = 0, 0.0
    for line in lines:
        if begun is None:
            ready = PEER_READY.match(line) if peer else line.strip() == OUR_READY
            begun = next(clock) if ready else None
            continue
        if peer:
            played = peer_moves(line)
            if played is None:
                continue
            moves += played
        else:
            found = OUR_COUNT.match(line)
            if found is None:
                continue
            moves = int(found[1])
        spent = next(clock) - begun
        if seconds is not None and spent >= seconds:
            break
    if not moves or spent <= 0:
        raise click.ClickException(f"{'TDL2048+' if peer else 'our program'} ended before it had played")
    return Speed(moves, spent)


def processor_time(stat: str, ticks: int) -> float:
    """Return user and system seconds in the text of ``/proc/PID/stat``; a name in it may have any signs."""
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / ticks


@contextmanager
def running(command: list[str], processor: int) -> Iterator[subprocess.Popen[str]]:
    """Run a program on one processor; it is stopped at the end."""
    process = subprocess.Popen(
        ["taskset", "-c", str(processor), *command], stdout=subprocess.PIPE, text=True, errors="replace"
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def measure(command: list[str], processor: int, seconds: float | None, *, peer: bool) -> Speed:
    """Run a program and measure its speed."""
    with running(command, processor) as process:
        stat = Path(f"/proc/{process.pid}/stat")
        ticks = os.sysconf("SC_CLK_TCK")

        def clock() -> Iterator[float]:
            while True:
                yield processor_time(stat.read_text(), ticks)

        assert process.stdout is not None
        return speed_of(process.stdout, clock(), seconds, peer=peer)


def built(path: Path) -> Path:
    """Return the program of a checkout, built by its makefile if it is not there yet.

    Raises:
        click.ClickException: it cannot be built.
    """
    if path.is_file():
        return path.resolve()
    program = path / "2048"
    if not program.exists():
        try:
            subprocess.run(["make", "-C", str(path)], check=True, stdout=sys.stderr)
        except (OSError, subprocess.CalledProcessError) as error:
            raise click.ClickException(f"{path} cannot be built: {error}; give its program instead") from None
    return program.resolve()


@dataclass(frozen=True, slots=True)
class Compared:
    """The runs of a row, turn by turn."""

    row: Row
    peer: list[Speed]
    ours: list[Speed]

    def line(self) -> str:
        """Format a line of the table: medians, and the ratio of neighbouring runs with its spread."""
        ratios = [ours.rate / peer.rate for ours, peer in zip(self.ours, self.peer, strict=True)]
        theirs, own = (statistics.median(s.rate for s in speeds) / 1e6 for speeds in (self.peer, self.ours))
        shown = f"{statistics.median(ratios):.2f} | {min(ratios):.2f} to {max(ratios):.2f}"
        return f"| {self.row.title} | {self.row.network} | {theirs:.4g} | {own:.4g} | {shown} |"


HEAD = """\
| work | network | TDL2048+, M moves/s | ours, M moves/s | ratio, median | of all turns |
|---|---|---|---|---|---|"""


def _their_network(weights: Path, folder: Path) -> Path:
    """Write a network as TDL2048+ reads it."""
    from solver_server.ntuple.files.network_file import open_network
    from solver_server.ntuple.files.tdl2048 import save_tdl

    path = folder / (weights.stem + ".w")
    if not path.exists():
        save_tdl(path, open_network(weights))
    return path


@click.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--rows", default="td0,tc", show_default=True, help="Which rows, or 'all'.")
@click.option("--turns", default=5, show_default=True)
@click.option("--games", default=15_000, show_default=True, help="Of learning from zero.")
@click.option("--seconds", default=20.0, show_default=True, help="Processor time of the other rows.")
@click.option("--processor", default=0, show_default=True, help="Number of the processor that both run on.")
@click.option(
    "--trained-4x6", type=click.Path(exists=True, path_type=Path), help="For the rows that need it."
)
@click.option(
    "--trained-8x6", type=click.Path(exists=True, path_type=Path), help="For the rows that need it."
)
def main(
    path: Path, rows: str, turns: int, games: int, seconds: float, processor: int, **trained: Path | None
) -> None:
    """Print the speed of both programs in each turn, and a table."""
    if shutil.which("taskset") is None:
        raise click.ClickException("taskset is missing; install util-linux")
    known = {row.name: row for row in rows_for(games)}
    names = list(known) if rows == "all" else rows.split(",")
    if unknown := set(names) - set(known):
        raise click.ClickException(f"unknown rows {', '.join(sorted(unknown))}; known are {', '.join(known)}")
    wanted = [known[name] for name in names]
    for row in wanted:
        if row.trained and trained[f"trained_{row.network}"] is None:
            raise click.ClickException(f"row {row.name} needs --trained-{row.network} FILE")
    program = built(path)
    done: list[Compared] = []
    with tempfile.TemporaryDirectory() as folder:
        for row in wanted:
            weights = trained[f"trained_{row.network}"] if row.trained else None
            peer = [str(program), "-n", f"{row.network}patt", *row.peer, "-%", "none"]
            ours = [sys.executable, str(OURS), row.network, *row.ours]
            if weights is not None:
                peer[3:3] = ["-i", str(_their_network(weights, Path(folder)))]
                ours += ["--weights", str(weights)]
            done.append(_compared(row, peer, ours, turns, (processor, seconds if row.timed else None)))
    click.echo(HEAD)
    for compared in done:
        click.echo(compared.line())


def _compared(
    row: Row, peer: list[str], ours: list[str], turns: int, where: tuple[int, float | None]
) -> Compared:
    compared = Compared(row, [], [])
    for turn in range(turns):
        # Neither program is always the first.
        for which in (True, False) if turn % 2 == 0 else (False, True):
            command = [*peer, "-s", f"turn{turn}"] if which else [*ours, "--seed", str(turn)]
            speed = measure(command, *where, peer=which)
            (compared.peer if which else compared.ours).append(speed)
        a, b = compared.peer[-1].rate, compared.ours[-1].rate
        click.echo(
            f"{row.name}, turn {turn + 1}: TDL2048+ {a / 1e6:.4g}, ours {b / 1e6:.4g} M moves/s, {b / a:.2f}",
            err=True,
        )
    return compared


if __name__ == "__main__":
    main()
