"""The dashboard as a web server. Importing this loads NiceGUI."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

from bot.dashboard.guard import AccessGuard
from bot.dashboard.opening import Opening
from bot.dashboard.services import Services

# NiceGUI's library for sockets also loads clients and servers that nothing here uses: a fifth of the start.
_UNUSED = ("aiohttp", "tornado", "websocket")


@contextlib.contextmanager
def _left_out(names: tuple[str, ...]) -> Iterator[None]:
    """Let some packages count as not installed, unless they are loaded already."""
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


# NiceGUI would make a folder of its own where the command runs, once a page stored something; none does.
os.environ.setdefault("NICEGUI_STORAGE_PATH", str(Path(tempfile.gettempdir()) / "bot2048-dashboard"))
os.environ.setdefault("MATPLOTLIB", "false")

with _left_out(_UNUSED):
    import uvicorn
    from fastapi import FastAPI
    from nicegui import ui

from bot.dashboard.pages import add_pages  # noqa: E402
from bot.dashboard.routes import add_routes  # noqa: E402


def run_dashboard(opening: Opening, announce: Callable[[str], None]) -> None:
    """Serve the dashboard until SIGINT or SIGTERM; all processes that it started end with it.

    Args:
        opening: what it shows, and where it listens.
        announce: called with its address when it answers.
    """
    services = Services(opening.runs)
    config = uvicorn.Config(
        AccessGuard(_app(services, lambda: announce(opening.url)), opening.rules),
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=2,
        ws_max_size=1 << 20,
    )
    server = uvicorn.Server(config)
    if opening.stop_with_stdin:
        threading.Thread(target=_stop_with_stdin, args=(server,), daemon=True).start()
    server.run(sockets=[opening.listener])


def _app(services: Services, ready: Callable[[], None]) -> FastAPI:
    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        asyncio.get_running_loop().call_soon(ready)
        try:
            yield
        finally:
            await services.close()

    app = FastAPI(lifespan=lifespan, openapi_url=None, docs_url=None, redoc_url=None)
    add_routes(app, services)
    add_pages(services)
    ui.run_with(
        app,
        title="bot2048 dashboard",
        language="en-US",
        dark=False,
        tailwind=False,
        show_welcome_message=False,
        reconnect_timeout=10.0,
    )
    return app


def _stop_with_stdin(server: uvicorn.Server) -> None:
    with contextlib.suppress(OSError):
        while os.read(sys.stdin.fileno(), 1024):
            pass
    server.should_exit = True
