"""What learning and greedy play ask of a board in words, for both kinds: 4×4 in one word, others in two.

The functions dispatch on the type of the rules when a kernel is compiled (`game2048.kernels.jit.dispatched`).
The implementations are in `one_word_board` and `two_word_board`, under the same names with ``one_word`` and
``two_words`` in place of ``words``. The expectimax search has other boards and other questions:
`solver_server.search.board_ops`.
"""

from __future__ import annotations

from typing import Any

from game2048.kernels import one_word_board, two_word_board
from game2048.kernels.jit import dispatched
from game2048.kernels.one_word_board import OneWordRules, make_one_word_rules
from game2048.kernels.two_word_board import TwoWordRules, make_two_word_rules
from game2048.kernels.words import Words

MoveRules = OneWordRules | TwoWordRules
"""The slides of a board of some size, as kernels take them."""


def make_move_rules(rows: int, columns: int) -> MoveRules:
    """Make the slides of a board of 2 to 5 rows and columns."""
    return make_one_word_rules() if (rows, columns) == (4, 4) else make_two_word_rules(rows, columns)


@dispatched(
    "rules",
    {OneWordRules: one_word_board.slide_one_word, TwoWordRules: two_word_board.slide_two_words},
)
def slide_words(words: Words, rules: Any, after: Any, reward: Any) -> None:
    """Write the afterstates and rewards of all directions; an afterstate equal to the board is illegal.

    Args:
        words: the board; not wide, with at most one 32768.
        rules: slides of its size.
        after: uint64 [4, 2], overwritten: low and high word by direction (up, right, down, left). A 4×4
            board leaves column 1 as it is, so it must be 0.
        reward: int64 [4], overwritten.
    """
    raise NotImplementedError


@dispatched(
    "rules",
    {OneWordRules: one_word_board.spawn_one_word, TwoWordRules: two_word_board.spawn_two_words},
)
def spawn_words(words: Words, state: Any, rules: Any) -> Any:
    """Draw a spawn (`game2048.spawn.pick`).

    Args:
        words: the board; not wide, with an empty cell.
        state: uint64, the generator's state.
        rules: slides of its size.

    Returns:
        The board with one more tile, and the generator's next state.
    """
    raise NotImplementedError


@dispatched(
    "rules",
    {OneWordRules: one_word_board.pack_one_word, TwoWordRules: two_word_board.pack_two_words},
)
def pack_words(cells: Any, rules: Any) -> Any:
    """Make words of a board of exponents up to 31, uint8 [rows, columns]."""
    raise NotImplementedError


@dispatched(
    "rules",
    {OneWordRules: one_word_board.unpack_one_word, TwoWordRules: two_word_board.unpack_two_words},
)
def unpack_words(words: Words, cells: Any, rules: Any) -> None:
    """Write the exponents of a board into uint8 [rows, columns]: the inverse of `pack_words`."""
    raise NotImplementedError


@dispatched(
    "rules",
    {OneWordRules: one_word_board.is_high_one_word, TwoWordRules: two_word_board.is_high_two_words},
)
def is_high(words: Words, ranks: Any, rules: Any) -> Any:
    """Tell whether a board, not wide, is too high for `slide_words` and for tables of ``ranks`` (15 or 16).

    A board is too high if it has a tile of rank 15 where tables have 15 ranks, or two 32768.
    """
    raise NotImplementedError


@dispatched(
    "rules",
    {OneWordRules: one_word_board.lower_one_word, TwoWordRules: two_word_board.lower_two_words},
)
def lower_words(words: Words, ranks: Any, rules: Any) -> Any:
    """Downgrade the tiles of a board, so that tables of ``ranks`` can read it (`bitboard.ranks_left_out`)."""
    raise NotImplementedError
