"""The page `/training`: charts of training runs, several over each other, live while they train."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from nicegui import ui

from bot.dashboard.faults import DashboardError
from bot.dashboard.pages.gallery import show_pictures
from bot.dashboard.pages.layout import frame, labelled, link_to, number_text, table, text
from bot.dashboard.services import Services
from bot.dashboard.sources.run_folders import RunFile
from bot.dashboard.sources.training_log import TrainingRow, series

MAX_RUNS = 12
TILES = tuple(str(1 << exponent) for exponent in range(11, 18))
MEASURES = {"mean": "Mean score", "median": "Median score", "max": "Best score", "speed": "Moves a second"}

_REFRESH_SECONDS = 1.0
_SHOWN_AT_FIRST = 3
_MOST_PICTURES = 24
# Colours that differ also for people who do not see all of them (Okabe & Ito).
_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#8a7f00"]


def add_training_page(services: Services) -> None:
    """Add the page."""

    @ui.page("/training")
    def training() -> None:
        with frame("Training", "/training"):
            logs = services.runs.files("log")
            if not logs:
                text("p", "There is no training among the runs yet. Begin one on the page Start.").classes(
                    "quiet"
                )
                return
            _Charts(services, logs)


class _Charts:
    """The charts of the page."""

    def __init__(self, services: Services, logs: list[RunFile]) -> None:
        self._services = services
        self._stamp: tuple[object, ...] = ()
        self._pictures_stamp: tuple[object, ...] = ()
        names = [log.name for log in logs]
        with ui.element("div").classes("form"):
            self._runs = ui.select(
                {name: run_name(name) for name in names},
                label="Runs",
                multiple=True,
                value=names[:_SHOWN_AT_FIRST],
            )
            self._runs.classes("wide").props("use-chips")
            self._measure = ui.select(MEASURES, label="Measure", value="mean").classes("wide")
            self._tile = ui.select(list(TILES), label="Tile", value="2048")
        text("h2", "Over the games played")
        self._score_chart = self._new_chart("Chart of the measure over the games played")
        text("h2", "Reach rate of the tile")
        self._reach_chart = self._new_chart("Chart of the reach rate over the games played")
        self._table = ui.element("div")
        text("h2", "Milestones")
        self._pictures = ui.element("div")
        self._refresh()
        ui.timer(_REFRESH_SECONDS, self._refresh)

    def _new_chart(self, label: str) -> ui.echart:
        chart = ui.echart(_options([], "")).classes("chart")
        return labelled(chart.props("role=img"), label)

    def _refresh(self) -> None:
        chosen = list(self._runs.value or [])[:MAX_RUNS]
        rows: dict[str, list[TrainingRow]] = {}
        for name in chosen:
            try:
                rows[name] = self._services.log(name).rows()
            except DashboardError:  # removed meanwhile
                continue
        measure, tile = str(self._measure.value), str(self._tile.value)
        stamp = (measure, tile, *((name, len(each)) for name, each in rows.items()))
        if stamp != self._stamp:
            self._stamp = stamp
            self._draw(self._score_chart, rows, measure, MEASURES.get(measure, measure))
            self._draw(self._reach_chart, rows, tile, f"Share of games with {tile}")
            self._show_table(rows, tile)
        self._show_pictures(chosen)

    def _draw(self, chart: ui.echart, rows: dict[str, list[TrainingRow]], measure: str, label: str) -> None:
        lines = [(run_name(name), series(each, measure)) for name, each in rows.items()]
        chart.options.clear()
        chart.options.update(_options(lines, label))
        chart.update()

    def _show_table(self, rows: dict[str, list[TrainingRow]], tile: str) -> None:
        self._table.clear()
        cells = []
        for name, each in rows.items():
            if each:
                last, speed = each[-1], series(each, "speed")
                cells.append(
                    (
                        run_name(name),
                        f"{last.episode:,}",
                        number_text(last.mean),
                        f"{last.max:,}",
                        f"{last.reach.get(tile, 0.0):.1%}",
                        number_text(speed[-1][1]) if speed else "–",
                        lambda name=name: link_to("Log", f"/files/{quote(name)}", saved=True),
                    )
                )
        with self._table:
            head = ("Run", "Games", "Mean score", "Best score", f"Reached {tile}", "Moves a second", "Save")
            table("The last interval of each run", head, cells)

    def _show_pictures(self, chosen: list[str]) -> None:
        folders = tuple(name.rpartition("/")[0] + "/" for name in chosen)
        files = [
            file for file in self._services.runs.files("picture") if chosen and file.name.startswith(folders)
        ][:_MOST_PICTURES]
        stamp = tuple((file.name, file.modified) for file in files)
        if stamp == self._pictures_stamp and self._pictures.default_slot.children:
            return
        self._pictures_stamp = stamp
        self._pictures.clear()
        with self._pictures:
            if files:
                show_pictures(files)
            else:
                text("p", "These runs have no pictures; `bot2048 train --gif-dir` draws them.").classes(
                    "quiet"
                )


def run_name(log: str) -> str:
    """Return what people call the run of a training log: its folder."""
    return log.rpartition("/")[0] or "runs"


def _options(lines: list[tuple[str, list[tuple[int, float]]]], label: str) -> dict[str, Any]:
    return {
        "animation": False,
        "aria": {"enabled": True},
        "color": _COLOURS,
        "grid": {"left": 80, "right": 24, "top": 44, "bottom": 48},
        "legend": {"show": True, "top": 4},
        "tooltip": {"trigger": "axis"},
        "xAxis": {"type": "value", "name": "games", "nameLocation": "middle", "nameGap": 28},
        "yAxis": {"type": "value", "name": label, "scale": False},
        "series": [
            {
                "type": "line",
                "name": name,
                "showSymbol": len(points) < 30,
                "data": [list(point) for point in points],
            }
            for name, points in lines
        ],
    }
