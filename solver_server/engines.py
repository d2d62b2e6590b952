"""List the engines that `serve`, `play` and `hint` offer, by name.

An engine is an evaluator, a chance policy and a way to count depth; all engines share one search kernel. An
engine loads its kernels when it is made, so that names and limits are available at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from game2048.engine_names import DEFAULT_FOR_DATA, DEFAULT_FOR_PLAY, NETWORK_ENGINE, SMALL_BOARD_ENGINE
from game2048.errors import SolverError
from game2048.size import Size
from game2048.wire import messages
from game2048.wire.messages import EngineInfo
from solver_server.engine import Engine
from solver_server.limits import PLAYER_MOVES, DepthRule

if TYPE_CHECKING:  # imports numba
    from solver_server.ntuple.network import Network
    from solver_server.search.expectimax_engine import ExpectimaxEngine
    from solver_server.solutions.engine import SolutionShelf
    from solver_server.tables.engine import Library


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """The description of one engine.

    Attributes:
        name: the name on the wire and on the command line.
        summary: one line for people.
        boards: the sizes it plays, as ``"4x4"``; ``("any",)`` for 2×2 to 8×8.
        depths: how it counts depth.
        make: makes an instance for one search at a time, with a number of threads.
        in_points: whether its values are score points, including the merge reward of the move.
    """

    name: str
    summary: str
    boards: tuple[str, ...]
    depths: DepthRule
    make: Callable[[DepthRule, int], Engine]
    in_points: bool = False

    @property
    def max_depth(self) -> int:
        """The greatest depth that the engine accepts."""
        return self.depths.maximum

    @property
    def default_depth(self) -> int | None:
        """The depth without a limit from the user; ``None`` if only the number of nodes limits it."""
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
        """Make an instance; one thread at a time may use it.

        Args:
            threads: how many threads work on each search that has a time limit. Engines that sample use one
                thread, and so does `order`.
        """
        return self.make(self.depths, threads)


def _fast(depths: DepthRule, threads: int) -> ExpectimaxEngine:
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


def _exact(depths: DepthRule, threads: int) -> Engine:
    from solver_server.solutions.engine import SolutionEngine
    from solver_server.tables.storage import tables_folder

    return SolutionEngine(_fast(depths, threads), _shelf_of(tables_folder()), depths)


@functools.cache
def _shelf_of(folder: Path) -> SolutionShelf:
    from solver_server.solutions.engine import SolutionShelf

    return SolutionShelf(folder)


ORDER = "order"
"""The engine that always uses endgame tables."""

# If the default engine does not play a board's size, the first engine in this list that does plays it.
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
        SMALL_BOARD_ENGINE,
        "best play on boards of up to nine cells, by their full solution (`bot2048 tables build 3x3`); "
        "as fast without it; depth in player moves",
        ("2x2", "2x3", "3x2", "2x4", "4x2", "3x3"),
        PLAYER_MOVES,
        _exact,
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
    """Return the default engine for games and for boards of clients.

    Args:
        size: size of the board; ``None`` for boards of any size.
        weights: file of a network; if given, the network engine plays.
    """
    return _default(DEFAULT_FOR_PLAY, size, weights)


def default_for_data(size: Size | None = None, weights: Path | None = None) -> str:
    """Return the default engine for the games of a dataset; see `default_for_play` for the arguments."""
    return _default(DEFAULT_FOR_DATA, size, weights)


def _default(name: str, size: Size | None, weights: Path | None) -> str:
    if weights is not None:
        return NETWORK_ENGINE
    return name if size is None else messages.engine_for_size((spec.info for spec in _ALL), name, *size)


def engines_for(weights: Path | None = None, *, tables: bool = False) -> dict[str, EngineSpec]:
    """Return the engines by name, in the order to try them for a board.

    Args:
        weights: file of the network for the network engine; ``None`` for the bundled network.
        tables: whether all engines use endgame tables.

    Raises:
        SolverError: the weights file is missing, damaged or of an unknown format.
    """
    engines = ENGINES if weights is None else {**ENGINES, NETWORK_ENGINE: network_engine(weights)}
    return {name: with_tables(spec) for name, spec in engines.items()} if tables else engines


def spec_of(name: str) -> EngineSpec:
    """Return the engine with a name.

    Raises:
        SolverError: no engine has this name.
    """
    try:
        return ENGINES[name]
    except KeyError:
        raise SolverError(f"engine {name!r} is unknown: expected one of {', '.join(ENGINES)}") from None


def with_tables(spec: EngineSpec) -> EngineSpec:
    """Return an engine that uses endgame tables for the boards that they hold (docs/tables.md).

    All instances share the tables. The first instance maps or loads them.
    """
    if spec.name == ORDER:
        return spec

    def make(depths: DepthRule, threads: int) -> Engine:
        from solver_server.tables.engine import TableEngine

        return TableEngine(spec.make(depths, threads), _library().knowledge())

    return replace(spec, make=make, in_points=False)  # tables value boards in a unit of their own


def _library() -> Library:
    from solver_server.tables.storage import tables_folder

    return _library_of(tables_folder())


@functools.cache
def _library_of(folder: Path) -> Library:
    from solver_server.tables.engine import Library

    return Library(folder)


def network_engine(weights: Path) -> EngineSpec:
    """Return the engine that plays by an n-tuple network, on boards of its size.

    Args:
        weights: a file of this project or of TDL2048+; the engine reads it into memory once.

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
