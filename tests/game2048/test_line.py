"""The one statement of the rules, against lines worked out by hand."""

from __future__ import annotations

import pytest

from game2048.line import slide_line


@pytest.mark.parametrize(
    ("before", "after", "reward"),
    [
        ([0, 0, 0, 0], [0, 0, 0, 0], 0),
        ([0, 0, 0, 1], [1, 0, 0, 0], 0),
        ([1, 0, 0, 1], [2, 0, 0, 0], 4),
        ([1, 1, 1, 0], [2, 1, 0, 0], 4),  # the pair nearest the wall merges
        ([1, 1, 1, 1], [2, 2, 0, 0], 8),  # and a merged tile does not merge again
        ([1, 1, 2, 0], [2, 2, 0, 0], 4),
        ([2, 1, 1, 0], [2, 2, 0, 0], 4),
        ([2, 1, 1, 2], [2, 2, 2, 0], 4),
        ([1, 2, 1, 2], [1, 2, 1, 2], 0),
        ([15, 15, 0, 0], [16, 0, 0, 0], 65536),
        ([16, 0, 0, 16], [17, 0, 0, 0], 131072),
        ([3, 3, 3, 3, 3], [4, 4, 3, 0, 0], 32),
        ([1, 1], [2, 0], 4),
    ],
)
def test_a_line_slides_as_the_rules_say(before: list[int], after: list[int], reward: int) -> None:
    line = before[:]
    assert slide_line(line, len(line)) == reward
    assert line == after
