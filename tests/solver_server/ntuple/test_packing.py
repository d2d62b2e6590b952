from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from game2048.errors import SolverError
from solver_server import array_file
from solver_server.cli.weights import weights as weights_command
from solver_server.ntuple.files import native, network_file, packing
from solver_server.ntuple.network import Network
from solver_server.ntuple.patterns import pattern_for, with_stages
from solver_server.ntuple.training.settings import Settings
from solver_server.ntuple.training.training_state import Training

PATTERN = with_stages(pattern_for("0123 4567"), (11,))


def whole(step: float = 0.25) -> Network:
    values = np.random.default_rng(5).integers(-32767, 32768, PATTERN.entries).astype(np.int16)
    values[:3] = (-32767, 32767, 0)
    return Network(PATTERN, values, step=step)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("BOT2048_WEIGHTS", str(folder))
    return folder


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    path = tmp_path / "some.packed.n2048"
    packing.pack_network(path, whole())
    return path


def test_what_was_packed_comes_out(packed: Path, cache: Path) -> None:
    for network in (
        packing.unpack_network(packed),
        network_file.open_network(packed),
        network_file.open_network(packed),
    ):
        assert network.pattern == PATTERN
        assert network.step == 0.25
        assert network.weights.dtype == np.int16
        assert (network.weights == whole().weights).all()


def test_weights_are_rounded_to_the_nearest_step() -> None:
    values = np.zeros(PATTERN.entries, dtype=np.float32)
    values[:6] = (0.9, 1.1, -3.1, 1e9, -1e9, 7.0)
    rounded = packing.rounded(Network(PATTERN, values), 2.0)
    assert rounded.step == 2.0
    assert rounded.weights[:7].tolist() == [0, 1, -2, 32767, -32767, 4, 0]


def test_what_was_seldom_moved_is_rounded_more_coarsely() -> None:
    values = np.full(PATTERN.entries, 13.0, dtype=np.float32)
    sums = np.ones(2 * PATTERN.entries, dtype=np.float32)
    # A of 1e5, of a quarter, a 16th, a 64th and 2^-20 of that: steps of 1, 2, 4, 8 and, at most, 128.
    sums[1:11:2] = [1e5 / 4**n for n in (0, 1, 2, 3, 10)]
    rounded = packing.rounded(Network(PATTERN, values), 1.0, sums)
    assert rounded.weights[:5].tolist() == [13, 12, 12, 16, 0]


def test_what_one_stage_alone_has_moved_the_others_take_from_it() -> None:
    pattern = with_stages(pattern_for("0123"), (11, 12))
    values, sums, since = (np.zeros(size, dtype=np.float32) for size in (3 * 16**4, 6 * 16**4, 6 * 16**4))
    weights_of, sums_of = values.reshape(3, -1), sums.reshape(3, -1, 2)
    since[:] = sums[:] = 1.0
    weights_of[:, :5] = [[1, 1, 1, 1, 1], [2, 2, 2, 2, 2], [3, 3, 3, 3, 3]]
    # Moved by: none; the first; the last; the first and last; all.
    for stage, entry in ((0, 1), (2, 2), (0, 3), (2, 3), (0, 4), (1, 4), (2, 4)):
        sums_of[stage, entry, 1] = 5 + stage
    packing.settle_stages(Network(pattern, values), sums, since)
    assert weights_of[:, :5].T.tolist() == [[1, 2, 3], [1, 1, 1], [3, 3, 3], [1, 1, 3], [1, 2, 3]]
    assert sums_of[:, :5, 1].T.tolist() == [[1, 1, 1], [5, 5, 5], [7, 7, 7], [5, 5, 7], [5, 6, 7]]


def test_only_once_is_rounded(packed: Path) -> None:
    with pytest.raises(SolverError, match="rounded already"):
        packing.rounded(packing.unpack_network(packed), 2.0)
    with pytest.raises(SolverError, match="not rounded"):
        packing.pack_network(packed, Network(PATTERN, np.zeros(PATTERN.entries, dtype=np.float32)))


def test_a_packed_network_is_unpacked_once(
    packed: Path, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    network_file.open_network(packed)
    (kept,) = cache.iterdir()
    stamp = kept.stat().st_mtime_ns
    network_file.open_network(packed)
    assert [kept] == list(cache.iterdir())
    assert kept.stat().st_mtime_ns == stamp
    assert caplog.text.count("unpacking some.packed.n2048") == 1


@pytest.mark.parametrize("harm", ["flip", "cut"])
def test_a_damaged_copy_is_made_again(packed: Path, cache: Path, harm: str) -> None:
    network_file.open_network(packed)
    (kept,) = cache.iterdir()
    data = bytearray(kept.read_bytes())
    data[-5] ^= 1
    kept.write_bytes(data if harm == "flip" else data[:-5])
    assert (network_file.open_network(packed).weights == whole().weights).all()
    assert (native.load_weights(kept).weights == whole().weights).all()


def test_where_nothing_can_be_kept_it_plays_all_the_same(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("BOT2048_WEIGHTS", str(tmp_path / "file" / "folder"))
    caplog.set_level(logging.WARNING)
    assert (network_file.open_network(packed).weights == whole().weights).all()
    assert "cannot be kept" in caplog.text


def test_two_processes_may_unpack_at_once(packed: Path, cache: Path) -> None:
    code = (
        "import sys, pathlib; from solver_server.ntuple.files.network_file import open_network; "
        "sys.stdin.readline(); "
        "print(int(open_network(pathlib.Path(sys.argv[1])).weights.astype(int).sum()))"
    )
    command = [sys.executable, "-c", code, str(packed)]
    begun = [
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        for _ in range(3)
    ]
    for process in begun:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    total = f"{int(whole().weights.astype(int).sum())}\n"
    assert [process.communicate(timeout=120)[0] for process in begun] == [total] * 3
    assert len(list(cache.iterdir())) == 1


@pytest.mark.parametrize("place", [70, 5000, -3])
def test_a_flipped_bit_is_told(packed: Path, cache: Path, place: int) -> None:
    data = bytearray(packed.read_bytes())
    data[place] ^= 4
    packed.write_bytes(data)
    with pytest.raises(SolverError, match=r"damaged|no weights file"):
        network_file.open_network(packed)
    assert not cache.exists()


def test_streams_that_do_not_fit_their_tables_are_told(packed: Path, cache: Path) -> None:
    """Whole by its digest, but made by someone who means ill: no more is unpacked than the tables hold."""
    contents = array_file.read_array(packed)
    bomb = packing._compressed(np.zeros(1 << 24, dtype=np.uint8))
    header = packing.packed_header(packed)
    rest = contents.payload[header.lengths[0] :].tobytes()
    header = msgspec.structs.replace(header, lengths=[len(bomb), *header.lengths[1:]])
    array_file.write_array(packed, msgspec.json.encode(header), np.frombuffer(bomb + rest, dtype=np.uint8))
    with pytest.raises(SolverError, match="expands to more than"):
        network_file.open_network(packed)
    array_file.write_array(packed, contents.header, contents.payload[:-1])
    with pytest.raises(SolverError, match="its streams are not those of its network"):
        network_file.open_network(packed)


def test_rounded_weights_cannot_be_trained(tmp_path: Path) -> None:
    path = tmp_path / "some.n2048"
    native.save_weights(path, whole())
    with pytest.raises(SolverError, match="has rounded weights, which cannot be trained"):
        Training.load(path)


def test_the_commands_pack_and_show(tmp_path: Path, cache: Path) -> None:
    training = Training.start(pattern_for("0123 4567"), Settings(seed=2))
    training.advance(30)
    training.save(tmp_path / "some.n2048")
    out = tmp_path / "out.packed.n2048"
    run = CliRunner().invoke(weights_command, ["pack", str(tmp_path / "some.n2048"), str(out), "--step", "2"])
    assert run.exit_code == 0, run.output
    network = network_file.open_network(out)
    expected = packing.rounded(training.network, 2.0, training.sums)
    assert (network.weights == expected.weights).all()
    assert expected.weights.any()
    shown = CliRunner().invoke(weights_command, ["show", str(out)]).stdout
    assert "131,072 of int16, steps of 2 points" in shown
    assert "backward, rate 1, λ 0.5: 1 games" in shown
    again = CliRunner().invoke(weights_command, ["pack", str(tmp_path / "some.n2048"), str(out)])
    assert again.exit_code == 2
    assert f"{out} exists; give another name, or --force" in again.output


def test_a_network_of_the_wrong_kind_is_told(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "some.n2048"
    inside = msgspec.structs.replace(native.weights_header(whole()), dtype="float32")
    header = packing.PackedHeader(sha256="", network=inside, lengths=[0] * 8)
    array_file.write_array(path, msgspec.json.encode(header), np.zeros(0, dtype=np.uint8))
    with pytest.raises(SolverError, match="its weights are float32"):
        network_file.open_network(path)
