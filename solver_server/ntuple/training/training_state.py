"""A training run: settings, the state of its learners, going on for a while, saving and going on later."""

from __future__ import annotations

import time
from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError
from game2048.spawn import game_state
from solver_server import array_file
from solver_server.ntuple.files import native
from solver_server.ntuple.files.native import Network, Phase
from solver_server.ntuple.network import active_weights, new_weights, scale_of
from solver_server.ntuple.network_ops import Rules, make_rules
from solver_server.ntuple.patterns import Pattern, with_stages
from solver_server.ntuple.training import episodes, td_kernels
from solver_server.ntuple.training.start_boards import Starts, no_starts
from solver_server.ntuple.training.td_kernels import (
    BEST_SCORE,
    BEST_TOP,
    FAULTS,
    GAMES,
    RESTARTING,
    Learner,
    Rate,
    make_learner,
    make_scratch,
)

METHODS = ("backward", "tc", "td0")
LEARNER_SUFFIX = ".learner"
_PIECE_MOVES = 200_000
_BUFFER_GAMES = 1 << 14

Numbers = npt.NDArray[np.int64]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How a network learns.

    Attributes:
        method: ``backward`` (TC(λ) from the end of each game, with restarts), ``tc`` (TC(0)) or ``td0``.
        rate: TD(0): what every active weight moves by per point of error; TC: β, shared over the active
            weights.
        trace: λ of ``backward``.
        initial_value: of every board before learning (optimistic initialisation).
        decay_interval: games after which the rate is multiplied by ``decay_factor``; 0 for never.
        decay_factor: see there.
        seed: of the games.
        threads: that learn at once, without locks; more than one is not reproducible.
        starts: in words, the boards that games begin on; empty where they begin afresh.
    """

    method: str = "backward"
    rate: float = 1.0
    trace: float = 0.5
    initial_value: float = 0.0
    decay_interval: int = 0
    decay_factor: float = 0.5
    seed: int = 0
    threads: int = 1
    starts: str = ""


class LearnerHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The header of the file beside a checkpoint's weights; its payload is `Rate.sums`.

    Attributes:
        weights_sha256: the digest of the weights it belongs to.
        settings: of the training.
        words: `Learner.words` of each thread.
        counts: `Learner.counts` of each thread.
        seconds: learned so far in this phase.
        earlier: phases of training before this one.
        pending: score and largest exponent of the games since the last row of the log.
    """

    kind: str = "learner"
    weights_sha256: str
    settings: Settings
    words: list[list[int]]
    counts: list[list[int]]
    seconds: float
    earlier: tuple[Phase, ...] = ()
    pending: list[tuple[int, int]] = []


@dataclass(frozen=True, slots=True)
class Piece:
    """What happened in a short stretch of training.

    Attributes:
        scores: int64 [games], of the games finished (not of restarts).
        tops: int64 [games], their largest exponents.
        best: threads whose last path is a game that was better than all before, by score or by tile.
    """

    scores: Numbers
    tops: Numbers
    best: tuple[int, ...]


@dataclass(slots=True)
class Training:
    """A training run in memory.

    Attributes:
        network: being trained, in place.
        settings: as started.
        sums: float32 [2 · entries], E and A of every weight side by side; empty for TD(0).
        learners: one a thread.
        seconds: of learning so far in this phase.
        earlier: phases before this one.
        pending: score and largest exponent of the games since the last row of the log.
        starts: what ``settings.starts`` names: uint64 [n, 3], see `episodes.run`. Not saved.
        rules: of the board.
    """

    network: Network
    settings: Settings
    sums: npt.NDArray[np.float32]
    learners: list[Learner]
    seconds: float = 0.0
    earlier: tuple[Phase, ...] = ()
    pending: list[tuple[int, int]] = field(default_factory=list)
    starts: Starts = field(default_factory=no_starts)
    rules: Rules = field(init=False)

    def __post_init__(self) -> None:
        self.rules = make_rules(self.network.pattern.rows, self.network.pattern.columns)

    @classmethod
    def start(cls, pattern: Pattern, settings: Settings) -> Training:
        """A new run, from fresh weights."""
        network = Network(pattern, new_weights(pattern, settings.initial_value))
        sums = np.zeros(0 if settings.method == "td0" else 2 * pattern.entries, dtype=np.float32)
        return cls(network, settings, sums, _new_learners(settings))

    # -- where it stands ----------------------------------------------------------------------------------

    def total(self, which: int) -> int:
        """The sum of one of the counts of `Learner` over the threads, in this phase."""
        return sum(int(learner.counts[which]) for learner in self.learners)

    @property
    def games(self) -> int:
        """Games started in all phases."""
        return sum(phase.games for phase in self.earlier) + self.total(GAMES)

    @property
    def moves(self) -> int:
        """Moves made in all phases, restarts included."""
        return sum(phase.moves for phase in self.earlier) + self.total(td_kernels.MOVES)

    @property
    def total_seconds(self) -> float:
        """Time learned in all phases."""
        return sum(phase.seconds for phase in self.earlier) + self.seconds

    @property
    def between_games(self) -> bool:
        """Whether every game started so far is over, with its restarts."""
        return not any(learner.counts[RESTARTING] for learner in self.learners)

    def phase(self) -> Phase:
        """This run as a phase of the network's history."""
        return Phase(
            method=self.settings.method,
            rate=self.settings.rate,
            trace=self.settings.trace if self.settings.method == "backward" else 0.0,
            games=self.total(GAMES),
            episodes=self.total(td_kernels.EPISODES),
            moves=self.total(td_kernels.MOVES),
            seconds=round(self.seconds, 3),
            threads=self.settings.threads,
            seed=self.settings.seed,
            starts=self.settings.starts,
        )

    def change(self, settings: Settings) -> None:
        """Go on with other settings, as a new phase; the weights and their sums stay.

        Raises:
            SolverError: TD(0) would have to go on from TC or the other way round.
        """
        if settings == self.settings:
            return
        if (settings.method == "td0") != (self.settings.method == "td0"):
            raise SolverError(
                f"training by {self.settings.method} cannot go on by {settings.method}: their states differ; "
                "start a new run"
            )
        if self.total(td_kernels.EPISODES):
            self.earlier = (*self.earlier, self.phase())
        self.seconds = 0.0
        learners = _new_learners(settings)
        for new, old in zip(learners, self.learners, strict=False):
            new.words[:] = old.words
            new.counts[[BEST_SCORE, BEST_TOP, RESTARTING]] = old.counts[[BEST_SCORE, BEST_TOP, RESTARTING]]
        self.learners = learners
        self.settings = settings

    def divide(self, stages: tuple[int, ...]) -> None:
        """Give other stages to the network; each begins as what its boards had before, sums included.

        Raises:
            SolverError: the stages are not possible.
        """
        old, new = self.network.pattern, with_stages(self.network.pattern, stages)
        sources = [bisect_right(old.stages, first) for first in (0, *stages)]
        entries = old.stage_entries

        def copies(array: npt.NDArray[np.float32], size: int) -> npt.NDArray[np.float32]:
            return np.concatenate([array[source * size : (source + 1) * size] for source in sources])

        weights = copies(self.network.weights.astype(np.float32, copy=False), entries)
        self.network = Network(new, weights, self.network.history)
        if self.sums.size:
            self.sums = copies(self.sums, 2 * entries)

    def forget(self, kept: float) -> None:
        """Multiply the sums of temporal coherence, so that from now on newer errors count for more."""
        self.sums *= np.float32(kept)

    def rate(self) -> Rate:
        """The present learning rate as kernels take it."""
        settings, pattern = self.settings, self.network.pattern
        step = settings.rate
        if settings.decay_interval:
            step *= settings.decay_factor ** (self.total(GAMES) // settings.decay_interval)
        if settings.method != "td0":
            step /= active_weights(pattern) * scale_of(pattern)
        return Rate(self.sums, np.float32(step), np.float32(settings.trace))

    # -- learning -----------------------------------------------------------------------------------------

    def advance(self, games: int, moves: int = _PIECE_MOVES) -> Piece:
        """Learn until each thread has made about so many moves more, or ``games`` are started in all phases.

        Raises:
            SolverError: the values have grown beyond all bounds.
        """
        started = time.perf_counter()
        if self.settings.decay_interval:
            interval, begun = self.settings.decay_interval, self.total(GAMES)
            games = min(games, self.games - begun + (begun // interval + 1) * interval)
        rate = self.rate()
        shares = _shares(max(games - self.games, 0), len(self.learners))

        def learn(thread: int) -> tuple[Numbers, Numbers, bool]:
            return self._learn(thread, rate, moves, shares[thread])

        if len(self.learners) == 1:
            results = [learn(0)]
        else:
            with ThreadPoolExecutor(len(self.learners)) as pool:
                results = list(pool.map(learn, range(len(self.learners))))
        self.seconds += time.perf_counter() - started
        if self.total(FAULTS):
            raise SolverError(
                f"after {self.games} games the values are no longer numbers: the learning rate "
                f"{self.settings.rate} is too large for this network; start again with a smaller one"
            )
        return Piece(
            np.concatenate([scores for scores, _, _ in results]),
            np.concatenate([tops for _, tops, _ in results]),
            self._share_best([thread for thread, result in enumerate(results) if result[2]]),
        )

    def compile(self) -> None:
        """Compile the kernels, so that the time this takes counts as no learning."""
        for thread in range(len(self.learners)):
            self._learn(thread, self.rate(), 0, 0)

    def _learn(self, thread: int, rate: Rate, moves: int, share: int) -> tuple[Numbers, Numbers, bool]:
        pattern, learner = self.network.pattern, self.learners[thread]
        scores = np.empty(_BUFFER_GAMES, dtype=np.int64)
        tops = np.empty(_BUFFER_GAMES, dtype=np.int64)
        written, best = episodes.run(
            learner,
            self.network.tables(),
            rate,
            self.rules,
            episodes.BACKWARD if self.settings.method == "backward" else episodes.ONLINE,
            moves,
            int(learner.counts[GAMES]) + share,
            self.starts,
            scores,
            tops,
            make_scratch(pattern.rows, pattern.columns, active_weights(pattern)),
        )
        return scores[:written], tops[:written], best

    def _share_best(self, candidates: list[int]) -> tuple[int, ...]:
        """Of threads that beat their own best, those that beat the others' too; then all know the best."""
        best = []
        for which in (BEST_SCORE, BEST_TOP):
            record = max(int(learner.counts[which]) for learner in self.learners)
            best += [thread for thread in candidates if self.learners[thread].counts[which] == record][:1]
            for learner in self.learners:
                learner.counts[which] = record
        return tuple(dict.fromkeys(best))

    # -- checkpoints --------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Write the weights, then the learner's state beside them; each file complete or not at all."""
        history = (*self.earlier, self.phase())
        digest = native.save(path, Network(self.network.pattern, self.network.weights, history))
        header = LearnerHeader(
            weights_sha256=digest,
            settings=self.settings,
            words=[[int(word) for word in learner.words] for learner in self.learners],
            counts=[[int(count) for count in learner.counts] for learner in self.learners],
            seconds=self.seconds,
            earlier=self.earlier,
            pending=self.pending,
        )
        array_file.write(path.with_suffix(LEARNER_SUFFIX), msgspec.json.encode(header), self.sums)

    @classmethod
    def load(cls, path: Path) -> Training:
        """Go on from a checkpoint's weights file, exactly where it was saved.

        Raises:
            SolverError: the weights or the learner's state are missing, damaged or of different checkpoints.
        """
        network = native.load(path, in_memory=True)
        if network.weights.dtype != np.float32:
            raise SolverError(
                f"{path} cannot be trained: its weights are rounded; take the checkpoint that it was made of"
            )
        beside = path.with_suffix(LEARNER_SUFFIX)
        if not beside.exists():
            raise SolverError(
                f"{path} has no learner's state beside it: expected {beside.name} from the same checkpoint"
            )
        header, sums = _read_learner(path, network)
        learners = _new_learners(header.settings)
        for learner, words, counts in zip(learners, header.words, header.counts, strict=True):
            if len(words) != learner.words.size or len(counts) != learner.counts.size:
                raise SolverError(f"{beside} was written by another version, which alone can go on from it")
            learner.words[:] = words
            learner.counts[:] = counts
        return cls(
            network, header.settings, sums, learners, header.seconds, header.earlier, list(header.pending)
        )


def read_sums(path: Path) -> npt.NDArray[np.float32] | None:
    """E and A of the weights of a checkpoint (`Rate.sums`); ``None`` where no learner's state lies beside it.

    Raises:
        SolverError: the weights or the learner's state are damaged or of different checkpoints.
    """
    if not path.with_suffix(LEARNER_SUFFIX).exists():
        return None
    _, sums = _read_learner(path, native.load(path))
    return sums if sums.size else None


def _read_learner(path: Path, network: Network) -> tuple[LearnerHeader, npt.NDArray[np.float32]]:
    beside = path.with_suffix(LEARNER_SUFFIX)
    contents = array_file.read(beside, in_memory=True)
    header = _decode(beside, contents.header)
    if header.weights_sha256 != network.sha256:
        raise SolverError(f"{beside} belongs to other weights than {path}: take both from one checkpoint")
    expected = 0 if header.settings.method == "td0" else 2 * network.pattern.entries
    if contents.payload.size != 4 * expected:
        raise SolverError(f"{beside} is damaged: it has {contents.payload.size} of {4 * expected} bytes")
    return header, contents.payload.view(np.float32)


def _decode(path: Path, header: bytes) -> LearnerHeader:
    try:
        decoded = msgspec.json.decode(header, type=LearnerHeader)
    except msgspec.DecodeError as error:
        raise SolverError(f"{path} is no learner's state: its header does not fit ({error})") from error
    if decoded.kind != "learner":
        raise SolverError(f"{path} is no learner's state: it holds {decoded.kind}")
    return decoded


def _new_learners(settings: Settings) -> list[Learner]:
    return [make_learner(game_state(settings.seed, thread)) for thread in range(settings.threads)]


def _shares(total: int, parts: int) -> list[int]:
    return [total // parts + (part < total % parts) for part in range(parts)]
