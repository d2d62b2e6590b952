"""The page `/board`: play by hand; `A` lets an engine play, as in the desktop window."""

from __future__ import annotations

import asyncio
import secrets
import time

from nicegui import background_tasks, ui
from nicegui.events import KeyEventArguments

from bot.dashboard.pages.layout import BoardElement, Told, frame, text
from bot.dashboard.pages.live import opinion_text
from bot.dashboard.services import Services
from bot.dashboard.sources.opinions import default_choice
from bot.window.desktop_game import DesktopGame
from game2048.direction import Direction
from game2048.look.motion import tile_motions
from game2048.size import STANDARD_SIZE, Size

SIZES = ("4x4", "5x5", "3x3", "4x6", "6x6")
_SPEEDS = (1, 2, 5, 10, 20, 50)

_KEYS = {
    "ArrowUp": Direction.UP,
    "ArrowRight": Direction.RIGHT,
    "ArrowDown": Direction.DOWN,
    "ArrowLeft": Direction.LEFT,
}


def add_board_page(services: Services) -> None:
    """Add the page."""

    @ui.page("/board")
    def board() -> None:
        with frame("Board", "/board"):
            table = _Table(services)
        ui.context.client.on_delete(table.stop)


def _new_game(size: Size) -> DesktopGame:
    return DesktopGame(size, secrets.randbits(64))


class _Table:
    """A board, a person, and an engine."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._size = STANDARD_SIZE
        self._game = _new_game(self._size)
        self._engine_task: asyncio.Task[None] | None = None
        with ui.element("div").classes("cards"):
            with ui.element("section").classes("live-card"):
                self._board = BoardElement()
                self._standing = text("p", "").classes("standing").props("role=status")
                self._opinion = text("p", "").classes("opinion quiet")
            with ui.element("section"):
                self._show_controls()
        ui.keyboard(on_key=self._key)
        self._show()

    def _show_controls(self) -> None:
        with ui.element("div").classes("form"):
            size = ui.select(list(SIZES), label="Size", value=str(STANDARD_SIZE))
            size.on_value_change(lambda event: self._restart(Size.parse(str(event.value))))
            choices = {"own": "a quick one", **dict(self._services.engine_choices())}
            self._engine = ui.select(choices, label="Engine", value="own").classes("wide")
            self._speed = ui.select(list(_SPEEDS), label="Moves a second", value=5)
        with ui.row():
            self._toggle = ui.button("Engine plays (A)", on_click=self._toggle_engine)
            self._toggle.props("outline aria-pressed=false")
            ui.button("Undo (U)", on_click=self._undo).props("outline")
            ui.button("Restart (R)", on_click=lambda: self._restart(self._size)).props("outline")
        self._told = Told()
        text("p", "Keys: arrows move, A lets the engine play, U takes a move back, R restarts, + and −.")

    def stop(self) -> None:
        """Let the engine stop."""
        if self._engine_task is not None:
            self._engine_task.cancel()
            self._engine_task = None
        if not self._toggle.is_deleted:
            self._toggle.props("aria-pressed=false")
            self._toggle.set_text("Engine plays (A)")

    def _key(self, event: KeyEventArguments) -> None:
        modifiers = event.modifiers
        if not event.action.keydown or modifiers.ctrl or modifiers.alt or modifiers.meta:
            return
        name = event.key.name
        if name in _KEYS:
            self._move(_KEYS[name])
        elif name.lower() == "a" and not event.action.repeat:
            self._toggle_engine()
        elif name.lower() == "u":
            self._undo()
        elif name.lower() == "r" and not event.action.repeat:
            self._restart(self._size)
        elif name in {"+", "-"}:
            at = _SPEEDS.index(int(self._speed.value)) + (1 if name == "+" else -1)
            self._speed.set_value(_SPEEDS[max(0, min(len(_SPEEDS) - 1, at))])

    def _move(self, direction: Direction, *, by_engine: bool = False) -> None:
        turn = self._game.move(direction, by_engine=by_engine)
        if turn is not None:
            motions = tile_motions(turn.before, direction)
            self._show([int(number) for motion in motions for number in motion])

    def _undo(self) -> None:
        self.stop()
        if self._game.undo():
            self._show()

    def _restart(self, size: Size) -> None:
        self.stop()
        self._size, self._game = size, _new_game(size)
        self._opinion.set_text("")
        self._show()

    def _show(self, motions: list[int] | None = None) -> None:
        game = self._game
        self._board.show(game.board, motions)
        end = "; the game is over" if game.board.is_over else ""
        self._standing.set_text(
            f"score {game.score:,}, tile {game.board.max_tile}, {game.moves:,} moves{end}"
        )

    def _toggle_engine(self) -> None:
        if self._engine_task is not None:
            self.stop()
            return
        self._toggle.props("aria-pressed=true")
        self._toggle.set_text("Engine stops (A)")
        self._engine_task = background_tasks.create(self._play(), name="engine on the board")

    async def _play(self) -> None:
        with self._toggle:  # the page that messages go to
            with self._told.faults():
                await self._play_moves()
            self._engine_task = None
            self.stop()

    async def _play_moves(self) -> None:
        while not self._game.board.is_over:
            begun = time.perf_counter()
            key = str(self._engine.value)
            choice = default_choice(self._size) if key == "own" else self._services.engine_choice(key, None)
            board = self._game.board
            opinion = await self._services.opinions.ask(board, choice)
            if opinion is None:
                return
            elapsed = time.perf_counter() - begun
            self._opinion.set_text(f"{opinion_text(opinion)}; decided in {opinion.elapsed_ms:.2f} ms")
            if self._game.board == board:  # else the person moved meanwhile
                self._move(opinion.direction, by_engine=True)
            await asyncio.sleep(max(0.0, 1 / int(self._speed.value) - elapsed))
