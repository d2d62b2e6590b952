"""Board sizes as text."""

from __future__ import annotations

import pytest

from game2048.errors import RulesError
from game2048.size import Size


@pytest.mark.parametrize(
    ("text", "rows", "columns"),
    [("4x4", 4, 4), ("4×6", 4, 6), (" 2 X 8 ", 2, 8), ("5", 5, 5)],
)
def test_a_size_is_read_from_text(text: str, rows: int, columns: int) -> None:
    assert Size.parse(text) == (rows, columns)


@pytest.mark.parametrize("text", ["", "4x", "x4", "4x4x4", "four", "1x4", "4x9", "9", "004x4", "-4x4", "٤x4"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(RulesError, match=r"expected (e\.g\. 4x4|2 to 8)"):
        Size.parse(text)


def test_text_and_size_are_inverse() -> None:
    assert str(Size(4, 6)) == "4x6"
    assert Size.parse(str(Size(3, 8))) == Size(3, 8)
    assert Size(4, 6).cells == 24
