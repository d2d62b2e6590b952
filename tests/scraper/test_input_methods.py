"""In which order moves are tried on a page, by what is known of it; no browser."""

from __future__ import annotations

from typing import cast
from unittest.mock import Mock

import pytest
from playwright.async_api import Page

from scraper.detection.obstacles import Obstacles
from scraper.in_page.worlds import PageScripts
from scraper.input import methods
from scraper.input.listeners import KEYS, MOUSE, TOUCH
from scraper.input.methods import INPUT_METHODS, PageInput

ARROWS, HELD, LETTERS, VI, BUTTONS, DRAG, SWIPE = INPUT_METHODS


async def nowhere() -> None:
    return None


def page_input(only: tuple[str, ...] | None = None) -> PageInput:
    page = cast("Page", Mock())  # nothing is done with it
    scripts = PageScripts(page)
    return PageInput(page, scripts, Obstacles(page, scripts), nowhere, only)


def plan(used: PageInput) -> list[tuple[str, bool]]:
    """What is tried, and whether the page is cleared before."""
    return [(method.name, clears) for method, clears in used._plan()]


def test_arrow_keys_come_first_then_all_else_then_arrow_keys_again() -> None:
    rest = [(name, False) for name in (HELD, HELD, LETTERS, VI, BUTTONS, DRAG, SWIPE)]
    assert plan(page_input()) == [(ARROWS, False), (ARROWS, True), *rest, (ARROWS, True)]


@pytest.mark.parametrize(
    ("heard", "rest"),
    [
        (KEYS, [HELD, HELD, LETTERS, VI, BUTTONS, ARROWS]),
        (frozenset({"keydown"}), [HELD, HELD, LETTERS, VI, BUTTONS, ARROWS]),
        (MOUSE - TOUCH, [BUTTONS, DRAG]),
        (frozenset({"touchstart"}), [BUTTONS, SWIPE]),
        (frozenset({"pointerdown"}), [BUTTONS, DRAG, SWIPE]),
        (frozenset({"click"}), [BUTTONS]),
        (frozenset(), [BUTTONS]),
    ],
)
def test_what_nothing_listens_to_is_left_out(heard: frozenset[str], rest: list[str]) -> None:
    used = page_input()
    used._heard = heard
    assert [name for name, _ in plan(used)][2:] == rest


def test_after_a_fruitless_direction_no_other_keys_are_tried_in_the_next() -> None:
    used = page_input()
    used.fruitless = 1
    assert plan(used) == [(ARROWS, True), (BUTTONS, False), (DRAG, False), (SWIPE, False)]


def test_a_method_that_has_worked_comes_first_and_others_only_on_a_cleared_page() -> None:
    used = page_input()
    used._used = used._methods[4]
    used.took()
    assert used.proven == BUTTONS
    others = [(name, True) for name in INPUT_METHODS if name != BUTTONS]
    assert plan(used) == [(BUTTONS, False), (BUTTONS, False), (BUTTONS, True), *others]


def test_a_site_may_name_its_methods() -> None:
    used = page_input((DRAG, LETTERS))
    assert plan(used) == [(LETTERS, False), (LETTERS, True), (DRAG, False), (LETTERS, True)]


async def test_a_move_is_exhausted_once_every_method_has_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hears_keys(*_: object) -> frozenset[str]:
        return KEYS

    monkeypatch.setattr(methods, "heard_by", hears_keys)
    used = page_input()
    monkeypatch.setattr(used, "_cdp", nowhere)
    misses = 0
    while not used.exhausted:
        await used.missed()
        misses += 1
    assert misses == 8  # arrow keys twice, held twice, letters, vi keys, buttons, arrow keys again
    assert used.fruitless == 1
    used.begin_anew()
    assert (used.misses, used.fruitless) == (0, 0)
