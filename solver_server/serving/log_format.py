"""The server's log: one line a record, for people or as JSON for programs."""

from __future__ import annotations

import datetime
import logging
import sys
from typing import TextIO

import msgspec

from solver_server.serving.conversation import connection_name

WEBSOCKET_LOGGER = "solver_server.websocket"
"""What the websockets library logs: frames, and connections that break in the handshake."""


class _NamedConnection(logging.Filter):
    """Adds the connection that a record is about."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.connection = connection_name.get()
        return True


class LinesForPeople(logging.Formatter):
    """Writes time, level, connection and message; a traceback follows on further lines."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s [%(connection)s] %(name)s: %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802
        """Return the time of a record, in UTC and milliseconds."""
        return _time_of(record)


class LinesOfJson(logging.Formatter):
    """Writes one JSON object a record."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        line = {
            "time": _time_of(record),
            "level": record.levelname,
            "connection": getattr(record, "connection", "-"),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()


def log_as_server(verbose: int, *, as_json: bool, stream: TextIO | None = None) -> None:
    """Send the log of the process to standard error.

    Args:
        verbose: 0 for warnings, 1 also for connections, 2 also for every frame.
        as_json: whether lines are JSON objects.
        stream: where to, instead of standard error.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.addFilter(_NamedConnection())
    handler.setFormatter(LinesOfJson() if as_json else LinesForPeople())
    logging.basicConfig(handlers=[handler], force=True)
    logging.getLogger().setLevel((logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)])
    logging.getLogger(WEBSOCKET_LOGGER).setLevel(logging.DEBUG if verbose > 1 else logging.ERROR)


def _time_of(record: logging.LogRecord) -> str:
    moment = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
