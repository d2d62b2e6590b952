"""Harvesting from pages that follow a script: what happens to games, pages and files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.harvest import FAULTS, Archive, Harvest, PageRecord, prepare_journals
from bot.progress import Goal
from bot.rate_limit import RateLimit
from bot.variant_search import Solver
from game2048 import Board, Direction
from game2048.errors import PageError, RecordError, SolverError, SolverRefusedError
from game2048.spawn import Spawner
from game2048.wire.messages import DecisionMessage, GameOver
from recordings.datasets.dataset_file import read_games
from recordings.datasets.resumable import GrowingDataset
from recordings.datasets.statistics import GameTally
from recordings.game_arrays import GameArrays
from recordings.journal import GameJournal
from recordings.replay import verify
from scraper.page import Deviation, MoveOutcome, Ply, Reading, Slid, Status

GOOD, BAD, FULL = "script:good", "script:bad", "script:full"


class RulesPage:
    """A page that plays by the rules; `trouble` may say otherwise at any move."""

    games = 0
    rules: tuple[Deviation, ...] = ()

    def __init__(self, trouble: Callable[[str, int], None]) -> None:
        self.url = ""
        self._trouble = trouble
        self._moves = 0

    def _reading(self, board: Board, score: int) -> Reading:
        return Reading(board, score, None, Status.PLAYING, "script")

    async def open(self, url: str) -> Reading:
        self.url = url
        RulesPage.games += 1
        self._spawner = Spawner(RulesPage.games)
        self._trouble(url, 0)
        if url == FULL:
            return self._reading(Board.from_text("2 4 / 4 2"), 0)
        return self._reading(self._spawner.start(2, 3), 0)

    def afterstate(self, ply: Ply) -> Board:
        return ply.slide.afterstate

    async def new_game(self, *, anew: bool = False) -> Reading:
        return self._reading(self._spawner.start(2, 3), 0)

    async def move(self, before: Reading, direction: Direction) -> MoveOutcome:
        await asyncio.sleep(0)
        self._moves += 1
        self._trouble(self.url, self._moves)
        slide = before.board.slide(direction)
        assert before.score is not None
        return Slid(self._reading(self._spawner.spawn(slide.afterstate), before.score + slide.reward))

    async def read(self) -> Reading:
        raise NotImplementedError

    async def press(self, direction: Direction) -> None:
        raise NotImplementedError

    def foresee(self, note: Callable[[Board], None] | None) -> None:
        pass

    async def keep_going(self) -> Reading | None:
        return None


def no_trouble(url: str, moves: int) -> None:
    pass


async def first_legal(board: Board) -> DecisionMessage | GameOver:
    legal = board.legal_directions()
    return DecisionMessage(1, legal[0].value, {legal[0].value: 0.0}, 1, 1, 0.1, "first")


class Field:
    """A harvest of scripted pages into a file."""

    def __init__(
        self,
        path: Path,
        *urls: str,
        games: int = 4,
        tabs: int = 2,
        trouble: Callable[[str, int], None] = no_trouble,
        solver: Solver = first_legal,
        goal: Goal | None = None,
    ) -> None:
        self.path = path
        self.tally = GameTally()
        self.dataset = GrowingDataset(path, "resume")
        self.archive = Archive(self.dataset, self.tally)
        self.most_tabs = self.tabs = 0
        self.harvest = Harvest(
            pages={url: PageRecord() for url in urls},
            archive=self.archive,
            games=games,
            tabs=tabs,
            goal=goal or Goal(),
            rate=0,
            open_tab=self.tab,
            open_solver=self.solver,
            report=lambda progress: None,
            done=lambda url, record: None,
            retry_seconds=0,
        )
        self._trouble = trouble
        self._solver = solver

    @asynccontextmanager
    async def tab(self) -> AsyncIterator[RulesPage]:
        self.tabs += 1
        self.most_tabs = max(self.tabs, self.most_tabs)
        yield RulesPage(self._trouble)
        self.tabs -= 1

    @asynccontextmanager
    async def solver(self) -> AsyncIterator[tuple[Solver, Callable[[Board], str]]]:
        yield self._solver, lambda board: "first"

    async def run(self) -> list[GameArrays]:
        with self.dataset:
            self.archive.take_stock()
            try:
                await self.harvest.run()
            finally:
                self.archive.finish()
        return list(read_games(self.path))


@pytest.mark.parametrize("extension", ["jsonl", "parquet"])
async def test_the_games_of_all_pages_are_in_one_dataset(tmp_path: Path, extension: str) -> None:
    field = Field(tmp_path / f"games.{extension}", GOOD, FULL, games=7, tabs=3)
    games = await field.run()
    assert len(games) == field.tally.games == 7
    assert all(verify(game) is None for game in games)
    assert {game.info.outcome for game in games} == {"game_over"}
    assert sorted(page.games for page in field.harvest.pages.values()) == [3, 4]
    assert field.most_tabs == 3
    assert not any(".journals" in file.name or ".part" in file.name for file in tmp_path.iterdir())


async def test_one_bad_page_does_not_stop_the_others(tmp_path: Path) -> None:
    def trouble(url: str, moves: int) -> None:
        if url == BAD and moves == 2:
            raise PageError("the page went away")

    field = Field(tmp_path / "games.jsonl", BAD, GOOD, games=6, trouble=trouble)
    games = await field.run()
    pages = field.harvest.pages
    assert (pages[GOOD].games, pages[BAD].games, pages[BAD].faults) == (6, 0, FAULTS)
    assert pages[BAD].given_up
    # What was played of the broken games is kept too, and told apart.
    by_outcome = {
        outcome: [game for game in games if game.info.outcome == outcome]
        for outcome in ("game_over", "interrupted")
    }
    assert len(by_outcome["game_over"]) == 6
    assert [game.plies for game in by_outcome["interrupted"]] == [1] * FAULTS


async def test_a_page_that_fails_now_and_then_is_not_given_up(tmp_path: Path) -> None:
    opened = 0

    def trouble(url: str, moves: int) -> None:
        nonlocal opened
        opened += moves == 0
        if moves == 0 and opened % 3:
            raise PageError("does not load")

    field = Field(tmp_path / "games.jsonl", GOOD, games=4, tabs=1, trouble=trouble)
    assert len(await field.run()) == 4
    assert opened == 12


async def test_when_every_page_is_given_up_its_games_are_kept_and_the_reason_told(
    tmp_path: Path,
) -> None:
    played = 0

    def trouble(url: str, moves: int) -> None:
        nonlocal played
        played += moves == 0
        if played > 2:
            raise PageError("the page went away")

    field = Field(tmp_path / "games.jsonl", GOOD, games=9, tabs=1, trouble=trouble)
    with pytest.raises(PageError, match="failed after 2 of 9 games: script:good: the page went away"):
        await field.run()
    assert len(list(read_games(tmp_path / "games.jsonl"))) == 2


async def test_a_page_whose_boards_the_engine_refuses_is_given_up(tmp_path: Path) -> None:
    async def refuse(board: Board) -> DecisionMessage | GameOver:
        raise SolverRefusedError("unsupported_board", "2x3 is too small for me")

    field = Field(tmp_path / "games.jsonl", GOOD, solver=refuse)
    with pytest.raises(PageError, match="2x3 is too small for me"):
        await field.run()


async def test_a_page_that_takes_no_move_is_given_up(tmp_path: Path) -> None:
    field = Field(tmp_path / "games.jsonl", GOOD, goal=Goal(until_tile=2))
    with pytest.raises(PageError, match="took no move: the game was over"):
        await field.run()


async def test_a_solver_that_stays_away_ends_it_and_every_tab_s_game_is_kept(tmp_path: Path) -> None:
    asked = 0

    async def vanish(board: Board) -> DecisionMessage | GameOver:
        nonlocal asked
        asked += 1
        if asked > 7:
            raise SolverError("cannot reach the solver server")
        return await first_legal(board)

    field = Field(tmp_path / "games.jsonl", GOOD, tabs=3, solver=vanish)
    with pytest.raises(SolverError, match="cannot reach the solver server"):
        await field.run()
    games = list(read_games(tmp_path / "games.jsonl"))
    assert {game.info.outcome for game in games} == {"interrupted"}
    assert sum(game.plies for game in games) == 7


async def test_a_broken_off_harvest_keeps_the_games_under_way_and_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "games.h5"
    started = asyncio.Event()

    async def stand_still(board: Board) -> DecisionMessage | GameOver:
        if board.max_tile >= 8:
            started.set()
            await asyncio.Event().wait()
        return await first_legal(board)

    field = Field(path, GOOD, solver=stand_still)
    run = asyncio.ensure_future(field.run())
    await asyncio.wait([run, asyncio.ensure_future(started.wait())], return_when=asyncio.FIRST_COMPLETED)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    before = list(read_games(path))
    assert {game.info.outcome for game in before} == {"interrupted"}
    games = await Field(path, GOOD, games=3).run()
    assert [game.info.id for game in games[: len(before)]] == [game.info.id for game in before]
    assert [game.info.outcome for game in games[len(before) :]] == ["game_over"] * 3
    assert len(await Field(path, GOOD, games=3).run()) == len(games)


async def test_what_a_killed_program_left_in_its_journals_is_taken_up_once(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    field = Field(path, GOOD, games=2)
    with field.dataset:
        await field.harvest.run()  # and then, killed before the end
        journal = GameJournal.create(field.archive.folder, source=GOOD, solver="first")
        journal.append(Board.from_text("2 0 / 2 0"), Direction.UP, 0)
        journal.close()
    games = await Field(path, GOOD, games=3).run()
    assert [game.info.outcome for game in games] == ["game_over", "game_over", "interrupted", "game_over"]
    assert len({game.info.id for game in games}) == 4


def test_journals_of_another_harvest_are_not_mixed_in(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    prepare_journals(path, "new")
    GameJournal.create(tmp_path / "games.jsonl.journals", source=GOOD, solver="first").close()
    prepare_journals(path, "resume")
    with pytest.raises(RecordError, match=r"an interrupted harvest; try --resume .* or --force"):
        prepare_journals(path, "new")
    prepare_journals(path, "overwrite")
    prepare_journals(path, "new")


async def test_all_tabs_of_a_host_keep_one_pace() -> None:
    now = 0.0
    slept: list[float] = []
    rate = RateLimit(4.0)

    async def sleep(seconds: float) -> None:
        slept.append(round(seconds, 3))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bot.rate_limit.time.monotonic", lambda: now)
        patch.setattr("bot.rate_limit.asyncio.sleep", sleep)
        for _ in range(3):
            await rate.turn()
        now = 10.0
        await rate.turn()
        await RateLimit(None).turn()
    assert slept == [0.25, 0.5]


async def test_each_host_has_its_pace(tmp_path: Path) -> None:
    harvest = Field(tmp_path / "games.jsonl", GOOD).harvest
    harvest.rate = None
    a, b = harvest._rate_of("https://a.example/1"), harvest._rate_of("https://a.example/2")
    assert a is b
    assert a is not harvest._rate_of("https://b.example/1")
    assert (a._rate, harvest._rate_of("http://127.0.0.1:8000/")._rate) == (20.0, None)
