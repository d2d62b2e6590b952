"""How kernels are compiled: one decorator, and one cache that an edit can never leave stale.

Numba caches a compiled kernel under the time stamp of its own source file. A kernel that calls kernels of
other files would outlive their edits, so the cache folder is named by the digest of all source files with
kernels. A folder chosen by the user through ``NUMBA_CACHE_DIR`` is left alone.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numba.extending
import numba.np.numpy_support
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from game2048.kernels.user_cache import user_cache

F = TypeVar("F", bound=Callable[..., Any])

_PACKAGES = ("game2048", "solver_server")
_KEPT_CACHES = 8
_PROCESS = secrets.token_hex(4)


def kernel(function: F) -> F:
    """Compile a function on first use: no Python objects, no GIL, no allocation, cached on disk.

    A kernel owns no memory. It reads and writes the arrays it is given and takes views of them. It does not
    make arrays, and does not return any to Python or to an `allocating_kernel`. Numba then leaves out all
    reference counting: the expectimax kernel, whose arguments hold some twenty arrays, became 20 times as
    fast, and quicker to compile. ``np.empty``, ``copy`` and slice assignment do not work in a kernel ("No
    implementation of function empty", "NRT required"): pass scratch arrays in, and copy by loops.
    """
    return _compiled(function, _nrt=False)


def inlined_kernel(function: F) -> F:
    """Compile as `kernel` does, and put the code wherever the function is called: for small functions.

    A call that the compiler does not inline by itself copies every field of every NamedTuple to the stack.
    """
    return _compiled(function, _nrt=False, forceinline=True)


def allocating_kernel(function: F) -> F:
    """Compile as `kernel` does, but allow new arrays: for the outermost function of a computation."""
    return _compiled(function)


def overload(stub: Callable[..., Any]) -> Callable[[F], F]:
    """Register what a stub stands for when kernels call it: a function from argument types to a function.

    Works as `numba.extending.overload`, but annotations of the two need not agree. `dispatched` is simpler
    where all implementations are known in one place.
    """
    return cast(Callable[[F], F], numba.extending.overload(stub, strict=False))


def dispatched(argument: str, implementations: Mapping[type, Callable[..., Any]]) -> Callable[[F], F]:
    """Make a stub stand for one of several kernels, by the type of one of its arguments.

    A kernel that calls the stub is compiled with the implementation in its place, so the choice costs
    nothing. Plain Python may call the stub, too.

    Args:
        argument: name of the argument whose type decides.
        implementations: kernels with the stub's parameters, by type: the class of a NamedTuple, or the NumPy
            type of a number or of an array's elements.
    """

    def decorate(stub: F) -> F:
        place = list(inspect.signature(stub).parameters).index(argument)

        @functools.wraps(stub)
        def call(*arguments: Any) -> Any:
            return implementations[_type_of(arguments[place])](*arguments)

        @overload(call)
        def choose(*numba_types: Any) -> Any:
            implementation = implementations.get(_type_of_numba(numba_types[place]))
            return getattr(implementation, "py_func", implementation)

        return cast(F, call)

    return decorate


def _type_of(value: Any) -> type:
    return value.dtype.type if isinstance(value, np.ndarray) else type(value)


def _type_of_numba(numba_type: Any) -> Any:
    if hasattr(numba_type, "instance_class"):
        return numba_type.instance_class
    element = numba_type.dtype if isinstance(numba_type, types.Array) else numba_type
    return numba.np.numpy_support.as_dtype(element).type


def kernels_are_cached() -> bool:
    """Tell whether an earlier run left compiled kernels of exactly this source."""
    folder = Path(numba.config.CACHE_DIR)
    return folder.is_dir() and any(folder.rglob("*.nbi"))


def _compiled(function: F, **options: bool) -> F:
    dispatcher = numba.njit(nogil=True, cache=True, **options)(function)
    if not numba.config.DISABLE_JIT:
        _forgive(dispatcher)
        _keep_apart(dispatcher)
    return cast(F, dispatcher)


def _forgive(dispatcher: Any) -> None:
    """Treat a cache that names types which cannot be imported as empty.

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
    """Count the zero bits below the lowest set bit (64 for 0)."""
    return np.uint64(_cttz(value))


@kernel
def count_ones(value: np.uint64) -> np.uint64:
    """Count the set bits."""
    return np.uint64(_ones(value))
