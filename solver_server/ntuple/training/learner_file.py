"""The learner's state in a file of its own, beside the weights of a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import msgspec
import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError
from solver_server import array_file
from solver_server.ntuple.files import native
from solver_server.ntuple.network import RATES_VERSION, Network, Phase, phase_with_whole_rate, whole_rate
from solver_server.ntuple.patterns import Pattern
from solver_server.ntuple.training.settings import METHODS, Settings
from solver_server.ntuple.weight_order import Order, order_in_memory, reordered

LEARNER_SUFFIX = ".learner"
MOST_THREADS = 1024

Sums = npt.NDArray[np.float32]
"""E and A of every weight side by side, float32 [2 · entries]; [0] for TD(0)."""


class LearnerHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The header of a learner's file; the payload is `Sums`.

    Attributes:
        kind: what the array file holds.
        version: version of the rates (`network.RATES_VERSION`); files of version 1 lack it.
        order: order of the sums (`weight_order`); files of earlier versions lack it.
        weights_sha256: digest of the weights that the state belongs to.
        settings: settings of the training run.
        words: state of each thread, numbers of 64 bits (`td_kernels.saved_state`).
        counts: state of each thread, counts.
        seconds: time spent learning in this phase.
        earlier: phases of training before this one.
        pending: score and largest exponent of the games since the last row of the log.
    """

    kind: str = "learner"
    version: int = 1
    order: Order = "cells"
    weights_sha256: str
    settings: Settings
    words: list[list[int]]
    counts: list[list[int]]
    seconds: float
    earlier: tuple[Phase, ...] = ()
    pending: list[tuple[int, int]] = []


def sums_size(pattern: Pattern, method: str) -> int:
    """Count the numbers of `Sums` for a network and a method."""
    return 0 if method == "td0" else 2 * pattern.entries


def learner_path(weights: Path) -> Path:
    """Return the file of the learner's state that belongs to a weights file."""
    return weights.with_suffix(LEARNER_SUFFIX)


def write_learner_to(file: IO[bytes], header: LearnerHeader, sums: Sums, pattern: Pattern) -> None:
    """Write the state beside the weights of a network into an open file.

    Raises:
        OSError: the file cannot be written.
    """
    array_file.write_array_to(file, msgspec.json.encode(header), sums, native.layout_version(pattern))


def read_learner(weights: Path, network: Network) -> tuple[LearnerHeader, Sums]:
    """Read the state beside a weights file.

    Args:
        weights: the weights file of a checkpoint.
        network: what it holds.

    Raises:
        SolverError: the state is missing, damaged or of another checkpoint.
    """
    path = learner_path(weights)
    if not path.exists():
        raise SolverError(
            f"{weights} has no learner's state beside it: expected {path.name} from the same checkpoint"
        )
    sound = True

    def look(piece: npt.NDArray[np.uint8]) -> None:
        nonlocal sound
        sound = sound and native.are_weights(piece[: piece.size // 4 * 4].view(np.float32))

    contents = array_file.read_array(path, in_memory=True, look=look)
    header = _decode(path, contents.header)
    if header.weights_sha256 != network.sha256:
        raise SolverError(f"{path} belongs to other weights than {weights}: take both from one checkpoint")
    expected = 4 * sums_size(network.pattern, header.settings.method)
    if contents.payload.size != expected:
        raise SolverError(f"{path} is damaged: it has {contents.payload.size} of {expected} bytes")
    if not sound:
        raise SolverError(f"{path} {native.NOT_FINITE}")
    sums = reordered(
        network.pattern, contents.payload.view(np.float32), header.order, order_in_memory(network.pattern)
    )
    return _with_whole_rates(header, network.pattern), sums


def read_sums(weights: Path) -> Sums | None:
    """Read the sums beside a weights file; ``None`` where there are none.

    Raises:
        SolverError: the weights or the learner's state are damaged or of different checkpoints.
    """
    if not learner_path(weights).exists():
        return None
    _, sums = read_learner(weights, native.load_weights(weights))
    return sums if sums.size else None


def _with_whole_rates(header: LearnerHeader, pattern: Pattern) -> LearnerHeader:
    settings, version = header.settings, header.version
    rate = whole_rate(settings.method, settings.rate, pattern, version)
    return msgspec.structs.replace(
        header,
        version=RATES_VERSION,
        settings=msgspec.structs.replace(settings, rate=rate),
        earlier=tuple(phase_with_whole_rate(phase, pattern, version) for phase in header.earlier),
    )


def _decode(path: Path, header: bytes) -> LearnerHeader:
    decoded = array_file.decode_header(path, header, LearnerHeader, "a learner's state")
    if decoded.kind != "learner":
        raise SolverError(f"{path} holds {decoded.kind}; expected a learner's state")
    settings, learners = decoded.settings, len(decoded.words)
    if settings.method not in METHODS:
        raise SolverError(
            f"{path} was learned by {settings.method!r}; expected {', '.join(METHODS)}: use a newer bot2048"
        )
    threads, expected = settings.threads, settings.threads * settings.lanes
    if not 1 <= threads <= MOST_THREADS or {learners} != {expected, len(decoded.counts)}:
        raise SolverError(f"{path} is damaged: it has the states of {learners} games of {expected}")
    return decoded
