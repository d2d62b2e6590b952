"""Open a network file of any format."""

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

_log = logging.getLogger(__name__)


def open_network(path: Path, *, verify: bool = True, in_memory: bool = False) -> Network:
    """Read a network of any format; the first bytes tell which.

    Args:
        path: a weights file, packed or not, or a TDL2048+ file (``.w``, also as ``.w.xz`` or ``.w.gz``). The
            expanded weights of a packed file are kept in the user's cache folder for the next time.
        verify: whether to check the digest (this project's files only).
        in_memory: see `native.load_weights`.

    Raises:
        SolverError: the file is missing, damaged, or of none of these formats.
    """
    try:
        foreign = not array_file.starts_with_magic(path) and tdl2048.looks_like_tdl(path)
    except OSError as error:
        raise SolverError(f"cannot open weights {path}: {error.strerror}") from error
    if foreign:
        return tdl2048.load_tdl(path)
    header, digest = array_file.read_array_header(path)
    if packing.is_packed(header):
        return _unpacked(path, digest, verify=verify, in_memory=in_memory)
    return native.load_weights(path, verify=verify, in_memory=in_memory)


def weights_cache_folder() -> Path:
    """Return the folder of unpacked networks: ``BOT2048_WEIGHTS``, or the user's cache folder."""
    chosen = os.environ.get("BOT2048_WEIGHTS")
    return Path(chosen) if chosen else user_cache() / "weights"


def _unpacked(path: Path, digest: str, *, verify: bool, in_memory: bool) -> Network:
    """Read the unpacked copy of a packed network from the cache; unpack the file if there is none."""
    # Earlier versions kept the weights in another order, under the name without it.
    kept = weights_cache_folder() / f"{digest[:16]}-halves{native.WEIGHTS_SUFFIX}"
    if kept.exists():
        with contextlib.suppress(SolverError):  # a damaged copy is made again
            return native.load_weights(kept, verify=verify, in_memory=in_memory)
    _log.warning("unpacking %s, once; this takes some seconds", path.name)
    network = packing.unpack_network(path)
    try:
        # Another process that unpacks it now writes the same bytes; each file is put in place in one step.
        native.save_weights(kept, network)
        kept.with_name(f"{digest[:16]}{native.WEIGHTS_SUFFIX}").unlink(missing_ok=True)
    except OSError as error:
        _log.warning("%s cannot be kept in %s: %s", path.name, kept.parent, error.strerror or error)
    return network
