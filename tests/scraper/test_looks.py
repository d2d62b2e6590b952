"""Values learned by the rules: no browser, only what a player sees."""

from __future__ import annotations

import random

import pytest

from game2048 import Board, Direction
from game2048.errors import PageError
from game2048.spawn import Spawner
from scraper.moves.rule_variants import (
    CHAIN,
    FAR_END,
    GAPS,
    IDLE_SPAWN,
    NO_SPAWN,
    ONE_A_LINE,
    TO_THE_END,
    TO_THE_END_FAR,
    TWO_SPAWNS,
    Deviation,
    PageRules,
    spawning,
)
from scraper.page import Ply
from scraper.readers.appearances import LookBook, Looks

NAMES = ["-", "fox", "owl", "elk", "bat", "cat", "dog", "emu", "gnu", "hen", "ibis", "jay", "kea", "lynx"]


def looks_of(board: Board) -> Looks:
    return tuple(NAMES[exponent] for exponent in board.cells)


@pytest.mark.parametrize("seed", range(8))
def test_the_rules_label_the_pictures(seed: int) -> None:
    rng = random.Random(seed)
    spawner = Spawner(seed)
    board = spawner.spawn(spawner.spawn(Board()))
    book = LookBook(4, 4, looks_of(board))
    certain_for = 0
    while not board.is_over:
        direction = rng.choice(board.legal_directions())
        after = spawner.spawn(board.slide(direction).afterstate)
        assert book.observe(looks_of(board), direction, looks_of(after))
        board = after
        if book.certain:
            certain_for += 1
            assert book.board(looks_of(board)) == board
    assert certain_for > 30


def test_two_first_4s_are_found_out_once_a_2_spawns() -> None:
    first = ("owl", "-", "-", "owl")
    book = LookBook(2, 2, first)
    assert book.labels()["owl"] == 2
    assert book.observe(first, Direction.LEFT, ("owl", "fox", "owl", "-"))
    assert book.observe(("owl", "fox", "owl", "-"), Direction.UP, ("elk", "fox", "-", "fox"))
    assert book.observe(("elk", "fox", "-", "fox"), Direction.UP, ("elk", "owl", "fox", "-"))
    assert book.labels() == {"-": 0, "fox": 2, "owl": 4, "elk": 8}
    assert book.certain


@pytest.mark.parametrize(
    "after",
    [
        ("fox", "-", "fox", "-"),  # nothing merged, nothing spawned
        ("owl", "-", "-", "-"),  # nothing spawned
        ("owl", "fox", "fox", "-"),  # two spawned
        ("-", "owl", "-", "fox"),  # the other way
    ],
)
def test_what_no_move_leads_to_teaches_nothing(after: Looks) -> None:
    first = ("fox", "fox", "-", "-")
    book = LookBook(2, 2, first)
    assert not book.observe(first, Direction.LEFT, after)
    assert book.labels() == {"-": 0, "fox": 2}


def test_a_look_that_came_from_nowhere_is_told() -> None:
    with pytest.raises(PageError, match="1 tiles of unknown looks"):
        LookBook(2, 2, ("fox", "-", "-", "-")).board(("fox", "gnu", "-", "-"))


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        ("2 2 4 0", "4 4 0 2", ()),
        ("2 2 4 0", "8 2 0 0", (CHAIN,)),
        ("2 2 2 0", "2 4 0 2", (FAR_END,)),
        ("2 2 4 4", "4 4 4 2", (ONE_A_LINE,)),
        ("2 2 2 2", "8 0 0 2", (TO_THE_END,)),
        ("2 2 2 4", "2 8 0 2", (TO_THE_END_FAR,)),
        ("2 2 4 2", "4 2 4 2", (GAPS,)),
        ("2 2 4 0", "4 4 0 0", (NO_SPAWN,)),
        ("2 2 0 0", "4 2 0 2", (TWO_SPAWNS,)),
        ("2 2 0 0", "4 0 0 16", (spawning(16),)),
        ("2 2 4 0", "2 2 4 2", (IDLE_SPAWN,)),
        ("2 4 8 0", "2 4 8 8", (IDLE_SPAWN, spawning(8))),
        ("2 2 4 0", "2 2 4 0", None),
        ("2 2 0 0", "4 0 0 64", None),
        ("2 4 2 0", "2 4 4 0", None),
    ],
)
def test_deviations_from_the_rules_are_named(
    before: str, after: str, names: tuple[Deviation, ...] | None
) -> None:
    rest = " / 2 0 0 0"
    boards = [Board.from_text(text + rest) for text in (before, after)]
    assert PageRules().explain(Ply.of(boards[0], Direction.LEFT), boards[1]) == names


def test_a_deviation_once_seen_is_expected_from_then_on() -> None:
    rules = PageRules()
    board = Board.from_text("2 2 4 0 / 0 0 0 0")
    assert [after.text() for after in rules.afters(Ply.of(board, Direction.LEFT))] == ["4 4 0 0 / 0 0 0 0"]
    rules.adopt([CHAIN, NO_SPAWN])
    rules.adopt([CHAIN])
    assert rules.deviations == [CHAIN, NO_SPAWN]
    assert [after.text() for after in rules.afters(Ply.of(board, Direction.LEFT))] == [
        "4 4 0 0 / 0 0 0 0",
        "8 0 0 0 / 0 0 0 0",
    ]
    assert (rules.least, rules.most) == (0, 1)


def test_the_pages_own_slide_is_known_once_it_was_seen() -> None:
    rules = PageRules()
    board = Board.from_text("2 2 4 0 / 0 0 0 2")
    assert rules.afterstate(Ply.of(board, Direction.LEFT)).text() == "4 4 0 0 / 2 0 0 0"
    rules.adopt([TWO_SPAWNS, CHAIN])
    assert rules.afterstate(Ply.of(board, Direction.LEFT)).text() == "8 0 0 0 / 2 0 0 0"
    assert rules.afterstate(Ply.of(board, Direction.UP)).text() == "2 2 4 2 / 0 0 0 0"


@pytest.mark.parametrize(
    ("looks", "board"),
    [
        ("hen cow - / - fox -", "4 8 0 / 0 2 0"),  # a spawned look that is new is the 2 that is missing
        ("hen cow - / - hen -", "4 8 0 / 0 4 0"),
        ("hen cow - / - - -", "4 8 0 / 0 0 0"),
        ("hen hen - / - - -", None),  # two values of one look
        ("- cow - / - - -", None),  # a tile without a look
        ("hen cow fox / - fox -", None),  # two tiles more
    ],
)
def test_looks_in_the_middle_of_a_game_follow_from_the_board(looks: str, board: str | None) -> None:
    names = tuple(looks.replace("/", " ").split())
    book = LookBook.of_board(Board.from_text("4 8 0 / 0 0 0"), names)
    assert (book and book.board(names)) == (board and Board.from_text(board))


def test_a_game_goes_on_from_looks_that_were_found_in_its_middle() -> None:
    book = LookBook.of_board(Board.from_text("4 4 8 / 0 0 0"), ("hen", "hen", "cow", "-", "-", "-"))
    assert book is not None
    assert book.certain
    # To the left two 4s make the known look of the 8; two of those a new one, and an unknown look spawns.
    first, second = ("cow", "cow", "-", "-", "fox", "-"), ("pig", "-", "-", "fox", "-", "fox")
    assert book.observe(("hen", "hen", "cow", "-", "-", "-"), Direction.LEFT, first)
    assert book.observe(first, Direction.LEFT, second)
    assert book.board(second) == Board.from_text("16 0 0 / 2 0 2")


def test_a_board_under_way_does_not_tell_what_spawns() -> None:
    # An a and a c lie there; then as spawn alone, and two of them make a b, two bs the c: so the a is the 2.
    book = LookBook(2, 2, ("a", "-", "c", "-"), moved=True)
    assert book.observe(("a", "-", "c", "-"), Direction.RIGHT, ("a", "a", "-", "c"))
    assert not book.certain
    assert not book.tells(("a", "c"))
    assert book.observe(("a", "a", "-", "c"), Direction.RIGHT, ("-", "b", "a", "c"))
    assert book.observe(("-", "b", "a", "c"), Direction.UP, ("a", "b", "a", "c"))
    assert book.observe(("b", "b", "a", "-"), Direction.LEFT, ("c", "-", "a", "a"))
    assert book.certain
    assert book.tells(("a", "b", "c", "-"))
    assert [book.values()[look] for look in "abc"] == [1, 2, 3]


def test_a_look_that_a_rule_of_the_page_has_made_is_worth_what_that_says() -> None:
    book = LookBook(2, 2, ("a", "-", "-", "a"))
    assert book.observe(("a", "-", "-", "a"), Direction.LEFT, ("a", "a", "a", "-"))
    assert book.observe(("a", "a", "a", "-"), Direction.LEFT, ("b", "-", "a", "a"))
    assert book.certain
    book.know("d", 4)
    assert [book.values()[look] for look in "abd"] == [1, 2, 4]
    assert book.board(("d", "a", "b", "-")) == Board.from_tiles([[16, 2], [4, 0]])
