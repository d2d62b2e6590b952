"""When the cells of a canvas are at rest: in time and in looks."""

from __future__ import annotations

import numpy as np

from scraper.readers.stillness import Stillness


def cells(grey: int) -> np.ndarray:
    return np.full((4, 16, 16, 3), grey, dtype=np.float32)


def test_what_changes_in_every_look_is_never_at_rest() -> None:
    watch = Stillness()
    for grey in range(0, 200, 40):
        watch.see(cells(grey))
        assert watch.frames == 1
        assert not watch.is_still_for(0, 2)
    assert watch.changing == 4


def test_rest_is_counted_from_the_last_change() -> None:
    watch = Stillness()
    for grey in (10, 10, 90, 10, 90, 90, 90):
        watch.see(cells(grey))
    assert watch.frames == 3
    assert watch.changing == 3  # 10 to 90, to 10, to 90
    assert watch.is_still_for(0, 3)
    assert watch.outlasts(0, 3)
    assert not watch.outlasts(0, 4)


def test_what_differs_less_than_a_look_is_the_same() -> None:
    watch = Stillness()
    watch.see(cells(100))
    watch.see(cells(101))
    assert (watch.frames, watch.changing) == (2, 0)
