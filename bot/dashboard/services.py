"""The parts that all pages and routes of one dashboard share."""

from __future__ import annotations

from bot.dashboard.faults import DashboardError
from bot.dashboard.jobs.evaluations import Evaluations
from bot.dashboard.jobs.job_book import JobBook, run_briefly
from bot.dashboard.jobs.job_commands import known_engine
from bot.dashboard.sources.live_games import LiveGames
from bot.dashboard.sources.opinions import Opinions
from bot.dashboard.sources.replays import Replays
from bot.dashboard.sources.run_folders import RunFolders
from bot.dashboard.sources.training_log import TrainingLog
from game2048.engine_names import ENGINE_NAMES, NETWORK_ENGINE
from game2048.solver_options import SolverOptions

SHOW_SECONDS = 120.0


class Services:
    """The parts behind the pages.

    Args:
        runs: the folder of runs.

    Attributes:
        runs: the files that may be shown.
        jobs: our own commands as processes.
        evaluations: those of them that evaluate.
        opinions: engines that are asked.
        replays: recorded games.
        live: running games.
    """

    def __init__(self, runs: RunFolders) -> None:
        self.runs = runs
        self.jobs = JobBook()
        self.evaluations = Evaluations(self.jobs)
        self.opinions = Opinions()
        self.replays = Replays()
        self.live = LiveGames()
        self._logs: dict[str, TrainingLog] = {}
        self._shown: dict[tuple[str, int], str] = {}

    async def close(self) -> None:
        """End all processes."""
        await self.opinions.close()
        await self.jobs.stop_all()

    def log(self, name: str) -> TrainingLog:
        """Return the training log of that name among the runs.

        Raises:
            DashboardError: the runs have no log of that name.
        """
        path = self.runs.file(name, "log")
        if name not in self._logs:
            self._logs[name] = TrainingLog(path)
        return self._logs[name]

    def engine_choices(self) -> list[tuple[str, str]]:
        """Return the engines to choose from: a key for `engine_choice`, and a text for people."""
        named = [(name, name) for name in ENGINE_NAMES]
        files = [(f"weights:{file.name}", f"weights {file.name}") for file in self.runs.files("weights")]
        return named + files

    def engine_choice(self, key: str, depth: int | None) -> SolverOptions:
        """Return the engine that a key of `engine_choices` stands for.

        Raises:
            DashboardError: there is no such engine or weights file.
        """
        if key.startswith("weights:"):
            path = self.runs.file(key.removeprefix("weights:"), "weights")
            return SolverOptions(NETWORK_ENGINE, path, depth)
        return SolverOptions(known_engine(key), depth=depth)

    async def weights_shown(self, name: str) -> str:
        """Return the output of `bot2048 weights show` for a weights file.

        Raises:
            DashboardError: there is no such file, or its loader refuses it.
        """
        path = self.runs.file(name, "weights")
        key = (name, path.stat().st_mtime_ns)
        if key not in self._shown:
            code, out, err = await run_briefly(["weights", "show", str(path)], SHOW_SECONDS)
            if code:
                said = (out + err).strip().splitlines() or ["its loader gave no reason"]
                raise DashboardError(said[-1].removeprefix("error: ").replace(str(path), name))
            self._shown[key] = out
        return self._shown[key]
