"""Two machine instructions that numba does not offer: gathering bits (x86 ``pext``), and prefetching."""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from game2048.kernels.jit import count_trailing_zeros, inlined_kernel, kernel

# There ``pext`` exists, but is microcode that takes hundreds of cycles.
_SLOW_PEXT = {"znver1", "znver2"}


def cpu_has_pext() -> bool:
    """Whether the CPU that kernels are compiled for gathers bits in one fast instruction."""
    name = numba.config.CPU_NAME or llvm.get_host_cpu_name()
    if numba.config.CPU_NAME or numba.config.CPU_FEATURES is not None:
        return "+bmi2" in (numba.config.CPU_FEATURES or "") and name not in _SLOW_PEXT
    return bool(llvm.get_host_cpu_features().get("bmi2", False)) and name not in _SLOW_PEXT


@intrinsic  # type: ignore[untyped-decorator]
def _pext_x86(typing_context: Any, value: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        i64 = ir.IntType(64)
        pext = builder.module.declare_intrinsic("llvm.x86.bmi.pext.64", fnty=ir.FunctionType(i64, [i64, i64]))
        return builder.call(pext, arguments)

    return types.uint64(types.uint64, types.uint64), generate


def _ask_for(builder: Any, place: Any) -> None:
    i32, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
    prefetch = builder.module.declare_intrinsic(
        "llvm.prefetch", [pointer], ir.FunctionType(ir.VoidType(), [pointer, i32, i32, i32])
    )
    # For reading, keep in all caches, data.
    builder.call(prefetch, [builder.bitcast(place, pointer), i32(0), i32(3), i32(1)])


@intrinsic  # type: ignore[untyped-decorator]
def _prefetch(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _ask_for(builder, builder.inttoptr(arguments[0], ir.IntType(8).as_pointer()))
        return context.get_dummy_value()

    return types.void(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _prefetch_item(typing_context: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        items = context.make_array(array)(context, builder, arguments[0]).data
        _ask_for(builder, builder.gep(items, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate


def pext_portable(value: Any, mask: Any) -> Any:
    """The bits of ``value`` under ``mask``, closed up: one step for each run of set bits."""
    one = np.uint64(1)
    gathered = np.uint64(0)
    filled = np.uint64(0)
    while mask:
        start = count_trailing_zeros(mask)
        value >>= start
        mask >>= start
        length = count_trailing_zeros(~mask)
        if length == np.uint64(64):
            return value
        run = (one << length) - one
        gathered |= (value & run) << filled
        filled += length
        mask &= ~run
    return gathered


if cpu_has_pext() and not numba.config.DISABLE_JIT:

    @kernel
    def pext(value: np.uint64, mask: np.uint64) -> Any:
        """The bits of ``value`` under ``mask``, closed up; ``mask`` consists of whole nibbles."""
        return _pext_x86(value, mask)

else:
    pext = kernel(pext_portable)


@inlined_kernel
def prefetch(address: np.uint64) -> None:
    """Ask for the cache line of an address; nothing happens if it is not mapped."""
    _prefetch(address)


@inlined_kernel
def prefetch_item(array: Any, index: np.uint64) -> None:
    """Ask for the cache line of an element of an array, [n] without gaps."""
    _prefetch_item(array, index)


@intrinsic  # type: ignore[untyped-decorator]
def _select(typing_context: Any, condition: Any, if_true: Any, if_false: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(*arguments)

    return if_true(types.boolean, if_true, if_true), generate


@inlined_kernel
def select(condition: bool, if_true: Any, if_false: Any) -> Any:
    """Return one of two numbers of the same type, without a branch.

    A branch on a number that is still on its way from memory is often guessed wrong, and what was begun after
    it is lost.
    """
    return _select(condition, if_true, if_false)
