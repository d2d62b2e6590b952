"""What a move came to, where the page showed another board at the key than the move was chosen for."""

from __future__ import annotations

from game2048 import Board, Direction
from scraper.detection.page_script import Answer
from scraper.moves.explain import Judge
from scraper.page import Reading, Slid, Status, Unexplained
from scraper.readers.tile_values import Learner

BEFORE = "2 0 0 0 / 4 0 0 0 / 0 0 0 0 / 0 0 0 2"
LEFT = "2 0 0 0 / 4 0 0 0 / 0 2 0 0 / 2 0 0 0"
"""The slide of BEFORE to the left, with a 2 in the third row."""


def read(text: str) -> Reading:
    return Reading(Board.from_text(text), 0, None, Status.PLAYING, "lattice-text")


def judged(judge: Judge, at_key: str, after: str) -> Slid | Unexplained:
    faces = [face for row in Board.from_text(at_key).tiles() for face in row]
    answer = Answer("other", None, None, faces, 1, "lattice-text")
    outcome = judge.other(answer, read(after), read(BEFORE), Direction.LEFT)
    assert isinstance(outcome, Slid | Unexplained)
    return outcome


def test_a_tile_that_still_grew_at_the_key_does_not_belie_the_slide() -> None:
    judge = Judge(Learner())
    outcome = judged(judge, "2 0 0 0 / 4 0 0 0 / 0 0 0 0 / 0 0 0 0", LEFT)
    assert outcome == Slid(read(LEFT))
    assert judge.trust.revoked  # and from now on more patience is had


def test_a_board_that_follows_from_the_one_at_the_key_shows_a_reading_believed_too_early() -> None:
    outcome = judged(
        Judge(Learner()), "2 0 0 0 / 4 0 0 0 / 0 2 0 0 / 2 0 0 0", "2 0 0 0 / 4 4 0 0 / 2 0 0 0 / 2 0 0 0"
    )
    assert isinstance(outcome, Unexplained)
    assert outcome.at_key == Board.from_text(LEFT)
