"""The arguments of our own commands, from what people type into forms. Every input has bounds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bot.dashboard.faults import DashboardError
from game2048.engine_names import ENGINE_NAMES
from game2048.errors import RulesError
from game2048.size import Size
from game2048.solver_options import SolverOptions

NETWORKS: Mapping[str, str] = {
    "4x6": "4x6: 4×4, the default",
    "4x5": "4x5: 4×4, learns fast",
    "5x4": "5x4: 4×4, smallest",
    "5x6": "5x6: 4×4",
    "8x6": "8x6: 4×4, strongest, needs long training",
    "seed-4x4": "seed-4x4: 4×4, seven shapes",
    "seed-17x4": "seed-17x4: 4×4, rows and squares without symmetries",
    "seed-5x5": "seed-5x5: 5×5",
}
"""The networks that `train` knows by name, with what a form shows of them."""

TRAINING_METHODS = ("backward", "tc", "td0")

MAX_GAMES = 1_000_000
MAX_EPISODES = 1_000_000_000
MAX_MINUTES = 100_000.0
MAX_FORM_DEPTH = 60
MAX_FORM_THREADS = 64
_LONGEST_URL = 2000


def whole(value: Any, what: str, most: int, least: int = 1) -> int:
    """Return a whole number from a form.

    Raises:
        DashboardError: it is not one, or out of range.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not least <= number <= most or number != int(number):
        raise DashboardError(
            f"{what} is {str(value)[:40]!r}; expected a whole number from {least} to {most:,}"
        )
    return int(number)


def whole_or_none(value: Any, what: str, most: int) -> int | None:
    """Return a whole number from a form, ``None`` for an empty field.

    Raises:
        DashboardError: as `whole`.
    """
    return None if value in (None, "") else whole(value, what, most)


def page_url(text: str) -> str:
    """Return the address of a page to play.

    Raises:
        DashboardError: it is not an http or https address.
    """
    url = text.strip()
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if (
        parts.scheme not in {"http", "https"}
        or not parts.hostname
        or len(url) > _LONGEST_URL
        or not url.isprintable()
    ):
        raise DashboardError(f"{url[:80]!r} is not the address of a page; expected http://… or https://…")
    return url


def engine_name(name: str | None) -> str | None:
    """Return the name of an engine; ``None`` for the default.

    Raises:
        DashboardError: there is no such engine.
    """
    return known_engine(name) if name else None


def known_engine(name: str) -> str:
    """Return the name of an engine.

    Raises:
        DashboardError: there is no such engine.
    """
    if name not in ENGINE_NAMES:
        raise DashboardError(f"{name[:40]!r} is not an engine; expected one of {', '.join(ENGINE_NAMES)}")
    return name


def evaluate_words(
    asked: SolverOptions, games: Any, board: str | None, threads: Any, seed: Any = 0
) -> list[str]:
    """Return the arguments that evaluate an engine.

    Args:
        asked: the engine.
        games: how many.
        board: size of the board; ``None`` for that of the weights, else 4×4.
        threads: games at the same time.
        seed: of the games.

    Raises:
        DashboardError: an input is out of range.
    """
    words = ["evaluate", "--json-lines", "--games", str(whole(games, "the number of games", MAX_GAMES))]
    words += ["--threads", str(whole(threads, "the number of threads", MAX_FORM_THREADS))]
    words += ["--seed", str(whole(seed, "the seed", 2**53, 0))]
    if board:
        try:
            words += ["--board", str(Size.parse(board))]
        except RulesError as error:
            raise DashboardError(str(error)) from error
    return words + asked.arguments()


def train_words(form: Mapping[str, Any], out: Path) -> list[str]:
    """Return the arguments that train a network.

    Args:
        form: ``network``, ``method``, ``episodes``, ``minutes``, ``threads``, ``log_interval``, ``pictures``.
        out: folder of the run.

    Raises:
        DashboardError: an input is out of range, or the length of the training is missing.
    """
    network, method = form.get("network"), form.get("method")
    if network not in NETWORKS:
        raise DashboardError(f"{str(network)[:40]!r} is not a network; expected one of {', '.join(NETWORKS)}")
    if method not in TRAINING_METHODS:
        known = ", ".join(TRAINING_METHODS)
        raise DashboardError(f"{str(method)[:40]!r} is not a method; expected one of {known}")
    episodes = whole_or_none(form.get("episodes"), "the number of games", MAX_EPISODES)
    minutes = _minutes(form.get("minutes"))
    if episodes is None and minutes is None:
        raise DashboardError("the length of the training is missing; give games, minutes or both")
    words = ["train", "--network", str(network), "--method", str(method), "--out", str(out)]
    words += [] if episodes is None else ["--episodes", str(episodes)]
    words += [] if minutes is None else ["--minutes", f"{minutes:g}"]
    words += ["--threads", str(whole(form.get("threads"), "the number of threads", MAX_FORM_THREADS))]
    words += ["--eval-interval", str(whole(form.get("log_interval"), "the games per row", MAX_EPISODES))]
    return words + (["--gif-dir", str(out / "pictures")] if form.get("pictures") else [])


def play_words(asked: SolverOptions, form: Mapping[str, Any], out: Path) -> list[str]:
    """Return the arguments that play games on a page.

    Args:
        asked: the engine.
        form: ``url``, ``games``, ``until_tile``, ``max_moves``.
        out: folder of the run.

    Raises:
        DashboardError: an input is out of range.
    """
    words = ["play", page_url(str(form.get("url") or "")), "--out", str(out), "--gif"]
    words += ["--games", str(whole(form.get("games"), "the number of games", MAX_GAMES))]
    until = whole_or_none(form.get("until_tile"), "the tile to reach", 1 << 50)
    if until is not None:
        if until < 4 or until.bit_count() != 1:
            raise DashboardError(f"{until} is not a tile; expected a power of two from 4 up")
        words += ["--until-tile", str(until)]
    moves = whole_or_none(form.get("max_moves"), "the number of moves", MAX_EPISODES)
    words += [] if moves is None else ["--max-moves", str(moves)]
    return words + asked.arguments()


def _minutes(value: Any) -> float | None:
    if value in (None, ""):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0 < number <= MAX_MINUTES:
        raise DashboardError(
            f"the minutes are {str(value)[:40]!r}; expected a number above 0, at most {MAX_MINUTES:,.0f}"
        )
    return number
