"""How soon the next key is pressed on pages that drop keys for a while after a move."""

from __future__ import annotations

import pytest

from scraper.input.pace import KeyPace

IDLE_S = 0.25
"""What it costs to see that a key was dropped."""


class SlowPage:
    """A page that drops keys for a time after each move, played at the pace that is learned."""

    def __init__(self) -> None:
        self.pace = KeyPace()
        self.now = 100.0
        self.ready = 0.0

    def played(self, moves: int, *, blocked: float, think: float = 0.01) -> tuple[float, int]:
        """How long so many moves take, and how many keys were dropped."""
        began, dropped = self.now, 0
        for _ in range(moves):
            first = True
            self.now += think
            while not self.takes(first=first):
                dropped, first = dropped + 1, False
                self.now += IDLE_S
            self.ready = self.now + blocked
        return self.now - began, dropped

    def takes(self, *, first: bool) -> bool:
        """Press a key; whether it was taken."""
        self.now += self.pace.left(self.now)
        self.pace.press(self.now)
        taken = self.now >= self.ready
        self.pace.note(taken=taken, first=first)
        return taken


def test_a_page_that_drops_nothing_is_not_waited_for() -> None:
    page = SlowPage()
    seconds, dropped = page.played(50, blocked=0.0)
    assert (round(seconds, 6), dropped, page.pace.gap) == (0.5, 0, 0.0)


def test_where_keys_begin_to_be_taken_is_found_with_few_dropped() -> None:
    for blocked in (0.03, 0.1, 0.3, 0.5):
        page = SlowPage()
        _, dropped = page.played(20, blocked=blocked)
        assert blocked <= page.pace.gap <= 1.15 * blocked + KeyPace.NEAR_S
        assert dropped <= 6
        seconds, dropped = page.played(60, blocked=blocked)
        assert seconds <= 1.3 * 60 * blocked + 1.0


def test_one_key_dropped_for_another_reason_does_not_slow_the_page_for_good() -> None:
    page = SlowPage()
    page.played(10, blocked=0.0)
    page.played(2, blocked=0.05)
    _, dropped = page.played(300, blocked=0.0)
    assert page.pace.gap < 0.03
    assert dropped == 0


def test_a_page_that_grows_slower_is_followed() -> None:
    page = SlowPage()
    page.played(30, blocked=0.1)
    _, dropped = page.played(30, blocked=0.2)
    assert 0.2 <= page.pace.gap <= 0.24
    assert dropped <= 8


def test_a_page_that_grows_quicker_is_followed_in_time() -> None:
    page = SlowPage()
    page.played(30, blocked=0.2)
    page.played(300, blocked=0.1)
    assert page.pace.gap < 0.17


def test_a_key_that_is_taken_after_a_long_pause_says_nothing_of_the_pace() -> None:
    pace = KeyPace()
    pace.press(100.0)
    pace.note(taken=True, first=True)
    pace.press(100.02)  # at the end of a game: no key is taken any more
    pace.note(taken=False, first=True)
    pace.press(109.0)  # a new game
    pace.note(taken=True, first=True)
    assert pace.gap == pytest.approx(0.02 * (1 + KeyPace.NEAR) + KeyPace.NEAR_S)
