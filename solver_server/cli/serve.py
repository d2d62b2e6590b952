"""The command ``serve``."""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING

import click

from command_line.command import Command
from command_line.engine_options import solver_options
from game2048.errors import Error2048
from game2048.solver_options import SolverOptions
from solver_server.cli.serve_options import ServeOptions, serve_options
from solver_server.engine import Limit
from solver_server.engines import ENGINES, EngineSpec, default_for_play, engines_for

if TYPE_CHECKING:  # imports numpy
    from solver_server.serving.pool import EngineOffer

log = logging.getLogger(__name__)


def _print_schema(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from game2048.wire.schema import protocol_schema_text

        click.echo(protocol_schema_text(), nl=False)
        ctx.exit(0)


@click.command(cls=Command)
@serve_options
@solver_options(engines=tuple(ENGINES))
@click.option("-v", "--verbose", count=True, help="Log what happens; -vv logs every frame.")
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON Schema of the messages and exit.",
)
@click.pass_context
def serve(ctx: click.Context, asked: ServeOptions, solver: SolverOptions, verbose: int) -> None:
    """Answer boards with moves, over a websocket (docs/protocol.md).

    Prints `listening on ws://HOST:PORT` when it is ready; with --port 0 one JSON object with the url instead.
    Engine, depth and time apply to requests that name none. How to run it for long: docs/server.md.
    """
    from solver_server.serving.log_format import log_as_server

    log_as_server(verbose, as_json=asked.log_json)
    try:
        code = _run(asked, solver)
    except Error2048 as error:
        if not asked.log_json:
            raise
        log.critical("%s", error)
        code = 1
    ctx.exit(code)


def _run(asked: ServeOptions, solver: SolverOptions) -> int:
    """Serve until told to stop; return the exit code."""
    from game2048.kernels.compilation import tell_of_compilation
    from solver_server.serving.server import SolverServer, serve_until_stopped

    tell_of_compilation(log.warning)
    engines = engines_for(solver.weights, tables=solver.tables)
    default = solver.engine or default_for_play(weights=solver.weights)
    options = asked.for_server(solver)
    server = SolverServer(_engine_offers(engines, solver.search_threads), default, options)
    announce = functools.partial(
        _announce, as_json=asked.port == 0, token=options.token if asked.new_token else None
    )
    ended_by = asyncio.run(serve_until_stopped(server, announce, stop_with_stdin=asked.stop_with_stdin))
    code = 130 if ended_by == signal.SIGINT else 0
    if server.abandoned:
        # A search that cannot be stopped holds its thread, and an ordinary exit would wait for that.
        logging.shutdown()
        sys.stdout.flush()
        os._exit(code)
    return code


def _engine_offers(engines: dict[str, EngineSpec], search_threads: int) -> list[EngineOffer]:
    from solver_server.serving.pool import EngineOffer

    # Only a search with a time limit is split over threads, by a kernel of its own.
    warm_up = (Limit(), Limit(time_ms=1.0)) if search_threads > 1 else (Limit(),)
    return [
        EngineOffer(spec.info, functools.partial(spec.create, search_threads), warm_up)
        for spec in engines.values()
    ]


def _announce(url: str, *, as_json: bool, token: str | None) -> None:
    """Print where the server listens, flushed, for whoever waits for this line."""
    if as_json:
        shown = {"url": url, "port": int(url.rpartition(":")[2]), "pid": os.getpid()}
        click.echo(json.dumps(shown if token is None else shown | {"token": token}))
        return
    if token is not None:
        click.echo(f"token {token}")
    click.echo(f"listening on {url}")
