"""Check the options and take the port before NiceGUI loads, so that errors appear early."""

from __future__ import annotations

import os
import socket
from typing import NamedTuple

from bot.dashboard.access import AccessRules
from bot.dashboard.faults import DashboardError
from bot.dashboard.options import DashboardOptions
from bot.dashboard.sources.run_folders import RunFolders

_BACKLOG = 128


class Opening(NamedTuple):
    """A dashboard that can begin.

    Attributes:
        rules: who may talk to it.
        runs: what it shows.
        listener: a socket that listens; browsers that connect before it has begun wait.
        url: its address.
        stop_with_stdin: whether it ends when standard input ends.
    """

    rules: AccessRules
    runs: RunFolders
    listener: socket.socket
    url: str
    stop_with_stdin: bool


def open_dashboard(options: DashboardOptions) -> Opening:
    """Check the options of the dashboard, and take its port.

    Raises:
        DashboardError: the address is taken, other machines would reach it without a token, or the folder of
            runs cannot be read.
        WireError: the token cannot stand in a header.
    """
    rules = AccessRules(options.host, options.token, options.names)
    runs = RunFolders(options.runs)
    listener = _listen(options.host, options.port)
    host = f"[{options.host}]" if ":" in options.host else options.host
    url = f"http://{host}:{listener.getsockname()[1]}/"
    return Opening(rules, runs, listener, url, options.stop_with_stdin)


def _listen(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listener = socket.socket(family, kind, protocol)
        if os.name != "nt":  # there it would let two programs share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        raise DashboardError(
            f"cannot listen on {host}, port {port}: {error.strerror or error}; try --port 0"
        ) from error
    return listener
