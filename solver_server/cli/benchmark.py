"""The command ``benchmark``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from command_line.command import Command
from command_line.gather import gather
from game2048.engine_names import NETWORK_ENGINE
from solver_server.cli.options import announce_compilation, json_option

_NETWORK = "4x6"


@dataclass(frozen=True, slots=True)
class Measurement:
    """What `benchmark` measures.

    Attributes:
        network: name of the network whose tables are read; ``None`` for that of ``trained``, else 4x6.
        trained: weights to begin with; ``None`` for zeros.
        engine: name of the engine whose search is measured.
        depth: of that search; ``None`` for the engine's own.
        seconds: for each figure.
    """

    network: str | None
    trained: Path | None
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
        metavar="NAME",
        help="Shape of the network that plays and learns, from zero weights: its games are short, and what "
        "they read stays in the caches. [default: 4x6]",
    ),
    click.option(
        "--trained",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="WEIGHTS",
        help="Play and learn with the network in WEIGHTS, from where it is: late games, which wait for "
        "memory.",
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
    """Measure the kernels, each by itself and in one thread.

    Learning and greedy play are those of young games, unless --trained gives weights of late ones.
    """
    import msgspec

    from solver_server.engines import spec_of
    from solver_server.evaluation.kernel_speed import measure
    from solver_server.ntuple.files.network_file import open_network
    from solver_server.ntuple.network import Network, new_weights
    from solver_server.ntuple.patterns import pattern_for

    if options.network is not None and options.trained is not None:
        raise click.UsageError("--trained names the network, too; leave out --network")
    spec = spec_of(options.engine)
    if options.trained is not None:
        network = open_network(options.trained, in_memory=True)
    else:
        pattern = pattern_for(options.network or _NETWORK)
        network = Network(pattern, new_weights(pattern))
    announce_compilation()
    depth = options.depth or spec.default_depth or 3
    speeds = measure(network, spec.name, spec.create, depth, options.seconds)
    if as_json:
        click.echo(msgspec.json.encode(speeds).decode())
        return
    for name, value in msgspec.structs.asdict(speeds).items():
        shown = f"{value:,.0f}" if name.endswith("_per_second") else value
        click.echo(f"{name.replace('_', ' '):28} {shown}")
