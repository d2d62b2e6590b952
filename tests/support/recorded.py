"""Games for the tests of `recordings`: one worked out by hand, and random ones by the rules."""

from __future__ import annotations

import random

from game2048 import Board, Direction
from recordings import GameRecord, Move, build_record, new_info

# 2×2, by hand: board before each move, the move, score before it.
WORKED_MOVES = [
    ("2 0 / 2 0", "up", 0),  # 4 made; 2 spawns
    ("4 0 / 0 2", "left", 4),  # 2 spawns
    ("4 2 / 2 0", "down", 4),  # 4 spawns
    ("4 4 / 2 2", "right", 4),  # 8 and 4 made; 2 spawns
    ("2 8 / 0 4", "left", 16),  # 2 spawns
]
WORKED_FINAL = "2 8 / 4 2"
WORKED_SCORE = 16
TIMESTAMP = "2025-03-01T12:00:00+00:00"


def worked_moves() -> list[Move]:
    return [Move.of(Board.from_text(text), Direction(name), score) for text, name, score in WORKED_MOVES]


def worked_game() -> GameRecord:
    return build_record(
        worked_moves(),
        Board.from_text(WORKED_FINAL),
        WORKED_SCORE,
        new_info(source="self-play", solver="hand", outcome="game_over", seed=7, timestamp=TIMESTAMP),
    )


def spawned(board: Board, draw: random.Random) -> Board:
    return board.with_tile(draw.choice(board.empty_cells()), 1 if draw.random() < 0.9 else 2)


def random_plies(
    rows: int, columns: int, seed: int, max_moves: int = 10_000
) -> list[tuple[Board, Direction, int]]:
    """A game of random legal moves: board, move, score; the last is the final board, its move unused."""
    draw = random.Random(seed)
    board = spawned(spawned(Board(rows, columns), draw), draw)
    score = 0
    plies: list[tuple[Board, Direction, int]] = []
    while len(plies) < max_moves and (legal := board.legal_directions()):
        direction = draw.choice(legal)
        plies.append((board, direction, score))
        slide = board.slide(direction)
        score += slide.reward
        board = spawned(slide.afterstate, draw)
    return [*plies, (board, Direction.UP, score)]


def random_game(rows: int, columns: int, seed: int, max_moves: int = 10_000) -> GameRecord:
    *plies, (final, _, score) = random_plies(rows, columns, seed, max_moves)
    return build_record(
        [Move.of(*ply) for ply in plies],
        final,
        score,
        new_info(
            source="self-play",
            solver="random",
            outcome="game_over" if final.is_over else "stopped",
            seed=seed,
            timestamp=TIMESTAMP,
        ),
    )
