"""A training run in memory: it learns for a while, is saved, and resumes."""

from __future__ import annotations

import contextlib
import os
import time
from bisect import bisect_right
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from game2048.errors import SolverError
from game2048.kernels.word_ops import MoveRules, make_move_rules
from game2048.spawn import game_state
from recordings.atomic import Draft
from solver_server.aligned import aligned_empty, aligned_zeros
from solver_server.ntuple.files import native
from solver_server.ntuple.network import RATES_VERSION, Network, Phase, new_weights
from solver_server.ntuple.one_word_network import OneWordTables
from solver_server.ntuple.patterns import Pattern, active_weights, scale_of, with_stages
from solver_server.ntuple.training.episodes import GameResults, Quota, learn_for_a_while
from solver_server.ntuple.training.learner_file import (
    LearnerHeader,
    Sums,
    learner_path,
    read_learner,
    sums_size,
    write_learner_to,
)
from solver_server.ntuple.training.lockstep import learn_in_lockstep
from solver_server.ntuple.training.settings import Settings, default_lanes
from solver_server.ntuple.training.start_boards import Starts, no_starts
from solver_server.ntuple.training.td_kernels import (
    Learner,
    LearningThread,
    LearnWhen,
    Rate,
    lanes_of,
    make_lanes,
    make_scratch,
    restore_state,
    saved_state,
)
from solver_server.ntuple.weight_order import order_in_memory

_PIECE_MOVES = 200_000
_BUFFER_GAMES = 1 << 14
_KEPT_IN_A_NEW_PHASE = (
    "random",
    "game_random",
    "start_low",
    "start_high",
    "start_extra",
    "best_score",
    "best_top",
    "restarting",
)
_KEPT_OF_A_GAME = ("board", "before", "before_value", "score", "playing", "turn", "unrecorded", "length")
_WHEN = {"backward": LearnWhen.BACKWARD, "tc": LearnWhen.ONLINE, "td0": LearnWhen.ONLINE}

_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Piece:
    """The games of a short stretch of training.

    Attributes:
        scores: int64 [games], scores of the finished games; restarts do not count.
        tops: int64 [games], largest exponents of these games.
        best: numbers of the learners whose last path is the best game so far, by score or by tile.
    """

    scores: _Numbers
    tops: _Numbers
    best: tuple[int, ...]


@dataclass(slots=True)
class Training:
    """A training run in memory.

    Attributes:
        network: the network, trained in place.
        settings: how it learns.
        sums: E and A of every weight (`learner_file.Sums`).
        memories: memory of each thread, for all its games at once.
        seconds: time spent learning in this phase.
        earlier: phases before this one.
        pending: score and largest exponent of the games since the last row of the log.
        starts: boards that ``settings.starts`` describes, uint64 [n, 3]; not saved.
        rules: slides of the board.
        learners: memory of each game that is played at the same time, thread by thread: parts of `memories`.
    """

    network: Network
    settings: Settings
    sums: Sums
    memories: list[Learner]
    seconds: float = 0.0
    earlier: tuple[Phase, ...] = ()
    pending: list[tuple[int, int]] = field(default_factory=list)
    starts: Starts = field(default_factory=no_starts)
    rules: MoveRules = field(init=False)
    learners: list[Learner] = field(init=False)

    def __post_init__(self) -> None:
        self.rules = make_move_rules(self.network.pattern.rows, self.network.pattern.columns)
        self._take(self.memories)

    def _take(self, memories: list[Learner]) -> None:
        self.memories = memories
        self.learners = [lane for memory in memories for lane in lanes_of(memory)]

    @classmethod
    def start(cls, pattern: Pattern, settings: Settings) -> Training:
        """Start a run from fresh weights."""
        network = Network(pattern, new_weights(pattern, settings.initial_value))
        _check_lanes(pattern, settings)
        sums = aligned_zeros(sums_size(pattern, settings.method), np.float32)
        return cls(network, settings, sums, _new_memories(settings))

    # -- where it stands ----------------------------------------------------------------------------------

    def total(self, field: str) -> int:
        """Add up a field of `td_kernels.LEARNER_STATE` over the threads, in this phase."""
        return sum(learner.get(field) for learner in self.learners)

    @property
    def games(self) -> int:
        """Games started in all phases."""
        return sum(phase.games for phase in self.earlier) + self.total("games")

    @property
    def moves(self) -> int:
        """Moves made in all phases, restarts included."""
        return sum(phase.moves for phase in self.earlier) + self.total("moves")

    @property
    def total_seconds(self) -> float:
        """Time learned in all phases."""
        return sum(phase.seconds for phase in self.earlier) + self.seconds

    @property
    def between_games(self) -> bool:
        """Tell whether every game started so far is over, with its restarts."""
        return not any(learner.get("restarting") for learner in self.learners)

    def phase(self) -> Phase:
        """Describe this run as a phase of the network's history."""
        return Phase(
            method=self.settings.method,
            rate=self.settings.rate,
            trace=self.settings.trace if self.settings.method == "backward" else 0.0,
            games=self.total("games"),
            episodes=self.total("episodes"),
            moves=self.total("moves"),
            seconds=round(self.seconds, 3),
            threads=self.settings.threads,
            seed=self.settings.seed,
            starts=self.settings.starts,
        )

    def change(self, settings: Settings) -> None:
        """Continue with other settings, as a new phase. The weights and their sums stay.

        Raises:
            SolverError: one of the methods is TD(0) and the other is not.
        """
        if settings == self.settings:
            return
        if (settings.method == "td0") != (self.settings.method == "td0"):
            raise SolverError(
                f"the method is {settings.method}; expected one like {self.settings.method}, since the "
                "learner's states of TD(0) and TC differ; start a new run"
            )
        _check_lanes(self.network.pattern, settings)
        if self.total("episodes"):
            self.earlier = (*self.earlier, self.phase())
        self.seconds = 0.0
        before = self.learners
        self._take(_new_memories(settings))
        kept: tuple[str, ...] = _KEPT_IN_A_NEW_PHASE
        if (settings.lanes, settings.threads) == (self.settings.lanes, self.settings.threads):
            kept += _KEPT_OF_A_GAME
        for new, old in zip(self.learners, before, strict=False):
            for name in kept:
                new.state[name] = old.state[name]
            if new.get("playing"):
                new.put("unrecorded", 1)
        self.settings = settings

    def divide(self, stages: tuple[int, ...]) -> None:
        """Give the network other stages. Each begins with the weights and sums that its boards had before.

        Raises:
            SolverError: the stages are not possible.
        """
        old, new = self.network.pattern, with_stages(self.network.pattern, stages)
        sources = [bisect_right(old.stages, first) for first in (0, *stages)]
        entries = old.stage_entries

        def copies(array: npt.NDArray[np.float32], size: int) -> npt.NDArray[np.float32]:
            parts = [array[source * size : (source + 1) * size] for source in sources]
            return np.concatenate(parts, out=aligned_empty(size * len(parts), array.dtype))

        weights = copies(self.network.weights.astype(np.float32, copy=False), entries)
        self.network = Network(new, weights, self.network.history)
        if self.sums.size:
            self.sums = copies(self.sums, 2 * entries)

    def forget(self, kept: float) -> None:
        """Multiply the sums of temporal coherence, so that newer errors count for more."""
        self.sums *= np.float32(kept)

    def rate(self) -> Rate:
        """Return the present learning rate as kernels take it."""
        settings, pattern = self.settings, self.network.pattern
        step = settings.rate
        if settings.decay_interval:
            step *= settings.decay_factor ** (self.total("games") // settings.decay_interval)
        step /= active_weights(pattern) * scale_of(pattern)
        return Rate(self.sums, np.float32(step), np.float32(settings.trace))

    # -- learning -----------------------------------------------------------------------------------------

    def advance(self, games: int, moves: int = _PIECE_MOVES) -> Piece:
        """Learn for about ``moves`` moves per thread, or until ``games`` games are started in all phases.

        Raises:
            SolverError: the values are not finite any more.
        """
        started = time.perf_counter()
        if self.settings.decay_interval:
            interval, begun = self.settings.decay_interval, self.total("games")
            games = min(games, self.games - begun + (begun // interval + 1) * interval)
        rate = self.rate()
        shares = _shares(max(games - self.games, 0), len(self.memories))

        def learn(thread: int) -> tuple[_Numbers, _Numbers, int]:
            return self._learn(thread, rate, moves, shares[thread])

        if len(self.memories) == 1:
            results = [learn(0)]
        else:
            with ThreadPoolExecutor(len(self.memories)) as pool:
                results = list(pool.map(learn, range(len(self.memories))))
        self.seconds += time.perf_counter() - started
        if self.total("faults"):
            raise SolverError(
                f"after {self.games} games the values are not finite: the learning rate is "
                f"{self.settings.rate:g}, too large for this network; try a smaller one"
            )
        return Piece(
            np.concatenate([scores for scores, _, _ in results]),
            np.concatenate([tops for _, tops, _ in results]),
            self._share_best([best for _, _, best in results if best >= 0]),
        )

    def compile(self) -> None:
        """Compile the kernels, so that this time does not count as learning."""
        for thread in range(len(self.memories)):
            self._learn(thread, self.rate(), 0, 0)

    def thread(self, number: int, rate: Rate) -> LearningThread:
        """Return everything that one thread learns with, as kernels take it."""
        pattern = self.network.pattern
        return LearningThread(
            learner=self.memories[number],
            tables=self.network.tables(),
            rules=self.rules,
            rate=rate,
            scratch=make_scratch(pattern.rows, pattern.columns, active_weights(pattern), self.settings.lanes),
            when=_WHEN[self.settings.method],
        )

    def _learn(self, number: int, rate: Rate, moves: int, share: int) -> tuple[_Numbers, _Numbers, int]:
        """Learn in one thread; return scores, largest exponents, and the learner of a best game or −1."""
        quota = Quota(moves, int(self.memories[number].state["games"].sum()) + share)
        results = GameResults(
            np.empty(_BUFFER_GAMES, dtype=np.int64), np.empty(_BUFFER_GAMES, dtype=np.int64)
        )
        thread = self.thread(number, rate)
        if thread.when == LearnWhen.ONLINE and isinstance(thread.tables, OneWordTables):
            written, lane = learn_in_lockstep(thread, self.starts, quota, results)
        else:
            written, is_best = learn_for_a_while(thread, self.starts, quota, results)
            lane = 0 if is_best else -1
        best = number * self.settings.lanes + lane if lane >= 0 else -1
        if best >= 0 and self.learners[best].get("unrecorded"):
            best = -1
        return results.scores[:written], results.tops[:written], best

    def _share_best(self, candidates: list[int]) -> tuple[int, ...]:
        """Find the learners that beat the best of all; then tell all learners the best."""
        best = []
        for name in ("best_score", "best_top"):
            record = max(learner.get(name) for learner in self.learners)
            best += [number for number in candidates if self.learners[number].get(name) == record][:1]
            for learner in self.learners:
                learner.put(name, record)
        return tuple(dict.fromkeys(best))

    # -- checkpoints --------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Write the weights, and the learner's state beside them: both files complete, or neither.

        A pair of the same name stays whole until the new one is; after a kill it has ``-before`` in its name.

        Raises:
            OSError: a file cannot be written; nothing is left of the new ones.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        history = (*self.earlier, self.phase())
        with contextlib.ExitStack() as drafts:
            weights, learner = Draft(path), Draft(learner_path(path))
            drafts.callback(weights.discard)
            drafts.callback(learner.discard)
            network = Network(self.network.pattern, self.network.weights, history)
            header = self._learner_header(native.write_weights_to(weights.file, network))
            write_learner_to(learner.file, header, self.sums, self.network.pattern)
            weights.complete()
            learner.complete()
            with _earlier_pair_kept(path):
                weights.publish()
                learner.publish()

    def _learner_header(self, digest: str) -> LearnerHeader:
        """Make the header of the learner's state, for weights of a digest."""
        words, counts = zip(*map(saved_state, self.learners), strict=True)
        return LearnerHeader(
            version=RATES_VERSION,
            order=order_in_memory(self.network.pattern),
            weights_sha256=digest,
            settings=self.settings,
            words=list(words),
            counts=list(counts),
            seconds=self.seconds,
            earlier=self.earlier,
            pending=self.pending,
        )

    @classmethod
    def load(cls, path: Path) -> Training:
        """Load a checkpoint, to continue exactly where it was saved.

        Args:
            path: weights file of the checkpoint; the learner's state is beside it.

        Raises:
            SolverError: the weights or the learner's state are missing, damaged or of different checkpoints.
        """
        network = native.load_weights(path, in_memory=True)
        if network.weights.dtype != np.float32:
            raise SolverError(
                f"{path} has rounded weights, which cannot be trained; take the checkpoint it was made from"
            )
        header, sums = read_learner(path, network)
        memories = _new_memories(header.settings)
        learners = [lane for memory in memories for lane in lanes_of(memory)]
        for learner, words, counts in zip(learners, header.words, header.counts, strict=True):
            try:
                restore_state(learner, words, counts)
            except (ValueError, OverflowError) as error:
                raise SolverError(
                    f"the learner's state of {path} is damaged, or of another version; continue with the "
                    "version that wrote it"
                ) from error
        return cls(
            network, header.settings, sums, memories, header.seconds, header.earlier, list(header.pending)
        )


@contextlib.contextmanager
def _earlier_pair_kept(path: Path) -> Iterator[None]:
    """Keep the files of an earlier checkpoint of the same name under other names until the block ends.

    The block replaces the two files one after the other. If it fails between them, the earlier pair is put
    back, or the new file that lacks its companion is removed.
    """
    files = [path, learner_path(path)]
    kept = [file.with_stem(f"{file.stem}-before") for file in files]
    had_pair = all(file.exists() for file in files)
    if had_pair:
        for file, copy in zip(files, kept, strict=True):
            copy.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # a file system without links
                os.link(file, copy)
    try:
        yield
    except BaseException:
        if all(copy.exists() for copy in kept):
            for file, copy in zip(files, kept, strict=True):
                copy.replace(file)
        elif not had_pair:
            path.unlink(missing_ok=True)
        raise
    finally:
        for copy in kept:
            copy.unlink(missing_ok=True)


def _check_lanes(pattern: Pattern, settings: Settings) -> None:
    """Make sure that games can be played so many at once.

    Raises:
        SolverError: they cannot.
    """
    if settings.lanes > 1 and default_lanes(settings.method, pattern) == 1:
        raise SolverError(
            f"{settings.lanes} games at once are not possible with {settings.method} on "
            f"{pattern.rows}×{pattern.columns}; expected 1"
        )


def _new_memories(settings: Settings) -> list[Learner]:
    """Make the memory of each thread; each game that is played at once has a generator of its own."""
    memories = [make_lanes(settings.lanes) for _ in range(settings.threads)]
    for thread, memory in enumerate(memories):
        for number, lane in enumerate(lanes_of(memory)):
            lane.put("random", game_state(settings.seed, thread + settings.threads * number))
    return memories


def _shares(total: int, parts: int) -> list[int]:
    return [total // parts + (part < total % parts) for part in range(parts)]
