"""Play games on a live page: a generator of finished games, sync and async."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Generator
from dataclasses import replace
from pathlib import Path

from bot.options import GameSummary, PlayOptions, SolverOptions, new_run_folder, rate_for
from bot.progress import Goal
from bot2048.games import PlayedGame
from bot2048.loop_thread import LoopThread
from recordings.pictures.animation_options import AnimationOptions
from scraper.chromium.launch import BrowserOptions


def play(
    url: str,
    games: int = 1,
    *,
    solver: str | SolverOptions | None = None,
    goal: Goal | None = None,
    out: str | Path | None = None,
    browser: BrowserOptions | None = None,
    gif: AnimationOptions | None = None,
) -> Generator[PlayedGame, None, None]:
    """Play games on a page in Chromium and yield each one when it has ended.

        for game in play("https://example.org/2048", games=3):
            print(game.final_score)

    However the run ends (Ctrl-C, ``break``, an exception), the game under way is recorded, and browser and
    solver server are closed.

    Args:
        url: address of the page. Please respect the terms of the site.
        games: how many to play, one after another.
        solver: the engine's name, the address of a solver server, or `SolverOptions`; by default the
            strongest engine that plays the board.
        goal: when to stop a game, and how fast to play. By default a game is played to its end; pages of
            other machines get at most 20 moves a second.
        out: folder of the recordings; by default a new one in ``runs/``.
        browser: how the browser is opened; by default without a window.
        gif: how a GIF of each game is drawn; by default none is written.

    Raises:
        PageError: the page shows no board, takes no move, or no browser starts.
        SolverError: the engine is unknown or does not play the board, or the server cannot be reached.
        RecordError: the folder cannot be written.
    """
    return _one_by_one(_options(url, games, solver, goal, out, browser, gif))


def play_async(
    url: str,
    games: int = 1,
    *,
    solver: str | SolverOptions | None = None,
    goal: Goal | None = None,
    out: str | Path | None = None,
    browser: BrowserOptions | None = None,
    gif: AnimationOptions | None = None,
) -> AsyncGenerator[PlayedGame, None]:
    """Play games as `play` does, for asyncio. Close the generator if you leave it early.

    async with contextlib.aclosing(play_async(url, games=3)) as games:
        async for game in games: ...
    """
    return _played(_options(url, games, solver, goal, out, browser, gif))


def _options(
    url: str,
    games: int,
    solver: str | SolverOptions | None,
    goal: Goal | None,
    out: str | Path | None,
    browser: BrowserOptions | None,
    gif: AnimationOptions | None,
) -> PlayOptions:
    goal = goal or Goal()
    if isinstance(solver, str):
        solver = SolverOptions(server=solver) if "://" in solver else SolverOptions(engine=solver)
    return PlayOptions(
        url=url,
        games=games,
        out=new_run_folder() if out is None else Path(out),
        goal=replace(goal, moves_per_second=rate_for(url, goal.moves_per_second)),
        solver=solver or SolverOptions(),
        browser=browser or BrowserOptions(),
        gif=gif,
    )


async def _played(options: PlayOptions) -> AsyncGenerator[PlayedGame, None]:
    from bot.play import PageRun  # loads the browser driver

    async with contextlib.aclosing(PageRun(options).events()) as events:
        async for event in events:
            if isinstance(event, GameSummary):
                yield PlayedGame.of_summary(event)


def _one_by_one(options: PlayOptions) -> Generator[PlayedGame, None, None]:
    thread = LoopThread()
    try:
        games = _played(options)

        async def next_game() -> PlayedGame | None:
            return await anext(games, None)

        try:
            while (game := thread.run(next_game())) is not None:
                yield game
        finally:
            if not thread.is_closed:
                thread.run(games.aclose())
    finally:
        thread.close()
