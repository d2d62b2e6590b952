"""Run the window: handle keys, let the engine move, draw frames."""

from __future__ import annotations

import collections
import statistics
import time
from dataclasses import dataclass, field

import pygame

from bot.window import look
from bot.window.desktop_game import DesktopGame, WindowTurn
from bot.window.game_recorder import GameRecorder
from bot.window.scene import Scene, WindowStatus
from bot.window.solver_thread import Choice, SolverThread
from game2048.direction import Direction
from game2048.errors import RecordError
from game2048.size import Size

FRAMES_PER_SECOND = 60
WINDOW_SPEEDS = (1, 2, 4, 8, 15, 30, 60, None)
"""Moves a second of the engine; ``None`` for no limit."""
START_SPEED = 3
_LONGEST_ANIMATION = 0.2
_LEAST_ANIMATED = 0.04
"""Seconds; turns that follow each other faster than this are not animated."""
_KEPT_TIMES = 400
_ARROW_KEYS = {
    pygame.K_UP: Direction.UP,
    pygame.K_RIGHT: Direction.RIGHT,
    pygame.K_DOWN: Direction.DOWN,
    pygame.K_LEFT: Direction.LEFT,
}


@dataclass(slots=True)
class Measured:
    """What the window measured of itself.

    Attributes:
        frames: how many were drawn.
        seconds: in which they were drawn.
        decisions_ms: the times of the last decisions, in milliseconds.
        longest_ms: the longest decision.
        decisions: how many there were.
    """

    frames: int = 0
    seconds: float = 0.0
    decisions_ms: collections.deque[float] = field(
        default_factory=lambda: collections.deque(maxlen=_KEPT_TIMES)
    )
    longest_ms: float = 0.0
    decisions: int = 0

    @property
    def frame_rate(self) -> float:
        """Frames a second."""
        return self.frames / self.seconds if self.seconds else 0.0

    @property
    def median_ms(self) -> float | None:
        """The median of the last decisions; ``None`` before the first."""
        return statistics.median(self.decisions_ms) if self.decisions_ms else None

    def add(self, elapsed_ms: float) -> None:
        """Count a decision."""
        self.decisions += 1
        self.decisions_ms.append(elapsed_ms)
        self.longest_ms = max(self.longest_ms, elapsed_ms)


class WindowApp:
    """A game in a window.

    Args:
        size: of the board.
        seed: of the spawns.
        solver: the engine, running.
        recorder: keeps the games; ``None`` to keep none.
        auto: whether the engine plays from the start.

    Attributes:
        game: as it stands.
        auto: whether the engine plays.
        measured: frame rate and decision times.
        notice: a sentence for the person, shown below the board.
    """

    def __init__(
        self,
        size: Size,
        seed: int,
        solver: SolverThread,
        recorder: GameRecorder | None,
        *,
        auto: bool = False,
    ) -> None:
        self.game = DesktopGame(size, seed)
        self.auto = auto
        self.measured = Measured()
        self._scene = Scene(size)
        self._solver = solver
        self._recorder = recorder
        self._best = 0
        self._speed = START_SPEED
        self._choice: Choice | None = None
        self.notice = ""
        self._is_fault = False
        self._is_asked = False
        self._one_move = False
        self._recorded = False
        self._shown: WindowTurn | None = None
        self._shown_at = self._next_turn = 0.0
        self._running = True

    # -- keys ---------------------------------------------------------------------------------------------

    def press(self, key: int) -> None:
        """Run the action of a key; ignore keys without an action."""
        if key in _ARROW_KEYS:
            self._take_over()
            self._move(_ARROW_KEYS[key], by_engine=False)
        elif key == pygame.K_a:
            self.auto = not self.auto
            self._one_move = False
            self._clear_notice()
            if not self.auto:
                self._withdraw()
        elif key == pygame.K_s:
            self._take_over()
            self._one_move = True
        elif key == pygame.K_u:
            self._take_over()
            if self.game.undo():
                self._shown = None
                self._choice = None
        elif key == pygame.K_r:
            self._restart()
        elif key in (pygame.K_PLUS, pygame.K_EQUALS, pygame.K_KP_PLUS):
            self._speed = min(len(WINDOW_SPEEDS) - 1, self._speed + 1)
        elif key in (pygame.K_MINUS, pygame.K_KP_MINUS):
            self._speed = max(0, self._speed - 1)
        elif key in (pygame.K_ESCAPE, pygame.K_q):
            self._running = False

    def _take_over(self) -> None:
        """Let the person play; stop the engine if it plays."""
        self.auto = self._one_move = False
        self._clear_notice()
        self._withdraw()

    def _withdraw(self) -> None:
        self._solver.withdraw()
        self._is_asked = False

    def _clear_notice(self) -> None:
        self.notice, self._is_fault = "", False

    # -- turns --------------------------------------------------------------------------------------------

    def _move(self, direction: Direction, *, by_engine: bool) -> None:
        turn = self.game.move(direction, by_engine=by_engine)
        if turn is None:
            return
        self._recorded = False
        self._best = max(self._best, self.game.score)
        self._shown, self._shown_at = turn, time.monotonic()
        if self._recorder is None:
            return
        try:
            self._recorder.add(self.game)
            if self.game.board.is_over:
                self._recorder.finish(self.game, "game_over")
                self._recorded = True
        except RecordError as error:
            self._stop_recording(error)

    def _restart(self) -> None:
        self._withdraw()
        self.end_game()
        self.game.restart()
        self._shown = self._choice = None
        self._recorded = False
        self._clear_notice()

    def end_game(self) -> None:
        """Record the current game as stopped."""
        if self._recorder is None or self._recorded:
            return
        try:
            self._recorder.finish(self.game, "stopped")
            self._recorded = True
        except RecordError as error:
            self._stop_recording(error)

    def _stop_recording(self, error: RecordError) -> None:
        assert self._recorder is not None
        self._recorder.close()
        self._recorder = None
        self.notice, self._is_fault = f"not recorded any more: {error}", True

    def _engine_turn(self, until: float) -> None:
        """Ask the engine and make its moves, at most until a time on the monotonic clock."""
        while self.auto or self._one_move:
            if self.game.board.is_over:
                self.auto = self._one_move = False
                return
            now = time.monotonic()
            if not self._is_asked:
                if now < self._next_turn:
                    return
                self._solver.ask(self.game.board)
                self._is_asked = True
            answer = self._solver.wait(max(0.0, until - time.monotonic()))
            if answer is None:
                if not self.notice and self._choice is None:
                    self.notice = "the engine starts…"
                return
            self._is_asked = False
            self._clear_notice()
            if not isinstance(answer, Choice):
                self.auto = self._one_move = False
                self.notice, self._is_fault = answer.reason, True
                return
            self._choice = answer
            self.measured.add(answer.elapsed_ms)
            if answer.direction is not None:
                self._move(answer.direction, by_engine=True)
            self._one_move = False
            self._next_turn = max(now, self._next_turn) + self._interval
            if time.monotonic() >= until:
                return

    @property
    def _interval(self) -> float:
        """Seconds between two moves of the engine."""
        speed = WINDOW_SPEEDS[self._speed]
        return 0.0 if speed is None else 1 / speed

    # -- frames -------------------------------------------------------------------------------------------

    def run(self, *, max_frames: int | None = None) -> None:
        """Show the window until it is closed, or until a number of frames has been drawn."""
        screen = pygame.display.get_surface()
        assert screen is not None
        clock = pygame.time.Clock()
        began = time.monotonic() - self.measured.seconds
        while self._running and (max_frames is None or self.measured.frames < max_frames):
            for event in pygame.event.get():
                if event.type == pygame.QUIT:
                    self._running = False
                elif event.type == pygame.KEYDOWN:
                    self.press(event.key)
            # A third of a frame is left to draw in.
            self._engine_turn(time.monotonic() + 0.66 / FRAMES_PER_SECOND)
            self._draw(screen)
            clock.tick(FRAMES_PER_SECOND)
            self.measured.frames += 1
            self.measured.seconds = time.monotonic() - began

    def _draw(self, screen: pygame.Surface) -> None:
        speed = WINDOW_SPEEDS[self._speed]
        status = WindowStatus(
            best=self._best,
            auto=self.auto,
            speed="full speed" if speed is None else f"{speed} moves/s",
            choice=self._choice,
            decision_ms=self.measured.median_ms,
            notice=self.notice,
            is_fault=self._is_fault,
        )
        seconds = min(_LONGEST_ANIMATION, 0.8 * self._interval) if self.auto else _LONGEST_ANIMATION
        progress = 1.0 if seconds < _LEAST_ANIMATED else (time.monotonic() - self._shown_at) / seconds
        self._scene.draw(screen, self.game, status, self._shown, min(1.0, progress))
        pygame.display.flip()


def open_window(size: Size, *, pixels: int) -> None:
    """Open a window of that width for a board of that size; sound stays off.

    Args:
        size: of the board.
        pixels: width of the window.

    Raises:
        pygame.error: there is no screen.
    """
    pygame.display.init()
    pygame.font.init()
    look.forget_fonts()
    height = round(pixels * (0.26 / 0.74 + size.rows / size.columns))
    pygame.display.set_mode((pixels, height), pygame.RESIZABLE)
    pygame.display.set_caption("bot2048")
    pygame.key.set_repeat()
