"""The plan of a run of self-play: everything that its games depend on."""

from __future__ import annotations

import msgspec

from game2048.errors import SolverError
from game2048.size import STANDARD_SIZE, Size
from recordings.record import GameInfo, Outcome, new_info
from solver_server.engine import Limit

SOURCE = "self-play"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A run of self-play. Game number g is the same on any worker and in any order.

    Attributes:
        engine: name of the engine.
        depth: search depth, as the engine counts it.
        weights: file of its network; ``None`` for the bundled one.
        sha256: digest of the network's file, for engines that play by one.
        seed: seed of the spawns.
        size: size of the board.
        time_ms: time limit of a move; games then depend on the machine, so `generate` does not offer it.
        search_threads: threads that share the search of one move.
        tables: whether the engine uses endgame tables.
        max_moves: moves after which a game is stopped.
        min_score: least score of a game that is kept.
        min_tile: least largest tile of a game that is kept.
        metadata: whether each move is kept with what the engine knew.
        timestamp: time of all games; by default each has the time of its end.
    """

    engine: str
    depth: int | None = None
    weights: str | None = None
    sha256: str | None = None
    seed: int = 0
    size: Size = STANDARD_SIZE
    time_ms: float | None = None
    search_threads: int = 1
    tables: bool = False
    max_moves: int | None = None
    min_score: int = 0
    min_tile: int = 0
    metadata: bool = False
    timestamp: str | None = None

    @property
    def limit(self) -> Limit:
        """The limit of each decision."""
        return Limit(self.depth, self.time_ms)

    @property
    def solver(self) -> str:
        """The engine as records name it."""
        return f"{self.engine} tables" if self.tables else self.engine

    def info(self, game: int, outcome: Outcome) -> GameInfo:
        """Return the info of a game of this run, without its totals."""
        return new_info(
            source=SOURCE,
            solver=self.solver,
            outcome=outcome,
            timestamp=self.timestamp,
            seed=self.seed,
            game_number=game,
            depth=self.depth,
            weights=self.sha256,
        )

    def difference(self, info: GameInfo, size: tuple[int, int]) -> str | None:
        """Return how a recorded game differs from those of this run; ``None`` if it is one of them."""
        checks = (
            ("source", info.source, SOURCE),
            ("solver", info.solver, self.solver),
            ("depth", info.depth, self.depth),
            ("weights", info.weights, self.sha256),
            ("seed", info.seed, self.seed),
            ("board", size, self.size),
            ("symmetry", info.symmetry, None),
        )
        for name, found, expected in checks:
            if found != expected:
                return f"{name} {found}, not {expected}"
        return None if info.game_number is not None else "no game number"


def encode_plan(plan: Plan) -> bytes:
    """Return a plan as JSON, for a worker."""
    return msgspec.json.encode(plan)


def decode_plan(data: bytes) -> Plan:
    """Return the plan of a message; the inverse of `encode_plan`.

    Raises:
        SolverError: the message is not a plan.
    """
    try:
        return msgspec.json.decode(data, type=Plan)
    except msgspec.DecodeError as error:
        raise SolverError(f"the message is not a plan of self-play: {error}") from error
