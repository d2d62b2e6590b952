"""Which engine chooses the moves, and how far it searches: the value behind the options of all commands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from game2048.board import Board
from game2048.wire.messages import Hello

SERVER_PATIENCE = 30.0
"""Seconds for which a client waits for a solver server that is lost, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class SolverOptions:
    """An engine and how far it searches; ``None`` leaves it to the engine or the server.

    Attributes:
        engine: name of the engine.
        weights: weights file of the network that engine ``ntuple`` plays by.
        depth: player moves; engine ``composite`` counts plies.
        time_ms: milliseconds a move.
        search_threads: threads that share the search of one move.
        tables: whether every engine uses endgame tables.
        server: address of a running solver server; ``None`` for an engine of our own.
        token: access token of that server.
        ca: file of certificates to trust besides the system's, for ``wss://``.
        server_patience: seconds to wait for a solver server that is lost.
    """

    engine: str | None = None
    weights: Path | None = None
    depth: int | None = None
    time_ms: float | None = None
    search_threads: int = 1
    tables: bool = False
    server: str | None = None
    token: str | None = None
    ca: Path | None = None
    server_patience: float = SERVER_PATIENCE

    def arguments(self) -> list[str]:
        """Return arguments of ``bot2048 serve`` for a server that loads this engine first."""
        weights = None if self.weights is None else self.weights.resolve()
        given = (
            ("--engine", self.engine),
            ("--weights", weights),
            ("--depth", self.depth),
            ("--time-ms", self.time_ms),
            ("--search-threads", self.search_threads if self.search_threads > 1 else None),
        )
        words = [word for name, value in given if value is not None for word in (name, str(value))]
        return [*words, "--tables"] if self.tables else words

    def described(self, hello: Hello, board: Board) -> str:
        """Return the engine and its limits for boards of that size, as records name them."""
        words = [self.engine or hello.engine_for(board.rows, board.columns)]
        words += [f"depth={self.depth}"] if self.depth is not None else []
        words += [f"time_ms={self.time_ms:g}"] if self.time_ms is not None else []
        words += ["tables"] if self.tables else []
        return " ".join(words)
