"""Find a dashboard for a run of games, or start one."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import msgspec

from bot.dashboard.faults import DashboardError
from bot.dashboard.options import DASHBOARD_PORT, DEFAULT_HOST, DEFAULT_RUNS

PROGRAM = "bot2048 dashboard"

_ABOUT_SECONDS = 1.0
_STOP_SECONDS = 20.0


class About(msgspec.Struct, frozen=True):
    """The answer of a dashboard to `/api/about`.

    Attributes:
        program: `PROGRAM`.
        runs: the folder that it shows.
    """

    program: str
    runs: str


@dataclass(frozen=True, slots=True)
class DashboardBeside:
    """A dashboard that shows the folder of a run.

    Attributes:
        url: its address.
        runs: the folder that it shows.
        is_own: whether it ends with the run.
    """

    url: str
    runs: Path
    is_own: bool

    @property
    def live_url(self) -> str:
        """Address of the running games."""
        return f"{self.url}live"

    def replay_url(self, games: Path) -> str:
        """Return the address of the games of a file in the folder."""
        name = games.resolve().relative_to(self.runs).as_posix()
        return f"{self.url}replay?{urlencode({'file': name})}"


@contextlib.contextmanager
def dashboard_beside(out: Path) -> Iterator[DashboardBeside]:
    """Find the dashboard that shows a folder, or start one until the end of the block.

    Args:
        out: the folder of the run.

    Raises:
        DashboardError: it does not start.
    """
    runs = DEFAULT_RUNS.resolve()
    if not out.resolve().is_relative_to(runs):
        runs = out.resolve()
    known = f"http://{DEFAULT_HOST}:{DASHBOARD_PORT}/"
    if _shows(known, runs):
        yield DashboardBeside(known, runs, is_own=False)
        return
    command = [sys.executable, "-P", "-m", "bot.cli.main", "dashboard", "--runs", str(runs)]
    with subprocess.Popen(
        [*command, "--port", "0", "--stop-with-stdin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # Ctrl-C in a terminal goes to every process of the group: the run ends its dashboard itself.
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise DashboardError("the dashboard does not start; try `bot2048 dashboard` by itself")
            yield DashboardBeside(line.split()[-1], runs, is_own=True)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _shows(url: str, runs: Path) -> bool:
    """Return whether a dashboard at an address shows a folder."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}api/about", timeout=_ABOUT_SECONDS) as answer:
            about = msgspec.json.decode(answer.read(1 << 16), type=About)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return about.program == PROGRAM and Path(about.runs) == runs
