"""Serve the project's own page of 2048 on the loopback address."""

from __future__ import annotations

import contextlib
import http.server
import logging
import socketserver
import threading
from collections.abc import Iterator
from http import HTTPStatus
from importlib import resources
from urllib.parse import urlsplit

logger = logging.getLogger(__name__)

HOST = "127.0.0.1"
FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/index.html": ("index.html", "text/html; charset=utf-8"),
    "/style.css": ("style.css", "text/css; charset=utf-8"),
    "/game.js": ("game.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
"""The files that the server sends: path, file in ``page``, media type."""

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@contextlib.contextmanager
def serve_demo() -> Iterator[str]:
    """Serve the page on a free loopback port; stop at the end.

    Yields:
        The address of the page. Add ``?seed=7``, ``?size=5``, ``?goal=512`` to choose the game
        (``page/game.js``).
    """
    with _Server((HOST, 0), _Handler) as server:
        thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="demo page", daemon=True
        )
        thread.start()
        try:
            yield f"http://{HOST}:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


class _Server(socketserver.ThreadingTCPServer):
    # Not http.server.HTTPServer: it looks up the name of the host, which can take seconds.
    daemon_threads = True
    allow_reuse_address = True


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers GET and HEAD requests for the files of the page only."""

    server_version = "bot2048"
    sys_version = ""
    timeout = 10

    def do_GET(self) -> None:
        """Send a file."""
        body = self._head()
        if body is not None:
            self.wfile.write(body)

    def do_HEAD(self) -> None:
        """Send the headers of a file."""
        self._head()

    def _head(self) -> bytes | None:
        file = FILES.get(urlsplit(self.path).path)
        if file is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        name, media_type = file
        body = (resources.files(__package__) / "page" / name).read_bytes()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        for header, value in HEADERS.items():
            self.send_header(header, value)
        self.end_headers()
        return body

    def log_message(self, format: str, *args: object) -> None:
        logger.debug("demo page: " + format, *args)
