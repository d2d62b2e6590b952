"""Weights files: a container whose header names the network and tells how it was trained."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from game2048.errors import SolverError
from solver_server import array_file
from solver_server.ntuple.network import Network, Phase
from solver_server.ntuple.patterns import Pattern

WEIGHTS_SUFFIX = ".n2048"

DtypeName = Literal["float32", "int16"]


class WeightsHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The header of a weights file; its fields are those of `Pattern` and `Network`."""

    kind: str = "weights"
    network: str
    rows: int
    columns: int
    tuples: tuple[tuple[int, ...], ...]
    symmetric: bool
    averaged: bool
    ranks: int
    source: str
    stages: tuple[int, ...] = ()
    dtype: DtypeName = "float32"
    step: float = 1.0
    entries: int
    history: tuple[Phase, ...] = ()


def weights_header(network: Network) -> WeightsHeader:
    """The header of a network's file."""
    pattern = network.pattern
    return WeightsHeader(
        network=pattern.name,
        rows=pattern.rows,
        columns=pattern.columns,
        tuples=pattern.tuples,
        symmetric=pattern.symmetric,
        averaged=pattern.averaged,
        ranks=pattern.ranks,
        source=pattern.source,
        stages=pattern.stages,
        dtype="int16" if network.weights.dtype == np.int16 else "float32",
        step=network.step,
        entries=pattern.entries,
        history=network.history,
    )


def pattern_in(header: WeightsHeader) -> Pattern:
    """The shape of the network that a header is of.

    Raises:
        SolverError: there can be no such network.
    """
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


def save_weights(path: Path, network: Network) -> str:
    """Write a weights file; the digest.

    Raises:
        OSError: the file cannot be written.
    """
    return array_file.write(path, msgspec.json.encode(weights_header(network)), network.weights)


def load_weights(path: Path, *, verify: bool = True, in_memory: bool = False) -> Network:
    """Read a weights file.

    Args:
        path: the file.
        verify: whether to check the digest.
        in_memory: copy the weights (faster evaluation, since big tables then lie on huge pages) rather than
            map the file (shared by all processes, in use at once).

    Raises:
        SolverError: it is missing, damaged, or no weights file.
    """
    contents = array_file.read(path, verify=verify, in_memory=in_memory)
    try:
        header = msgspec.json.decode(contents.header, type=WeightsHeader)
    except msgspec.DecodeError as error:
        raise SolverError(f"{path} is no weights file: its header does not fit ({error})") from error
    if header.kind != "weights":
        raise SolverError(f"{path} is no weights file: it holds {header.kind}")
    pattern = pattern_in(header)
    size = np.dtype(header.dtype).itemsize
    if contents.payload.size != size * pattern.entries:
        found = contents.payload.size // size
        raise SolverError(f"{path} is damaged: {found} weights where its tuples need {pattern.entries}")
    weights = contents.payload.view(header.dtype)
    return Network(pattern, weights, header.history, contents.sha256, header.step)
