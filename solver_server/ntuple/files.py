"""Opening a network file of either format."""

from __future__ import annotations

from pathlib import Path

from game2048.errors import SolverError
from solver_server.ntuple import container, tdl2048, weights
from solver_server.ntuple.weights import Network


def open_network(path: Path, *, verify: bool = True, in_memory: bool = False) -> Network:
    """Read a weights file of this project or of TDL2048+, whichever it is by its first bytes.

    Args:
        path: the file.
        verify: whether to check the digest (this project's files only).
        in_memory: see `weights.load`.

    Raises:
        SolverError: it is missing, damaged, or of neither format.
    """
    try:
        foreign = not container.starts_with_magic(path) and tdl2048.looks_like(path)
    except OSError as error:
        raise SolverError(f"cannot open weights {path}: {error.strerror}") from error
    return tdl2048.load(path) if foreign else weights.load(path, verify=verify, in_memory=in_memory)
