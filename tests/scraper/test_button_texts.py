"""What buttons, messages and questions of pages mean."""

from __future__ import annotations

import pytest

from scraper.detection.button_texts import lets_game_continue
from scraper.detection.obstacles import status_said
from scraper.page import Status


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
def test_a_question_is_about_continuing_or_a_new_game(question: str, yes: bool) -> None:
    assert lets_game_continue(question) is yes


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("You win!", Status.WON),
        ("YOU WIN", Status.WON),
        ("You WinPlay again", Status.WON),
        ("You've won", Status.WON),
        ("Well done", Status.WON),
        ("WELL DONE!Again", Status.WON),
        ("Congratulations! 4096 points", Status.WON),
        ("Congrats", Status.WON),
        ("You made it!", Status.WON),
        ("You reached 2048", Status.WON),
        ("¡Has ganado!", Status.WON),
        ("Félicitations", Status.WON),
        ("Glückwunsch", Status.WON),
        ("Вы выиграли", Status.WON),
        ("恭喜你", Status.WON),
        ("You win! Game over.", Status.WON),
        ("Game Over", Status.OVER),
        ("Game OverTry again", Status.OVER),
        ("GAME OVERSCORE 512", Status.OVER),
        ("You lose", Status.OVER),
        ("You've lostNew game", Status.OVER),
        ("No more moves!", Status.OVER),
        ("Игра окончена", Status.OVER),
        ("游戏结束", Status.OVER),
        ("You wonder how", Status.PLAYING),
        ("Score 512 Best 4096 New Game", Status.PLAYING),
        ("Join the tiles, get to 2048!", Status.PLAYING),
        ("", Status.PLAYING),
    ],
)
def test_messages_say_how_the_game_stands(text: str, status: Status) -> None:
    assert status_said(text) is status
