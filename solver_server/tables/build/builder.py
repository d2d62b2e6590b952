"""Build tables layer by layer, on several threads, into a file from which a killed build resumes."""

from __future__ import annotations

import hashlib
import logging
import math
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np

from game2048.errors import SolverError
from game2048.kernels.bitboard import make_row_tables
from solver_server.tables import storage
from solver_server.tables.build.indexing import Index, index_memory, locked_mask, make_index
from solver_server.tables.build.induction import (
    InductionScratch,
    LayerTask,
    Rules,
    Values,
    fill_best,
    fill_values,
    make_induction_scratch,
)
from solver_server.tables.formations import TableSpec
from solver_server.tables.goals import make_patterns

_CHUNKS_PER_THREAD = 4
_BYTES = 2  # a value
_FREE_INDEX = 160_000_000
"""Bytes that the index of any table may take; a larger table may take its own size more."""


@dataclass(frozen=True, slots=True)
class EndgameTable:
    """A finished table.

    Attributes:
        spec: formation, top and bounds.
        index: place of each position.
        values: uint16 [positions], probabilities in units of 1/65,535.
        sha256: digest of the values, hexadecimal.
    """

    spec: TableSpec
    index: Index
    values: Values
    sha256: str = ""


def load_table(path: Path) -> EndgameTable:
    """Map a table into memory. Its size is checked; `verification.check_table` checks its values.

    Raises:
        SolverError: the file is damaged, or is not a table.
    """
    header = storage.read_table_header(path)
    spec = header.spec
    storage.check_size(path, header)
    # A header of a few bytes must not ask for more memory than a table of this size needs.
    needed, most = index_memory(spec), _FREE_INDEX + path.stat().st_size
    if needed > most:
        raise SolverError(
            f"table {path} is damaged: its index takes {needed:,} bytes; expected {most:,} at most"
        )
    index, layers = make_index(spec)
    if header.positions != layers.starts[-1]:
        raise SolverError(
            f"table {path} is damaged: it has {header.positions:,} positions; expected "
            f"{layers.starts[-1]:,}; remove it and build it again"
        )
    return EndgameTable(spec, index, storage.map_values(path, header), header.sha256)


def count_positions(spec: TableSpec) -> int:
    """Count the positions of a table."""
    return int(make_index(spec)[1].starts[-1])


def make_rules(spec: TableSpec) -> Rules:
    """Describe the rules of a table for kernels."""
    formation = spec.formation
    return Rules(
        rows=make_row_tables(),
        height=formation.rows,
        width=formation.columns,
        locked=locked_mask(formation),
        top=spec.top,
        patterns=make_patterns([formation])[0],
    )


class Induction:
    """Computes the layers of a table one after another.

    Args:
        spec: the table.
        threads: number of threads that compute at once.
    """

    def __init__(self, spec: TableSpec, threads: int) -> None:
        self.index, self.layers = make_index(spec)
        self.rules = make_rules(spec)
        self._cells = len(spec.formation.moving)
        self._threads = threads
        # Best values of the layers that a 2 and a 4 lead to.
        self._with_two = self._with_four = np.zeros(1, dtype=np.uint16)

    @property
    def positions(self) -> int:
        """Number of values of the table."""
        return int(self.layers.starts[-1])

    @property
    def memory(self) -> int:
        """Bytes that a build holds at most: the index, and the values of three layers."""
        arrays = (*self.index.first, *self.index.second, self.index.offsets, *self.layers)
        largest = int(np.diff(self.layers.starts).max())
        # One layer has its values, and their copy on the way to the file. Three have their best values.
        return sum(array.nbytes for array in arrays) + _BYTES * (
            2 * largest + 3 * int(self.layers.sizes.max())
        )

    @property
    def layer_count(self) -> int:
        """How many layers it has."""
        return int(self.layers.starts.size) - 1

    def run(self, finished: int = 0, read: Callable[[int], Values] | None = None) -> Iterator[Values]:
        """Compute the layers, one after another.

        Args:
            finished: number of layers that exist already.
            read: returns the values of a finished layer; called for the last two.
        """
        with ThreadPoolExecutor(self._threads) as pool:
            scratch = [make_induction_scratch() for _ in range(self._threads * _CHUNKS_PER_THREAD)]
            if read is not None:
                for layer in range(max(finished - 2, 0), finished):
                    self._step_down(pool, layer, read(layer))
            for layer in range(finished, self.layer_count):
                values = self._values(pool, layer, scratch)
                yield values
                self._step_down(pool, layer, values)

    def _values(self, pool: ThreadPoolExecutor, layer: int, scratch: list[InductionScratch]) -> Values:
        values = np.empty(self._size(layer), dtype=np.uint16)
        task = LayerTask(self.index, self.layers, values, int(self.layers.starts[layer]))
        tasks = [
            pool.submit(fill_values, begin, end, task, self._with_two, self._with_four, self._cells, own)
            for (begin, end), own in zip(self._chunks(layer, with_full=False), scratch, strict=False)
        ]
        for running in tasks:
            running.result()
        return values

    def _step_down(self, pool: ThreadPoolExecutor, layer: int, values: Values) -> None:
        """Compute the best values of a layer. It is then the layer that a 2 leads to."""
        best = np.empty(int(self.layers.sizes[layer]), dtype=np.uint16)
        task = LayerTask(self.index, self.layers, values, int(self.layers.starts[layer]))
        tasks = [
            pool.submit(fill_best, begin, end, task, self.rules, best)
            for begin, end in self._chunks(layer, with_full=True)
        ]
        for running in tasks:
            running.result()
        self._with_two, self._with_four = best, self._with_two

    def _size(self, layer: int) -> int:
        return int(self.layers.starts[layer + 1] - self.layers.starts[layer])

    def _chunks(self, layer: int, *, with_full: bool) -> list[tuple[int, int]]:
        """Divide the blocks of a layer into runs, enough to keep all threads busy."""
        begin, end = (int(n) for n in self.layers.block_starts[layer : layer + 2])
        if not with_full:
            end = int(self.layers.full_starts[layer])
        count = self._threads * _CHUNKS_PER_THREAD
        edges = [begin + (end - begin) * i // count for i in range(count + 1)]
        return [(a, b) for a, b in pairwise(edges) if b > a]


def solve_table(spec: TableSpec, threads: int = 1) -> EndgameTable:
    """Compute a table in memory."""
    induction = Induction(spec, threads)
    values = np.empty(induction.positions, dtype=np.uint16)
    filled = 0
    for layer in induction.run():
        values[filled : filled + layer.size] = layer
        filled += layer.size
    sha = hashlib.sha256(values.tobytes()).hexdigest()
    return EndgameTable(spec, induction.index, values, sha)


def build_table(
    spec: TableSpec,
    where: Path,
    *,
    threads: int = 1,
    memory: float = math.inf,
    advance: Callable[[int], None] = lambda count: None,
) -> Path:
    """Build a table into its file; resume a build that was killed.

    Args:
        spec: the table.
        where: folder of the file.
        threads: number of threads that compute at once.
        memory: most bytes that the build may hold, beside the program itself.
        advance: called with the number of positions of each layer, those of an earlier build first.

    Returns:
        The file.

    Raises:
        SolverError: the build needs more memory, the file cannot be written, or another process builds the
            same table.
    """
    induction = Induction(spec, threads)
    if induction.memory > memory:
        raise SolverError(
            f"building {spec.name} takes {induction.memory / 1e9:.2f} GB of memory; {memory / 1e9:g} GB are "
            "allowed; allow more with --memory"
        )
    header = storage.table_header(spec, induction.positions)
    path = storage.table_path(where, spec.name)
    part = path.with_name(path.name + storage.PART)
    begun = time.monotonic()
    try:
        where.mkdir(parents=True, exist_ok=True)
        with storage.only_builder(path):
            with part.open("r+b" if part.exists() else "w+b") as file:
                sha = _write_layers(file, header, induction, advance)
                seconds = round(time.monotonic() - begun, 1)
                storage.write_table_header(file, msgspec.structs.replace(header, sha256=sha, seconds=seconds))
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
    except OSError as error:
        raise SolverError(
            f"cannot write table {path}: {error.strerror or error}; the layers written so far stay, and the "
            "next build continues from them"
        ) from error
    logging.getLogger(__name__).info("built %s: %d positions", spec.name, induction.positions)
    return path


def _write_layers(
    file: BinaryIO, header: storage.TableHeader, induction: Induction, advance: Callable[[int], None]
) -> str:
    """Append the layers that a file lacks; return the digest of all values."""
    starts = induction.layers.starts
    sha = hashlib.sha256()
    if storage.begins_with(file, header):
        held = (file.seek(0, os.SEEK_END) - storage.PAGE) // _BYTES
        finished = int(np.searchsorted(starts, held, side="right")) - 1
        # Empty layers at the end count as finished only if a layer follows them, so they are computed again.
        finished = int(np.searchsorted(starts, starts[finished], side="left"))
    else:
        storage.write_table_header(file, header)
        finished = 0
    file.truncate(storage.PAGE + _BYTES * int(starts[finished]))

    def read(layer: int) -> Values:
        file.seek(storage.PAGE + _BYTES * int(starts[layer]))
        values = np.frombuffer(file.read(_BYTES * int(starts[layer + 1] - starts[layer])), dtype="<u2")
        return values.astype(np.uint16)

    for layer in range(finished):
        sha.update(read(layer).astype("<u2", copy=False).tobytes())
        advance(int(starts[layer + 1] - starts[layer]))
    for values in induction.run(finished, read):
        piece = values.astype("<u2", copy=False).tobytes()
        file.seek(0, os.SEEK_END)
        file.write(piece)
        file.flush()
        sha.update(piece)
        advance(values.size)
    return sha.hexdigest()
