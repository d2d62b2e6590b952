"""The page `/`: start and stop trainings and games, and see what runs."""

from __future__ import annotations

import datetime

from nicegui import ui

from bot.dashboard.jobs.job_book import Job
from bot.dashboard.jobs.job_commands import (
    MAX_EPISODES,
    MAX_FORM_DEPTH,
    MAX_FORM_THREADS,
    MAX_GAMES,
    NETWORKS,
    TRAINING_METHODS,
    engine_name,
    play_words,
    train_words,
    whole_or_none,
)
from bot.dashboard.pages.layout import Told, frame, labelled, text
from bot.dashboard.services import Services
from game2048.engine_names import ENGINE_NAMES
from game2048.solver_options import SolverOptions

_REFRESH_SECONDS = 0.5
_SHOWN_LINES = 8
_UNTIL = {"": "the end", **{str(1 << exponent): str(1 << exponent) for exponent in range(8, 17)}}


def add_start_page(services: Services) -> None:
    """Add the page."""

    @ui.page("/")
    def start() -> None:
        with frame("Start", "/"):
            text("p", f"Runs are in {services.runs.root}.").classes("quiet")
            told = Told()
            with ui.element("div").classes("cards"):
                with ui.element("section").classes("card"):
                    _show_play(services, told)
                with ui.element("section").classes("card"):
                    _show_training(services, told)
            text("h2", "Jobs")
            _show_jobs(services)


def _show_play(services: Services, told: Told) -> None:
    text("h2", "Play a page")
    with ui.element("div").classes("form"):
        url = ui.input("Address of the page", placeholder="https://…").classes("wide")
        games = ui.number("Games", value=1, min=1, max=MAX_GAMES, precision=0)
        engine = ui.select({"": "default", **{name: name for name in ENGINE_NAMES}}, label="Engine", value="")
        weights = {"": "bundled", **{file.name: file.name for file in services.runs.files("weights")}}
        chosen = ui.select(weights, label="Weights", value="").classes("wide")
        depth = ui.number("Depth", placeholder="own", min=1, max=MAX_FORM_DEPTH, precision=0)
        until = ui.select(_UNTIL, label="Until tile", value="")
        moves = ui.number("Most moves", placeholder="any", min=1, max=MAX_EPISODES, precision=0)
        name = ui.input("Name of the run", value=_fresh_name("play")).classes("wide")
    text("p", "Please respect the terms of the site.").classes("quiet")

    async def play() -> None:
        with told.faults():
            weights_file = services.runs.file(str(chosen.value), "weights") if chosen.value else None
            asked = SolverOptions(
                engine_name(engine.value),
                weights_file,
                whole_or_none(depth.value, "the depth", MAX_FORM_DEPTH),
            )
            form = {
                "url": url.value,
                "games": games.value,
                "until_tile": until.value,
                "max_moves": moves.value,
            }
            words = play_words(asked, form, services.runs.new_run(str(name.value)))
            await services.jobs.start("play", f"{name.value}: play {words[1]}", words)
            name.set_value(_fresh_name("play"))

    ui.button("Play", on_click=play)


def _show_training(services: Services, told: Told) -> None:
    text("h2", "Train a network")
    with ui.element("div").classes("form"):
        network = ui.select(dict(NETWORKS), label="Network", value="4x6").classes("wide")
        method = ui.select(list(TRAINING_METHODS), label="Method", value=TRAINING_METHODS[0])
        episodes = ui.number("Games", value=10_000, min=1, max=MAX_EPISODES, precision=0)
        minutes = ui.number("Minutes", placeholder="any", min=0)
        threads = ui.number("Threads", value=1, min=1, max=MAX_FORM_THREADS, precision=0)
        interval = ui.number("Games per point", value=500, min=1, max=MAX_EPISODES, precision=0)
        pictures = ui.checkbox("Draw milestones", value=True)
        name = ui.input("Name of the run", value=_fresh_name("train")).classes("wide")

    async def train() -> None:
        with told.faults():
            form = {
                "network": network.value,
                "method": method.value,
                "episodes": episodes.value,
                "minutes": minutes.value,
                "threads": threads.value,
                "log_interval": interval.value,
                "pictures": pictures.value,
            }
            words = train_words(form, services.runs.new_run(str(name.value)))
            await services.jobs.start("training", f"{name.value}: train {network.value}", words)
            name.set_value(_fresh_name("train"))

    ui.button("Train", on_click=train)


def _fresh_name(kind: str) -> str:
    return f"{kind}-{datetime.datetime.now():%Y%m%d-%H%M%S}"


def _show_jobs(services: Services) -> None:
    panels: dict[int, _JobPanel] = {}
    none = text("p", "Nothing was started yet.").classes("quiet")
    place = ui.element("div").classes("jobs")

    def refresh() -> None:
        none.set_visibility(not services.jobs.jobs)
        for job in services.jobs.jobs[::-1]:
            if job.number not in panels:
                with place:
                    panels[job.number] = _JobPanel(services, job)
                panels[job.number].card.move(target_index=0)
            panels[job.number].refresh()

    refresh()
    ui.timer(_REFRESH_SECONDS, refresh)


class _JobPanel:
    """One job on the page."""

    def __init__(self, services: Services, job: Job) -> None:
        self._job = job
        self._shown: tuple[object, ...] = ()
        with ui.element("section").classes("card job") as self.card:
            text("h3", job.title)
            self._state = text("p", "").classes("state").props("role=status")
            self._stop = ui.button("Stop", on_click=lambda: services.jobs.stop(job))
            labelled(self._stop.props("outline"), f"Stop {job.title}")
            self._lines = labelled(text("pre", "").props("tabindex=0"), f"Output of {job.title}")

    def refresh(self) -> None:
        """Update the job on the page."""
        job = self._job
        lines = "\n".join(list(job.lines)[-_SHOWN_LINES:])
        if (job.state, lines) == self._shown:
            return
        self._shown = (job.state, lines)
        seconds = "" if job.seconds is None else f" after {job.seconds:,.0f} s"
        self._state.set_text(f"{job.kind}: {job.state}{seconds}")
        self._stop.set_visibility(not job.is_over)
        self._lines.set_text(lines)
        self._lines.set_visibility(bool(lines))
