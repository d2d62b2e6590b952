"""Which questions of a page are answered with yes during a game."""

from __future__ import annotations

import pytest

from scraper.detection.button_texts import lets_game_continue


@pytest.mark.parametrize(
    ("question", "yes"),
    [
        ("You win! Keep playing?", True),
        ("2048! Do you want to continue?", True),
        ("Glückwunsch! Weiter spielen?", True),
        ("你赢了，继续吗？", True),
        ("Game over. Play again?", False),
        ("You won! Continue with a new game?", False),
        ("Restart?", False),
        ("Are you sure?", False),
    ],
)
def test_a_question_is_about_going_on_or_beginning_anew(question: str, yes: bool) -> None:
    assert lets_game_continue(question) is yes
