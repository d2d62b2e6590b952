"""Draw the window: the board with moving tiles, the score above it, the engine's values below."""

from __future__ import annotations

from dataclasses import dataclass

import pygame

from bot.window import look
from bot.window.desktop_game import DesktopGame, WindowTurn
from bot.window.solver_thread import Choice
from game2048.direction import DIRECTIONS, Direction
from game2048.look.classic_look import GAP_SHARE
from game2048.look.motion import tile_motions
from game2048.size import Size

_SLIDE_SHARE = 0.6
"""The part of a turn's animation in which tiles slide; then merged and new tiles grow."""
_POP = 0.16
"""How much larger a merged tile is drawn for a moment, in sides."""
_KEYS = ("arrows: move", "A: engine on, off", "S: one engine move", "U: undo", "R: new game", "+ -: speed")


@dataclass(frozen=True, slots=True)
class WindowStatus:
    """What stands around the board.

    Attributes:
        best: the highest score of this window's games.
        auto: whether the engine plays.
        speed: moves a second of the engine, in words.
        choice: the engine's last answer.
        decision_ms: median time of the engine's last decisions, in milliseconds; ``None`` before the first.
        notice: a sentence for the person: a fault, or that the engine starts.
        is_fault: whether it is a fault.
    """

    best: int
    auto: bool
    speed: str
    choice: Choice | None
    decision_ms: float | None
    notice: str = ""
    is_fault: bool = False


class Scene:
    """Draws a game into a window of any size.

    Args:
        size: of the board.
    """

    def __init__(self, size: Size) -> None:
        self._size = size
        self._tiles = look.TileSprites(1)

    def draw(
        self,
        screen: pygame.Surface,
        game: DesktopGame,
        status: WindowStatus,
        turn: WindowTurn | None,
        progress: float,
    ) -> None:
        """Draw everything.

        Args:
            screen: what is drawn on.
            game: the game.
            status: what stands around the board.
            turn: the move that is being shown; ``None`` for the board at rest.
            progress: of that move, 0 to 1.
        """
        screen.fill(look.BACKGROUND)
        width, height = screen.get_size()
        unit = max(8, min(width, round(height * 0.74)) // 24)
        header, footer = unit * 4, unit * 7
        margin = unit
        area = pygame.Rect(margin, header, width - 2 * margin, height - header - footer)
        board = self._fit(area)
        self._header(screen, pygame.Rect(board.x, 0, board.width, header), game, status, unit)
        pygame.draw.rect(screen, look.BOARD, board, border_radius=max(3, unit // 3))
        for cell in range(self._size.cells):
            self._put(screen, board, 0, *divmod(cell, self._size.columns))
        if turn is None or progress >= 1:
            for cell, exponent in enumerate(game.board.cells):
                if exponent:
                    self._put(screen, board, exponent, *divmod(cell, self._size.columns))
        else:
            self._moving(screen, board, turn, progress)
        if game.board.is_over and (turn is None or progress >= 1):
            self._veil(screen, board, "Game over", "U: undo    R: new game", unit)
        below = pygame.Rect(board.x, board.bottom + unit // 2, board.width, footer)
        self._footer(screen, below, status, unit)

    def _fit(self, area: pygame.Rect) -> pygame.Rect:
        """Choose the largest tiles that fit, and return where the board is then."""
        rows, columns = self._size
        steps = 1 + GAP_SHARE
        side = max(4, int(min(area.width / (columns * steps + 0.2), area.height / (rows * steps + 0.2))))
        if side != self._tiles.side:
            self._tiles = look.TileSprites(side)
        gap = self._tiles.gap
        board = pygame.Rect(0, 0, columns * (side + gap) + gap, rows * (side + gap) + gap)
        board.midtop = area.midtop
        return board

    def _put(
        self,
        screen: pygame.Surface,
        board: pygame.Rect,
        exponent: int,
        row: float,
        column: float,
        scale: float = 1.0,
    ) -> None:
        side, gap = self._tiles.side, self._tiles.gap
        picture = self._tiles.picture(exponent, scale)
        centre = (
            board.x + gap + column * (side + gap) + side / 2,
            board.y + gap + row * (side + gap) + side / 2,
        )
        screen.blit(picture, picture.get_rect(center=(round(centre[0]), round(centre[1]))))

    def _moving(self, screen: pygame.Surface, board: pygame.Rect, turn: WindowTurn, progress: float) -> None:
        """Draw a move during its animation."""
        columns = self._size.columns
        slid = _eased(min(1.0, progress / _SLIDE_SHARE))
        grown = max(0.0, (progress - _SLIDE_SHARE) / (1 - _SLIDE_SHARE))
        motions = tile_motions(turn.before, turn.direction)
        for motion in motions:
            (row, column), (to_row, to_column) = divmod(motion.start, columns), divmod(motion.end, columns)
            if not (motion.merges and grown):
                self._put(
                    screen,
                    board,
                    motion.exponent,
                    row + (to_row - row) * slid,
                    column + (to_column - column) * slid,
                )
        if not grown:
            return
        for cell in {motion.end for motion in motions if motion.merges}:
            scale = 1 + _POP * (1 - abs(2 * grown - 1))
            self._put(screen, board, turn.afterstate.cells[cell], *divmod(cell, columns), scale)
        cell = turn.spawned_cell
        self._put(screen, board, turn.after.cells[cell], *divmod(cell, columns), grown)

    def _header(
        self, screen: pygame.Surface, area: pygame.Rect, game: DesktopGame, status: WindowStatus, unit: int
    ) -> None:
        _text(screen, "2048", (area.left, area.centery), unit * 3, look.DARK, anchor="midleft")
        values = (("MOVES", game.moves), ("SCORE", game.score), ("BEST", status.best))
        width = unit * 5
        for place, (name, value) in enumerate(reversed(values)):
            box = pygame.Rect(0, 0, width - unit // 2, unit * 3)
            box.midright = (area.right - place * width, area.centery)
            pygame.draw.rect(screen, look.BOARD, box, border_radius=max(2, unit // 4))
            _text(screen, name, (box.centerx, box.top + unit * 0.9), unit, look.LIGHT, anchor="center")
            _text(
                screen,
                f"{value:,}",
                (box.centerx, box.bottom - unit),
                round(unit * 1.5),
                look.LIGHT,
                anchor="center",
            )

    def _footer(self, screen: pygame.Surface, area: pygame.Rect, status: WindowStatus, unit: int) -> None:
        line = round(unit * 1.35)
        y = area.top
        state = f"engine {'ON' if status.auto else 'off'}, {status.speed}"
        if status.choice is not None and status.decision_ms is not None:
            choice = status.choice
            state += f", {choice.engine}: {status.decision_ms:.2f} ms a decision, "
            state += f"depth {choice.depth}" if choice.found_by == "search" else f"by {choice.found_by}"
        colour = look.HIGHLIGHT if status.auto else look.DARK
        _text(screen, state, (area.left, y), line, colour, room=area.width)
        y += line
        if status.choice is not None and status.choice.values:
            self._opinion(screen, pygame.Rect(area.left, y, area.width, line), status.choice, unit)
        y += line
        for part in (_KEYS[:3], _KEYS[3:]):
            _text(screen, "    ".join(part), (area.left, y), round(unit * 1.2), look.DARK, room=area.width)
            y += round(unit * 1.15)
        if status.notice:
            colour = look.ALARM if status.is_fault else look.DARK
            words = _cut(status.notice, area.width, unit)
            _text(screen, words, (area.left, y), round(unit * 1.2), colour, room=area.width)

    def _opinion(self, screen: pygame.Surface, area: pygame.Rect, choice: Choice, unit: int) -> None:
        """Write the value of the best direction, and how much worse the others are."""
        width = area.width / len(DIRECTIONS)
        for place, direction in enumerate(DIRECTIONS):
            words = f"{direction} {_compared(choice, direction)}"
            colour = look.HIGHLIGHT if direction is choice.direction else look.DARK
            spot = (area.left + place * width, area.top)
            _text(screen, words, spot, round(unit * 1.3), colour, room=width - unit / 2)

    def _veil(self, screen: pygame.Surface, board: pygame.Rect, first: str, second: str, unit: int) -> None:
        veil = pygame.Surface(board.size, pygame.SRCALPHA)
        veil.fill(look.VEIL)
        screen.blit(veil, board)
        _text(screen, first, (board.centerx, board.centery - unit), unit * 3, look.DARK, anchor="center")
        _text(
            screen,
            second,
            (board.centerx, board.centery + unit * 1.5),
            round(unit * 1.4),
            look.DARK,
            anchor="center",
        )


def _text(
    screen: pygame.Surface,
    words: str,
    place: tuple[float, float],
    pixels: int,
    colour: pygame.Color,
    *,
    anchor: str = "topleft",
    room: float | None = None,
) -> None:
    """Write words at a place, in smaller letters if they are too wide."""
    width = look.font(pixels).size(words)[0]
    if room is not None and width > room:
        pixels = max(8, int(pixels * room / width))
    picture = look.font(pixels).render(words, True, colour)
    screen.blit(picture, picture.get_rect(**{anchor: (round(place[0]), round(place[1]))}))


def _eased(share: float) -> float:
    """Begin quickly and end softly, as the original page's tiles do."""
    return 1 - (1 - share) ** 2


def _compared(choice: Choice, direction: Direction) -> str:
    value = choice.values.get(direction)
    if value is None:
        return "-"
    if direction is choice.direction or choice.direction is None:
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    less = value - choice.values[choice.direction]
    return f"{less:+,.0f}" if abs(less) >= 100 else f"{less:+.3g}"


def _cut(words: str, width: int, unit: int) -> str:
    """Shorten a sentence to what fits a line."""
    room = max(10, width // max(1, round(unit * 0.5)))
    return words if len(words) <= room else words[: room - 1] + "…"
