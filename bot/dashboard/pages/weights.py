"""The page `/weights`: networks, and how strong they are."""

from __future__ import annotations

from urllib.parse import quote

from nicegui import ui

from bot.dashboard.jobs.evaluations import REACH_TILES, Evaluation
from bot.dashboard.jobs.job_commands import (
    MAX_FORM_DEPTH,
    MAX_FORM_THREADS,
    MAX_GAMES,
    engine_name,
    whole,
    whole_or_none,
)
from bot.dashboard.pages.layout import Told, frame, labelled, link_to, number_text, size_text, table, text
from bot.dashboard.pages.replay import upload_element
from bot.dashboard.services import Services
from game2048.engine_names import ENGINE_NAMES
from game2048.solver_options import SolverOptions

BUNDLED = ""
_REFRESH_SECONDS = 0.5
_UPLOADED = ".n2048,.w,.xz,.gz"
_SHOWN = 5


def add_weights_page(services: Services) -> None:
    """Add the page."""

    @ui.page("/weights")
    def weights() -> None:
        with frame("Weights", "/weights"):
            told = Told()
            _show_files(services, told)
            text("h2", "Bring weights")
            upload_element("Weights file", _UPLOADED)
            text("h2", "Evaluate")
            _show_form(services, told)
            _show_evaluations(services)


def _show_files(services: Services, told: Told) -> None:
    files = services.runs.files("weights")
    if not files:
        text("p", f"There are no weights in {services.runs.root} yet; the bundled network is always there.")
        return

    async def show(name: str) -> None:
        with told.faults():
            shown.set_text(await services.weights_shown(name))
            shown.set_visibility(True)

    rows = [
        (
            file.name,
            size_text(file.size),
            lambda name=file.name: labelled(
                ui.button("Show", on_click=lambda: show(name)).props("outline dense"), f"Show {name}"
            ),
            lambda name=file.name: link_to("Download", f"/files/{quote(name)}", saved=True),
        )
        for file in files
    ]
    table("Weights files", ("File", "Size", "Network", "Save"), rows)
    shown = text("pre", "")
    shown.set_visibility(False)


def _show_form(services: Services, told: Told) -> None:
    files = {BUNDLED: "bundled"} | {file.name: file.name for file in services.runs.files("weights")}
    engines = {"": "default"} | {name: name for name in ENGINE_NAMES}
    with ui.element("div").classes("form"):
        chosen = ui.select(files, label="Weights", value=BUNDLED).classes("wide")
        engine = ui.select(engines, label="Engine", value="")
        board = ui.select({"": "of the weights", "4x4": "4×4", "5x5": "5×5"}, label="Board", value="")
        games = ui.number("Games", value=100, min=1, max=MAX_GAMES, precision=0)
        depth = ui.number("Depth", placeholder="own", min=1, max=MAX_FORM_DEPTH, precision=0)
        threads = ui.number("Threads", value=1, min=1, max=MAX_FORM_THREADS, precision=0)

        async def evaluate() -> None:
            with told.faults():
                name = str(chosen.value or BUNDLED)
                asked = SolverOptions(
                    engine_name(engine.value),
                    services.runs.file(name, "weights") if name else None,
                    whole_or_none(depth.value, "the depth", MAX_FORM_DEPTH),
                )
                title = f"{name or 'bundled network'}, {engine.value or 'default engine'}"
                title += f", depth {asked.depth}" if asked.depth else ""
                count = whole(games.value, "the number of games", MAX_GAMES)
                at_once = whole(threads.value, "the number of threads", MAX_FORM_THREADS)
                await services.evaluations.start(title, asked, count, board.value or None, at_once)

        ui.button("Evaluate", on_click=evaluate)


def _show_evaluations(services: Services) -> None:
    panels: dict[int, _Panel] = {}
    place = ui.element("div").classes("evaluations")

    def refresh() -> None:
        for evaluation in services.evaluations.all[:_SHOWN][::-1]:
            panel = panels.get(id(evaluation))
            if panel is None:
                with place:
                    panel = panels[id(evaluation)] = _Panel(services, evaluation)
                panel.card.move(target_index=0)
            panel.refresh()

    refresh()
    ui.timer(_REFRESH_SECONDS, refresh)


class _Panel:
    """One evaluation on the page."""

    def __init__(self, services: Services, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._shown: tuple[object, ...] = ()
        with ui.element("section").classes("card evaluation") as self.card:
            text("h2", evaluation.title)
            self._bar = labelled(ui.element("progress"), f"Games of {evaluation.title}")
            self._bar.props["max"] = evaluation.games
            self._state = text("p", "").classes("state").props("role=status")
            self._cancel = ui.button("Cancel", on_click=lambda: services.evaluations.cancel(evaluation))
            labelled(self._cancel.props("outline"), f"Cancel {evaluation.title}")
            self._figures = ui.element("div").classes("figures")

    def refresh(self) -> None:
        """Update the evaluation on the page."""
        evaluation, job = self._evaluation, self._evaluation.job
        if job is None:
            return
        state = (evaluation.played, job.state, evaluation.final, job.last_words if job.is_over else "")
        if state == self._shown:
            return
        self._shown = state
        self._bar.props["value"] = evaluation.played
        words = f"{job.state}: {evaluation.played:,} of {evaluation.games:,} games"
        if job.state == "failed":
            words += f": {job.last_words}"
        self._state.set_text(words)
        self._cancel.set_visibility(not job.is_over)
        self._figures.clear()
        with self._figures:
            _show_figures(evaluation)


def _show_figures(evaluation: Evaluation) -> None:
    if not evaluation.played:
        return
    final = evaluation.final
    mean = number_text(evaluation.mean) + (f" ± {number_text(final.ci95)}" if final else "")
    rows: list[tuple[str, str]] = [
        ("Mean (95 %)" if final else "Mean", mean),
        ("Median", number_text(evaluation.median)),
        ("Best", f"{max(evaluation.scores):,}"),
    ]
    if final:
        rows.append(("Moves a second", number_text(final.moves_per_second)))
        rows.append(("ms a move", f"{final.ms_per_move:.4g}"))
    reached = [(f"{tile}", f"{share:.1%}") for tile in REACH_TILES if (share := evaluation.reach(tile))]
    ended = [
        (f"{tile}", f"{count:,}", f"{count / evaluation.played:.1%}")
        for tile, count in sorted(evaluation.tiles.items(), reverse=True)
    ]
    with ui.element("div").classes("cards"):
        table("Scores", ("Figure", "Value"), rows)
        if reached:
            table("Reach rates", ("Tile", "Games"), reached)
        table("Largest tile at the end", ("Tile", "Games", "Share"), ended)
