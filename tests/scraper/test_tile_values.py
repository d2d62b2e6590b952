"""What is learned of tiles from what readers return: scale, powers, looks; no browser."""

from __future__ import annotations

from typing import Any

import pytest

from game2048 import Board, Direction
from scraper.eye import Sighting, SightKind
from scraper.readers import LATTICE_CLASSES, LATTICE_TEXT, POSITION_CLASSES
from scraper.readers.tile_values import PROVING_MOVES, TileValues
from scraper.reading import Ply, ReaderTraits, Reading, Status, UnreadableError


def seen(cells: list[int] | None = None, looks: str | None = None, **more: object) -> Sighting:
    names = None if looks is None else looks.split()
    count = len(names or cells or ())
    raw = {"rows": 2, "columns": count // 2, "cells": cells or [], "looks": names, **more}
    return Sighting(SightKind.SETTLED, raw, None, None, 0, "a reader")


def cells_of(values: TileValues, sighting: Sighting) -> list[int]:
    raw: Any = values.raw(sighting)
    return list(raw["cells"])


def reading(text: str, traits: ReaderTraits) -> Reading:
    return Reading(Board.from_text(text), None, None, Status.PLAYING, "a reader", traits)


@pytest.mark.parametrize(
    ("cells", "board"),
    [
        ([2, 4, 0, 8], [2, 4, 0, 8]),
        ([1, 2, 0, 4], [2, 4, 0, 8]),  # no board holds a tile of 1: all are taken twice
        ([0, 0, 0, 2], [0, 0, 0, 2]),
    ],
)
def test_numbers_that_begin_at_1_are_doubled(cells: list[int], board: list[int]) -> None:
    assert cells_of(TileValues(), seen(cells)) == board


def test_once_doubled_always_doubled() -> None:
    values = TileValues()
    values.raw(seen([1, 0, 0, 1]))
    assert values.scale == 2
    assert cells_of(values, seen([0, 2, 4, 0])) == [0, 4, 8, 0]


@pytest.mark.parametrize(
    ("first", "odd", "turns"),
    [
        ([1, 0, 0, 2], [3], True),
        ([1, 0, 0, 2], [3, 3], True),
        ([1, 0, 0, 2], [5], False),
        ([1, 0, 0, 2], [3, 5], False),
        ([1, 0, 0, 2], [], False),
        ([2, 0, 0, 4], [3], False),  # these begin at 2: a 3 is of another game
    ],
)
def test_a_3_among_tiles_that_begin_at_1_shows_powers(first: list[int], odd: list[int], turns: bool) -> None:
    values = TileValues()
    values.raw(seen(first))
    assert values.turns_to_ranks(seen([1, 2, 0, 0], odd=odd)) is turns
    assert (values.ranks, values.scale) == (turns, 1 if turns or first[0] == 2 else 2)
    assert not values.turns_to_ranks(seen([1, 2, 0, 0], odd=odd))  # once is enough


@pytest.mark.parametrize(
    ("board", "traits", "rivals", "scale", "moves"),
    [
        ("2 4 / 0 0", POSITION_CLASSES.traits, False, 1, 0),
        ("2 4 / 0 0", LATTICE_TEXT.traits, False, 1, 0),
        ("2 4 / 0 0", LATTICE_TEXT.traits, True, 1, PROVING_MOVES),
        ("2 4 / 0 0", LATTICE_CLASSES.traits, False, 1, 4),
        ("2 8 / 0 0", LATTICE_TEXT.traits, False, 2, PROVING_MOVES),
        ("2 4 / 0 0", LATTICE_TEXT.traits, False, 2, None),  # for as long as no 8 is seen
    ],
)
def test_a_board_is_believed_after_some_moves(
    board: str, traits: ReaderTraits, rivals: bool, scale: int, moves: int | None
) -> None:
    values = TileValues()
    values.rivals, values.scale = rivals, scale
    shown = reading(board, traits)
    doubted = [count for count in range(20) if values.doubts(shown, count)]
    assert doubted == list(range(20 if moves is None else moves))


def test_looks_become_tiles_by_the_moves_that_are_seen() -> None:
    values = TileValues()
    assert cells_of(values, seen(looks="fox fox - - - -")) == [2, 2, 0, 0, 0, 0]
    after = seen(looks="owl - - - fox -")
    assert values.explains(Direction.LEFT, ("owl", "-", "-", "-", "fox", "-"))
    assert values.take(after, Direction.LEFT) is True
    assert cells_of(values, after) == [4, 0, 0, 0, 2, 0]
    assert values.labels == {"-": 0, "fox": 2, "owl": 4}


def test_nothing_is_learned_from_numbers() -> None:
    values = TileValues()
    values.raw(seen([2, 2, 0, 0]))
    assert values.take(seen([4, 0, 0, 2]), Direction.LEFT) is None
    assert values.labels == {}


def test_looks_that_are_found_in_the_middle_of_a_game_have_the_values_of_its_tiles() -> None:
    ply = Ply.of(Board.from_text("16 16 8 / 0 0 4"), Direction.LEFT)  # 32 8 0 / 4 0 0
    values = TileValues()
    values.forget(ply)
    assert cells_of(values, seen(looks="ant bee - cow - fox")) == [32, 8, 0, 4, 0, 2]
    values.forget(ply)
    assert cells_of(values, seen(looks="gnu gnu bee - - cow")) == [16, 16, 8, 0, 0, 4]  # nothing moved
    values.forget(ply)
    with pytest.raises(UnreadableError, match="do not follow from left on 16 16 8"):
        values.raw(seen(looks="ant ant ant cow - fox"))
    values.forget(ply)
    with pytest.raises(UnreadableError, match="looks of 2×4 cells do not follow"):
        values.raw(seen(looks="ant bee - - cow - fox -"))


def test_looks_with_known_numbers_need_no_moves() -> None:
    values = TileValues()
    first = seen(looks="fox owl - - - -", numbers={"fox": 4, "owl": 2})
    assert cells_of(values, first) == [4, 2, 0, 0, 0, 0]
    assert not values.doubts(reading("4 2 0 / 0 0 0", ReaderTraits()), 0)
    # The rules go on from there: two owls make a fox, two foxes make something new.
    after = seen(looks="fox - - owl owl -")
    assert values.take(seen(looks="fox owl - owl - -"), Direction.LEFT) is False
    assert cells_of(values, after) == [4, 0, 0, 2, 2, 0]
    assert values.take(seen(looks="fox - owl fox - -"), Direction.LEFT) is True
    assert cells_of(values, seen(looks="fox - owl fox - -")) == [4, 0, 2, 4, 0, 0]


def test_a_number_is_right_where_the_rules_guessed_another_value() -> None:
    values = TileValues()
    assert cells_of(values, seen(looks="fox fox - - - -")) == [2, 2, 0, 0, 0, 0]  # guessed
    assert cells_of(values, seen(looks="fox fox - - - -", numbers={"fox": 4})) == [4, 4, 0, 0, 0, 0]


@pytest.mark.parametrize("other", [1, 3, 6])
def test_numbers_that_are_not_powers_of_two_say_nothing_about_values(other: int) -> None:
    values = TileValues()
    numbers = {"fox": 2, "owl": other}
    assert cells_of(values, seen(looks="fox owl owl - - -", numbers=numbers)) == [4, 2, 2, 0, 0, 0]
    assert values.doubts(reading("4 2 2 / 0 0 0", ReaderTraits()), 0)


def test_looks_that_may_be_one_or_another_are_neither_learned_nor_read() -> None:
    values = TileValues()
    values.raw(seen(looks="fox - - fox - -"))
    unsure = seen(looks="fox fox - owl - -", unsure=True)
    assert values.take(unsure, Direction.LEFT) is None
    with pytest.raises(UnreadableError, match="nearly as much like"):
        values.raw(unsure)
