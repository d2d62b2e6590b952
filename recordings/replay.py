"""Replaying a record by the rules: the first ply that breaks them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING

from game2048.board import Board, Slide
from game2048.direction import Direction
from game2048.errors import RulesError
from recordings.record import WINNING_TILE, GameRecord

if TYPE_CHECKING:  # loads NumPy
    from recordings.game_arrays import GameArrays


@dataclass(frozen=True, slots=True)
class Fault:
    """The first thing in a record that the rules do not allow.

    Attributes:
        ply: the number of the move at fault, 1 for the first; ``None`` when the totals are.
        message: what was expected and what was found.
    """

    ply: int | None
    message: str

    def __str__(self) -> str:
        return self.message if self.ply is None else f"ply {self.ply}: {self.message}"


def verify(game: GameRecord | GameArrays) -> Fault | None:
    """Replay a game by the rules; arrays are checked at the speed of a kernel.

    Every ply must be a legal move, and be followed by its slide plus one spawned 2 or 4 and by the score plus
    its merge reward. Scores are checked from the first one recorded, since a page may continue an old
    game. After the last move of an ``interrupted`` game the spawn may be missing. The totals must agree
    with the moves, and a ``game_over`` board must have no legal move.

    Returns:
        The first fault, or ``None``.
    """
    if isinstance(game, GameRecord):
        return _fault_in_moves(game) or _fault_in_totals(game)
    if _is_sound(game):
        return None
    from recordings.game_arrays import record_of  # loads NumPy

    return verify(record_of(game))


def _is_sound(game: GameArrays) -> bool:
    import numpy as np

    from game2048.kernels.grid import is_grid_over
    from game2048.kernels.transitions import find_facts  # loads kernels

    facts = find_facts(game.cells, game.directions)
    spawned = facts.spawn_cell >= 0
    if game.info.outcome == "interrupted" and not spawned[-1:].all():
        spawned[-1] = bool(np.array_equal(facts.after[-1], game.cells[-1]))
    return bool(
        spawned.all()
        and (facts.reward >= 0).all()
        and (np.diff(game.scores) == facts.reward).all()
        and game.info == game.with_totals().info
        and (game.info.outcome != "game_over" or is_grid_over(game.cells[-1]))
        and _is_moment(game.info.timestamp)
    )


def _is_moment(text: str) -> bool:
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _fault_in_moves(record: GameRecord) -> Fault | None:
    moves = record.moves
    board: Board | None = None
    for index in range(len(moves) + 1):
        final = index == len(moves)
        tiles = record.final_board if final else moves[index].board
        place = "the final board" if final else f"the board before ply {index + 1}"
        try:
            found = Board.from_tiles(tiles)
        except RulesError as error:
            return Fault(min(index + 1, len(moves)) or None, f"{place} is invalid: {error}")
        if board is not None:
            may_lack_spawn = final and record.outcome == "interrupted"
            score = record.final_score if final else moves[index].score
            message = _fault_in_ply(record, index - 1, board, found, score, place, may_lack_spawn)
            if message is not None:
                return Fault(index, message)
        board = found
    return None


def _fault_in_ply(
    record: GameRecord, index: int, board: Board, found: Board, score: int, place: str, may_lack_spawn: bool
) -> str | None:
    """Return what is wrong with the move of that index, from ``board`` to ``found`` and ``score``."""
    move = record.moves[index]
    slide = board.slide(Direction(move.direction))
    done = f"{move.direction} on '{board}'"
    if not slide.moved:
        return f"{done} is illegal: it changes nothing"
    if not (is_spawned(slide, found) or (may_lack_spawn and found == slide.afterstate)):
        return f"{done} expects '{slide.afterstate}' and one spawned 2 or 4 more, but {place} is '{found}'"
    if score != move.score + slide.reward:
        where = "the final score" if index + 1 == len(record.moves) else f"the score before ply {index + 2}"
        return (
            f"{done} expects the score {move.score} + {slide.reward} = {move.score + slide.reward}, "
            f"but {where} is {score}"
        )
    return None


def is_spawned(slide: Slide, board: Board) -> bool:
    """Whether ``board`` is the afterstate of a slide with exactly one 2 or 4 in an empty cell more."""
    after = slide.afterstate
    if (after.rows, after.columns) != (board.rows, board.columns):
        return False
    changed = [pair for pair in zip(after.cells, board.cells, strict=True) if pair[0] != pair[1]]
    return changed in ([(0, 1)], [(0, 2)])


def _fault_in_totals(record: GameRecord) -> Fault | None:
    final = Board.from_tiles(record.final_board)
    checks = (
        ("totalMoves", record.total_moves, len(record.moves)),
        ("maxTile", record.max_tile, final.max_tile),
        ("won", record.won, final.max_tile >= WINNING_TILE),
    )
    for name, found, expected in checks:
        if found != expected:
            return Fault(None, f"{name} is {found}; expected {expected} by the moves and the final board")
    if record.outcome == "game_over" and not final.is_over:
        legal = ", ".join(direction.value for direction in final.legal_directions())
        return Fault(
            len(record.moves) or None,
            f"the outcome is game_over, but the final board '{final}' still has legal moves: {legal}",
        )
    if not _is_moment(record.timestamp):
        return Fault(None, f"timestamp {record.timestamp[:40]!r} is not a date and time; expected ISO 8601")
    return None
