"""The engines by name: what `serve`, `play` and `hint` offer.

An engine is an evaluator, a chance policy and a way to count depth; all of them search by the same kernel.
Kernels are loaded when an engine is made, so that names and limits can be had at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from game2048.engine_names import DEFAULT_FOR_DATA, DEFAULT_FOR_PLAY, NETWORK_ENGINE
from game2048.errors import SolverError
from game2048.size import Size
from game2048.wire import messages
from game2048.wire.messages import EngineInfo
from solver_server.engine import Engine
from solver_server.limits import PLAYER_MOVES, DepthRule

if TYPE_CHECKING:  # imports numba
    from solver_server.ntuple.network import Network
    from solver_server.tables.engine import Library


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """One engine.

    Attributes:
        name: what the wire and the command line call it.
        summary: one line for people.
        boards: the sizes it plays, as ``"4x4"``; ``("any",)`` for 2×2 to 8×8.
        depths: how it counts depth.
        make: a new instance, for one search at a time, of so many threads.
        in_points: whether its values are score points, the merge reward of the move included.
    """

    name: str
    summary: str
    boards: tuple[str, ...]
    depths: DepthRule
    make: Callable[[DepthRule, int], Engine]
    in_points: bool = False

    @property
    def max_depth(self) -> int:
        """The greatest depth it takes."""
        return self.depths.maximum

    @property
    def default_depth(self) -> int | None:
        """The depth it plays without a limit; ``None`` where that is as deep as its nodes go."""
        return None if self.depths.default == self.depths.maximum else self.depths.default

    @property
    def info(self) -> EngineInfo:
        """The description for clients."""
        return EngineInfo(
            name=self.name,
            summary=self.summary,
            boards=self.boards,
            max_depth=self.max_depth,
            default_depth=self.default_depth,
            min_depth=self.depths.minimum,
            in_points=self.in_points,
        )

    def plays(self, size: Size) -> bool:
        """Return whether it plays boards of that size."""
        return self.info.plays(size.rows, size.columns)

    def create(self, threads: int = 1) -> Engine:
        """A new instance; one thread at a time may use it.

        Args:
            threads: at work on each search that is limited by time alone or among others; engines that
                sample use one, and so does `order`.
        """
        return self.make(self.depths, threads)


def _fast(depths: DepthRule, threads: int) -> Engine:
    from solver_server.search.chance import make_policy
    from solver_server.search.expectimax_engine import ExpectimaxEngine, make_search
    from solver_server.search.heuristics import make_line_heuristic

    chance = make_policy(min_probability=1e-3)
    search = make_search(make_line_heuristic(), chance, log2_entries=18)
    return ExpectimaxEngine(search, depths, threads=threads)


def _ntuple(depths: DepthRule, threads: int) -> Engine:
    from solver_server.ntuple.bundled import network_for
    from solver_server.ntuple.engine import NetworkEngine

    return NetworkEngine(network_for(4, 4), depths, threads=threads)


def _order(depths: DepthRule, threads: int) -> Engine:
    from solver_server.search.order_engine import OrderEngine
    from solver_server.tables.engine import TableEngine

    return TableEngine(OrderEngine(depths), _library().knowledge())


def _composite(depths: DepthRule, threads: int) -> Engine:
    from solver_server.search.chance import make_policy
    from solver_server.search.expectimax_engine import ExpectimaxEngine, make_search
    from solver_server.search.heuristics import make_composite

    chance = make_policy(exact_up_to=0, sample_cells=4)
    search = make_search(make_composite(), chance, exact_depth=True, log2_entries=14)
    return ExpectimaxEngine(search, depths, on_grid=True)


def _gradient(depths: DepthRule, threads: int) -> Engine:
    from solver_server.search.chance import make_policy
    from solver_server.search.expectimax_engine import ExpectimaxEngine, make_search
    from solver_server.search.heuristics import make_gradient

    chance = make_policy(exact_up_to=6, sample_pairs=6)
    search = make_search(make_gradient(), chance, exact_depth=True, log2_entries=16)
    return ExpectimaxEngine(search, depths, on_grid=True)


ORDER = "order"
"""The engine that always uses endgame tables."""

# What plays a board of a size that the default engine does not know is the first of these that does.
_ALL = (
    EngineSpec(
        ORDER,
        "endgame tables (the bundled extract until `bot2048 tables build`), else an expectimax that keeps "
        "the large tiles in order; depth in player moves",
        ("4x4",),
        PLAYER_MOVES,
        _order,
    ),
    EngineSpec(
        NETWORK_ENGINE,
        "expectimax over the bundled n-tuple network; depth in player moves, 1 is greedy",
        ("4x4",),
        PLAYER_MOVES,
        _ntuple,
        in_points=True,
    ),
    EngineSpec(
        "fast",
        "expectimax over a tuned row and column evaluation; any board; depth in player moves",
        ("any",),
        PLAYER_MOVES,
        _fast,
    ),
    EngineSpec(
        "composite",
        "expectimax over position, space, monotonicity, smoothness and corner, 4 cells sampled a spawn; "
        "depth counts plies, moves and spawns alike",
        ("4x4",),
        DepthRule(minimum=2, maximum=6, default=4, plies_each=1, plies_off=0),
        _composite,
    ),
    EngineSpec(
        "gradient",
        "expectimax over space, a snake of weights and smoothness, 6 spawns sampled on open boards; "
        "depth in player moves, the last one's spawn included",
        ("4x4",),
        DepthRule(minimum=1, maximum=5, default=3, plies_each=2, plies_off=0),
        _gradient,
    ),
)

ENGINES: dict[str, EngineSpec] = {spec.name: spec for spec in _ALL}


def default_for_play(size: Size | None = None, weights: Path | None = None) -> str:
    """Return the engine that plays games and answers boards where none is named.

    Args:
        size: of the board; ``None`` where any may come.
        weights: a network that was asked for; then it plays.
    """
    return _default(DEFAULT_FOR_PLAY, size, weights)


def default_for_data(size: Size | None = None, weights: Path | None = None) -> str:
    """Return the engine that plays the games of a dataset where none is named; for arguments see above."""
    return _default(DEFAULT_FOR_DATA, size, weights)


def _default(name: str, size: Size | None, weights: Path | None) -> str:
    if weights is not None:
        return NETWORK_ENGINE
    return name if size is None else messages.engine_for_size((spec.info for spec in _ALL), name, *size)


def engines_for(weights: Path | None = None, *, tables: bool = False) -> dict[str, EngineSpec]:
    """Return the engines by name, in the order in which they are tried for a board.

    Args:
        weights: the network of the network engine; by default the bundled one.
        tables: whether all of them use endgame tables.

    Raises:
        SolverError: the weights file is missing, damaged or of an unknown format.
    """
    engines = ENGINES if weights is None else {**ENGINES, NETWORK_ENGINE: network_engine(weights)}
    return {name: with_tables(spec) for name, spec in engines.items()} if tables else engines


def spec_of(name: str) -> EngineSpec:
    """The engine of that name.

    Raises:
        SolverError: there is none.
    """
    try:
        return ENGINES[name]
    except KeyError:
        raise SolverError(f"engine {name!r} is unknown: expected one of {', '.join(ENGINES)}") from None


def with_tables(spec: EngineSpec) -> EngineSpec:
    """The engine, and endgame tables where they know a board (docs/tables.md).

    All instances share the tables, which are mapped or loaded when the first one is made.
    """
    if spec.name == ORDER:
        return spec

    def make(depths: DepthRule, threads: int) -> Engine:
        from solver_server.tables.engine import TableEngine

        return TableEngine(spec.make(depths, threads), _library().knowledge())

    return replace(spec, make=make, in_points=False)  # tables value boards in a unit of their own


@functools.cache
def _library() -> Library:
    from solver_server.tables.engine import Library

    return Library()


def network_engine(weights: Path) -> EngineSpec:
    """Return the engine that plays by an n-tuple network, on boards of its size.

    Args:
        weights: a file of this project or of TDL2048+; it is read into memory once.

    Raises:
        SolverError: the file is missing, damaged or of an unknown format.
    """
    from solver_server.ntuple.files.network_file import open_network

    return engine_of_network(open_network(weights, in_memory=True))


def engine_of_network(network: Network) -> EngineSpec:
    """Return the engine that plays by a network in memory; all its instances share the weights."""
    from solver_server.ntuple.engine import NetworkEngine

    pattern = network.pattern
    return EngineSpec(
        NETWORK_ENGINE,
        f"expectimax over the n-tuple network {pattern.name}; depth in player moves, 1 is greedy",
        (f"{pattern.rows}x{pattern.columns}",),
        PLAYER_MOVES,
        lambda depths, threads: NetworkEngine(network, depths, threads=threads),
        in_points=True,
    )
