"""Find and load the bundled networks."""

from __future__ import annotations

import functools
import threading
from pathlib import Path

from game2048.errors import SolverError
from solver_server.ntuple.files import packing
from solver_server.ntuple.files.network_file import open_network
from solver_server.ntuple.network import Network

FOLDER = Path(__file__).parent / "weights"

_lock = threading.Lock()


def weights_for(rows: int, columns: int) -> Path:
    """Find the packed network for boards of a size.

    Raises:
        SolverError: there is none.
    """
    path = FOLDER / f"{rows}x{columns}{packing.PACKED_SUFFIX}"
    if not path.exists():
        raise SolverError(
            f"no network is bundled for {rows}x{columns} boards ({path} is missing); give --weights FILE, or "
            "another --engine"
        )
    return path


def network_for(rows: int, columns: int) -> Network:
    """Load the network for boards of a size. It is loaded once and shared by all callers.

    Raises:
        SolverError: there is none, or its file is damaged.
    """
    with _lock:
        return _loaded(rows, columns)


@functools.cache
def _loaded(rows: int, columns: int) -> Network:
    return open_network(weights_for(rows, columns), in_memory=True)
