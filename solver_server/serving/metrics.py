"""What a server counts: for Prometheus (`/metrics`) and as JSON (`/status`)."""

from __future__ import annotations

import functools
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from game2048.wire.messages import DecisionMessage, Directions, ErrorMessage, GameOver
from solver_server.serving.session import BatchRequest, SearchRequest, Work

_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)
_LAST_DECISIONS = 16
_RATE_SECONDS = 5


@dataclass(frozen=True, slots=True)
class LiveCounts:
    """Counts that are read when somebody asks.

    Attributes:
        connections: open websockets.
        queue: requests that wait for their turn on their connection.
        searching: searches that run or wait for a thread.
    """

    connections: Callable[[], int]
    queue: Callable[[], int]
    searching: Callable[[], int]


class ServerMetrics:
    """Counts requests, boards, nodes and seconds.

    Args:
        live: what is counted elsewhere.
        max_connections: how many clients there may be.
    """

    def __init__(self, live: LiveCounts, max_connections: int) -> None:
        self._live = live
        self._max_connections = max_connections
        self._begun = time.monotonic()
        self._last: deque[tuple[Work, object, int]] = deque(maxlen=_LAST_DECISIONS)
        self._recent: deque[tuple[int, int]] = deque(maxlen=_RATE_SECONDS + 1)  # second, boards
        self._totals = {"requests": 0, "boards": 0, "errors": 0, "nodes": 0}
        self._registry = registry = CollectorRegistry()
        requests = Counter(
            "bot2048_requests",
            "Requests answered, by engine and code.",
            ["engine", "code"],
            registry=registry,
        )
        boards = Counter("bot2048_boards", "Boards answered, by engine.", ["engine"], registry=registry)
        nodes = Counter(
            "bot2048_nodes",
            "Positions evaluated for single boards, by engine.",
            ["engine"],
            registry=registry,
        )
        seconds = Histogram(
            "bot2048_request_seconds",
            "Seconds from the start of a request's work to its answer, by engine.",
            ["engine"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._refused = Counter(
            "bot2048_refused_messages",
            "Messages that are not requests, by code.",
            ["code"],
            registry=registry,
        )
        # Finding the counter of some labels takes longer than counting.
        self._requests_of = functools.cache(requests.labels)
        self._seconds_of = functools.cache(seconds.labels)
        self._boards_of = functools.cache(boards.labels)
        self._nodes_of = functools.cache(nodes.labels)
        for name, text, value in (
            ("bot2048_connections", "Open websockets.", live.connections),
            ("bot2048_queue", "Requests that wait for their turn on their connection.", live.queue),
            ("bot2048_searching", "Searches that run or wait for a thread.", live.searching),
        ):
            Gauge(name, text, registry=registry).set_function(value)

    def refused(self, code: str) -> None:
        """Count a message that is not a well-formed request."""
        self._refused.labels(code).inc()
        self._totals["errors"] += 1

    def answered(self, work: Work, answer: object, seconds: float) -> None:
        """Count an answer.

        Args:
            work: the request.
            answer: the message, or a binary frame.
            seconds: from the start of the work.
        """
        code = answer.code if isinstance(answer, ErrorMessage) else "ok"
        self._requests_of(work.engine, code).inc()
        self._seconds_of(work.engine).observe(seconds)
        self._totals["requests"] += 1
        if isinstance(answer, ErrorMessage):
            self._totals["errors"] += 1
            return
        count = len(work.boards) if isinstance(work, BatchRequest) else 1
        self._boards_of(work.engine).inc(count)
        self._count_recent(count)
        if isinstance(work, SearchRequest) and isinstance(answer, DecisionMessage):
            self._nodes_of(work.engine).inc(answer.nodes)
            self._totals["nodes"] += answer.nodes
        self._last.append((work, answer, count))

    def prometheus(self) -> str:
        """Return all counts in Prometheus's text format."""
        return generate_latest(self._registry).decode()

    def status(self, *, ready: bool) -> dict[str, Any]:
        """Return the state of the server for a live view."""
        second = int(time.monotonic())
        recent = sum(boards for at, boards in self._recent if second - _RATE_SECONDS <= at < second)
        return {
            "ready": ready,
            "uptime_s": round(time.monotonic() - self._begun, 3),
            "connections": self._live.connections(),
            "max_connections": self._max_connections,
            "queue": self._live.queue(),
            "searching": self._live.searching(),
            **self._totals,
            "boards_per_s": recent / _RATE_SECONDS,
            "last": [_described(*decision) for decision in self._last],
        }

    def _count_recent(self, boards: int) -> None:
        self._totals["boards"] += boards
        second = int(time.monotonic())
        if self._recent and self._recent[-1][0] == second:
            self._recent[-1] = (second, self._recent[-1][1] + boards)
        else:
            self._recent.append((second, boards))


def _described(work: Work, answer: object, count: int) -> dict[str, Any]:
    """Return a decision as `/status` shows it."""
    note: dict[str, Any] = {"engine": work.engine, "boards": count}
    if isinstance(work, SearchRequest):
        note["board"] = work.board.tiles()
    if isinstance(answer, DecisionMessage):
        note |= {
            "direction": answer.direction,
            "depth": answer.depth,
            "nodes": answer.nodes,
            "elapsed_ms": answer.elapsed_ms,
        }
    elif isinstance(answer, GameOver):
        note["direction"] = None
    elif isinstance(answer, Directions):
        note["elapsed_ms"] = answer.elapsed_ms
    return note
