"""Install Chromium on this machine; `bot2048 install-browser` calls this."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from game2048.errors import PageError
from scraper.chromium.launch import HOW_TO_INSTALL, BrowserOptions, check_browser

DOWNLOAD_TIMEOUT_S = 600
CONNECT_TIMEOUT_MS = 10_000
APT_TIMEOUT_S = 600
APT_PACKAGES = ("chromium", "libatomic1")
"""The browser, and a library that Playwright's Node.js needs and small systems lack."""
OS_RELEASE = Path("/etc/os-release")


def install_browser(options: BrowserOptions, say: Callable[[str], None]) -> str:
    """Find a browser that starts. If no browser starts, download one, or let apt install one.

    Args:
        options: which browser to look for. A named browser is only checked.
        say: called with each step, one line of text.

    Returns:
        One line of text that describes the browser.

    Raises:
        PageError: no browser is found, and none can be installed.
    """
    attempts: list[tuple[str, Callable[[], str | None]]] = [
        ("Playwright's own download of Chromium", _download),
        (f"apt-get install {' '.join(APT_PACKAGES)}", _install_with_apt),
    ]
    try:
        return _check(options)
    except PageError as error:
        if options.path:
            raise
        missing = error
    say(str(missing))
    for what, attempt in attempts:
        say(f"trying {what} …")
        failure = attempt()
        if failure is None:
            try:
                return _check(options)
            except PageError as error:
                failure = str(error)
        say(f"{what}: {failure}")
    raise PageError(f"no browser could be installed: {HOW_TO_INSTALL}")


def _check(options: BrowserOptions) -> str:
    found, version = asyncio.run(check_browser(options))
    return f"{found.path} ({found.origin}), version {version}"


def _download() -> str | None:
    """Download Playwright's Chromium; return why that failed, or ``None``."""
    environment = {"PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": str(CONNECT_TIMEOUT_MS), **os.environ}
    command = [sys.executable, "-m", "playwright", "install", "--no-shell", "chromium"]
    return _run(command, DOWNLOAD_TIMEOUT_S, environment)


def _install_with_apt() -> str | None:
    """Install Debian's package; return why that failed, or ``None``."""
    apt = shutil.which("apt-get")
    if apt is None or not _is_debian():
        return "only on Debian and systems based on it"
    if os.geteuid() != 0:
        return f"only as root: run 'apt-get install {' '.join(APT_PACKAGES)}' as root yourself"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return _run([apt, "-q", "update"], APT_TIMEOUT_S, environment) or _run(
        [apt, "-q", "install", "-y", *APT_PACKAGES], APT_TIMEOUT_S, environment
    )


def _is_debian() -> bool:
    try:
        return "debian" in OS_RELEASE.read_text(encoding="utf-8").lower()
    except OSError:
        return False


def _run(command: Sequence[str], timeout_s: float, environment: dict[str, str]) -> str | None:
    """Run a command to its end; return why it failed, in one line, or ``None``."""
    try:
        done = subprocess.run(
            command,
            timeout=timeout_s,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"not done within {timeout_s:g} s"
    except OSError as error:
        return f"{command[0]} cannot be run: {error.strerror}"
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("E:", "Error:"))] or lines[-1:]
    return telling[0][:300] if telling else f"ended with {done.returncode}"
