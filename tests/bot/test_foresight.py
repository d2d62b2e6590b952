"""The player thinks about a board that the page foretells before it is confirmed; wrong ones do no harm."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from bot import foresight
from bot.player import GamePlayer
from bot.progress import Goal
from bot.variant_search import PROVING_SPAWNS
from game2048 import Board, Direction
from game2048.errors import SolverError
from game2048.spawn import Spawner
from game2048.wire.messages import DecisionMessage, GameOver
from recordings.journal import GameJournal
from recordings.replay import verify
from scraper.page import Cause, Deviation, MoveOutcome, Ply, Reading, Slid, Status, Unexplained

START = Board.from_text("2 4 8 16 / 2 4 8 16 / 0 0 0 0 / 0 0 0 0")
FOURS = Board.from_text("4 8 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
ELSEWHERE = Board.from_text("2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
Foretell = Callable[[Board], Board | None]


@pytest.fixture(autouse=True)
def engine_counts_as_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foresight, "WORTH_S", 0.0)


class ForetellingPage:
    """A page by the rules that may tell a board, right or wrong, before it answers a move."""

    url = "script:"
    rules: tuple[Deviation, ...] = ()

    def __init__(self, foretell: Foretell) -> None:
        self.log: list[tuple[str, Board]] = []
        self.told: list[bool] = []
        self._foretell = foretell
        self._spawner = Spawner(5)
        self._note: Callable[[Board], None] | None = None

    def foresee(self, note: Callable[[Board], None] | None) -> None:
        self._note = note
        self.told.append(note is not None)

    def afterstate(self, ply: Ply) -> Board:
        return ply.slide.afterstate

    async def move(self, before: Reading, direction: Direction) -> MoveOutcome:
        slide = before.board.slide(direction)
        board = self.spawned(slide.afterstate)
        told = self._foretell(board)
        if told is not None and self._note is not None:
            self._note(told)
        for _ in range(3):
            await asyncio.sleep(0)
        self.log.append(("confirmed", board))
        return Slid(Reading(board, None, None, Status.PLAYING, "script"))

    def spawned(self, afterstate: Board) -> Board:
        return self._spawner.spawn(afterstate)

    async def open(self, url: str) -> Reading:
        raise NotImplementedError

    async def read(self) -> Reading:
        raise NotImplementedError

    async def press(self, direction: Direction) -> None:
        raise NotImplementedError

    async def keep_going(self) -> Reading | None:
        raise NotImplementedError

    async def new_game(self, *, anew: bool = False) -> Reading:
        raise NotImplementedError


class Game:
    """A game on such a page, with an engine that notes the boards it is asked for."""

    def __init__(
        self, folder: Path, foretell: Foretell, moves: int, kind: type[ForetellingPage] = ForetellingPage
    ) -> None:
        self.page = kind(foretell)
        journal = GameJournal.create(folder, source="script:", solver="noting")
        self.player = GamePlayer(self.page, self.ask, journal, Goal(max_moves=moves))

    async def ask(self, board: Board) -> DecisionMessage | GameOver:
        self.page.log.append(("asked", board))
        legal = board.legal_directions()
        return DecisionMessage(1, legal[0].value, {legal[0].value: 0.0}, 1, 1, 0.1, "noting")

    @property
    def asked(self) -> list[Board]:
        return [board for what, board in self.page.log if what == "asked"]

    async def play(self) -> list[Board]:
        first = Reading(START, None, None, Status.PLAYING, "script")
        async with contextlib.aclosing(self.player.play(first)) as moves:
            return [progress.board async for progress in moves]


async def test_the_engine_is_asked_before_a_foretold_board_is_confirmed(tmp_path: Path) -> None:
    game = Game(tmp_path, lambda board: board, moves=5)
    boards = await game.play()
    assert game.asked == [START, *boards]  # each board once, the last one too
    for board in boards:
        assert game.page.log.index(("asked", board)) < game.page.log.index(("confirmed", board))
    assert game.page.told == [True, False]
    assert game.player.record is not None
    assert verify(game.player.record) is None


async def test_a_quick_engine_is_asked_about_confirmed_boards_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foresight, "WORTH_S", 3600.0)
    game = Game(tmp_path, lambda board: board, moves=5)
    boards = await game.play()
    assert game.page.told == []
    assert game.asked == [START, *boards[:-1]]


async def test_a_wrong_foretelling_changes_no_move_and_soon_ends(tmp_path: Path) -> None:
    misled = Game(tmp_path / "misled", lambda board: ELSEWHERE, moves=8)
    plain = Game(tmp_path / "plain", lambda board: None, moves=8)
    assert await misled.play() == await plain.play()
    assert misled.asked.count(ELSEWHERE) == 3
    assert [board for board in misled.asked if board != ELSEWHERE] == plain.asked
    assert misled.player.record is not None
    assert plain.player.record is not None
    assert misled.player.record.moves == plain.player.record.moves


async def test_a_failure_about_a_board_that_never_came_harms_nothing(tmp_path: Path) -> None:
    game = Game(tmp_path, lambda board: ELSEWHERE, moves=4)
    ask = game.ask

    async def failing(board: Board) -> DecisionMessage | GameOver:
        if board == ELSEWHERE:
            raise SolverError("this board is not known")
        return await ask(board)

    game.player._foresight._solver = failing
    assert len(await game.play()) == 4


async def test_a_failure_about_a_foretold_board_ends_the_game_after_its_move(tmp_path: Path) -> None:
    game = Game(tmp_path, lambda board: board, moves=10)
    ask = game.ask

    async def failing(board: Board) -> DecisionMessage | GameOver:
        if len(game.asked) == 3:
            raise SolverError("gone")
        return await ask(board)

    game.player._foresight._solver = failing
    with pytest.raises(SolverError, match="gone"):
        await game.play()
    record = game.player.record
    assert record is not None
    assert (record.total_moves, record.outcome) == (3, "interrupted")


class FoursPage(ForetellingPage):
    """A page where only 4s spawn; its first move shows that another board is the game's."""

    async def move(self, before: Reading, direction: Direction) -> MoveOutcome:
        if before.board == START:
            fours = Reading(FOURS, None, None, Status.PLAYING, "script")
            return Unexplained(fours, "another board is read", Cause.OTHER_BOARD)
        return await super().move(before, direction)

    def spawned(self, afterstate: Board) -> Board:
        return afterstate.with_tile(afterstate.cells.index(0), 2)


async def test_boards_are_foreseen_as_the_solver_is_shown_them_after_a_misread_one(tmp_path: Path) -> None:
    game = Game(tmp_path, lambda board: board, moves=PROVING_SPAWNS + 4, kind=FoursPage)
    boards = await game.play()
    halved = [Board(4, 4, bytes(max(tile - 1, 0) for tile in board.cells)) for board in boards]
    assert game.asked[-4:] == halved[-4:]  # each once, and none as the page shows it


async def test_thinking_stops_with_the_game(tmp_path: Path) -> None:
    stopped = asyncio.Event()

    async def endless(board: Board) -> DecisionMessage | GameOver:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        raise AssertionError("unreachable")

    game = Game(tmp_path, lambda board: board, moves=1)
    first = game.ask

    async def asked(board: Board) -> DecisionMessage | GameOver:
        return await (first if board == START else endless)(board)

    game.player._foresight._solver = asked
    assert len(await game.play()) == 1
    assert stopped.is_set()
