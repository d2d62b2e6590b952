"""The options of `bot2048 dashboard`. This module does not load the web server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DEFAULT_HOST = "127.0.0.1"
DASHBOARD_PORT = 3000
DEFAULT_RUNS = Path("runs")


@dataclass(frozen=True, slots=True)
class DashboardOptions:
    """Where the dashboard listens, and what it shows.

    Attributes:
        host: the address to listen on.
        port: 0 for a free one.
        runs: the folder that it shows; nothing outside it is read, served or written.
        token: what a browser has to show first; ``None`` only on a loopback address.
        names: further host names that people may type to reach it.
        stop_with_stdin: whether it ends when standard input ends.
    """

    host: str = DEFAULT_HOST
    port: int = DASHBOARD_PORT
    runs: Path = DEFAULT_RUNS
    token: str | None = None
    names: tuple[str, ...] = ()
    stop_with_stdin: bool = False
