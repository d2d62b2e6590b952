"""What learning and self-play ask of a board, for both kinds: 4×4 in one word, any other size in two.

A board is passed as its two words, of which 4×4 leaves the second 0, and a third with the bits of exponents
above 15 where a board may hold such. Each function dispatches on the type of the rules or tables when a
kernel is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from game2048.kernels import bitboard, two_word_board, wide_bitboard
from game2048.kernels.jit import overload
from game2048.kernels.two_word_board import WordRules
from game2048.kernels.wide_bitboard import BoardRules
from solver_server.ntuple import network
from solver_server.ntuple.network import NetworkTables

Rules = BoardRules | WordRules


def make_rules(rows: int, columns: int) -> Rules:
    """The rules for a board of that size."""
    return (
        wide_bitboard.make_board_rules()
        if (rows, columns) == (4, 4)
        else two_word_board.make_word_rules(rows, columns)
    )


def slide_all(low: Any, high: Any, rules: Any, after: Any, reward: Any) -> None:
    """Write all four afterstates, uint64 [4, 2], and rewards; an afterstate equal to the board is illegal."""
    if isinstance(rules, BoardRules):
        wide_bitboard.slide_all(low, rules, after, reward)
    else:
        two_word_board.slide_all_words(low, high, rules, after, reward)


def spawn(low: Any, high: Any, state: Any, rules: Any) -> Any:
    """Draw a spawn: both words and the generator's next state."""
    if isinstance(rules, BoardRules):
        low, state = bitboard.spawn(low, state)
        return low, high, state
    return two_word_board.spawn_words(low, high, state, rules.geometry)


def is_wide(low: Any, high: Any, ranks: int, rules: Any) -> Any:
    """Whether a board is beyond what `slide_all` and tables of ``ranks`` take as it is."""
    if isinstance(rules, BoardRules):
        return wide_bitboard.is_wide(low, ranks)
    return two_word_board.is_wide_words(low, high, ranks)


def split(cells: Any, rules: Any) -> Any:
    """A board of uint8 [rows, columns] as three words."""
    if isinstance(rules, BoardRules):
        low, extra = wide_bitboard.split(cells)
        return low, np.uint64(0), extra
    return two_word_board.split_words(cells)


def join(low: Any, high: Any, extra: Any, cells: Any, rules: Any) -> None:
    """The inverse of `split`."""
    if isinstance(rules, BoardRules):
        wide_bitboard.join(low, extra, cells)
    else:
        two_word_board.join_words(low, high, extra, cells)


def seen_as(low: Any, high: Any, extra: Any, ranks: int, rules: Any) -> Any:
    """Both words of the board that tables of ``ranks`` see for a board, downgraded if need be."""
    if isinstance(rules, BoardRules):
        return wide_bitboard.seen_as(low, extra, ranks), high
    return two_word_board.seen_words(low, high, extra, ranks, rules.geometry)


def value(low: Any, high: Any, tables: Any) -> Any:
    """The value of an afterstate."""
    if isinstance(tables, NetworkTables):
        return network.value4x4(low, tables)
    return network.value_words(low, high, tables)


def prefetch_value(low: Any, high: Any, tables: Any) -> None:
    """Ask for the cache lines that `value` will read; on 5×5 finding them costs more than it saves."""
    if isinstance(tables, NetworkTables):
        network.prefetch4x4(low, tables)


def active_entries(low: Any, high: Any, tables: Any, entries: Any) -> None:
    """Write the indices of all active weights."""
    if isinstance(tables, NetworkTables):
        network.active_entries(low, tables, entries)
    else:
        network.active_entries_words(low, high, tables, entries)


def _choose(which: Any, four: Callable[..., Any], other: Callable[..., Any]) -> Callable[..., Any]:
    """One of two implementations, by the type of the rules or tables."""
    return four if which.instance_class in (BoardRules, NetworkTables) else other


@overload(slide_all)
def _(low: Any, high: Any, rules: Any, after: Any, reward: Any) -> Any:
    return _choose(
        rules,
        lambda low, high, rules, after, reward: wide_bitboard.slide_all(low, rules, after, reward),
        lambda low, high, rules, after, reward: two_word_board.slide_all_words(
            low, high, rules, after, reward
        ),
    )


def _spawn_four(low: Any, high: Any, state: Any, rules: Any) -> Any:
    low, state = bitboard.spawn(low, state)
    return low, high, state


@overload(spawn)
def _(low: Any, high: Any, state: Any, rules: Any) -> Any:
    return _choose(
        rules,
        _spawn_four,
        lambda low, high, state, rules: two_word_board.spawn_words(low, high, state, rules.geometry),
    )


@overload(is_wide)
def _(low: Any, high: Any, ranks: Any, rules: Any) -> Any:
    return _choose(
        rules,
        lambda low, high, ranks, rules: wide_bitboard.is_wide(low, ranks),
        lambda low, high, ranks, rules: two_word_board.is_wide_words(low, high, ranks),
    )


def _split_four(cells: Any, rules: Any) -> Any:
    low, extra = wide_bitboard.split(cells)
    return low, np.uint64(0), extra


@overload(split)
def _(cells: Any, rules: Any) -> Any:
    return _choose(rules, _split_four, lambda cells, rules: two_word_board.split_words(cells))


@overload(join)
def _(low: Any, high: Any, extra: Any, cells: Any, rules: Any) -> Any:
    return _choose(
        rules,
        lambda low, high, extra, cells, rules: wide_bitboard.join(low, extra, cells),
        lambda low, high, extra, cells, rules: two_word_board.join_words(low, high, extra, cells),
    )


@overload(seen_as)
def _(low: Any, high: Any, extra: Any, ranks: Any, rules: Any) -> Any:
    return _choose(
        rules,
        lambda low, high, extra, ranks, rules: (wide_bitboard.seen_as(low, extra, ranks), high),
        lambda low, high, extra, ranks, rules: two_word_board.seen_words(
            low, high, extra, ranks, rules.geometry
        ),
    )


@overload(value)
def _(low: Any, high: Any, tables: Any) -> Any:
    return _choose(
        tables,
        lambda low, high, tables: network.value4x4(low, tables),
        lambda low, high, tables: network.value_words(low, high, tables),
    )


@overload(active_entries)
def _(low: Any, high: Any, tables: Any, entries: Any) -> Any:
    return _choose(
        tables,
        lambda low, high, tables, entries: network.active_entries(low, tables, entries),
        lambda low, high, tables, entries: network.active_entries_words(low, high, tables, entries),
    )


@overload(prefetch_value)
def _(low: Any, high: Any, tables: Any) -> Any:
    return _choose(
        tables,
        lambda low, high, tables: network.prefetch4x4(low, tables),
        lambda low, high, tables: None,
    )
