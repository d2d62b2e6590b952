"""The command ``serve``."""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import signal
import sys
from dataclasses import dataclass

import click

from command_line.command import Command, log_to_stderr
from command_line.engine_options import solver_options
from command_line.gather import gather
from game2048.solver_options import SolverOptions
from solver_server.engine import Limit
from solver_server.engines import ENGINES, EngineSpec, default_for_play, engines_for
from solver_server.serving.pool import EngineOffer


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a server listens, and whom it answers.

    Attributes:
        host: address to listen on.
        port: 0 for a free one.
        threads: searches that run at the same time; ``None`` for one per processor.
        token: access token that clients must send.
        origins: web pages that may connect.
        stop_with_stdin: whether the server stops when standard input ends.
    """

    host: str
    port: int
    threads: int | None
    token: str | None
    origins: tuple[str, ...]
    stop_with_stdin: bool


@click.command(cls=Command)
@gather(
    "listening",
    Listening,
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
        "--token",
        envvar="BOT2048_TOKEN",
        show_envvar=True,
        help="Access token that clients must send; required if --host lets other machines in.",
    ),
    click.option(
        "--allow-origin",
        "origins",
        multiple=True,
        metavar="ORIGIN",
        help="Web page that may connect, e.g. http://localhost:8000. Repeatable.",
    ),
    click.option(
        "--stop-with-stdin", is_flag=True, help="Stop when standard input ends; for a parent process."
    ),
)
@solver_options(engines=ENGINES)
@click.option("-v", "--verbose", count=True, help="Log what happens; -vv logs every frame.")
@click.pass_context
def serve(ctx: click.Context, listening: Listening, solver: SolverOptions, verbose: int) -> None:
    """Answer boards with moves, over a websocket (docs/protocol.md).

    Prints `listening on ws://HOST:PORT` when it is ready. Engine, depth and time apply to requests that name
    none.
    """
    from solver_server.serving.server import SolverServer, serve_until_stopped
    from solver_server.serving.server_options import ServerOptions

    log_to_stderr(verbose)
    options = ServerOptions(
        host=listening.host,
        port=listening.port,
        threads=listening.threads or os.cpu_count() or 1,
        token=listening.token,
        allowed_origins=listening.origins,
        default_limit=Limit(solver.depth, solver.time_ms),
    )
    engines = engines_for(solver.weights, tables=solver.tables)
    default = solver.engine or default_for_play(weights=solver.weights)
    server = SolverServer(_engine_offers(engines, solver.search_threads), default, options)
    ended_by = asyncio.run(serve_until_stopped(server, _announce, stop_with_stdin=listening.stop_with_stdin))
    code = 130 if ended_by == signal.SIGINT else 0
    if server.abandoned:
        # A search that cannot be stopped holds its thread, and an ordinary exit would wait for that.
        logging.shutdown()
        sys.stdout.flush()
        os._exit(code)
    ctx.exit(code)


def _engine_offers(engines: dict[str, EngineSpec], search_threads: int) -> list[EngineOffer]:
    # Only a search with a time limit is split over threads, by a kernel of its own.
    warm_up = (Limit(), Limit(time_ms=1.0)) if search_threads > 1 else (Limit(),)
    return [
        EngineOffer(spec.info, functools.partial(spec.create, search_threads), warm_up)
        for spec in engines.values()
    ]


def _announce(url: str) -> None:
    click.echo(f"listening on {url}")  # flushed, for whoever waits for this line
