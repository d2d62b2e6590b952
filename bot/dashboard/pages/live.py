"""The page `/live`: games and servers while they run."""

from __future__ import annotations

import asyncio

from nicegui import ui

from bot.dashboard.faults import DashboardError
from bot.dashboard.pages.layout import BoardElement, Told, frame, link_to, number_text, table, text
from bot.dashboard.pages.replay import replay_link
from bot.dashboard.services import Services
from bot.dashboard.sources.live_games import LiveGame
from bot.dashboard.sources.live_server import ServerStatus, read_metrics, read_status
from bot.dashboard.sources.opinions import Opinion, default_choice
from game2048.board import Board
from game2048.direction import DIRECTIONS
from game2048.solver_options import SolverOptions

MAX_GAMES_SHOWN = 6
DEFAULT_SERVER = "ws://127.0.0.1:8765"

_REFRESH_SECONDS = 0.3
_SERVER_SECONDS = 1.0
_FINISHED_SHOWN = 10


def add_live_page(services: Services) -> None:
    """Add the page."""

    @ui.page("/live")
    def live() -> None:
        with frame("Live", "/live"):
            text("h2", "Games")
            _Games(services)
            text("h2", "Files of games, the latest first")
            rows = [
                (lambda name=file.name: link_to(name, replay_link(name)),)
                for file in services.runs.files("games")[:_FINISHED_SHOWN]
            ]
            table("Recorded games", ("File",), rows)
            text("h2", "Solver server")
            _Server()


class _Games:
    """The running games of the folder of runs."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._cards: dict[str, _GameCard] = {}
        self._looking = False
        with ui.element("div").classes("form"):
            choices = {"": "none", "own": "a quick one", **dict(services.engine_choices())}
            self._engine = ui.select(choices, label="Engine that values the boards", value="own")
            self._engine.classes("wide")
        self._told = Told()
        self._none = text("p", "No game runs. `bot2048 play`, `demo` and `harvest` appear here.").classes(
            "quiet"
        )
        self._place = ui.element("div").classes("cards")
        ui.timer(_REFRESH_SECONDS, self._refresh)

    async def _refresh(self) -> None:
        if self._looking:  # an engine that begins may take longer than the timer
            return
        self._looking = True
        try:
            await self._look()
        finally:
            self._looking = False

    async def _look(self) -> None:
        runs = self._services.runs
        journals = {file.name: runs.root / file.name for file in runs.files("journal")}
        games = (await asyncio.to_thread(self._services.live.look, journals))[:MAX_GAMES_SHOWN]
        self._none.set_visibility(not games)
        for name in [name for name in self._cards if all(game.name != name for game in games)]:
            self._cards.pop(name).card.delete()
        for game in games:
            if game.name not in self._cards:
                with self._place:
                    self._cards[game.name] = _GameCard(game.name)
            card = self._cards[game.name]
            card.show(game)
            if not game.is_quiet:
                await self._ask(game, card)

    async def _ask(self, game: LiveGame, card: _GameCard) -> None:
        key = str(self._engine.value or "")
        if not key:
            card.show_opinion(None)
            return
        with self._told.faults():
            card.show_opinion(await self._services.opinions.ask(game.board, self._choice(key, game.board)))

    def _choice(self, key: str, board: Board) -> SolverOptions:
        if key == "own":
            return default_choice(board.size)
        return self._services.engine_choice(key, 1 if key.startswith("weights:") else None)


class _GameCard:
    """One running game on the page."""

    def __init__(self, name: str) -> None:
        self._asked: Board | None = None
        with ui.element("section").classes("card live-card") as self.card:
            self._source = text("h3", "")
            self._board = BoardElement()
            self._standing = text("p", "").classes("standing")
            self._values = text("p", "").classes("opinion quiet")
            link_to("Replay so far", replay_link(name, 0))

    def show(self, game: LiveGame) -> None:
        """Show the state of the game."""
        self._source.set_text(f"{game.source}, by {game.solver}")
        self._board.show(game.board)
        state = f"not moved for {game.quiet_seconds:,.0f} s" if game.is_quiet else f"next {game.direction}"
        self._standing.set_text(
            f"score {game.score:,}, tile {game.board.max_tile}, {game.moves:,} moves, "
            f"{game.moves_per_second:,.1f} moves/s, {state}"
        )

    def show_opinion(self, opinion: Opinion | None) -> None:
        """Show what an engine thinks of the four directions."""
        self._values.set_text("" if opinion is None else opinion_text(opinion))


def opinion_text(opinion: Opinion) -> str:
    """Return what an engine thinks of the four directions, in a line."""
    values = [
        f"{direction} {number_text(opinion.values[direction])}"
        for direction in DIRECTIONS
        if direction in opinion.values
    ]
    return f"{opinion.engine}: {', '.join(values)}; best {opinion.direction}"


class _Server:
    """The state of a solver server on the page."""

    def __init__(self) -> None:
        with ui.element("div").classes("form"):
            self._address = ui.input("Address of a server", value=DEFAULT_SERVER).classes("wide")
            self._token = ui.input("Token, if it has one", password=True)
            self._watch = ui.switch("Watch", value=False)
            ui.button("Show its counts", on_click=self._show_metrics)
        self._told = Told()
        self._place = ui.element("div")
        with self._place:
            self._state = text("p", "").classes("server-state")
            self._board = BoardElement()
            self._board.set_visibility(False)
            self._chosen = text("p", "")
        self._metrics = text("pre", "").props('tabindex=0 aria-label="Counts of the server"')
        self._metrics.set_visibility(False)
        ui.timer(_SERVER_SECONDS, self._refresh)

    async def _refresh(self) -> None:
        if not self._watch.value:
            return
        with self._told.faults():
            self._show(await read_status(str(self._address.value), self._token.value))

    async def _show_metrics(self) -> None:
        try:
            words = await read_metrics(str(self._address.value), self._token.value)
        except DashboardError as error:
            self._told.show(str(error))
            return
        self._metrics.set_text("\n".join(line for line in words.splitlines() if not line.startswith("#")))
        self._metrics.set_visibility(True)

    def _show(self, status: ServerStatus) -> None:
        self._state.set_text(
            f"{'ready' if status.ready else 'loading'}, {status.boards_per_s:,.1f} boards a second, "
            f"{status.connections} of {status.max_connections} clients, {status.searching} searches, "
            f"{status.boards:,} boards answered, {status.errors:,} errors"
        )
        last = status.last_board()
        self._board.set_visibility(last is not None)
        if last is None:
            self._chosen.set_text("")
            return
        board, decision = last
        self._board.show(board)
        time = "" if decision.elapsed_ms is None else f", {decision.elapsed_ms:.2f} ms"
        depth = "" if decision.depth is None else f", depth {decision.depth}"
        self._chosen.set_text(f"{decision.engine}: {decision.direction or 'game over'}{depth}{time}")
