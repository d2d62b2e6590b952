"""Telling empty cells from tiles where each cell has a look of its own."""

from __future__ import annotations

import random

import numpy as np
import pytest

from game2048 import Board, Direction
from scraper.readers.canvas_appearances import CROP, Crops
from scraper.readers.canvas_grounds import grounds_of

AROUND = (Direction.LEFT, Direction.UP, Direction.RIGHT, Direction.DOWN)


def game(rows: int, columns: int, moves: int, seed: int) -> tuple[list[Board], list[Direction]]:
    """A game of moves around, from two tiles."""
    rng = random.Random(seed)
    cells = [0] * (rows * columns)
    for cell in rng.sample(range(rows * columns), 2):
        cells[cell] = 1
    boards, directions = [Board(rows, columns, bytes(cells))], list[Direction]()
    turn = 0
    while len(directions) < moves:
        direction = AROUND[turn % 4]
        turn += 1
        slide = boards[-1].slide(direction)
        if not slide.moved:
            continue
        after = bytearray(slide.afterstate.cells)
        after[rng.choice([cell for cell, tile in enumerate(after) if not tile])] = rng.choice((1, 1, 2))
        boards.append(Board(rows, columns, bytes(after)))
        directions.append(direction)
    return boards, directions


def drawn(boards: list[Board], seed: int) -> tuple[Crops, list[Crops]]:
    """A ground of its own in each cell, and pictures of the boards: a tile covers the middle of its cell."""
    rng = np.random.default_rng(seed)
    count = len(boards[0].cells)
    grounds = rng.integers(0, 255, (count, CROP, CROP, 3)).astype(np.float32)
    tiles = rng.integers(0, 255, (12, CROP, CROP, 3)).astype(np.float32)
    pictures = []
    for board in boards:
        picture = grounds.copy()
        for cell, tile in enumerate(board.cells):
            if tile:
                picture[cell, 4:12, 4:12] = tiles[tile, 4:12, 4:12]
        pictures.append(picture)
    return grounds, pictures


@pytest.mark.parametrize("size", [(4, 4), (3, 5)])
@pytest.mark.parametrize("seed", range(4))
def test_some_moves_show_the_ground_of_each_cell(size: tuple[int, int], seed: int) -> None:
    boards, directions = game(*size, moves=7, seed=seed)
    grounds, pictures = drawn(boards, seed)
    found = grounds_of(pictures, directions, *size)
    assert found is not None
    assert found.known.all()
    assert (found.pictures == grounds).all()
    for board, picture in zip(boards, pictures, strict=True):
        shown = found.tiles(picture)
        assert [bool(crop.any()) for crop in shown] == [tile > 0 for tile in board.cells]


def test_pictures_that_follow_no_rule_show_no_grounds() -> None:
    boards, directions = game(4, 4, moves=8, seed=1)
    _, pictures = drawn(boards, 1)
    against = [AROUND[(AROUND.index(direction) + 2) % 4] for direction in directions]
    assert grounds_of(pictures, against, 4, 4) is None


def test_too_few_moves_show_nothing() -> None:
    boards, directions = game(4, 4, moves=5, seed=1)
    _, pictures = drawn(boards, 1)
    assert grounds_of(pictures, directions, 4, 4) is None


def test_one_tile_looks_alike_on_all_grounds_as_far_as_it_covers_them() -> None:
    boards, directions = game(4, 4, moves=7, seed=2)
    _, pictures = drawn(boards, 2)
    found = grounds_of(pictures, directions, 4, 4)
    assert found is not None
    twos = [
        found.tiles(picture)[cell]
        for board, picture in zip(boards, pictures, strict=True)
        for cell, tile in enumerate(board.cells)
        if tile == 1
    ]
    assert len(twos) > 4
    edge = np.ones((CROP, CROP), dtype=bool)
    edge[4:12, 4:12] = False
    for two in twos:
        assert np.abs(two - twos[0])[edge].max() < 1  # nothing is left of the grounds
