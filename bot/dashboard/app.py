"""The dashboard as a web server. Importing this loads NiceGUI."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from bot.dashboard.access import AccessRules
from bot.dashboard.faults import DashboardError
from bot.dashboard.guard import AccessGuard
from bot.dashboard.options import DashboardOptions
from bot.dashboard.services import Services

# NiceGUI would make a folder of its own where the command runs, once a page stored something; none does.
os.environ.setdefault("NICEGUI_STORAGE_PATH", str(Path(tempfile.gettempdir()) / "bot2048-dashboard"))
os.environ.setdefault("MATPLOTLIB", "false")

import uvicorn
from fastapi import FastAPI
from nicegui import ui

from bot.dashboard.pages import add_pages
from bot.dashboard.routes import add_routes


def run_dashboard(options: DashboardOptions, announce: Callable[[str], None]) -> None:
    """Serve the dashboard until SIGINT or SIGTERM; all processes that it started end with it.

    Args:
        options: where it listens, and what it shows.
        announce: called with its address when it listens.

    Raises:
        DashboardError: the address is taken, other machines would reach it without a token, or the folder of
            runs cannot be read.
    """
    rules = AccessRules(options.host, options.token, options.names)
    services = Services(options.runs)
    listener = _listen(options.host, options.port)
    url = _url(options.host, listener)
    config = uvicorn.Config(
        AccessGuard(_app(services, lambda: announce(url)), rules),
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=2,
        ws_max_size=1 << 20,
    )
    server = uvicorn.Server(config)
    if options.stop_with_stdin:
        threading.Thread(target=_stop_with_stdin, args=(server,), daemon=True).start()
    server.run(sockets=[listener])


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


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        if os.name != "nt":  # there it would let two programs share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        raise DashboardError(
            f"cannot listen on {host}, port {port}: {error.strerror or error}; try --port 0"
        ) from error
    return listener


def _url(host: str, listener: socket.socket) -> str:
    port = listener.getsockname()[1]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def _stop_with_stdin(server: uvicorn.Server) -> None:
    with contextlib.suppress(OSError):
        while os.read(sys.stdin.fileno(), 1024):
            pass
    server.should_exit = True
