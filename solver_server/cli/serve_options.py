"""The options of ``serve`` beside those of the engine: addresses, access, limits."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from command_line.gather import gather, in_section
from game2048.solver_options import SolverOptions
from solver_server.engine import Limit

if TYPE_CHECKING:  # imports websockets
    from solver_server.serving.server_options import ServerOptions

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What an operator asks of a server.

    Attributes:
        host: address to listen on.
        port: 0 for a free one.
        threads: searches that run at the same time; ``None`` for one per processor.
        max_connections: clients at the same time.
        max_time_ms: greatest ``time_ms`` of a request; ``None`` for the protocol's own.
        max_depth: greatest ``depth`` of a request; ``None`` for the engine's own.
        grace: seconds in which a server that stops still answers.
        token: access token that clients must send.
        token_file: file that holds it.
        new_token: whether to make one.
        origins: web pages that may connect.
        tls_cert: certificate for ``wss://``.
        tls_key: its key.
        log_json: whether log lines are JSON.
        stop_with_stdin: whether the server stops when standard input ends.
    """

    host: str
    port: int
    threads: int | None
    max_connections: int
    max_time_ms: float | None
    max_depth: int | None
    grace: float
    token: str | None
    token_file: Path | None
    new_token: bool
    origins: tuple[str, ...]
    tls_cert: Path | None
    tls_key: Path | None
    log_json: bool
    stop_with_stdin: bool

    def for_server(self, solver: SolverOptions) -> ServerOptions:
        """Return the options as the server takes them.

        Raises:
            SolverError: the token file cannot be read.
        """
        from solver_server.limits import LONGEST_MS
        from solver_server.serving.server_options import ServerOptions, TlsFiles

        return ServerOptions(
            host=self.host,
            port=self.port,
            threads=self.threads or os.cpu_count() or 1,
            token=self._effective_token(),
            allowed_origins=self.origins,
            tls=None if self.tls_cert is None else TlsFiles(self.tls_cert, self.tls_key),
            default_limit=Limit(solver.depth, solver.time_ms),
            max_connections=self.max_connections,
            max_time_ms=LONGEST_MS if self.max_time_ms is None else self.max_time_ms,
            max_depth=self.max_depth,
            stop_grace=self.grace,
        )

    def _effective_token(self) -> str | None:
        from solver_server.serving.access import make_token, read_token

        if self.new_token:
            return make_token()
        return self.token if self.token_file is None else read_token(self.token_file)


def serve_options(command: Any) -> Any:
    """Decorate ``serve`` with these options; it gets one argument ``asked``: `ServeOptions`."""
    return gather("asked", _checked, None, _server, _access, _operation)(command)


def _checked(**given: Any) -> ServeOptions:
    asked = ServeOptions(**given)
    if asked.new_token and asked.token_file is not None:
        raise click.UsageError("--new-token and --token-file exclude each other; leave one out")
    if asked.tls_key is not None and asked.tls_cert is None:
        raise click.UsageError("--tls-key is the key of a certificate; add --tls-cert")
    return asked


def _server(command: Any) -> Any:
    return in_section(
        "Server",
        click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on."),
        click.option(
            "--port",
            type=click.IntRange(0, 65535),
            default=8765,
            show_default=True,
            help="Port to listen on; 0 takes a free one.",
        ),
        click.option(
            "--threads",
            type=click.IntRange(1, 256),
            help="Searches that run at the same time. [default: one per processor]",
        ),
        click.option(
            "--max-connections",
            type=click.IntRange(1),
            default=64,
            show_default=True,
            help="Clients at the same time; others get HTTP status 503.",
        ),
        click.option(
            "--max-time-ms",
            type=click.FloatRange(0, 60_000, min_open=True),
            help="Greatest time limit of a request, in milliseconds. [default: 60000]",
        ),
        click.option(
            "--max-depth",
            type=click.IntRange(1),
            help="Greatest search depth of a request. [default: the engine's own]",
        ),
        click.option(
            "--grace",
            type=click.FloatRange(0, 3600),
            default=5.0,
            show_default=True,
            help="Seconds in which a server that stops still answers what was asked.",
        ),
    )(command)


def _access(command: Any) -> Any:
    return in_section(
        "Access",
        click.option(
            "--token",
            envvar="BOT2048_TOKEN",
            show_envvar=True,
            help="Access token that clients must send, at least 16 characters; required if --host lets other "
            "machines in.",
        ),
        click.option(
            "--token-file",
            type=_FILE,
            metavar="FILE",
            envvar="BOT2048_TOKEN_FILE",
            show_envvar=True,
            help="File that holds the access token; it goes before --token.",
        ),
        click.option("--new-token", is_flag=True, help="Make an access token and print it."),
        click.option(
            "--allow-origin",
            "origins",
            multiple=True,
            metavar="ORIGIN",
            help="Web page that may connect, e.g. http://localhost:8000. Repeatable.",
        ),
        click.option(
            "--tls-cert", type=_FILE, metavar="FILE", help="Certificate chain (PEM): listen on wss://."
        ),
        click.option(
            "--tls-key", type=_FILE, metavar="FILE", help="Key of the certificate. [default: in its file]"
        ),
    )(command)


def _operation(command: Any) -> Any:
    return in_section(
        "Operation",
        click.option("--log-json", is_flag=True, help="Write the log as lines of JSON."),
        click.option(
            "--stop-with-stdin", is_flag=True, help="Stop when standard input ends; for a parent process."
        ),
    )(command)
