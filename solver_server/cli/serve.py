"""The commands ``serve`` and ``hint``."""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import os
import signal
import sys
from pathlib import Path

import click

from game2048.board import Board
from game2048.direction import DIRECTIONS
from game2048.wire import engine_for_size
from solver_server.engine import Decision, Limit
from solver_server.engines import (
    ENGINES,
    NETWORK_ENGINE,
    TABLES_ENGINE,
    EngineSpec,
    network_engine,
    strongest,
    with_tables,
)
from solver_server.serving.pool import EngineOffer

_engine = click.option(
    "--engine",
    type=click.Choice(tuple(ENGINES)),
    help=f"The engine that plays. [default: {TABLES_ENGINE}, or {NETWORK_ENGINE} with --weights; where that "
    "knows no such board, fast]",
)
_weights = click.option(
    "--weights",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help=f"Another network for engine {NETWORK_ENGINE}: a file that `train` wrote, or one of TDL2048+.",
)
_depth = click.option(
    "--depth",
    type=click.IntRange(1),
    help="How many moves ahead it searches; `composite` counts plies, moves and spawns alike.",
)
_time_ms = click.option(
    "--time-ms", type=click.FloatRange(0, min_open=True), help="How many milliseconds a move may take."
)
_tables = click.option(
    "--tables/--no-tables",
    default=False,
    help="Let any engine play by endgame tables, as order always does (docs/tables.md).",
)
_search_threads = click.option(
    "--search-threads",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Threads at work on one search, where --time-ms limits it.",
)


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 takes a free port."
)
@_engine
@_weights
@_depth
@_time_ms
@click.option(
    "--threads", type=click.IntRange(1, 256), help="Searches that run at a time. [default: one a processor]"
)
@_search_threads
@_tables
@click.option(
    "--token",
    envvar="BOT2048_TOKEN",
    show_envvar=True,
    help="What clients must send; needed where --host lets other machines in.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="A web page that may connect, as http://localhost:8000. Repeatable.",
)
@click.option("--stop-with-stdin", is_flag=True, help="Stop when standard input ends, for a parent process.")
@click.option("-v", "--verbose", count=True, help="Log connections; twice, every frame.")
@click.pass_context
def serve(
    ctx: click.Context,
    host: str,
    port: int,
    engine: str | None,
    weights: Path | None,
    depth: int | None,
    time_ms: float | None,
    threads: int | None,
    search_threads: int,
    tables: bool,
    token: str | None,
    origins: tuple[str, ...],
    stop_with_stdin: bool,
    verbose: int,
) -> None:
    """Answer boards with moves, over a websocket (docs/protocol.md).

    Prints `listening on ws://HOST:PORT` once it does. Engine, depth and time are for requests that name none.
    """
    from solver_server.serving.server import ServerOptions, SolverServer, serve_until_stopped

    _log_to_stderr(verbose)
    options = ServerOptions(
        host=host,
        port=port,
        threads=threads or os.cpu_count() or 1,
        token=token,
        allowed_origins=origins,
        default_limit=Limit(depth, time_ms),
    )
    offers = _engine_offers(_engines(weights, tables=tables), search_threads)
    server = SolverServer(offers, engine or strongest(weights), options)
    ended_by = asyncio.run(serve_until_stopped(server, _announce, stop_with_stdin=stop_with_stdin))
    code = 130 if ended_by == signal.SIGINT else 0
    if server.abandoned:
        # A search that cannot be stopped holds its thread, and an ordinary exit would wait for that.
        logging.shutdown()
        sys.stdout.flush()
        os._exit(code)
    ctx.exit(code)


@click.command()
@click.argument("board", nargs=-1, required=True, metavar="BOARD")
@_engine
@_weights
@_depth
@_time_ms
@_search_threads
@_tables
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def hint(
    board: tuple[str, ...],
    engine: str | None,
    weights: Path | None,
    depth: int | None,
    time_ms: float | None,
    search_threads: int,
    tables: bool,
    as_json: bool,
) -> None:
    """Say which move an engine would make on BOARD, and what it thinks of each.

    BOARD is the tiles row by row, parted by /, 0 or . for empty, as "2 4 8 16 / . . 2 4 / . . . 2 / . . . .".
    """
    from solver_server.serving.session import check_board, check_limit

    position = Board.from_text(" ".join(board))
    engines = _engines(weights, tables=tables)
    infos = {name: spec.info for name, spec in engines.items()}
    name = engine or engine_for_size(infos.values(), strongest(weights), position.rows, position.columns)
    limit = Limit(depth, time_ms)
    check_limit(infos[name], limit)
    check_board(infos[name], position)
    spec = engines[name]
    decision = spec.create(search_threads).choose(position, limit)
    click.echo(_as_json(decision, spec.name) if as_json else _as_text(decision))


def _as_text(decision: Decision | None) -> str:
    if decision is None:
        return "game over: no direction changes this board"
    lines = [str(decision.direction)]
    for direction in DIRECTIONS:
        value = decision.values.get(direction)
        lines.append(f"  {direction!s:<6} {'illegal' if value is None else format(value, '.4f'):>16}")
    return "\n".join(lines)


def _as_json(decision: Decision | None, engine: str) -> str:
    if decision is None:
        return json.dumps({"direction": None, "game_over": True, "engine": engine})
    return json.dumps(
        {
            "direction": str(decision.direction),
            "game_over": False,
            "engine": engine,
            "values": {str(direction): decision.values.get(direction) for direction in DIRECTIONS},
            "depth": decision.depth,
            "nodes": decision.nodes,
            "elapsed_ms": decision.elapsed_ms,
        }
    )


def _engines(weights: Path | None, *, tables: bool) -> dict[str, EngineSpec]:
    """The engines on offer, the strongest first."""
    engines = ENGINES if weights is None else {**ENGINES, NETWORK_ENGINE: network_engine(weights)}
    return {name: with_tables(spec) for name, spec in engines.items()} if tables else engines


def _engine_offers(engines: dict[str, EngineSpec], search_threads: int) -> list[EngineOffer]:
    # Only a search with a limit of time is split over threads, by a kernel of its own.
    warm_up = (Limit(), Limit(time_ms=1.0)) if search_threads > 1 else (Limit(),)
    return [
        EngineOffer(spec.info, functools.partial(spec.create, search_threads), warm_up)
        for spec in engines.values()
    ]


def _announce(url: str) -> None:
    click.echo(f"listening on {url}")  # flushed, for whoever waits for this line


def _log_to_stderr(verbose: int) -> None:
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    # A parent process takes these lines apart again (bot.own_server).
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    logging.getLogger().setLevel(level)
