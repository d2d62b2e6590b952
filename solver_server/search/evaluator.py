"""The contract between the search and the evaluators that give its leaves a value.

An evaluator is a NamedTuple of arrays and numbers with the fields

* ``reward_weight``: value of a point of merge reward in the evaluator's unit (0 if the evaluation already
  contains the merges);
* ``dead_value``: value of a board without a legal direction.

Its module registers an overload of `value_of_leaf` for its type (`game2048.kernels.jit.overload`). A new
engine needs one such type. The search is compiled for it on first use.
"""

from __future__ import annotations

from typing import Any


def value_of_leaf(board: Any, evaluator: Any) -> float:
    """Compute the value of a leaf: a board on which a spawn is due or, for even plies, has just happened.

    Args:
        board: uint64 nibbles or a uint8 grid.
        evaluator: a NamedTuple for which an overload is registered.
    """
    raise NotImplementedError("kernels only")


def is_evaluator(numba_type: Any, cls: type) -> bool:
    """Tell whether a numba type is that of an evaluator class; for use in overloads."""
    return getattr(numba_type, "instance_class", None) is cls
