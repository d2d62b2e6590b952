"""Players of a plan's games: any engine move by move, or a greedy network in whole games."""

from __future__ import annotations

import functools
import hashlib
import math
import threading
import time
from pathlib import Path
from typing import Any, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from game2048.direction import DIRECTIONS
from game2048.engine_names import NETWORK_ENGINE
from game2048.errors import SolverError
from game2048.size import Size
from game2048.spawn import Spawner
from recordings.datasets.formats.chunks import Chunk, encode_chunk
from recordings.game_arrays import GameArrays
from solver_server import limits
from solver_server.engine import Decision, Engine
from solver_server.engines import EngineSpec, engine_of_network, spec_of, with_tables
from solver_server.generate.plan import Plan, decode_plan
from solver_server.ntuple.bundled import network_for, weights_for
from solver_server.ntuple.files.network_file import open_network
from solver_server.ntuple.network import Network

GREEDY = "greedy"
"""Another name for the network engine at depth 1: reward + value of the afterstate."""


class Player(Protocol):
    """Plays the games of a plan. One instance serves one thread."""

    def play(self, game: int) -> GameArrays:
        """Return the game of that number."""
        ...


class EnginePlayer:
    """Plays with any engine.

    Args:
        engine: the engine.
        plan: the plan.
    """

    def __init__(self, engine: Engine, plan: Plan) -> None:
        self._engine = engine
        self._plan = plan

    def play(self, game: int) -> GameArrays:
        """See `Player.play`."""
        plan = self._plan
        limit = plan.limit
        spawner = Spawner(plan.seed, game)
        board = spawner.start(*plan.size)
        cells = bytearray(board.cells)
        scores = [0]
        decisions: list[Decision] = []
        directions = bytearray()
        last = math.inf if plan.max_moves is None else plan.max_moves
        while (decision := self._engine.choose(board, limit)) is not None and len(directions) < last:
            slide = board.slide(decision.direction)
            board = spawner.spawn(slide.afterstate)
            directions.append(decision.direction.index)
            scores.append(scores[-1] + slide.reward)
            cells += board.cells
            if plan.metadata:
                decisions.append(decision)
        return GameArrays(
            plan.info(game, "game_over" if decision is None else "stopped"),
            np.frombuffer(cells, dtype=np.uint8).reshape(-1, *plan.size),
            np.frombuffer(directions, dtype=np.uint8),
            np.array(scores, dtype=np.int64),
            *_knowledge(decisions),
        ).with_totals()


class NetworkPlayer:
    """Plays a network greedily, whole games in one kernel: the games that its engine plays at depth 1.

    Args:
        network: the network; its weights are shared, not copied.
        plan: the plan.

    Raises:
        SolverError: the network is for another board than the plan.
    """

    def __init__(self, network: Network, plan: Plan) -> None:
        from solver_server.ntuple.greedy_recording import GreedyRecorder  # loads what it compiles

        pattern = network.pattern
        if (pattern.rows, pattern.columns) != plan.size:
            raise SolverError(
                f"network {pattern.name} plays {pattern.rows}x{pattern.columns} boards; "
                f"expected one for {plan.size}"
            )
        self._plan = plan
        self._recorder = GreedyRecorder(network, worths=plan.metadata)

    def play(self, game: int) -> GameArrays:
        """See `Player.play`."""
        plan = self._plan
        played = self._recorder.play(plan.seed, game, plan.max_moves)
        known = plan.metadata and played.directions.size > 0
        return GameArrays(
            plan.info(game, "game_over" if played.over else "stopped"),
            played.cells,
            played.directions,
            played.scores,
            played.worths.astype(np.float64) if known else None,
            np.count_nonzero(~np.isnan(played.worths), axis=1) if known else None,
            np.ones(played.directions.size, dtype=np.int16) if known else None,
        ).with_totals()


def _knowledge(decisions: list[Decision]) -> tuple[npt.NDArray[Any], ...]:
    """Return what an engine knew at each move, as `GameArrays` has it."""
    if not decisions:
        return ()
    values = [
        [decision.values.get(direction, math.nan) for direction in DIRECTIONS] for decision in decisions
    ]
    return (
        np.array(values, dtype=np.float64),
        np.array([decision.nodes for decision in decisions], dtype=np.int64),
        np.array([decision.depth for decision in decisions], dtype=np.int16),
    )


def make_player(plan: Plan) -> Player:
    """Return a player of a plan's games.

    Raises:
        SolverError: the engine is unknown, or its weights are missing or differ from the plan's.
    """
    if plan.engine == NETWORK_ENGINE:
        path = _weights_of(plan)
        if plan.sha256 != digest_of(path):
            raise SolverError(
                f"{path} has changed since this run began; expected the file with SHA-256 {plan.sha256}"
            )
        if plan.depth == 1 and plan.time_ms is None and not plan.tables:
            return NetworkPlayer(_network_of(plan), plan)
    return EnginePlayer(_spec_of(plan).create(plan.search_threads), plan)


def settled(plan: Plan) -> Plan:
    """Return a plan with the depth that its engine takes where none is given, and the digest of its network.

    Raises:
        SolverError: the engine is unknown, or does not play such boards or to that depth.
    """
    if plan.engine == GREEDY:
        if plan.depth not in (None, 1):
            raise SolverError(f"engine {GREEDY!r} does not search; expected depth 1, not {plan.depth}")
        plan = msgspec.structs.replace(plan, engine=NETWORK_ENGINE, depth=1)
    spec = _spec_of(plan)
    if not spec.plays(plan.size):
        raise SolverError(
            f"engine {spec.name!r} does not play {plan.size} boards; expected {', '.join(spec.boards)}"
        )
    limits.check(spec.info, plan.limit)
    if plan.depth is None and plan.time_ms is None:
        plan = msgspec.structs.replace(plan, depth=spec.default_depth)
    if plan.engine == NETWORK_ENGINE:
        plan = msgspec.structs.replace(plan, sha256=digest_of(_weights_of(plan)))
    return plan


def _spec_of(plan: Plan) -> EngineSpec:
    """Return the engine of a plan, with its weights and tables."""
    own = plan.engine == NETWORK_ENGINE and plan.weights is not None
    spec = engine_of_network(_network_of(plan)) if own else spec_of(plan.engine)
    return with_tables(spec) if plan.tables else spec


def _network_of(plan: Plan) -> Network:
    """Return the network of a plan, ready for use; all players of this process share it."""
    return network_for(*plan.size) if plan.weights is None else _loaded(*_version_of(Path(plan.weights)))


def _weights_of(plan: Plan) -> Path:
    """Return the file of the network; where the plan names none, of the bundled one."""
    return weights_for(*plan.size) if plan.weights is None else Path(plan.weights)


def board_size_of(weights: Path) -> Size:
    """Return the size of the boards that a network is for.

    Raises:
        SolverError: the file is missing or not a network.
    """
    pattern = open_network(weights, verify=False).pattern  # whoever plays by it verifies it
    return Size(pattern.rows, pattern.columns)


def prepare(plan: Plan) -> None:
    """Make two moves: what they compile and load is there before it is measured, or wanted by many workers.

    Raises:
        SolverError: see `make_player`.
    """
    make_player(msgspec.structs.replace(plan, max_moves=2)).play(0)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file; it is read once for each version.

    Raises:
        SolverError: the file cannot be read.
    """
    return _digest(*_version_of(path))


def _version_of(path: Path) -> tuple[Path, int, int]:
    """Return a file with its time and size, which change when it is written anew."""
    try:
        status = path.stat()
    except OSError as error:
        raise SolverError(f"weights {path} cannot be read: {error.strerror or error}") from error
    return path, status.st_mtime_ns, status.st_size


@functools.lru_cache(maxsize=2)
def _digest(path: Path, _time: int, _size: int) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SolverError(f"weights {path} cannot be read: {error.strerror or error}") from error


@functools.lru_cache(maxsize=1)
def _loaded(path: Path, _time: int, _size: int) -> Network:
    return open_network(path, in_memory=True)


_own = threading.local()


def player_of(plan: bytes) -> tuple[Plan, Player]:
    """Return a plan and its player; each thread keeps the last one.

    Args:
        plan: from `encode_plan`.
    """
    if getattr(_own, "message", None) != plan:
        decoded = decode_plan(plan)
        _own.pair = decoded, make_player(decoded)
        _own.message = plan
    pair: tuple[Plan, Player] = _own.pair
    return pair


def play_chunk(plan: bytes, first: int, count: int) -> bytes:
    """Play some consecutive games: what workers are asked to do.

    Args:
        plan: from `encode_plan`.
        first: number of the first game.
        count: how many.

    Returns:
        Those that the plan keeps, as a message (`recordings.datasets.formats.chunks.encode_chunk`).
    """
    wanted, player = player_of(plan)
    begun = time.perf_counter()
    games = [player.play(game) for game in range(first, first + count)]
    kept = [g for g in games if g.final_score >= wanted.min_score and g.info.max_tile >= wanted.min_tile]
    return encode_chunk(Chunk(first, count, kept, time.perf_counter() - begun))
