"""The operations of learning and greedy play on a network, for both kinds of tables: 4×4 and others.

The functions dispatch on the type of the tables when a kernel is compiled
(`game2048.kernels.jit.dispatched`). The operations on a board are in `game2048.kernels.word_ops`.
"""

from __future__ import annotations

from typing import Any

from game2048.kernels.jit import dispatched, kernel
from game2048.kernels.word_ops import is_high, lower_words, pack_words
from game2048.kernels.words import U0, Words
from solver_server.ntuple import one_word_network, two_word_network
from solver_server.ntuple.one_word_network import OneWordTables
from solver_server.ntuple.two_word_network import TwoWordTables


@dispatched(
    "tables",
    {OneWordTables: one_word_network.value_one_word, TwoWordTables: two_word_network.value_two_words},
)
def value_of_words(words: Words, tables: Any) -> Any:
    """Compute the value of an afterstate in score points, float32.

    Args:
        words: the board, lowered where it must be (`lowered_if_high`).
        tables: the network.
    """
    raise NotImplementedError


@dispatched(
    "tables",
    {
        OneWordTables: one_word_network.list_entries_one_word,
        TwoWordTables: two_word_network.list_entries_two_words,
    },
)
def list_entries(words: Words, tables: Any, entries: Any) -> None:
    """Write the indices of all active weights, those that make up a board's value.

    Args:
        words: the board, lowered where it must be.
        tables: the network.
        entries: uint64 [active weights], overwritten.
    """
    raise NotImplementedError


@kernel
def lowered_if_high(words: Words, tables: Any, rules: Any) -> Words:
    """Return the board as the tables read it: downgraded if its tiles are too high for them."""
    if words.extra != U0 or is_high(words, tables.ranks, rules):
        words = lower_words(words, tables.ranks, rules)
    return words


@kernel
def value_of_cells(cells: Any, tables: Any, rules: Any) -> Any:
    """Compute the value of an afterstate of exponents up to 31, uint8 [rows, columns], in score points."""
    return value_of_words(lowered_if_high(pack_words(cells, rules), tables, rules), tables)
