"""Games for the tests of datasets: all that makes one hard to convert."""

from __future__ import annotations

import dataclasses
import random

import numpy as np

from game2048 import Board, Direction
from game2048.spawn import Spawner
from recordings.game_arrays import GameArrays, arrays_of
from recordings.record import Move, build_record, new_info

TIMESTAMP = "2025-03-01T12:00:00+00:00"


def played(rows: int, columns: int, seed: int, game: int = 0, max_moves: int = 10_000) -> GameArrays:
    """A game of random legal moves, as self-play records it."""
    draw = random.Random(seed * 1000 + game)
    spawner = Spawner(seed, game)
    board = spawner.start(rows, columns)
    moves: list[Move] = []
    score = 0
    while len(moves) < max_moves and (legal := board.legal_directions()):
        direction = draw.choice(legal)
        moves.append(Move.of(board, direction, score))
        slide = board.slide(direction)
        score += slide.reward
        board = spawner.spawn(slide.afterstate)
    record = build_record(
        moves,
        board,
        score,
        new_info(
            source="self-play",
            solver="random",
            outcome="game_over" if board.is_over else "stopped",
            seed=seed,
            timestamp=TIMESTAMP,
        ),
    )
    return arrays_of(record).with_info(game_number=game, depth=1)


def with_search(game: GameArrays, seed: int = 0) -> GameArrays:
    """The game with what an engine might have known, in part."""
    draw = np.random.default_rng(seed)
    values = draw.normal(size=(game.plies, 4)) * 1e6
    for ply in range(game.plies):
        board = Board(*game.size, game.cells[ply].tobytes())
        legal = {direction.index for direction in board.legal_directions()}
        values[ply, [d for d in range(4) if d not in legal]] = np.nan
    values[1] = np.nan
    nodes = draw.integers(0, 1 << 40, game.plies)
    nodes[2] = -1
    return dataclasses.replace(
        game, values=values, nodes=nodes, depths=np.full(game.plies, 3, dtype=np.int16)
    )


def late_game() -> GameArrays:
    """Three moves around 32768, 65536 and 131072, by hand."""
    boards = [
        "32768 32768 65536 2 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0",  # left: 65536
        "65536 65536 2 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2",  # left: 131072
        "131072 2 0 0 / 0 0 0 0 / 0 0 0 0 / 2 4 0 0",  # up: nothing merges
        "131072 2 0 0 / 2 4 0 0 / 0 0 0 0 / 0 0 4 0",
    ]
    scores = [3_000_000, 3_065_536, 3_196_608, 3_196_608]
    names = [Direction.LEFT, Direction.LEFT, Direction.UP]
    cells = np.stack(
        [np.frombuffer(Board.from_text(text).cells, dtype=np.uint8).reshape(4, 4) for text in boards]
    )
    return GameArrays(
        new_info(source="https://example.org/?a=1,2", solver="hand", outcome="stopped", timestamp=TIMESTAMP),
        cells,
        np.array([name.index for name in names], dtype=np.uint8),
        np.array(scores, dtype=np.int64),
    ).with_totals()


def moveless(game: GameArrays) -> GameArrays:
    """A game that was stopped before its first move."""
    return (
        dataclasses.replace(
            game, cells=game.cells[:1], directions=game.directions[:0], scores=game.scores[:1]
        )
        .with_totals()
        .with_info(outcome="stopped")
    )


def hard_games() -> list[GameArrays]:
    """All sizes mixed, tiles past the nibbles, searches in part, odd texts, missing fields, no moves."""
    first = played(4, 4, 1)
    odd = 'a "quoted",\nbroken line; ünïcödé ✓'
    return [
        first,
        late_game(),
        played(5, 5, 2, max_moves=300),
        with_search(played(4, 4, 3)),
        moveless(played(4, 4, 4)),
        played(2, 7, 5),
        first.with_info(source=odd, solver=None, outcome=None, seed=2**64 - 1, id="x" * 40),
        first.with_info(seed=None, game_number=None, depth=None, weights="0" * 64, symmetry=7),
        first.with_info(rules=["spawns 1, 2", 'the "third" is odd'], source=None),
        with_search(played(3, 3, 6)),
    ]
