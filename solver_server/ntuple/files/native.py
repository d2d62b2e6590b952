"""Weights files: an array file whose header describes the network and how it was trained."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError
from solver_server import array_file
from solver_server.ntuple.network import RATES_VERSION, Network, Phase, phase_with_whole_rate
from solver_server.ntuple.patterns import Pattern
from solver_server.ntuple.weight_order import Order, order_in_memory, reordered

WEIGHTS_SUFFIX = ".n2048"

LARGEST_WEIGHT = 1e30
"""Weights beyond this, in points, are refused: their sums would overflow."""
LARGEST_STEP = 1e20
NOT_FINITE = (
    "has weights that are not finite numbers: its training diverged; take an earlier checkpoint, or train "
    "again at a lower rate"
)

DtypeName = Literal["float32", "int16"]


class WeightsHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The header of a weights file; its fields are those of `Pattern` and `Network`.

    Attributes:
        kind: what the array file holds.
        version: version of the rates in ``history`` (`network.RATES_VERSION`); files of version 1 lack it.
        order: order of the weights of a table (`weight_order`); files of earlier versions lack it.
    """

    kind: str = "weights"
    version: int = 1
    network: str
    rows: int
    columns: int
    tuples: tuple[tuple[int, ...], ...]
    symmetric: bool
    averaged: bool
    ranks: int
    source: str
    stages: tuple[int, ...] = ()
    order: Order = "cells"
    dtype: DtypeName = "float32"
    step: float = 1.0
    entries: int
    history: tuple[Phase, ...] = ()


def weights_header(network: Network) -> WeightsHeader:
    """Make the header of a network's file."""
    pattern = network.pattern
    return WeightsHeader(
        version=RATES_VERSION,
        network=pattern.name,
        rows=pattern.rows,
        columns=pattern.columns,
        tuples=pattern.tuples,
        symmetric=pattern.symmetric,
        averaged=pattern.averaged,
        ranks=pattern.ranks,
        source=pattern.source,
        stages=pattern.stages,
        order=order_in_memory(pattern),
        dtype="int16" if network.weights.dtype == np.int16 else "float32",
        step=network.step,
        entries=pattern.entries,
        history=network.history,
    )


def pattern_in(header: WeightsHeader) -> Pattern:
    """Read the shape of a network out of a header.

    Raises:
        SolverError: no such network is possible.
    """
    if not 0 < header.step <= LARGEST_STEP:
        raise SolverError(f"a step of {header.step} points is not possible; expected more than 0")
    return Pattern(
        header.network,
        header.rows,
        header.columns,
        header.tuples,
        header.symmetric,
        header.averaged,
        header.ranks,
        header.source,
        header.stages,
    )


def history_in(header: WeightsHeader, pattern: Pattern) -> tuple[Phase, ...]:
    """Read the training phases out of a header."""
    return tuple(phase_with_whole_rate(phase, pattern, header.version) for phase in header.history)


def are_weights(numbers: npt.NDArray[np.float32]) -> bool:
    """Tell whether all numbers are finite, and not so large that sums of them overflow."""
    return not numbers.size or bool(-LARGEST_WEIGHT <= numbers.min() <= numbers.max() <= LARGEST_WEIGHT)


def save_weights(path: Path, network: Network) -> str:
    """Write a weights file, complete or not at all.

    Returns:
        The digest, hexadecimal.

    Raises:
        OSError: the file cannot be written.
    """
    header = msgspec.json.encode(weights_header(network))
    return array_file.write_array(path, header, network.weights, layout_version(network.pattern))


def write_weights_to(file: IO[bytes], network: Network) -> str:
    """Write a weights file into an open file; result and errors are those of `save_weights`."""
    header = msgspec.json.encode(weights_header(network))
    return array_file.write_array_to(file, header, network.weights, layout_version(network.pattern))


def layout_version(pattern: Pattern) -> int:
    """Return the version of the layout of a file with the weights of a network, or what belongs to them."""
    return array_file.VERSION if order_in_memory(pattern) == "cells" else array_file.VERSION_OF_ORDERS


def load_weights(path: Path, *, verify: bool = True, in_memory: bool = False) -> Network:
    """Read a weights file.

    Args:
        path: the file.
        verify: whether to check the digest, and that all weights are finite numbers.
        in_memory: copy the weights instead of mapping the file. Play by a copy is faster, since big tables
            then lie on huge pages. All processes share a mapping, and it is ready at once. The weights of
            files of an earlier version, in another order, are copied in any case.

    Raises:
        SolverError: the file is missing, damaged, or not a weights file.
    """
    sound = True

    def look(piece: npt.NDArray[np.uint8]) -> None:
        nonlocal sound
        sound = sound and are_weights(piece[: piece.size // 4 * 4].view(np.float32))

    contents = array_file.read_array(path, verify=verify, in_memory=in_memory, look=look)
    header = array_file.decode_header(path, contents.header, WeightsHeader, "a weights file")
    if header.kind != "weights":
        raise SolverError(f"{path} holds {header.kind}; expected weights")
    pattern = pattern_in(header)
    size = np.dtype(header.dtype).itemsize
    if contents.payload.size != size * pattern.entries:
        found = contents.payload.size // size
        raise SolverError(
            f"{path} is damaged: it has {found} weights; expected {pattern.entries} for its tuples"
        )
    if header.dtype == "float32" and not sound:
        raise SolverError(f"{path} {NOT_FINITE}")
    weights = reordered(pattern, contents.payload.view(header.dtype), header.order, order_in_memory(pattern))
    return Network(pattern, weights, history_in(header, pattern), contents.sha256, header.step)
