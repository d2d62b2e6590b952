"""Which moves are chosen where a page's lines merge by rules of its own."""

from __future__ import annotations

from bot.variant_search import PROVING_SPAWNS, SPAWNS, SpawnedTiles, ranked_directions
from game2048 import Board, Direction
from game2048.wire.messages import DecisionMessage, GameOver
from scraper.moves.rule_variants import CHAIN, PageRules
from scraper.page import Ply


class Standard:
    """A page that follows the rules."""

    def afterstate(self, ply: Ply) -> Board:
        return ply.slide.afterstate


def chaining() -> PageRules:
    rules = PageRules()
    rules.adopt([CHAIN])
    return rules


def decision(values: dict[str, float], best: str) -> DecisionMessage:
    return DecisionMessage(1, best, values, 1, 1, 0.1, "script")  # type: ignore[arg-type]


async def test_by_the_rules_the_solvers_order_stands() -> None:
    asked = []

    async def solver(board: Board) -> DecisionMessage | GameOver:
        asked.append(board)
        return decision({"up": 1.0, "right": 3.0, "down": 3.0, "left": 2.0}, "down")

    board = Board.from_text("0 0 0/0 2 0/0 0 0")
    order, _ = await ranked_directions(solver, Standard(), board, board.slides())
    assert order == [Direction.DOWN, Direction.RIGHT, Direction.LEFT, Direction.UP]
    assert asked == [board]


async def test_a_dead_board_has_no_directions() -> None:
    async def solver(board: Board) -> DecisionMessage | GameOver:
        return GameOver(1)

    dead = Board.from_text("2 4/4 2")
    assert await ranked_directions(solver, Standard(), dead, dead.slides()) == ([], None)


async def test_where_the_page_merges_further_its_own_afterstates_are_judged() -> None:
    asked = []

    async def by_emptiness(board: Board) -> DecisionMessage | GameOver:
        asked.append(board)
        return decision({"left": float(len(board.empty_cells()))}, "left")

    # To the left 2 2 4 is an 8 on this page: 4 + 8 points, and 7 empty cells after the spawn. Down, no merge.
    board = Board.from_text("2 2 4/0 0 0/0 0 0")
    order, _ = await ranked_directions(by_emptiness, chaining(), board, board.slides())
    assert set(order) == {Direction.LEFT, Direction.RIGHT, Direction.DOWN}
    assert order[0] in (Direction.LEFT, Direction.RIGHT)
    assert order[-1] is Direction.DOWN
    assert len(asked) == 3 * SPAWNS
    assert board not in asked
    assert Board.from_text("8 2 0/0 0 0/0 0 0") in asked


async def test_the_pages_own_rewards_count() -> None:
    async def solver(board: Board) -> DecisionMessage | GameOver:
        return decision({"left": 100.0}, "left")

    # Left 2 2 4 makes 8: 4 + 8 points. Right it makes 4 4, since 2 2 meet after the 4: 4 points. Down: none.
    board = Board.from_text("2 2 4/8 16 32/64 128 0")
    order, _ = await ranked_directions(solver, chaining(), board, board.slides())
    assert order == [Direction.LEFT, Direction.RIGHT, Direction.DOWN]


def noted(spawned: SpawnedTiles, tile: int, times: int) -> None:
    empty = Board(2, 2)
    for _ in range(times):
        spawned.note(empty, empty.with_tile(0, tile.bit_length() - 1))


def test_where_8_is_the_least_that_spawns_the_solver_is_shown_it_as_2() -> None:
    spawned = SpawnedTiles()
    board = Board.from_text("8 16/0 64")
    noted(spawned, 16, 1)
    noted(spawned, 8, PROVING_SPAWNS - 2)
    assert spawned.as_if_of_2(board) == board  # too few to tell
    noted(spawned, 8, 1)
    assert spawned.as_if_of_2(board) == Board.from_text("2 4/0 16")
    assert spawned.as_if_of_2(Board.from_text("8 2/0 64")) == Board.from_text("8 2/0 64")
    noted(spawned, 2, 1)
    assert spawned.as_if_of_2(board) == board
