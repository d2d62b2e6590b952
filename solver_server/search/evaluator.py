"""The seam between the search and what gives its leaves a value.

An evaluator is a NamedTuple of arrays and numbers with the fields

* ``reward_weight``: what a point of merge reward counts for, in the evaluator's unit (0 where the evaluation
  already holds what was merged);
* ``dead_value``: the value of a board on which no direction moves;

and an overload of `evaluate` for its type, registered beside it with `numba.extending.overload`. Adding an
engine means adding one such type; the search is compiled for it on first use.
"""

from __future__ import annotations

from typing import Any


def evaluate(board: Any, evaluator: Any) -> float:
    """The evaluator's value of a leaf: a board on which a spawn is due or, for even plies, has just happened.

    Args:
        board: uint64 nibbles or a uint8 grid.
        evaluator: the NamedTuple that the overload was registered for.
    """
    raise NotImplementedError("kernels only")


def is_evaluator(numba_type: Any, cls: type) -> bool:
    """Whether a numba type is that of an evaluator class; for use in overloads."""
    return getattr(numba_type, "instance_class", None) is cls
