"""What comes out of a page is believed only after checks; no browser needed."""

from __future__ import annotations

import math

import pytest

from game2048 import Board, Direction
from game2048.errors import PageError
from scraper.moves.outcome import is_slide_with_spawn
from scraper.moves.trust import Trust
from scraper.page import Ply, Status
from scraper.readers import POSITION_CLASSES

TWO_TILES = [2, 0, 0, 0] + [0] * 8 + [0, 0, 0, 4]


def raw(**changes: object) -> dict[str, object]:
    return {
        "rows": 4,
        "columns": 4,
        "cells": TWO_TILES,
        "sure": True,
        "score": "12",
        "best": None,
        "won": False,
        "over": False,
        **changes,
    }


def test_a_sound_reading_becomes_a_board_with_score_and_status() -> None:
    reading = POSITION_CLASSES.reading(raw())
    assert reading.board == Board.from_text("2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 4")
    assert (reading.score, reading.best, reading.status) == (12, None, Status.PLAYING)
    assert reading.reader == "position-classes"


def test_boards_of_other_sizes_are_read_row_by_row() -> None:
    reading = POSITION_CLASSES.reading(raw(rows=2, columns=3, cells=[2, 4, 8, 0, 0, 16]))
    assert reading.board.tiles() == [[2, 4, 8], [0, 0, 16]]


@pytest.mark.parametrize(
    "changes",
    [
        {"rows": 9, "cells": [0] * 36},
        {"rows": 1, "cells": [0] * 4},
        {"cells": [0] * 15},
        {"cells": [0] * 65},
        {"cells": [3] + [0] * 15},
        {"cells": [-2] + [0] * 15},
        {"cells": [2**18] + [0] * 15},
        {"cells": [math.nan] + [0] * 15},
        {"cells": ["2"] + [0] * 15},
        {"cells": None},
        {"score": "1" * 33},
        {"score": "12; drop"},
        {"won": "yes"},
    ],
    ids=lambda changes: f"{next(iter(changes))}={next(iter(changes.values()))!s:.12}",
)
def test_what_is_no_board_is_refused_with_the_reason(changes: dict[str, object]) -> None:
    with pytest.raises(PageError, match=r"position-classes saw something that is not a board of 2048: .+"):
        POSITION_CLASSES.reading(raw(**changes))


@pytest.mark.parametrize("nonsense", [None, [], "board", 7])
def test_an_answer_of_another_shape_is_refused(nonsense: object) -> None:
    with pytest.raises(PageError):
        POSITION_CLASSES.reading(nonsense)


def test_a_number_too_large_for_a_score_is_no_score() -> None:
    assert POSITION_CLASSES.reading(raw(score="9" * 30)).score is None


def test_the_dead_board_decides_whatever_the_messages_say() -> None:
    dead = [2, 4, 2, 4, 4, 2, 4, 2] * 2
    assert POSITION_CLASSES.reading(raw(cells=dead)).status is Status.OVER
    assert POSITION_CLASSES.reading(raw(cells=dead, won=True)).status is Status.OVER
    assert POSITION_CLASSES.reading(raw(won=True, over=True)).status is Status.WON
    assert POSITION_CLASSES.reading(raw(over=True)).status is Status.OVER


@pytest.mark.parametrize(
    ("after", "explained"),
    [
        ("4 0 0 2", True),
        ("4 0 0 4", True),
        ("4 0 0 8", False),
        ("4 0 0 0", False),
        ("4 0 2 2", False),
        ("8 0 0 2", False),
        ("2 2 0 2", False),
    ],
)
def test_a_slide_is_explained_by_exactly_one_spawned_2_or_4(after: str, explained: bool) -> None:
    before = Board.from_text("2 0 2 0 / 0 0 0 0")
    assert (
        is_slide_with_spawn(Ply.of(before, Direction.LEFT), Board.from_text(f"{after} / 0 0 0 0"))
        is explained
    )


def test_nothing_explains_an_illegal_direction_or_another_size() -> None:
    board = Board.from_text("2 0 / 2 0")
    assert not is_slide_with_spawn(Ply.of(board, Direction.LEFT), Board.from_text("2 2 / 2 0"))
    assert not is_slide_with_spawn(Ply.of(board, Direction.UP), Board.from_text("4 2 0 / 0 0 0"))


def test_trust_is_earned_by_moves_with_merges_among_them() -> None:
    board = Board.from_text("2 4 / 0 0")
    trust = Trust()
    for _ in range(20):
        trust.note(board, board, merged=False)
    assert not trust.earned
    for _ in range(3):
        assert not trust.earned
        trust.note(board, board, merged=True)
    assert trust.earned


def test_trust_once_lost_does_not_come_back() -> None:
    board, other = Board.from_text("2 4 / 0 0"), Board.from_text("2 4 / 2 0")
    trust = Trust()
    for _ in range(8):
        trust.note(board, board, merged=True)
    assert trust.earned
    trust.note(other, board, merged=True)
    for _ in range(20):
        trust.note(board, board, merged=True)
    assert not trust.earned


def test_a_move_without_a_board_to_believe_early_earns_nothing() -> None:
    trust = Trust()
    for _ in range(20):
        trust.note(None, Board.from_text("2 4 / 0 0"), merged=True)
    assert trust.moves == 0
