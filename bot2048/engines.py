"""Open an engine: by its name in this process, or by the address of a solver server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from bot2048.contract import AsyncOpenEngine, OpenEngine
from game2048.engine_names import NETWORK_ENGINE
from game2048.errors import SolverError

if TYPE_CHECKING:  # loads kernels, or the client
    from bot2048.local_engine import LocalEngine
    from bot2048.remote_engine import AsyncRemoteEngine


class EngineOptions(TypedDict, total=False):
    """Keywords of `engine` and `engine_async`.

    Attributes:
        weights: weights file for engine ``ntuple``.
        tables: whether every engine uses endgame tables; ``order`` always does.
        search_threads: threads that share the search of one move, where it has a time limit.
        token: access token of the server.
        ca: PEM file of certificates to trust besides the system's, for ``wss://``.
        server_engine: which engine of the server answers; by default the one that the server chooses.
    """

    weights: str | Path | None
    tables: bool
    search_threads: int
    token: str | None
    ca: str | Path | None
    server_engine: str | None


_ADDRESS = "://"
_LOCAL = frozenset({"weights", "tables", "search_threads"})
_REMOTE = frozenset({"token", "ca", "server_engine"})


def engine(which: str | None = None, **options: Unpack[EngineOptions]) -> OpenEngine:
    """Open an engine.

        with engine("order") as solver:
            print(solver.choose(board, time_ms=5).direction)

    Args:
        which: the engine's name (``order``, ``ntuple``, ``fast``, ``composite``, ``gradient``), or the
            address of a solver server (``ws://host:8765``). By default the strongest for each board.
        options: see `EngineOptions`. An engine of this process takes ``weights``, ``tables`` and
            ``search_threads``; a server takes ``token``, ``ca`` and ``server_engine``.

    Raises:
        SolverError: the engine is unknown, its weights cannot be read, the server cannot be reached, or an
            option does not belong to it.
    """
    if which is None or _ADDRESS not in which:
        return _local(which, options)
    from bot2048.remote_engine import RemoteEngine

    return RemoteEngine(_remote(which, options))


def engine_async(which: str | None = None, **options: Unpack[EngineOptions]) -> AsyncOpenEngine:
    """Open an engine for asyncio; for arguments and errors see `engine`. A server is reached on entering.

    async with engine_async("order") as solver:
        print((await solver.choose(board, time_ms=5)).direction)
    """
    if which is None or _ADDRESS not in which:
        from bot2048.local_engine import AsyncLocalEngine

        return AsyncLocalEngine(_local(which, options))
    return _remote(which, options)


def _local(name: str | None, options: EngineOptions) -> LocalEngine:
    from bot2048.local_engine import LocalEngine
    from command_line.engine_options import MAX_SEARCH_THREADS

    _refuse(options, _REMOTE, "belongs to a solver server; give its address, as ws://127.0.0.1:8765")
    weights = _path(options.get("weights"))
    if weights is not None and name not in (None, NETWORK_ENGINE):
        raise SolverError(f"weights are for engine {NETWORK_ENGINE!r}, not {name!r}; leave one of them out")
    threads = options.get("search_threads", 1)
    if not 1 <= threads <= MAX_SEARCH_THREADS:
        raise SolverError(f"search_threads {threads} is out of range; expected 1 to {MAX_SEARCH_THREADS}")
    return LocalEngine(name, weights=weights, tables=options.get("tables", False), search_threads=threads)


def _remote(url: str, options: EngineOptions) -> AsyncRemoteEngine:
    from bot2048.remote_engine import AsyncRemoteEngine

    _refuse(options, _LOCAL, "belongs to the server; give it to `bot2048 serve`")
    return AsyncRemoteEngine(
        url, options.get("server_engine"), token=options.get("token"), ca=_path(options.get("ca"))
    )


def _refuse(options: EngineOptions, others: frozenset[str], why: str) -> None:
    for name in sorted(options.keys() & others):
        raise SolverError(f"option {name!r} {why}")


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given)
