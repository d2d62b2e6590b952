"""Hypothesis strategies that several test modules share."""

from __future__ import annotations

from hypothesis import strategies as st

from game2048 import Board


@st.composite
def boards(
    draw: st.DrawFn, rows: int | None = None, columns: int | None = None, max_exponent: int = 17
) -> Board:
    """Any board, of any size unless one is given; small exponents more often, so that tiles merge."""
    height = draw(st.integers(2, 8)) if rows is None else rows
    width = draw(st.integers(2, 8)) if columns is None else columns
    exponent = st.one_of(st.just(0), st.integers(0, 3), st.integers(0, max_exponent))
    size = height * width
    return Board(height, width, bytes(draw(st.lists(exponent, min_size=size, max_size=size))))
