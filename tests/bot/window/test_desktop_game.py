from __future__ import annotations

from bot.window.desktop_game import DesktopGame
from game2048.board import Board
from game2048.direction import DIRECTIONS, Direction
from game2048.size import Size
from game2048.spawn import Spawner


def board_of(game: DesktopGame, text: str) -> None:
    game.board = Board.from_text(text)


def test_a_game_begins_with_the_two_tiles_of_its_seed() -> None:
    game = DesktopGame(Size(4, 4), seed=3)
    assert game.board == Spawner(3).start(4, 4)
    assert (game.score, game.moves, game.number) == (0, 0, 0)


def test_a_move_slides_scores_and_spawns() -> None:
    game = DesktopGame(Size(2, 2), seed=1)
    board_of(game, "2 2 / 4 4")
    turn = game.move(Direction.LEFT, by_engine=True)
    assert turn is not None
    assert turn.afterstate == Board.from_text("4 0 / 8 0")
    assert (turn.reward, game.score, game.moves) == (12, 12, 1)
    assert turn.spawned_cell in (1, 3)
    assert sum(exponent > 0 for exponent in game.board.cells) == 3
    assert turn.by_engine


def test_a_direction_that_moves_nothing_is_no_turn() -> None:
    game = DesktopGame(Size(2, 2), seed=1)
    board_of(game, "2 4 / 4 2")
    assert [game.move(direction, by_engine=False) for direction in DIRECTIONS] == [None] * 4
    assert (game.moves, game.score) == (0, 0)


def test_undo_takes_back_board_and_score_down_to_the_start() -> None:
    game = DesktopGame(Size(3, 3), seed=5)
    start = game.board
    states = []
    while game.moves < 6:
        states.append((game.board, game.score))
        game.move(next(iter(game.board.legal_directions())), by_engine=False)
    for state in reversed(states):
        assert game.undo()
        assert (game.board, game.score) == state
    assert not game.undo()
    assert game.board == start
    assert game.undos == 6


def test_the_next_game_has_spawns_of_its_own() -> None:
    game = DesktopGame(Size(4, 4), seed=3)
    game.move(game.board.legal_directions()[0], by_engine=False)
    game.restart()
    assert game.board == Spawner(3, game=1).start(4, 4)
    assert (game.score, game.moves, game.number) == (0, 0, 1)
