"""Packed networks: weights rounded to whole steps and compressed, a tenth of the size.

A packed network is an array file (`solver_server.array_file`). Its payload is, for each stage and table, two
xz streams: the low bytes of the weights, and the high bytes. A weight w is stored as 2w, or as −2w − 1 if it
is negative. The weights of a table have the order ``cells`` (`weight_order`). Stages after the first hold the
differences from the stage before, modulo 2**16.
"""

from __future__ import annotations

import hashlib
import lzma
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError
from solver_server import array_file
from solver_server.aligned import aligned_empty
from solver_server.expansion import expand_exactly, most_expanded
from solver_server.ntuple.files import native
from solver_server.ntuple.files.native import WeightsHeader
from solver_server.ntuple.network import Network
from solver_server.ntuple.patterns import Pattern
from solver_server.ntuple.weight_order import order_in_memory, reordered

PACKED_SUFFIX = ".packed.n2048"
MOST_STEPS = 32767

_PIECE = 1 << 22
_COARSEST = 7
# Bytes are small numbers in no order that an LZ match could follow: its literal coder does the work.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 3, "lp": 0, "pb": 0, "dict_size": 1 << 24}]

_Bytes = npt.NDArray[np.uint8]
_Floats = npt.NDArray[np.float32]


class PackedHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The header of a packed network.

    Attributes:
        kind: what the array file holds.
        codec: how the streams are compressed.
        sha256: digest of the unpacked weights, as little-endian int16.
        network: header of the unpacked weights file.
        lengths: length of each stream, in bytes.
    """

    kind: Literal["packed"] = "packed"
    codec: Literal["xz"] = "xz"
    sha256: str
    network: WeightsHeader
    lengths: list[int]


def rounded(network: Network, step: float, sums: _Floats | None = None, certain: float = 1e5) -> Network:
    """Round the weights of a network to whole multiples of a step, in 16 bits.

    A weight that training has seldom moved is mostly noise, and seldom read in play. With the sums of
    temporal coherence it is rounded to 2, 4, … 128 steps, by the root of A: that costs little strength and
    packs well.

    Args:
        network: network of float32 weights.
        step: size of a step, in points.
        sums: float32 [2 · entries], E and A side by side (`solver_server.ntuple.training.td_kernels.Rate`).
        certain: weights whose A is at least this are rounded to single steps.

    Raises:
        SolverError: the weights are rounded already.
    """
    if network.weights.dtype != np.float32:
        raise SolverError("the network is rounded already: take the checkpoint that it was made of")
    whole = aligned_empty(network.weights.size, np.int16)
    for start in range(0, whole.size, _PIECE):
        piece = slice(start, start + _PIECE)
        steps = network.weights[piece] / np.float32(step)
        if sums is not None:
            moved = np.maximum(sums[1::2][piece], 1)
            grain = np.exp2(np.clip(np.rint(np.log2(certain / moved) / 2), 0, _COARSEST)).astype(np.float32)
            steps = np.rint(steps / grain) * grain
        whole[piece] = np.clip(np.rint(steps), -MOST_STEPS, MOST_STEPS)
    return Network(network.pattern, whole, network.history, step=step * network.step)


def settle_stages(network: Network, sums: _Floats, since: _Floats) -> None:
    """Copy each weight that a stage never updated from the nearest stage that did; in place, sums too.

    Such a weight is seldom read in that stage, if ever, and what two stages share packs to nothing.

    Args:
        network: network of several stages, float32.
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
    """Write a packed network, complete or not at all.

    Args:
        path: the file.
        network: network of int16 weights (`rounded`).
        threads: number of threads that compress at once.

    Raises:
        SolverError: the weights are not rounded, or nearly all 0.
        OSError: the file cannot be written.
    """
    if network.weights.dtype != np.int16:
        raise SolverError("the network is not rounded: only whole weights can be packed")
    planes: list[_Bytes] = []
    size = network.pattern.stage_entries
    weights = network.weights_in("cells")
    for start, end in pairwise(_bounds(network.pattern)):
        stored = weights[start:end]
        if start >= size:
            stored = stored - weights[start - size : end - size]
        wide = stored.astype(np.int32)
        folded = np.where(wide < 0, -2 * wide - 1, 2 * wide).astype("<u2").view(np.uint8)
        planes += [folded[0::2].copy(), folded[1::2].copy()]
    with ThreadPoolExecutor(threads) as pool:
        streams = list(pool.map(_compressed, planes))
    header = PackedHeader(
        sha256=hashlib.sha256(weights.data).hexdigest(),
        network=msgspec.structs.replace(native.weights_header(network), order="cells"),
        lengths=[len(stream) for stream in streams],
    )
    payload = np.frombuffer(b"".join(streams), dtype=np.uint8)
    if network.weights.nbytes > most_expanded(payload.size):
        raise SolverError(
            "the network has nearly no weights that are not 0: train it longer before you pack it"
        )
    array_file.write_array(path, msgspec.json.encode(header), payload)


def is_packed(header: bytes) -> bool:
    """Tell whether the header of an array file is that of a packed network."""
    return header.startswith(b'{"kind":"packed"')


def packed_header(path: Path) -> PackedHeader:
    """Read the header of a packed network.

    Raises:
        SolverError: the file is of another kind, or damaged.
    """
    return _decoded(path, array_file.read_array_header(path)[0])


def unpack_network(path: Path, threads: int = 2) -> Network:
    """Read a packed network. It is verified before it is expanded, and its size is checked before both.

    Args:
        path: the file.
        threads: number of threads that decompress at once.

    Raises:
        SolverError: the file is of another kind, or damaged.
    """
    header = packed_header(path)
    pattern = native.pattern_in(header.network)
    bounds = _bounds(pattern)
    sizes = [end - start for start, end in pairwise(bounds) for _ in range(2)]
    most = most_expanded(path.stat().st_size)
    if 2 * pattern.entries > most:
        raise SolverError(
            f"{path} claims {2 * pattern.entries:,} bytes of weights; a file of its size may have {most:,}"
        )
    contents = array_file.read_array(path, in_memory=True)
    if (
        len(header.lengths) != len(sizes)
        or min(header.lengths) < 0
        or sum(header.lengths) != contents.payload.size
    ):
        raise SolverError(f"{path} is damaged: its streams are not those of its network")
    starts = [0, *accumulate(header.lengths)]
    whole = np.empty(pattern.entries, dtype=np.int16)
    halves = whole.view(np.uint8)

    def expand_plane(number: int) -> None:
        stream = contents.payload[starts[number] : starts[number + 1]].tobytes()
        start = bounds[number // 2]
        plane = expand_exactly(path, stream, sizes[number], header.codec)
        halves[2 * start + number % 2 : 2 * (start + sizes[number]) : 2] = plane

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(expand_plane, range(len(sizes))))
    for start in range(0, whole.size, _PIECE):
        folded = whole[start : start + _PIECE].view(np.uint16)
        whole[start : start + _PIECE] = (folded >> 1).view(np.int16) ^ -(folded & 1).view(np.int16)
    stages = whole.reshape(len(pattern.stages) + 1, pattern.stage_entries)
    for before, stage in pairwise(stages):
        stage += before
    if hashlib.sha256(whole.data).hexdigest() != header.sha256:
        raise SolverError(f"{path} is damaged: its weights are not those that were packed")
    history = native.history_in(header.network, pattern)
    weights = reordered(pattern, whole, header.network.order, order_in_memory(pattern))
    return Network(pattern, weights, history, contents.sha256, header.network.step)


def _decoded(path: Path, header: bytes) -> PackedHeader:
    decoded = array_file.decode_header(path, header, PackedHeader, "a packed network")
    if decoded.network.dtype != "int16":
        raise SolverError(f"{path} is not a packed network: its weights are {decoded.network.dtype}")
    return decoded


def _bounds(pattern: Pattern) -> list[int]:
    """List where each table of each stage starts, and the end of the last."""
    sizes = [16 ** len(cells) for cells in pattern.tuples] * (len(pattern.stages) + 1)
    return [0, *(int(end) for end in np.cumsum(sizes))]


def _compressed(plane: _Bytes) -> bytes:
    return lzma.compress(plane.tobytes(), format=lzma.FORMAT_XZ, filters=_FILTERS)
