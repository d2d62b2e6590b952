"""Play 2048 from Python: ask engines, play pages, read datasets, probe endgame tables (docs/api.md).

    with bot2048.engine("order") as engine:
        print(engine.choose(bot2048.Board.from_text("2 4 / 2 2"), time_ms=5).direction)

Importing this package is quick: every name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bot.progress import Goal
    from bot2048.contract import AsyncOpenEngine, OpenEngine
    from bot2048.engines import EngineOptions, engine, engine_async
    from bot2048.evaluation import evaluate
    from bot2048.games import Game, PlayedGame, read_games
    from bot2048.playing import play, play_async
    from bot2048.table_probe import EndgameTables, TableChance, open_tables
    from game2048 import Board, Direction, Slide
    from game2048.errors import (
        Error2048,
        GameOverError,
        PageError,
        RecordError,
        RulesError,
        SolverError,
        SolverRefusedError,
        WireError,
    )
    from game2048.size import Size
    from game2048.solver_options import SolverOptions
    from recordings.pictures.animation_options import AnimationOptions
    from recordings.replay import Fault, verify
    from scraper.chromium.launch import BrowserOptions
    from solver_server.engine import Decision, Limit
    from solver_server.evaluation.summary import Summary

    __version__: str

_HOMES = {
    "bot2048.contract": ("AsyncOpenEngine", "OpenEngine"),
    "bot2048.engines": ("EngineOptions", "engine", "engine_async"),
    "bot2048.evaluation": ("evaluate",),
    "bot2048.games": ("Game", "PlayedGame", "read_games"),
    "bot2048.playing": ("play", "play_async"),
    "bot2048.table_probe": ("EndgameTables", "TableChance", "open_tables"),
    "bot.progress": ("Goal",),
    "game2048": ("Board", "Direction", "Slide"),
    "game2048.errors": (
        *("Error2048", "GameOverError", "PageError", "RecordError"),
        *("RulesError", "SolverError", "SolverRefusedError", "WireError"),
    ),
    "game2048.size": ("Size",),
    "game2048.solver_options": ("SolverOptions",),
    "recordings.pictures.animation_options": ("AnimationOptions",),
    "recordings.replay": ("Fault", "verify"),
    "scraper.chromium.launch": ("BrowserOptions",),
    "solver_server.engine": ("Decision", "Limit"),
    "solver_server.evaluation.summary": ("Summary",),
}
"""The module that each name is loaded from."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AnimationOptions",
    "AsyncOpenEngine",
    "Board",
    "BrowserOptions",
    "Decision",
    "Direction",
    "EndgameTables",
    "EngineOptions",
    "Error2048",
    "Fault",
    "Game",
    "GameOverError",
    "Goal",
    "Limit",
    "OpenEngine",
    "PageError",
    "PlayedGame",
    "RecordError",
    "RulesError",
    "Size",
    "Slide",
    "SolverError",
    "SolverOptions",
    "SolverRefusedError",
    "Summary",
    "TableChance",
    "WireError",
    "__version__",
    "engine",
    "engine_async",
    "evaluate",
    "open_tables",
    "play",
    "play_async",
    "read_games",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("bot2048")
    elif name in _HOME_OF:
        value = getattr(importlib.import_module(_HOME_OF[name]), name)
    else:
        raise AttributeError(f"module 'bot2048' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
