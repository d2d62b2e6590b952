"""Files of TDL2048+ in all the forms that it writes."""

from __future__ import annotations

import gzip
import lzma
import struct
from pathlib import Path

import numpy as np
import pytest

from game2048.errors import SolverError
from solver_server.ntuple.files import network_file

ENTRIES = 16**4


def name_of(name: str) -> bytes:
    """As TDL2048+ writes it: a number where it is one, else characters."""
    try:
        return struct.pack("<IHH", int(name, 16), len(name), 0)
    except ValueError:
        return name.encode().ljust(8)


def field(numbers: np.ndarray) -> bytes:
    return struct.pack("<HQ", numbers.itemsize, numbers.size) + numbers.tobytes()


def table(name: str, numbers: np.ndarray, *more: np.ndarray) -> bytes:
    return b"\x04" + name_of(name) + field(numbers) + b"".join(map(field, more)) + b"\0\0"


def file_of(*tables: bytes) -> bytes:
    return struct.pack("<BI", 0, len(tables)) + b"".join(tables)


@pytest.fixture
def weights() -> np.ndarray:
    return np.random.default_rng(4).normal(size=ENTRIES).astype(np.float32)


def write(folder: Path, data: bytes) -> Path:
    path = folder / "some.w"
    path.write_bytes(data)
    return path


def test_sums_of_tc_are_skipped(tmp_path: Path, weights: np.ndarray) -> None:
    sums = np.ones(2 * ENTRIES, dtype=np.float32)
    data = file_of(table("0123", weights, sums), table("4567", weights + 1, sums, np.zeros(3)))
    network = network_file.open_network(write(tmp_path, data))
    assert network.pattern.tuples == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert (network.weights_in("cells") == np.concatenate((weights, weights + 1))).all()


@pytest.mark.parametrize("kind", [np.float16, np.float64])
def test_weights_of_other_sizes_are_read(tmp_path: Path, weights: np.ndarray, kind: type) -> None:
    network = network_file.open_network(write(tmp_path, file_of(table("0123", weights.astype(kind)))))
    assert network.weights.dtype == np.float32
    assert (network.weights_in("cells") == weights.astype(kind).astype(np.float32)).all()


def test_older_files_leave_out_the_count_of_cells(tmp_path: Path, weights: np.ndarray) -> None:
    data = bytearray(file_of(table("0123", weights)))
    data[10:12] = b"\0\0"
    assert network_file.open_network(write(tmp_path, bytes(data))).pattern.tuples == ((0, 1, 2, 3),)


@pytest.mark.parametrize("compress", [lzma.compress, gzip.compress])
def test_compressed_files_are_read(tmp_path: Path, weights: np.ndarray, compress: object) -> None:
    data = compress(file_of(table("0123", weights)))  # type: ignore[operator]
    assert (network_file.open_network(write(tmp_path, data)).weights_in("cells") == weights).all()
    with pytest.raises(SolverError, match=r"damaged: a stream (ends before|cannot be expanded)"):
        network_file.open_network(write(tmp_path, data[:-20]))


@pytest.mark.parametrize("compress", [lzma.compress, gzip.compress])
def test_a_compressed_file_expands_within_bounds(tmp_path: Path, compress: object) -> None:
    bomb = compress(bytes(1 << 28))  # type: ignore[operator]
    with pytest.raises(SolverError, match="expands to more than"):
        network_file.open_network(write(tmp_path, bomb))


def test_a_first_stage_alone_is_a_plain_network(tmp_path: Path, weights: np.ndarray) -> None:
    network = network_file.open_network(write(tmp_path, file_of(table("00000123", weights))))
    assert network.pattern.tuples == ((0, 1, 2, 3),)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("00000123", "10000123"), r"of several stages \(table 2 is 10000123\)"),
        (("m@0123",), r"of monotonicity features \(table 1 is 'm@0123'\)"),
        (("num@lt",), r"of other features \(table 1 is 'num@lt'\)"),
        (("0122",), "has pattern 0122 and 65536 weights"),
        (("012345",), "has pattern 012345 and 65536 weights"),
    ],
)
def test_other_networks_are_refused_by_what_they_are(
    tmp_path: Path, weights: np.ndarray, names: tuple[str, ...], message: str
) -> None:
    data = file_of(*(table(name, weights) for name in names))
    with pytest.raises(SolverError, match=message):
        network_file.open_network(write(tmp_path, data))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e31])
def test_weights_that_are_not_numbers_are_refused(tmp_path: Path, weights: np.ndarray, value: float) -> None:
    weights[77] = value
    with pytest.raises(SolverError, match="not finite numbers: its training diverged"):
        network_file.open_network(write(tmp_path, file_of(table("0123", weights))))
