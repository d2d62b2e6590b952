"""What a run of self-play is: everything that its games follow from."""

from __future__ import annotations

import msgspec

from game2048.errors import SolverError
from recordings.game_arrays import GameInfo, new_info
from recordings.record import Outcome

SOURCE = "self-play"
CURRICULUM = {"easy": 2, "medium": 3, "hard": 5}
"""Depths of the datasets of growing difficulty."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A run of self-play. Game number g is the same wherever and in whatever company it is played.

    Attributes:
        engine: the engine's name.
        depth: that it searches, in its own count.
        weights: the file of its network, where that is not the one that comes with the project.
        sha256: of the network's file, for engines that play by one.
        seed: of the spawns.
        rows: of the board.
        columns: of the board.
        time_ms: that a decision may take; games then depend on the machine, so `generate` does not offer it.
        max_moves: after so many a game is stopped.
        min_score: games of less are not kept.
        min_tile: games without such a tile are not kept.
        metadata: whether each move says what the engine knew.
        timestamp: of all games; by default each has the time at which it ended.
    """

    engine: str
    depth: int | None = None
    weights: str | None = None
    sha256: str | None = None
    seed: int = 0
    rows: int = 4
    columns: int = 4
    time_ms: float | None = None
    max_moves: int | None = None
    min_score: int = 0
    min_tile: int = 0
    metadata: bool = False
    timestamp: str | None = None

    def info(self, game: int, outcome: Outcome) -> GameInfo:
        """What the record of a game of this run says, but for its totals."""
        return new_info(
            source=SOURCE,
            solver=self.engine,
            outcome=outcome,
            timestamp=self.timestamp,
            seed=self.seed,
            game_number=game,
            depth=self.depth,
            weights=self.sha256,
        )

    def difference(self, info: GameInfo, size: tuple[int, int]) -> str | None:
        """In what a recorded game is not one of this run, in words; ``None`` if it is one."""
        checks = (
            ("source", info.source, SOURCE),
            ("solver", info.solver, self.engine),
            ("depth", info.depth, self.depth),
            ("weights", info.weights, self.sha256),
            ("seed", info.seed, self.seed),
            ("board", size, (self.rows, self.columns)),
            ("symmetry", info.symmetry, None),
        )
        for name, found, expected in checks:
            if found != expected:
                return f"{name} {found}, not {expected}"
        return None if info.game_number is not None else "no game number"


def encode_plan(plan: Plan) -> bytes:
    """A plan as JSON, for a worker."""
    return msgspec.json.encode(plan)


def decode_plan(data: bytes) -> Plan:
    """The inverse of `encode_plan`.

    Raises:
        SolverError: it is none.
    """
    try:
        return msgspec.json.decode(data, type=Plan)
    except msgspec.DecodeError as error:
        raise SolverError(f"not a plan of self-play: {error}") from error
