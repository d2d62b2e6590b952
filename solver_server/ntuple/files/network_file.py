"""Opening a network file of any format."""

from __future__ import annotations

import contextlib
import logging
import os
from pathlib import Path

from game2048.errors import SolverError
from game2048.kernels.user_cache import user_cache
from solver_server import array_file
from solver_server.ntuple.files import native, packing, tdl2048
from solver_server.ntuple.network import Network

log = logging.getLogger(__name__)


def open_network(path: Path, *, verify: bool = True, in_memory: bool = False) -> Network:
    """Read a weights file of this project, packed or not, or of TDL2048+, whichever it is by its first bytes.

    Args:
        path: the file. What a packed one holds is kept in the user's cache directory, and read from there
            from the second time on.
        verify: whether to check the digest (this project's files only).
        in_memory: see `weights.load`.

    Raises:
        SolverError: it is missing, damaged, or of none of these formats.
    """
    try:
        foreign = not array_file.starts_with_magic(path) and tdl2048.looks_like(path)
    except OSError as error:
        raise SolverError(f"cannot open weights {path}: {error.strerror}") from error
    if foreign:
        return tdl2048.load_tdl(path)
    header, digest = array_file.read_header(path)
    if packing.is_packed(header):
        return _unpacked(path, digest, verify=verify, in_memory=in_memory)
    return native.load_weights(path, verify=verify, in_memory=in_memory)


def cache_folder() -> Path:
    """Where what packed networks hold is kept: ``BOT2048_WEIGHTS``, or the user's cache directory."""
    chosen = os.environ.get("BOT2048_WEIGHTS")
    return Path(chosen) if chosen else user_cache() / "weights"


def _unpacked(path: Path, digest: str, *, verify: bool, in_memory: bool) -> Network:
    """The network in a packed file of that digest, from the cache if it is there whole; else put there."""
    kept = cache_folder() / f"{digest[:16]}{native.WEIGHTS_SUFFIX}"
    if kept.exists():
        with contextlib.suppress(SolverError):  # a damaged copy is made again
            return native.load_weights(kept, verify=verify, in_memory=in_memory)
    log.warning("unpacking %s, once; this takes some seconds", path.name)
    network = packing.unpack_network(path)
    try:
        # Whoever else unpacks it now writes the same bytes; each file is put in place in one step.
        native.save_weights(kept, network)
    except OSError as error:
        log.warning("%s cannot be kept in %s: %s", path.name, kept.parent, error.strerror or error)
    return network
