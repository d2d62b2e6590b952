"""Damaged and hostile network files: read, or refused with one sentence (`support.mutants`)."""

from __future__ import annotations

import lzma
import random
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest
from support.array_mutants import all_kinds
from support.mutants import check_loader, mutants

from game2048.errors import SolverError
from solver_server import array_file
from solver_server.ntuple.files import native, network_file, packing, tdl2048
from solver_server.ntuple.network import Network
from solver_server.ntuple.patterns import pattern_for, with_stages
from solver_server.ntuple.training.learner_file import LEARNER_SUFFIX
from solver_server.ntuple.training.settings import Settings
from solver_server.ntuple.training.training_state import Training

PATTERN = with_stages(pattern_for("01 45 056"), (11,))
COUNTS = pytest.mark.parametrize("count", [40, pytest.param(500, marks=pytest.mark.slow)])


def network() -> Network:
    values = np.random.default_rng(5).integers(-3000, 3000, PATTERN.entries).astype(np.int16)
    return Network(PATTERN, values, step=0.25)


def native_file(folder: Path) -> Path:
    path = folder / "whole.n2048"
    whole = network()
    native.save_weights(path, Network(PATTERN, whole.weights.astype(np.float32)))
    return path


def packed_file(folder: Path) -> Path:
    path = folder / "whole.packed.n2048"
    packing.pack_network(path, network())
    return path


@COUNTS
@pytest.mark.parametrize("make", [native_file, packed_file])
def test_mutants_of_our_networks(
    make: Callable[[Path], Path], count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = make(tmp_path).read_bytes()
    monkeypatch.setattr(network_file, "weights_cache_folder", lambda: tmp_path / "no" / "cache")
    monkeypatch.setattr(native, "save_weights", lambda path, network: "")

    def load(path: Path) -> None:
        found = network_file.open_network(path)
        assert found.weights.size == found.pattern.entries
        found.tables()

    outcomes = check_loader(load, tmp_path / "mutant", all_kinds(data, count), SolverError)
    assert sum(outcomes.refused.values()) > count // 3


@COUNTS
@pytest.mark.parametrize("compress", [bytes, lzma.compress])
def test_mutants_of_tdl2048_networks(compress: Callable[[bytes], bytes], count: int, tmp_path: Path) -> None:
    plain = pattern_for("01 45 056")
    tdl2048.save_tdl(tmp_path / "w.w", Network(plain, np.ones(plain.entries, dtype=np.float32)))
    data = compress((tmp_path / "w.w").read_bytes())
    outcomes = check_loader(network_file.open_network, tmp_path / "mutant", mutants(data, count), SolverError)
    assert outcomes.refused


@COUNTS
def test_mutants_of_checkpoints(count: int, tmp_path: Path) -> None:
    weights = tmp_path / "mutant.n2048"
    training = Training.start(pattern_for("01 45"), Settings(seed=1))
    training.save(weights)
    learner = weights.with_suffix(LEARNER_SUFFIX)
    data = learner.read_bytes()
    outcomes = check_loader(lambda _: Training.load(weights), learner, all_kinds(data, count), SolverError)
    assert outcomes.refused


def test_a_few_bytes_cannot_ask_for_much_memory(tmp_path: Path) -> None:
    """A packed network of thousands of large tables, true to its digests, but hardly any bytes."""
    rng = random.Random(3)
    cells = [tuple(sorted(rng.sample(range(16), 7))) for _ in range(600)]
    header = packing.PackedHeader(
        sha256="",
        network=msgspec.structs.replace(native.weights_header(network()), tuples=tuple(cells), stages=()),
        lengths=[0] * 1200,
    )
    path = tmp_path / "mutant"
    array_file.write_array(path, msgspec.json.encode(header), np.zeros(0, dtype=np.uint8))
    outcomes = check_loader(network_file.open_network, path, iter([path.read_bytes()]), SolverError)
    assert outcomes.refused == {f"FILE claims {2 * 600 * 16**7:,} bytes of weights;": 1}
    assert outcomes.largest < 10_000_000


def test_weights_that_are_not_numbers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.n2048"
    pattern = pattern_for("01 45")
    for value in (np.nan, np.inf, -1e31):
        weights = np.zeros(pattern.entries, dtype=np.float32)
        weights[-1] = value
        native.save_weights(path, Network(pattern, weights))
        for in_memory in (False, True):
            with pytest.raises(SolverError, match="not finite numbers: its training diverged"):
                network_file.open_network(path, in_memory=in_memory)
