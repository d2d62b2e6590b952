"""Networks small enough to ship: weights rounded to whole steps, and files of them compressed.

A packed file is a container (`solver_server.array_file`). Its payload is, for each table and stage, two
xz streams: the low and the high bytes of its weights, each weight w as 2w, or −2w − 1 if it is negative. Of
stages after the first it is the differences to the stage before, modulo 2**16.
"""

from __future__ import annotations

import hashlib
import lzma
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError
from solver_server import array_file
from solver_server.ntuple.files import native
from solver_server.ntuple.files.native import WeightsHeader
from solver_server.ntuple.network import Network
from solver_server.ntuple.patterns import Pattern

PACKED_SUFFIX = ".packed.n2048"
LARGEST = 32767

_PIECE = 1 << 22
_COARSEST = 7
# Bytes are small numbers in no order that an LZ match could follow: its literal coder does the work.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 3, "lp": 0, "pb": 0, "dict_size": 1 << 24}]

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]


class PackedHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The header of a packed file.

    Attributes:
        kind: what the container holds.
        codec: of the streams.
        sha256: of the weights that come out, as little-endian int16.
        network: the header of the weights file that comes out.
        lengths: of each stream, in bytes.
    """

    kind: Literal["packed"] = "packed"
    codec: Literal["xz"] = "xz"
    sha256: str
    network: WeightsHeader
    lengths: list[int]


def rounded(network: Network, step: float, sums: Floats | None = None, certain: float = 1e5) -> Network:
    """The network with its weights as whole multiples of a step, in 16 bits.

    A weight that training has seldom moved is mostly noise and seldom asked for. With the sums of temporal
    coherence it is rounded to 2, 4, … 128 steps, as many as the root of A says, since what is rare and coarse
    costs little strength and packs well.

    Args:
        network: float32.
        step: score points.
        sums: float32 [2 · entries], E and A side by side (`solver_server.ntuple.training.td_kernels.Rate`).
        certain: from this A on a weight is rounded to single steps.

    Raises:
        SolverError: the weights are rounded already.
    """
    if network.weights.dtype != np.float32:
        raise SolverError("the network is rounded already: take the checkpoint that it was made of")
    whole = np.empty(network.weights.size, dtype=np.int16)
    for start in range(0, whole.size, _PIECE):
        piece = slice(start, start + _PIECE)
        steps = network.weights[piece] / np.float32(step)
        if sums is not None:
            moved = np.maximum(sums[1::2][piece], 1)
            grain = np.exp2(np.clip(np.rint(np.log2(certain / moved) / 2), 0, _COARSEST)).astype(np.float32)
            steps = np.rint(steps / grain) * grain
        whole[piece] = np.clip(np.rint(steps), -LARGEST, LARGEST)
    return Network(network.pattern, whole, network.history, step=step * network.step)


def settle_stages(network: Network, sums: Floats, since: Floats) -> None:
    """Let stages share what only one of them has moved since they were divided; weights and sums change.

    A stage that has not moved a weight since then takes the neighbour's, the one before first. It is seldom
    asked for there, if ever, and what two stages share packs to nothing.

    Args:
        network: float32, of several stages.
        sums: float32 [2 · entries], E and A side by side.
        since: float32 [2 · entries], the same sums when the stages were divided.
    """
    stages, size = len(network.pattern.stages) + 1, network.pattern.stage_entries
    weights_of, sums_of = network.weights.reshape(stages, size), sums.reshape(stages, size, 2)
    before = since.reshape(stages, size, 2)
    for start in range(0, size, _PIECE):
        piece = slice(start, start + _PIECE)
        moved = [sums_of[stage, piece, 1] != before[stage, piece, 1] for stage in range(stages)]
        upwards = [(stage - 1, stage) for stage in range(1, stages)]
        for source, stage in upwards + [(later, earlier) for earlier, later in reversed(upwards)]:
            taken = moved[source] & ~moved[stage]
            weights_of[stage, piece][taken] = weights_of[source, piece][taken]
            sums_of[stage, piece][taken] = sums_of[source, piece][taken]
            moved[stage] |= taken


def pack_network(path: Path, network: Network, threads: int = 2) -> None:
    """Write a packed file; complete or not at all.

    Args:
        path: where to.
        network: of int16 weights (`rounded`).
        threads: that compress at once.

    Raises:
        SolverError: the weights are not rounded.
    """
    if network.weights.dtype != np.int16:
        raise SolverError("the network is not rounded: only whole weights can be packed")
    planes: list[Bytes] = []
    size = network.pattern.stage_entries
    for start, end in pairwise(_bounds(network.pattern)):
        stored = network.weights[start:end]
        if start >= size:
            stored = stored - network.weights[start - size : end - size]
        wide = stored.astype(np.int32)
        folded = np.where(wide < 0, -2 * wide - 1, 2 * wide).astype("<u2").view(np.uint8)
        planes += [folded[0::2].copy(), folded[1::2].copy()]
    with ThreadPoolExecutor(threads) as pool:
        streams = list(pool.map(_compressed, planes))
    header = PackedHeader(
        sha256=hashlib.sha256(network.weights.data).hexdigest(),
        network=native.weights_header(network),
        lengths=[len(stream) for stream in streams],
    )
    payload = np.frombuffer(b"".join(streams), dtype=np.uint8)
    array_file.write(path, msgspec.json.encode(header), payload)


def is_packed(header: bytes) -> bool:
    """Whether a container's header is that of a packed file."""
    return header.startswith(b'{"kind":"packed"')


def packed_header(path: Path) -> PackedHeader:
    """The header of a packed file.

    Raises:
        SolverError: it is no such file, or damaged.
    """
    return _decoded(path, array_file.read_header(path)[0])


def unpack_network(path: Path, threads: int = 2) -> Network:
    """The network in a packed file.

    Args:
        path: the file.
        threads: that decompress at once.

    Raises:
        SolverError: it is no such file, or damaged.
    """
    contents = array_file.read(path, in_memory=True)
    header = _decoded(path, contents.header)
    pattern = native.pattern_in(header.network)
    bounds = _bounds(pattern)
    sizes = [end - start for start, end in pairwise(bounds) for _ in range(2)]
    starts = np.cumsum([0, *header.lengths])
    if len(header.lengths) != len(sizes) or starts[-1] != contents.payload.size or min(header.lengths) < 0:
        raise SolverError(f"{path} is damaged: its streams are not those of its network")
    whole = np.empty(pattern.entries, dtype=np.int16)
    halves = whole.view(np.uint8)

    def expand(number: int) -> None:
        stream = contents.payload[starts[number] : starts[number + 1]].tobytes()
        start = bounds[number // 2]
        halves[2 * start + number % 2 : 2 * (start + sizes[number]) : 2] = _expanded(
            path, stream, sizes[number]
        )

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(expand, range(len(sizes))))
    for start in range(0, whole.size, _PIECE):
        folded = whole[start : start + _PIECE].view(np.uint16)
        whole[start : start + _PIECE] = (folded >> 1).view(np.int16) ^ -(folded & 1).view(np.int16)
    stages = whole.reshape(len(pattern.stages) + 1, pattern.stage_entries)
    for before, stage in pairwise(stages):
        stage += before
    if hashlib.sha256(whole.data).hexdigest() != header.sha256:
        raise SolverError(f"{path} is damaged: what comes out of it is not what was packed")
    return Network(pattern, whole, header.network.history, contents.sha256, header.network.step)


def _decoded(path: Path, header: bytes) -> PackedHeader:
    try:
        decoded = msgspec.json.decode(header, type=PackedHeader)
    except msgspec.MsgspecError as error:
        raise SolverError(f"{path} is no packed network: its header does not fit ({error})") from error
    if decoded.network.dtype != "int16":
        raise SolverError(f"{path} is no packed network: its weights are {decoded.network.dtype}")
    return decoded


def _bounds(pattern: Pattern) -> list[int]:
    """Where each table of each stage starts, and the end of the last."""
    sizes = [16 ** len(cells) for cells in pattern.tuples] * (len(pattern.stages) + 1)
    return [0, *(int(end) for end in np.cumsum(sizes))]


def _compressed(plane: Bytes) -> bytes:
    return lzma.compress(plane.tobytes(), format=lzma.FORMAT_XZ, filters=_FILTERS)


def _expanded(path: Path, stream: bytes, size: int) -> Bytes:
    """At most ``size`` bytes are made, whatever the stream says."""
    decoder = lzma.LZMADecompressor(format=lzma.FORMAT_XZ)
    try:
        plane = decoder.decompress(stream, max_length=size)
        more = b"" if decoder.eof else decoder.decompress(b"", max_length=1)
    except lzma.LZMAError as error:
        raise SolverError(f"{path} is damaged: {error}") from error
    if len(plane) != size or more or not decoder.eof:
        raise SolverError(f"{path} is damaged: a stream is not as long as its table")
    return np.frombuffer(plane, dtype=np.uint8)
