"""Find a Chromium and start it, or connect to a running one."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import functools
import logging
import os
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from game2048.errors import PageError
from scraper.chromium.driver import running_driver

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Playwright

logger = logging.getLogger(__name__)

Started = TypeVar("Started", "Browser", "BrowserContext")

OpenContext = Callable[[], "contextlib.AbstractAsyncContextManager[BrowserContext]"]

VIEWPORT = (800, 720)
"""Wide enough that pages do not switch to their phone layout; a larger window takes longer to draw."""
BROWSER_VARIABLE = "BOT2048_BROWSER"

INSTALLED_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "msedge",
)
"""Names of browsers on the PATH, the preferred ones first."""

INSTALLED_PLACES = {
    "darwin": (
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    ),
    "win32": (
        r"%ProgramFiles%\Chromium\Application\chrome.exe",
        r"%LocalAppData%\Chromium\Application\chrome.exe",
        r"%ProgramFiles%\Google\Chrome\Application\chrome.exe",
        r"%ProgramFiles(x86)%\Google\Chrome\Application\chrome.exe",
        r"%LocalAppData%\Google\Chrome\Application\chrome.exe",
        r"%ProgramFiles(x86)%\Microsoft\Edge\Application\msedge.exe",
        r"%ProgramFiles%\Microsoft\Edge\Application\msedge.exe",
    ),
    "linux": ("/usr/lib/chromium/chromium", "/opt/google/chrome/chrome", "/snap/bin/chromium"),
}
"""Paths of browsers that are not on the PATH, by `sys.platform`."""

QUIET_FLAGS = (
    # Only the page uses the network, not the browser itself.
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-quic",
    "--disable-sync",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
)
UNTHROTTLED_FLAGS = (
    # Timers and animation frames keep their pace if another window or tab covers the page.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
)
UNLIMITED_FRAMES_FLAGS = (
    # Pages draw their tiles in animation frames. At 60 frames a second, two frames cost 33 ms a move.
    "--disable-frame-rate-limit",
    "--disable-gpu-vsync",
)

DRIVER_DISABLED_FEATURES = (
    # Playwright's list. Chromium heeds only the last list on its command line, so ours repeats it.
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "TcpPortRandomizationWin",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "msForceBrowserSignIn",
    "msEdgeUpdateLaunchServicesPreferredVersion",
)
DISABLED_FEATURES = (
    *DRIVER_DISABLED_FEATURES,
    # The pages behind the address bar's menu: nobody sees them, and they cost half of a browser's start.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
)

HOW_TO_INSTALL = (
    "install Chromium, Google Chrome or Microsoft Edge, or run 'bot2048 install-browser', "
    f"or name one with --browser PATH or {BROWSER_VARIABLE}"
)


@dataclass(frozen=True, slots=True)
class BrowserOptions:
    """Which browser to start and how.

    Attributes:
        path: the executable, or its name on the PATH; ``None`` for the browser in `BOT2048_BROWSER`, or the
            first one found.
        headless: start without a window.
        start_timeout: seconds that the browser may take to start.
        cdp: the address of a running Chromium to use instead, ``http://…`` or ``ws://…``.
        user_data_dir: a browser profile to use and keep; ``None`` for a new one that is deleted.
        slow_mo: milliseconds to wait before each action of the browser.
        viewport: width and height of the window in pixels; ``None`` for `VIEWPORT`.
        device: a device to imitate, by Playwright's name (``Pixel 7``).
    """

    path: str | None = None
    headless: bool = True
    start_timeout: float = 30.0
    cdp: str | None = None
    user_data_dir: Path | None = None
    slow_mo: float = 0.0
    viewport: tuple[int, int] | None = None
    device: str | None = None


@dataclass(frozen=True, slots=True)
class FoundBrowser:
    """A browser on this machine.

    Attributes:
        path: the executable.
        origin: how it was found, in words.
    """

    path: Path
    origin: str


@contextlib.asynccontextmanager
async def open_browser(options: BrowserOptions | None = None) -> AsyncIterator[Browser]:
    """Start a browser; close it at the end, even if the task is cancelled (Ctrl-C).

    Raises:
        PageError: no browser is found, or it does not start.
    """
    async with running_driver() as playwright:
        browser = await _start_first(playwright, options or BrowserOptions())
        try:
            yield browser
        finally:
            await _close(browser)


@contextlib.asynccontextmanager
async def open_context(options: BrowserOptions) -> AsyncIterator[BrowserContext]:
    """Open one browser context; see `open_contexts`."""
    async with open_contexts(options) as new_context, new_context() as context:
        yield context


@contextlib.asynccontextmanager
async def open_contexts(options: BrowserOptions) -> AsyncIterator[OpenContext]:
    """Start a browser or connect to a running one, and open browser contexts in it.

    Each context is separate from all others; only with ``user_data_dir`` all tabs share one context. The
    profile and the tabs of a running browser stay untouched. At the end everything that was opened is closed.

    Yields:
        A function that opens a context.

    Raises:
        PageError: no browser is found, starts or answers; or the device is unknown.
    """
    async with running_driver() as playwright:
        settings = _context_settings(playwright, options)
        browser: Browser | None = None
        kept: BrowserContext | None = None
        if options.user_data_dir is not None and options.cdp is None:
            _, kept = await _start(playwright, options, functools.partial(_launch_with_profile, settings))
        else:
            browser = await (_connect if options.cdp else _start_first)(playwright, options)

        @contextlib.asynccontextmanager
        async def new_context() -> AsyncIterator[BrowserContext]:
            if browser is None:
                assert kept is not None
                yield kept
                return
            context = await browser.new_context(**settings)
            try:
                yield context
            finally:
                await _close(context)

        try:
            yield new_context
        finally:
            for each in (kept, browser):
                if each is not None:
                    await _close(each)


def _context_settings(playwright: Playwright, options: BrowserOptions) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if options.device is not None:
        if options.device not in playwright.devices:
            near = difflib.get_close_matches(options.device, playwright.devices, n=3, cutoff=0.3)
            raise PageError(
                f"device {options.device!r} is unknown: expected e.g. {', '.join(near) or 'Pixel 7'}"
            )
        settings = dict(playwright.devices[options.device])
        settings.pop("default_browser_type", None)
    if options.viewport is not None or not settings:
        width, height = options.viewport or VIEWPORT
        settings["viewport"] = {"width": width, "height": height}
    reduced = "reduce" if options.headless and options.cdp is None else None
    return {**settings, "accept_downloads": False, "reduced_motion": reduced}


async def _connect(playwright: Playwright, options: BrowserOptions) -> Browser:
    from playwright.async_api import Error as PlaywrightError

    assert options.cdp is not None
    try:
        return await playwright.chromium.connect_over_cdp(
            options.cdp, timeout=options.start_timeout * 1000, slow_mo=options.slow_mo
        )
    except PlaywrightError as error:
        raise PageError(
            f"no browser answers at {options.cdp}: {_reason(error.message, options)}; start one with "
            "--remote-debugging-port=9222 and give http://127.0.0.1:9222"
        ) from error


async def check_browser(options: BrowserOptions) -> tuple[FoundBrowser, str]:
    """Start the browser that `open_browser` would use, close it again, and return it with its version.

    Raises:
        PageError: no browser is found, or it does not start.
    """
    async with running_driver() as playwright:
        found, browser = await _start(playwright, options, _launch)
        version = browser.version
        await _close(browser)
        return found, version


def find_browsers(options: BrowserOptions, own: str | None = None) -> Iterator[FoundBrowser]:
    """Yield the browsers to try, in order.

    Args:
        options: ``path`` names the only browser to try; without it, so does the environment variable.
        own: the path of the Chromium that Playwright would download.

    Raises:
        PageError: the named browser does not exist.
    """
    named, origin = options.path, "named with --browser"
    if not named:
        named, origin = os.environ.get(BROWSER_VARIABLE), f"named in {BROWSER_VARIABLE}"
    if named:
        executable = shutil.which(Path(named).expanduser())
        if executable is None:
            raise PageError(f"browser {named!r} ({origin}) is not an executable file: {HOW_TO_INSTALL}")
        yield FoundBrowser(Path(executable), origin)
        return
    if own and Path(own).is_file():
        yield FoundBrowser(Path(own), "Playwright's own")
    seen: set[Path] = set()
    places = [shutil.which(name) for name in INSTALLED_NAMES]
    places += [os.path.expandvars(place) for place in INSTALLED_PLACES.get(sys.platform, ())]
    for place in places:
        if place and shutil.which(place) and (real := Path(place).resolve()) not in seen:
            seen.add(real)
            yield FoundBrowser(Path(place), "installed")


async def _start_first(playwright: Playwright, options: BrowserOptions) -> Browser:
    _, browser = await _start(playwright, options, _launch)
    return browser


async def _launch(playwright: Playwright, options: BrowserOptions, **how: Any) -> Browser:
    return await playwright.chromium.launch(**how)


async def _launch_with_profile(
    settings: dict[str, Any], playwright: Playwright, options: BrowserOptions, **how: Any
) -> BrowserContext:
    assert options.user_data_dir is not None
    options.user_data_dir.mkdir(parents=True, exist_ok=True)
    return await playwright.chromium.launch_persistent_context(options.user_data_dir, **how, **settings)


async def _start(
    playwright: Playwright, options: BrowserOptions, launch: Callable[..., Awaitable[Started]]
) -> tuple[FoundBrowser, Started]:
    """Start the first browser that works."""
    from playwright.async_api import Error as PlaywrightError

    failures: list[str] = []
    frames: tuple[str, ...] = UNLIMITED_FRAMES_FLAGS if options.headless else ()
    for found in find_browsers(options, playwright.chromium.executable_path):
        try:
            browser = await launch(
                playwright,
                options,
                executable_path=found.path,
                headless=options.headless,
                chromium_sandbox=not _is_root(),  # Chromium refuses to sandbox root
                args=[
                    *QUIET_FLAGS,
                    *UNTHROTTLED_FLAGS,
                    *frames,
                    f"--disable-features={','.join(DISABLED_FEATURES)}",
                ],
                timeout=options.start_timeout * 1000,
                slow_mo=options.slow_mo,
                # The program handles Ctrl-C itself: it saves the game and then closes the browser.
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        except PlaywrightError as error:
            reason = _reason(error.message, options)
            logger.warning("browser %s (%s) does not start: %s", found.path, found.origin, reason)
            failures.append(f"{found.path} ({reason})")
            continue
        logger.info("browser: %s (%s)", found.path, found.origin)
        return found, browser
    if failures:
        raise PageError(f"no browser starts: tried {', '.join(failures)}; {HOW_TO_INSTALL}")
    raise PageError(f"no browser found: looked for Chromium, Chrome and Microsoft Edge; {HOW_TO_INSTALL}")


async def _close(opened: Browser | BrowserContext) -> None:
    from playwright.async_api import Error as PlaywrightError

    # If the browser was killed or the driver has ended, there is nothing left to close.
    with contextlib.suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(10):
            await opened.close()


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _reason(message: str, options: BrowserOptions) -> str:
    """Return the most useful line of a launch error."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    if not options.headless and any("DISPLAY" in line or "headed browser" in line for line in lines):
        return "a window needs a display: leave out --headed"
    if any("No usable sandbox" in line or "SUID sandbox" in line for line in lines):
        return "its sandbox cannot be set up here: allow unprivileged user namespaces"
    return lines[0][:200] if lines else "no reason given"
