"""How long keys are held on pages that look at them now and then."""

from __future__ import annotations

import pytest

from scraper.input.hold import KeyHold


def played(hold: KeyHold, moves: int, *, frames: int = 0, ms: float = 0) -> list[int]:
    """Press keys until the page has moved so often; return after which moves a key was ignored."""
    ignored = []
    move = 0
    while move < moves:
        seen = hold.frames >= frames and hold.ms >= ms
        hold.note(taken=seen)
        move += seen
        if not seen:
            ignored.append(move)
    return ignored


@pytest.mark.parametrize("frames", [3, 6, 11, 30])
def test_the_least_number_of_frames_is_learned(frames: int) -> None:
    hold = KeyHold()
    first = played(hold, 60, frames=frames)
    assert first[:1] == [0]  # the first hold is too short
    assert len(first) <= 7
    assert frames <= hold.frames <= 1.5 * frames + 1
    assert len(played(hold, 60, frames=frames)) <= 2  # now and then a shorter one is tried


@pytest.mark.parametrize("ms", [70, 150, 400])
def test_so_is_the_time_of_pages_that_look_by_a_timer(ms: float) -> None:
    hold = KeyHold()
    played(hold, 60, ms=ms)
    assert ms <= hold.ms <= 1.5 * ms


def test_pages_that_look_in_every_frame_soon_get_short_holds() -> None:
    hold = KeyHold()
    assert played(hold, 40, frames=2) == []
    assert hold.frames == 2
    assert hold.ms < 10


def test_a_key_that_is_ignored_after_holds_that_worked_has_another_reason() -> None:
    hold = KeyHold()
    played(hold, 4)
    before = hold.ms
    assert hold.is_reliable
    hold.note(taken=False)
    assert hold.ms == before
    hold.note(taken=False)  # ignored again: perhaps it was the hold after all
    assert hold.ms == 2 * before


def test_a_hold_has_an_end() -> None:
    hold = KeyHold()
    for _ in range(20):
        hold.note(taken=False)
    assert hold.ms == KeyHold.MS * KeyHold.MOST
