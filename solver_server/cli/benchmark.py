"""The command ``benchmark``."""

from __future__ import annotations

from dataclasses import dataclass

import click

from command_line.command import Command
from command_line.gather import gather
from game2048.engine_names import NETWORK_ENGINE
from solver_server.cli.options import announce_compilation, json_option


@dataclass(frozen=True, slots=True)
class Measurement:
    """What `benchmark` measures.

    Attributes:
        network: name of the network whose tables are read.
        engine: name of the engine whose search is measured.
        depth: of that search; ``None`` for the engine's own.
        seconds: for each figure.
    """

    network: str
    engine: str
    depth: int | None
    seconds: float


@click.command(cls=Command)
@gather(
    "options",
    Measurement,
    None,
    click.option(
        "--network",
        default="4x6",
        show_default=True,
        metavar="NAME",
        help="Shape of the network that plays and learns, from zero weights.",
    ),
    click.option(
        "--engine",
        default=NETWORK_ENGINE,
        show_default=True,
        metavar="NAME",
        help="Engine whose search is measured.",
    ),
    click.option(
        "--depth", type=click.IntRange(1), help="Depth of that search. [default: the engine's own, else 3]"
    ),
    click.option(
        "--seconds",
        type=click.FloatRange(0, min_open=True),
        default=3.0,
        show_default=True,
        help="Processor time spent on each figure.",
    ),
)
@json_option
def benchmark(options: Measurement, as_json: bool) -> None:
    """Measure the kernels, each by itself and in one thread."""
    import msgspec

    from solver_server.engines import spec_of
    from solver_server.evaluation.kernel_speed import measure
    from solver_server.ntuple.patterns import pattern_for

    spec = spec_of(options.engine)
    pattern = pattern_for(options.network)
    announce_compilation()
    depth = options.depth or spec.default_depth or 3
    speeds = measure(pattern, spec.name, spec.create, depth, options.seconds)
    if as_json:
        click.echo(msgspec.json.encode(speeds).decode())
        return
    for name, value in msgspec.structs.asdict(speeds).items():
        shown = f"{value:,.0f}" if name.endswith("_per_second") else value
        click.echo(f"{name.replace('_', ' '):28} {shown}")
