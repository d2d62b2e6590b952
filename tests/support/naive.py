"""The rules of 2048 written once more, slowly and differently: the oracle that kernels are held against.

Works on nested lists of face values. Tiles are pushed one cell at a time, as a person would push them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

Tiles = list[list[int]]
STEP = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}


def slide(tiles: Tiles, direction: str) -> tuple[Tiles, int]:
    """The board after the slide and the reward."""
    rows, columns = len(tiles), len(tiles[0])
    board = [row[:] for row in tiles]
    dr, dc = STEP[direction]
    frozen: set[tuple[int, int]] = set()  # tiles made in this move
    reward = 0
    order = [(r, c) for r in range(rows) for c in range(columns)]
    order.sort(key=lambda rc: -(rc[0] * dr + rc[1] * dc))  # nearest the wall first
    for r, c in order:
        value = board[r][c]
        if not value:
            continue
        while True:
            nr, nc = r + dr, c + dc
            if not (0 <= nr < rows and 0 <= nc < columns):
                break
            if board[nr][nc] == 0:
                board[nr][nc], board[r][c] = value, 0
                r, c = nr, nc
                continue
            if board[nr][nc] == value and (nr, nc) not in frozen:
                board[nr][nc], board[r][c] = 2 * value, 0
                frozen.add((nr, nc))
                reward += 2 * value
            break
    return board, reward


def legal(tiles: Tiles) -> list[str]:
    return [name for name in STEP if slide(tiles, name)[0] != tiles]


def spawns(tiles: Tiles) -> list[tuple[float, Tiles]]:
    """All boards a spawn can make, with probabilities."""
    empty = [(r, c) for r, row in enumerate(tiles) for c, tile in enumerate(row) if not tile]
    made = []
    for r, c in empty:
        for tile, probability in ((2, 0.9), (4, 0.1)):
            board = [row[:] for row in tiles]
            board[r][c] = tile
            made.append((probability / len(empty), board))
    return made


def perft(tiles: Tiles, plies: int) -> list[int]:
    """Distinct states after 1, 2, … moves (each a slide and a spawn) from a start."""
    level = {tuple(map(tuple, tiles))}
    counts = []
    for _ in range(plies):
        following: set[tuple[tuple[int, ...], ...]] = set()
        for state in level:
            board = [list(row) for row in state]
            for name in legal(board):
                for _, child in spawns(slide(board, name)[0]):
                    following.add(tuple(map(tuple, child)))
        level = following
        counts.append(len(level))
    return counts


def value_after(
    tiles: Tiles,
    plies: int,
    evaluate: Callable[[Tiles], float],
    *,
    reward_weight: float = 1.0,
    dead: float = 0.0,
) -> float:
    """Plain expectimax on a board on which a spawn is due, so many further plies deep."""
    if plies == 0:
        return evaluate(tiles)
    total = 0.0
    for probability, state in spawns(tiles):
        if plies == 1:
            total += probability * evaluate(state)
            continue
        moves = [slide(state, name) for name in legal(state)]
        options = [
            reward_weight * reward
            + value_after(after, plies - 2, evaluate, reward_weight=reward_weight, dead=dead)
            for after, reward in moves
        ]
        total += probability * max(options, default=dead)
    return total


def best_expected_score(tiles: Tiles, cache: dict[tuple[tuple[int, ...], ...], float] | None = None) -> float:
    """The exact expected further score under perfect play; for tiny boards only."""
    cache = {} if cache is None else cache
    key = tuple(map(tuple, tiles))
    if key in cache:
        return cache[key]
    best = 0.0
    for name in legal(tiles):
        after, reward = slide(tiles, name)
        value = reward + sum(p * best_expected_score(child, cache) for p, child in spawns(after))
        best = max(best, value)
    cache[key] = best
    return best


def reachable_count(tiles: Tiles, limit: int = 1_000_000) -> int:
    """How many states can be reached from a start; bounded."""
    seen = {tuple(map(tuple, tiles))}
    queue = deque(seen)
    while queue and len(seen) < limit:
        board = [list(row) for row in queue.popleft()]
        for name in legal(board):
            for _, child in spawns(slide(board, name)[0]):
                key = tuple(map(tuple, child))
                if key not in seen:
                    seen.add(key)
                    queue.append(key)
    return len(seen)
