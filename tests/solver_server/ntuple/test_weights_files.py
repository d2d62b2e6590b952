from __future__ import annotations

import struct
from pathlib import Path

import msgspec
import numpy as np
import pytest

from game2048.errors import SolverError
from solver_server import array_file
from solver_server.ntuple.files import native, network_file, tdl2048
from solver_server.ntuple.greedy_results import GreedyScorer
from solver_server.ntuple.network import Network, Phase
from solver_server.ntuple.patterns import PATTERNS, Pattern, pattern_for, with_ranks

TDL = Path(__file__).parents[2] / "data" / "tdl2048-5x4.w"
PHASE = Phase(method="td0", rate=0.1, trace=0.0, games=3, episodes=4, moves=5, seconds=6.5, threads=1, seed=7)


@pytest.fixture
def network() -> Network:
    pattern = pattern_for("0123 4567")
    values = np.random.default_rng(1).normal(size=pattern.entries).astype(np.float32)
    return Network(pattern, values, (PHASE,))


@pytest.fixture
def file(network: Network, tmp_path: Path) -> Path:
    path = tmp_path / "some.n2048"
    native.save_weights(path, network)
    return path


@pytest.mark.parametrize("in_memory", [False, True])
def test_a_weights_file_holds_all_of_a_network(file: Path, network: Network, in_memory: bool) -> None:
    loaded = native.load_weights(file, in_memory=in_memory)
    assert loaded.pattern == network.pattern
    assert loaded.history == (PHASE,)
    assert (loaded.weights == network.weights).all()


def test_the_layout_is_that_of_the_documentation(file: Path, network: Network) -> None:
    data = file.read_bytes()
    magic, version, header, start, length, digest = struct.unpack_from("<8sIIQQ32s", data)
    assert (magic, version, start, length) == (b"\x89N2048\r\n", 2, 4096, 4 * network.pattern.entries)
    assert data[64 : 64 + header].startswith(
        b'{"kind":"weights","version":2,"network":"custom","rows":4,"columns":4,'
    )
    assert data[start:] == network.weights.tobytes()
    import hashlib

    assert digest == hashlib.sha256(data[64 : 64 + header] + data[start:]).digest()


def test_a_file_of_an_earlier_version_has_the_order_of_cells(file: Path, network: Network) -> None:
    header = msgspec.structs.replace(native.weights_header(network), order="cells")
    earlier = msgspec.json.encode(header).replace(b'"order":"cells",', b"")
    array_file.write_array(file, earlier, network.weights_in("cells"))
    assert (native.load_weights(file).weights == network.weights).all()
    assert network.weights_in("cells").tobytes() != network.weights.tobytes()


def test_learning_on_a_mapped_file_never_writes_to_it(file: Path) -> None:
    before = file.read_bytes()
    loaded = native.load_weights(file)
    loaded.weights[:] = 1
    assert file.read_bytes() == before


def test_what_the_tables_do_not_say_survives(tmp_path: Path) -> None:
    pattern = with_ranks(Pattern("custom", 3, 5, ((0, 1),), symmetric=False, averaged=True, source="me"), 15)
    path = tmp_path / "w.n2048"
    native.save_weights(path, Network(pattern, np.zeros(256, dtype=np.float32)))
    assert native.load_weights(path).pattern == pattern


@pytest.mark.parametrize("cut", [0, 5, 40, 200, 5000, -1])
def test_a_truncated_file_is_told(file: Path, cut: int) -> None:
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(SolverError, match="cut short" if cut else "starts with nothing"):
        network_file.open_network(file)


@pytest.mark.parametrize("place", [70, 5000, -3])
def test_a_flipped_bit_is_told(file: Path, place: int) -> None:
    data = bytearray(file.read_bytes())
    data[place] ^= 4
    file.write_bytes(data)
    with pytest.raises(SolverError, match="damaged: its SHA-256"):
        network_file.open_network(file)


def test_flipped_lengths_are_told(file: Path) -> None:
    whole = file.read_bytes()
    for place in range(12, 32):
        data = bytearray(whole)
        data[place] ^= 0x10
        file.write_bytes(data)
        with pytest.raises(SolverError, match=r"damaged|cut short|too many"):
            network_file.open_network(file)


def test_a_file_that_has_grown_is_told(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"x")
    with pytest.raises(SolverError, match="1 bytes too many"):
        network_file.open_network(file)


def test_a_later_version_is_told(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[8] = 3
    file.write_bytes(data)
    with pytest.raises(SolverError, match=r"layout version 3; expected version 1 or 2"):
        network_file.open_network(file)


def test_other_files_are_told(tmp_path: Path, file: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("hello, world")
    with pytest.raises(SolverError, match="not a file that bot2048 wrote: it starts with 68 65 6c 6c"):
        network_file.open_network(other)
    with pytest.raises(SolverError, match="cannot open"):
        network_file.open_network(tmp_path / "missing")
    with pytest.raises(SolverError, match="cannot open"):
        network_file.open_network(tmp_path)
    array_file.write_array(other, b'{"kind":"learner"}', np.zeros(1, dtype=np.float32))
    with pytest.raises(SolverError, match="header does not fit"):
        network_file.open_network(other)


def test_tables_of_the_wrong_size_are_told(tmp_path: Path, network: Network) -> None:
    path = tmp_path / "w.n2048"
    native.save_weights(path, Network(network.pattern, network.weights[:-1]))
    with pytest.raises(SolverError, match="it has 131071 weights; expected 131072"):
        network_file.open_network(path)


def test_a_failed_write_leaves_the_old_file(
    file: Path, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_bytes()

    def fail(_: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        native.save_weights(file, network)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


# -- TDL2048+ ---------------------------------------------------------------------------------------------


def test_a_tdl2048_file_is_read_and_written_back_byte_for_byte(tmp_path: Path) -> None:
    network = network_file.open_network(TDL)
    assert network.pattern.name == "5x4"
    copy = tmp_path / "copy.w"
    tdl2048.save_tdl(copy, network)
    assert copy.read_bytes() == TDL.read_bytes()


def test_a_tdl2048_network_plays_as_it_does_there() -> None:
    games = GreedyScorer(network_file.open_network(TDL)).play(0, range(5000))
    scores = games[:, 0]
    half = 1.96 * scores.std() / len(scores) ** 0.5
    # There: mean 35,987 over 10,000 games, whose own 95 % interval is about ± 370.
    assert abs(scores.mean() - 35_987) < half + 370
    assert np.mean(games[:, 1] >= 11) == pytest.approx(0.7381, abs=0.025)
    assert np.mean(games[:, 1] >= 12) == pytest.approx(0.2511, abs=0.025)


def test_a_pattern_in_another_order_of_cells_is_the_same_table(tmp_path: Path) -> None:
    table = np.arange(16**3, dtype="<f4")
    path = tmp_path / "w.w"
    head = struct.pack("<BI", 0, 1) + struct.pack("<BIHHHQ", 4, 0x210, 3, 0, 4, 16**3)
    path.write_bytes(head + table.tobytes() + b"\0\0")
    network = network_file.open_network(path)
    assert network.pattern.tuples == ((0, 1, 2),)
    # There the lowest nibble is cell 2; here it is cell 0.
    assert network.weights_in("cells")[3 | 5 << 4 | 7 << 8] == table[7 | 5 << 4 | 3 << 8]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:100], "cut short in table 1"),
        (lambda data: data[:-2], "cut short in table 5"),
        (lambda data: data[:262_175], "cut short in the head of table 2"),
        (lambda data: data + b"\0", "after its last table"),
        (lambda data: data[:5] + b"\x04\x22\x01" + data[8:], "pattern 0122"),
        (lambda data: data[:12] + b"\x01" + data[13:], "of other features"),
    ],
)
def test_a_tdl2048_file_that_is_not_whole_is_told(tmp_path: Path, change: object, message: str) -> None:
    path = tmp_path / "w.w"
    path.write_bytes(change(TDL.read_bytes()))  # type: ignore[operator]
    with pytest.raises(SolverError, match=message):
        network_file.open_network(path)


def test_networks_that_tdl2048_cannot_hold_are_told(tmp_path: Path) -> None:
    for name in ("seed-17x4", "seed-5x5"):
        pattern = PATTERNS[name]
        with pytest.raises(SolverError, match="cannot be written for TDL2048"):
            tdl2048.save_tdl(tmp_path / "w.w", Network(pattern, np.zeros(0, dtype=np.float32)))
