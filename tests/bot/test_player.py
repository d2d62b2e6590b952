"""The loop of one game, against a page that follows a script."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.player import (
    FEW_MOVES,
    PRESSES,
    STUBBORN_PRESSES,
    UNEXPLAINED,
    GamePlayer,
    KeyIgnoredError,
)
from bot.progress import Goal, Progress
from game2048 import Board, Direction
from game2048.errors import PageError, SolverError
from game2048.spawn import Spawner
from game2048.wire.messages import DecisionMessage, GameOver
from recordings.journal import GameJournal
from recordings.replay import verify
from scraper.moves.rule_variants import IGNORED_MOVES, resized_after, spawning, unexplained_from
from scraper.page import (
    Cause,
    Deviation,
    MisreadError,
    MoveOutcome,
    Ply,
    Reading,
    Slid,
    Status,
    Unchanged,
    Unexplained,
)

START = Board.from_text("2 4 8 16 / 2 4 8 16 / 0 0 0 0 / 0 0 0 0")


def reading(board: Board, score: int | None = 0, status: Status = Status.PLAYING) -> Reading:
    return Reading(board, score, None, status, "script")


class ScriptedPage:
    """A page that plays by the rules, unless `twist` says otherwise for a move."""

    def __init__(self, first: Reading) -> None:
        self.now = first
        self.url = "script:"
        self.rules: tuple[Deviation, ...] = ()
        self.pressed: list[Direction] = []
        self.kept_going = 0
        self.can_keep_going = True
        self.spawner = Spawner(1)
        self.twist: Callable[[Reading, Direction], MoveOutcome | None] = lambda _before, _direction: None
        self.foretold: Callable[[Board], None] | None = None

    def afterstate(self, ply: Ply) -> Board:
        return ply.slide.afterstate

    async def open(self, url: str) -> Reading:
        return self.now

    async def read(self) -> Reading:
        return self.now

    async def press(self, direction: Direction) -> None:
        self.pressed.append(direction)

    async def move(self, before: Reading, direction: Direction) -> MoveOutcome:
        await self.press(direction)
        twisted = self.twist(before, direction)
        if twisted is not None:
            self.now = twisted.reading
            return twisted
        slide = before.board.slide(direction)
        score = None if before.score is None else before.score + slide.reward
        self.now = reading(self.spawner.spawn(slide.afterstate), score)
        return Slid(self.now)

    def foresee(self, note: Callable[[Board], None] | None) -> None:
        self.foretold = note

    async def keep_going(self) -> Reading | None:
        self.kept_going += 1
        if not self.can_keep_going:
            return None
        self.now = reading(self.now.board, self.now.score)
        return self.now

    async def new_game(self, *, anew: bool = False) -> Reading:
        raise NotImplementedError


async def first_legal(board: Board) -> DecisionMessage | GameOver:
    legal = board.legal_directions()
    if not legal:
        return GameOver(1)
    return DecisionMessage(1, legal[0].value, {legal[0].value: 0.0}, 1, 1, 0.1, "first")


class Game:
    """A player on a scripted page, with its reports."""

    def __init__(self, folder: Path, first: Reading, goal: Goal | None = None) -> None:
        self.page = ScriptedPage(first)
        self.journal = GameJournal.create(folder, source="script:", solver="first")
        self.reports: list[Progress] = []
        self.player = GamePlayer(self.page, first_legal, self.journal, goal or Goal())

    async def play(self) -> None:
        async for progress in self.player.play(self.page.now):
            self.reports.append(progress)


async def test_a_game_is_played_to_its_end_and_recorded(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START))
    await game.play()
    record = game.player.record
    assert record is not None
    assert record.outcome == "game_over"
    assert verify(record) is None
    assert record.total_moves == len(game.page.pressed) == len(game.reports)
    assert record.final_score == game.page.now.score == game.reports[-1].score
    assert Board.from_tiles(record.final_board).is_over


async def test_goals_stop_a_game(tmp_path: Path) -> None:
    moves = Game(tmp_path, reading(START), Goal(max_moves=7))
    await moves.play()
    assert moves.player.record is not None
    assert (moves.player.record.total_moves, moves.player.record.outcome) == (7, "stopped")
    tile = Game(tmp_path, reading(START), Goal(until_tile=32))
    await tile.play()
    assert tile.player.record is not None
    assert (tile.player.record.max_tile, tile.player.record.outcome) == (32, "stopped")


async def test_a_score_that_the_page_does_not_show_is_counted(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START, None), Goal(max_moves=1))
    await game.play()
    assert game.player.record is not None
    # Up merges each column's pair: 4 + 8 + 16 + 32.
    assert game.player.record.final_score == game.reports[0].score == 60


async def test_a_dropped_key_is_pressed_again(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START), Goal(max_moves=3))
    drops = iter([True, True, False, False, False])
    game.page.twist = lambda before, _: Unchanged(before) if next(drops) else None
    await game.play()
    record = game.player.record
    assert record is not None
    assert len(game.page.pressed) == 5
    assert record.total_moves == 3
    assert verify(record) is None


async def test_a_page_that_ignores_keys_is_told_with_keys_and_board(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START))
    game.page.twist = lambda before, _: Unchanged(before)
    with pytest.raises(KeyIgnoredError, match=f"up, down did nothing on {START.text()}"):
        await game.play()
    assert game.page.pressed == [Direction.UP] * PRESSES + [Direction.DOWN] * PRESSES
    assert game.player.record is None
    assert list(tmp_path.iterdir()) == []


async def test_a_page_that_knows_no_other_way_of_moving_is_given_up_at_once(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START))
    game.page.twist = lambda before, _: Unchanged(before, exhausted=len(game.page.pressed) % 3 == 0)
    with pytest.raises(KeyIgnoredError, match=f"up, down did nothing on {START.text()}"):
        await game.play()
    assert game.page.pressed == [Direction.UP] * 3 + [Direction.DOWN] * 3


async def test_where_a_direction_does_nothing_the_next_best_is_played(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START), Goal(max_moves=6))
    game.page.twist = lambda before, direction: Unchanged(before) if direction is Direction.UP else None
    await game.play()
    record = game.player.record
    assert record is not None
    assert verify(record) is None
    assert record.total_moves == 6
    assert Direction.UP.value not in [move.direction for move in record.moves]
    assert record.rules == [str(IGNORED_MOVES)]
    ups = game.page.pressed.count(Direction.UP)
    assert PRESSES < ups <= sum(STUBBORN_PRESSES)


async def test_a_stubborn_direction_gets_all_patience_where_it_is_the_only_one(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START), Goal(max_moves=1))
    game.player._stubborn.update({Direction.UP: 2, Direction.DOWN: 9})
    game.page.twist = lambda before, _: Unchanged(before) if len(game.page.pressed) < 10 else None
    await game.play()
    assert game.page.pressed == [Direction.UP] * 10
    assert game.player._stubborn[Direction.UP] == 0


async def test_a_rule_of_the_pages_own_is_named_once_and_recorded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    game = Game(tmp_path, reading(START, None), Goal(max_moves=UNEXPLAINED + 3))

    def odd_spawn(before: Reading, direction: Direction) -> MoveOutcome:
        slid = before.board.slide(direction).afterstate
        after = slid.with_tile(slid.empty_cells()[0], 3)
        return Unexplained(reading(after, None), "an 8 spawned", rules=(spawning(8),))

    game.page.twist = odd_spawn
    await game.play()
    record = game.player.record
    assert record is not None
    assert record.rules == ["tiles of 8 spawn"]
    assert record.total_moves > 3
    assert caplog.text.count("tiles of 8 spawn") == 1


async def test_a_win_is_played_on_once_the_page_lets_one(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START, 0, Status.WON), Goal(max_moves=4))
    await game.play()
    assert game.page.kept_going == 1
    assert game.player.record is not None
    assert game.player.record.total_moves == 4


async def test_a_win_without_a_button_is_played_on_all_the_same(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START, 0, Status.WON), Goal(max_moves=2))
    game.page.can_keep_going = False
    await game.play()
    assert game.player.record is not None
    assert game.player.record.total_moves == 2


async def test_a_page_that_ends_the_game_at_the_win_stops_it(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START))
    game.page.can_keep_going = False

    def win_after_one(before: Reading, direction: Direction) -> MoveOutcome:
        if before.status is Status.WON:
            return Unchanged(before)
        slide = before.board.slide(direction)
        board = slide.afterstate.with_tile(15, 1)
        return Slid(reading(board, (before.score or 0) + slide.reward, Status.WON))

    game.page.twist = win_after_one
    await game.play()
    record = game.player.record
    assert record is not None
    assert (record.total_moves, record.outcome) == (1, "stopped")
    assert verify(record) is None


async def test_a_message_of_the_end_stops_a_game_that_has_moves_left(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START, 0, Status.OVER))
    await game.play()
    assert game.player.record is None
    assert game.page.pressed == []
    assert list(tmp_path.iterdir()) == []


async def test_boards_that_defy_the_rules_are_borne_for_a_while(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START))
    game.page.twist = lambda before, _: Unexplained(reading(START), "no spawn explains it")
    with pytest.raises(PageError, match="does not play 2048"):
        await game.play()
    assert len(game.page.pressed) == UNEXPLAINED
    assert game.player.record is None
    assert list(tmp_path.iterdir()) == []


async def test_a_board_that_no_rule_explains_is_noted_in_the_record(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START), Goal(max_moves=5))
    odd = Board.from_text("2 4 8 16 / 2 4 8 16 / 2 0 0 0 / 8 0 0 0")

    def third_is_odd(before: Reading, _: Direction) -> MoveOutcome | None:
        return Unexplained(reading(odd), "odd") if len(game.page.pressed) == 3 else None

    game.page.twist = third_is_odd
    await game.play()
    record = game.player.record
    assert record is not None
    assert record.total_moves == 5
    assert record.rules == [str(unexplained_from(3))]


@pytest.mark.parametrize(("moves", "is_recorded"), [(FEW_MOVES, False), (FEW_MOVES + 1, True)])
async def test_a_page_that_is_refused_after_few_moves_leaves_no_record(
    tmp_path: Path, moves: int, is_recorded: bool
) -> None:
    game = Game(tmp_path, reading(START))
    taken = 0

    def then_nothing(before: Reading, _: Direction) -> MoveOutcome | None:
        nonlocal taken
        if taken == moves:
            return Unchanged(before, exhausted=True)
        taken += 1
        return None

    game.page.twist = then_nothing
    with pytest.raises(KeyIgnoredError):
        await game.play()
    assert (game.player.record is not None) is is_recorded
    assert bool(list(tmp_path.iterdir())) is is_recorded


async def test_what_was_played_is_recorded_when_the_solver_is_lost(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START))
    asked = 0

    async def failing(board: Board) -> DecisionMessage | GameOver:
        nonlocal asked
        asked += 1
        if asked > 3:
            raise SolverError("gone")
        return await first_legal(board)

    game.player._foresight._solver = failing
    with pytest.raises(SolverError, match="gone"):
        await game.play()
    record = game.player.record
    assert record is not None
    assert (record.total_moves, record.outcome) == (3, "interrupted")
    assert verify(record) is None


async def test_what_was_played_is_recorded_when_the_player_is_cancelled(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START))
    stuck = asyncio.Event()

    async def hanging(board: Board) -> DecisionMessage | GameOver:
        if len(game.reports) == 2:
            stuck.set()
            await asyncio.Event().wait()
        return await first_legal(board)

    game.player._foresight._solver = hanging
    task = asyncio.create_task(game.play())
    await stuck.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    record = game.player.record
    assert record is not None
    assert (record.total_moves, record.outcome) == (2, "interrupted")
    assert verify(record) is None


async def test_what_was_played_is_recorded_when_nobody_wants_the_rest(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START))
    async with contextlib.aclosing(game.player.play(game.page.now)) as progress:
        async for report in progress:
            if report.moves == 5:
                break
    record = game.player.record
    assert record is not None
    assert (record.total_moves, record.outcome) == (5, "interrupted")
    assert verify(record) is None


async def test_a_rate_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    clock = 100.0

    async def sleep(seconds: float) -> None:
        nonlocal clock
        waits.append(seconds)
        clock += seconds

    monkeypatch.setattr("bot.rate_limit.asyncio.sleep", sleep)
    monkeypatch.setattr("bot.rate_limit.time.monotonic", lambda: clock)
    game = Game(tmp_path, reading(START), Goal(max_moves=4, moves_per_second=10))
    await game.play()
    assert waits == pytest.approx([0.1, 0.1, 0.1])


def told(folder: Path) -> list[str]:
    """The names of the files that a game left."""
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


async def test_what_was_read_wrongly_is_dropped_and_the_record_begins_again(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START), Goal(max_moves=5))
    right = Board.from_text("4 0 0 2 / 0 0 0 0 / 0 0 0 0 / 2 0 0 0")

    def twist(before: Reading, _: Direction) -> MoveOutcome | None:
        if len(game.page.pressed) == 2:
            return Unexplained(reading(before.board), "odd")
        if len(game.page.pressed) == 4:
            return Unexplained(reading(right), "another reader took over", Cause.OTHER_BOARD)
        return None

    game.page.twist = twist
    await game.play()
    record = game.player.record
    assert record is not None
    assert (record.total_moves, len(game.page.pressed)) == (5, 9)
    assert Board.from_tiles(record.moves[0].board) == right
    assert verify(record) is None
    assert record.rules is None  # what the wrong reading broke is not the page's fault
    assert told(tmp_path) == ["games.jsonl"]
    assert len((tmp_path / "games.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize(("moves", "total"), [(2, 6), (FEW_MOVES + 1, FEW_MOVES + 1)])
async def test_a_board_that_changes_its_size_ends_the_record(tmp_path: Path, moves: int, total: int) -> None:
    """After few moves it was misread, and the record begins again; after many the record ends there."""
    game = Game(tmp_path, reading(START), Goal(max_moves=6 if moves == 2 else 30))
    small = Board.from_text("2 0 0 / 0 2 0 / 0 0 0")

    def twist(_before: Reading, _: Direction) -> MoveOutcome | None:
        return Unexplained(reading(small), "another size") if len(game.page.pressed) == moves + 1 else None

    game.page.twist = twist
    await game.play()
    record = game.player.record
    assert record is not None
    assert (record.total_moves, record.outcome) == (total, "stopped")
    assert len(record.final_board) == (3 if moves == 2 else 4)
    assert record.rules == (None if moves == 2 else [str(resized_after(moves))])
    assert verify(record) is None


async def test_a_page_that_was_no_game_after_all_leaves_no_record(tmp_path: Path) -> None:
    game = Game(tmp_path, reading(START))

    def twist(_before: Reading, _: Direction) -> MoveOutcome | None:
        if len(game.page.pressed) > FEW_MOVES + 5:
            raise MisreadError("the page shows no board of 2048")
        return None

    game.page.twist = twist
    with pytest.raises(MisreadError):
        await game.play()
    assert len(game.reports) == FEW_MOVES + 5
    assert game.player.record is None
    assert told(tmp_path) == []
