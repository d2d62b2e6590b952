"""How kernels are compiled: one decorator, and one cache that an edit can never leave stale.

Numba caches a compiled kernel under the time stamp of its own source file. A kernel that calls kernels of
other files would outlive their edits, so the cache folder is named by the digest of all source files with
kernels. A folder chosen by the user through ``NUMBA_CACHE_DIR`` is left alone.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numba.extending
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from game2048.kernels.user_cache import user_cache

F = TypeVar("F", bound=Callable[..., Any])

_PACKAGES = ("game2048", "solver_server")
_KEPT_CACHES = 4
_PROCESS = secrets.token_hex(4)


def kernel(function: F) -> F:
    """Compile a function on first use: no Python objects, no GIL, no allocation, cached on disk.

    A kernel owns no memory: it may read and write the arrays it is given and take views of them, but neither
    make arrays nor return them to a kernel that counts references (`allocating_kernel`) or to Python. Numba
    then leaves out all reference counting, which made the expectimax kernel, whose arguments hold some twenty
    arrays, 20 times as fast, and quicker to compile. ``np.empty``, ``copy`` and slice assignment do not work
    in one ("No implementation of function empty", "NRT required"): pass scratch arrays in, copy by loops.
    """
    return _compiled(function, _nrt=False)


def inlined_kernel(function: F) -> F:
    """As `kernel`, for a small function called from few places: its code is put there.

    A call that the compiler does not inline by itself copies every field of every NamedTuple to the stack.
    """
    return _compiled(function, _nrt=False, forceinline=True)


def allocating_kernel(function: F) -> F:
    """As `kernel`, for the outermost function of a computation, which makes the arrays that it hands down."""
    return _compiled(function)


def overload(stub: Callable[..., Any]) -> Callable[[F], F]:
    """Register what a stub stands for when kernels call it: a function from argument types to a function.

    As `numba.extending.overload`, but annotations of the two need not agree.
    """
    return cast(Callable[[F], F], numba.extending.overload(stub, strict=False))


def kernels_are_cached() -> bool:
    """Whether an earlier run left compiled kernels of exactly this source."""
    folder = Path(numba.config.CACHE_DIR)
    return folder.is_dir() and any(folder.rglob("*.nbi"))


def _compiled(function: F, **options: bool) -> F:
    dispatcher = numba.njit(nogil=True, cache=True, **options)(function)
    if not numba.config.DISABLE_JIT:
        _forgive(dispatcher)
        _keep_apart(dispatcher)
    return cast(F, dispatcher)


def _forgive(dispatcher: Any) -> None:
    """Take a cache that names types which cannot be imported for an empty one.

    A kernel's index lists the types of all its arguments so far. An evaluator of somebody's own script would
    otherwise leave an index that no other program can read.
    """
    index = dispatcher._cache._cache_file
    load = index._load_index

    def load_index() -> Any:
        try:
            return load()
        except (ImportError, AttributeError):
            return {}

    index._load_index = load_index


def _keep_apart(dispatcher: Any) -> None:
    """Name compiled files by the process that wrote them, too.

    Numba numbers the files of a kernel by its index. Of two processes that compile a kernel at once, each for
    types of its own, both would take the same number, and the index would give one of them the other's code.
    As it is, the index that is written last forgets the other's, which is compiled once more.
    """
    index = dispatcher._cache._cache_file
    index._data_name_pattern = index._data_name_pattern.replace("{number", f"{_PROCESS}-{{number")


def _source_digest() -> str:
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256(numba.__version__.encode())
    for package in _PACKAGES:
        for file in sorted((root / package).rglob("*.py")):
            source = file.read_bytes()
            if b"kernel" in source:
                digest.update(file.relative_to(root).as_posix().encode())
                digest.update(source)
    return digest.hexdigest()[:16]


def _use_cache() -> None:
    if os.environ.get("NUMBA_CACHE_DIR"):
        return
    parent = user_cache() / "kernels"
    folder = parent / _source_digest()
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            for old in sorted(parent.iterdir(), key=lambda p: p.stat().st_mtime)[:-_KEPT_CACHES]:
                shutil.rmtree(old, ignore_errors=True)
    except OSError:
        return  # a read-only home: numba falls back to its own choice of folder
    numba.config.CACHE_DIR = str(folder)


_use_cache()


@intrinsic  # type: ignore[untyped-decorator]
def _cttz(typing_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _ctpop(typing_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


# An intrinsic means nothing uncompiled.
_ones: Any = (lambda value: int(value).bit_count()) if numba.config.DISABLE_JIT else _ctpop


@kernel
def count_trailing_zeros(value: np.uint64) -> np.uint64:
    """Number of zero bits below the lowest set bit (64 for 0)."""
    return np.uint64(_cttz(value))


@kernel
def count_ones(value: np.uint64) -> np.uint64:
    """Number of set bits."""
    return np.uint64(_ones(value))
