"""The commands of ``weights``: show networks, and make them small enough to pass on."""

from __future__ import annotations

from pathlib import Path

import click

from command_line.command import Group
from command_line.tables import on_terminal, show_table

_file = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group(cls=Group)
def weights() -> None:
    """Show n-tuple networks, and pack them to pass them on (docs/training.md)."""


@weights.command()
@click.argument("file", type=_file, required=False)
def show(file: Path | None) -> None:
    """Show the network in FILE and how it was trained. [default: the bundled network]"""
    from solver_server.ntuple.bundled import weights_for
    from solver_server.ntuple.files.network_file import open_network

    network = open_network(file or weights_for(4, 4))
    pattern = network.pattern
    step = f", steps of {network.step:g} points" if network.weights.dtype.kind == "i" else ""
    click.echo(f"network   {pattern.name} on {pattern.rows}×{pattern.columns}")
    click.echo(f"weights   {network.weights.size:,} of {network.weights.dtype}{step}")
    if pattern.stages:
        click.echo(f"stages    from {', '.join(f'{1 << stage}' for stage in pattern.stages)}")
    click.echo(f"source    {pattern.source}")
    if network.history and on_terminal():
        show_table(
            ("method", ">rate", ">λ", ">games", ">moves", ">minutes", ">threads"),
            [
                (
                    phase.method,
                    f"{phase.rate:g}",
                    f"{phase.trace:g}",
                    f"{phase.games:,}",
                    f"{phase.moves:,}",
                    f"{phase.seconds / 60:,.0f}",
                    f"{phase.threads}",
                )
                for phase in network.history
            ],
            title="trained",
        )
        return
    for phase in network.history:
        click.echo(
            f"trained   {phase.method}, rate {phase.rate:g}, λ {phase.trace:g}: {phase.games:,} games, "
            f"{phase.moves:,} moves in {phase.seconds / 60:,.0f} minutes, threads {phase.threads}"
        )


@weights.command()
@click.argument("checkpoint", type=_file)
@click.argument("output", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--step",
    type=click.FloatRange(0, min_open=True),
    default=8.0,
    show_default=True,
    help="Score points that weights are rounded to.",
)
@click.option(
    "--certain",
    type=click.FloatRange(1),
    default=1e5,
    show_default=True,
    help="Weights whose summed errors reach this are rounded to --step; those below it more coarsely.",
)
@click.option(
    "--since",
    type=_file,
    metavar="FILE",
    help="Checkpoint with which the stages began; weights that a stage has not changed since are taken from "
    "the next stage that has.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def pack(
    checkpoint: Path, output: Path, step: float, certain: float, since: Path | None, force: bool
) -> None:
    """Round the weights of CHECKPOINT to 16 bits and write them to OUTPUT, compressed.

    If the learner's state is beside the checkpoint, weights that were seldom updated are rounded more
    coarsely. Every --weights option takes OUTPUT; training cannot resume from it.
    """
    from solver_server.ntuple.files import network_file, packing
    from solver_server.ntuple.training.learner_file import read_sums

    if output.exists() and not force:
        raise click.UsageError(f"{output} exists; give another name, or --force")
    network, sums = network_file.open_network(checkpoint, in_memory=True), read_sums(checkpoint)
    if since is not None:
        begun = read_sums(since)
        if sums is None or begun is None or sums.size != begun.size:
            raise click.UsageError(
                f"{since} does not fit {checkpoint}; expected two checkpoints of one run, "
                "each with its learner file"
            )
        packing.settle_stages(network, sums, begun)
    packing.pack_network(output, packing.rounded(network, step, sums, certain))
    click.echo(f"{output}: {output.stat().st_size / 1e6:.1f} MB")
