"""Make moves on a page: try the input methods in order, and remember the one that works.

Most pages take an arrow key that is pressed and released at once. Some pages poll the keys, so the key must
be held for some frames. Other pages need the focus first, or take other keys, the mouse, touch, or clicks on
their buttons.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import msgspec
from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from game2048.direction import Direction
from scraper.detection.button_texts import CONSENT, KEEP_GOING, START
from scraper.detection.obstacles import Obstacles
from scraper.in_page.worlds import PageScripts
from scraper.input.hold import KeyHold
from scraper.input.listeners import ANYHOW, KEYS, MOUSE, TOUCH, heard_by
from scraper.input.pace import KeyPace
from scraper.region import Region, place_in_window

logger = logging.getLogger(__name__)

ARROWS = {
    Direction.UP: "ArrowUp",
    Direction.RIGHT: "ArrowRight",
    Direction.DOWN: "ArrowDown",
    Direction.LEFT: "ArrowLeft",
}
LETTERS = {Direction.UP: "w", Direction.RIGHT: "d", Direction.DOWN: "s", Direction.LEFT: "a"}
VI_LETTERS = {Direction.UP: "k", Direction.RIGHT: "l", Direction.DOWN: "j", Direction.LEFT: "h"}
STEPS = {Direction.UP: (0, -1), Direction.RIGHT: (1, 0), Direction.DOWN: (0, 1), Direction.LEFT: (-1, 0)}
BUTTONS = {
    Direction.UP: r"^\W*(up|move up|[↑⬆▲△⇧🔼]\ufe0f?)\W*$|(^|[^a-z])up([^a-z]|$)",
    Direction.RIGHT: r"^\W*(right|move right|[→➡▶▷⇨►]\ufe0f?)\W*$|(^|[^a-z])right([^a-z]|$)",
    Direction.DOWN: r"^\W*(down|move down|[↓⬇▼▽⇩🔽]\ufe0f?)\W*$|(^|[^a-z])down([^a-z]|$)",
    Direction.LEFT: r"^\W*(left|move left|[←⬅◀◁⇦◄]\ufe0f?)\W*$|(^|[^a-z])left([^a-z]|$)",
}
KEY_CODES = {Direction.UP: 38, Direction.RIGHT: 39, Direction.DOWN: 40, Direction.LEFT: 37}
KEY_EVENTS = {
    direction: [
        {"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": KEY_CODES[direction]}
        for kind in ("rawKeyDown", "keyUp")
    ]
    for direction, key in ARROWS.items()
}
HOLD_AT_MOST_MS = 1000
"""The longest wait for the frames of the page that must begin while a key is held."""
HOLDS = 2
"""How often a page is tried with held arrow keys; each hold is longer than the one before."""
FOCUSED = 2
"""After this many tries the board has the focus, and the page has had time to add its listeners."""
_Places = dict[str, tuple[float, float]]
REACH = 0.3
"""The length of a drag or swipe, as a share of the board."""


@dataclass(frozen=True, slots=True)
class InputMethod:
    """One way to make a move.

    Attributes:
        name: the name in logs and site profiles.
        act: makes the move; returns False if the page does not offer this method.
        hears: the events of this method; a page must listen to at least one of them.
        at_once: whether it takes no time, so that the wait for its effect can begin before it.
        holds: whether it holds a key.
    """

    name: str
    act: Callable[[Direction], Awaitable[bool]]
    hears: frozenset[str]
    at_once: bool = False
    holds: bool = False


INPUT_METHODS = (
    "arrow keys",
    "arrow keys, held",
    "letter keys",
    "vi keys",
    "buttons",
    "mouse drag",
    "touch swipe",
)
"""The names of the input methods, in the order to try them."""


class PageInput:
    """Make moves on one page, by the input method that works there.

    Args:
        page: a page of Playwright.
        scripts: the project's scripts in the page.
        obstacles: clicks away what covers the game.
        region: returns where the board is.
        only: the names of the methods to use, from a site profile; ``None`` for all.
        slow_mo: leave the keys to the browser driver, which waits before each action.
    """

    def __init__(
        self,
        page: Page,
        scripts: PageScripts,
        obstacles: Obstacles,
        region: Callable[[], Awaitable[Region | None]],
        only: tuple[str, ...] | None = None,
        *,
        slow_mo: bool = False,
    ) -> None:
        self._page = page
        self._scripts = scripts
        self._obstacles = obstacles
        self._region = region
        self._slow_mo = slow_mo
        self._session: CDPSession | None = None
        self._proven: InputMethod | None = None
        acts: list[tuple[Callable[[Direction], Awaitable[bool]], frozenset[str]]] = [
            (self._arrows, KEYS),
            (self._held_arrows, KEYS),
            (self._letters, KEYS),
            (self._vi_letters, KEYS),
            (self._buttons, ANYHOW),
            (self._drag, MOUSE),
            (self._swipe, TOUCH),
        ]
        holding = (self._held_arrows, self._letters, self._vi_letters)
        methods = [
            InputMethod(name, act, hears, at_once=act == self._arrows, holds=act in holding)
            for name, (act, hears) in zip(INPUT_METHODS, acts, strict=True)
        ]
        self._methods = [method for method in methods if only is None or method.name in only] or methods
        self._used = self._methods[0]
        self.forget()

    def forget(self) -> None:
        """Reset for a page that has loaded again; the method that worked before is tried first."""
        self.pace = KeyPace()
        self.hold = KeyHold()
        self.misses = 0
        """How often the page has ignored this move so far."""
        self.fruitless = 0
        """For how many moves all methods have failed, before any method has worked."""
        self.moves = 0
        """How many moves the page has made."""
        self._heard: frozenset[str] | None = None

    @property
    def proven(self) -> str | None:
        """The name of the method that works on this page; ``None`` until one has worked."""
        return self._proven.name if self._proven else None

    @property
    def fresh(self) -> bool:
        """Whether the next press is the first of its move."""
        return self.misses == 0

    def _plan(self) -> list[tuple[InputMethod, bool]]:
        """Return the methods to try for one move, each with whether to clear and focus the page first."""
        others = [method for method in self._methods if method is not self._proven]
        if self._proven is not None:
            return [(self._proven, False), (self._proven, False), (self._proven, True)] + [
                (method, True) for method in others
            ]
        head, *rest = self._methods
        held = [method for method in rest if method.act == self._held_arrows]
        rest = [method for method in held * (HOLDS - 1) + rest if self._is_heard(method)]
        if self.fruitless:  # no key worked in another direction, so no key will work here
            return [(head, True), *((method, False) for method in rest if method.hears is not KEYS)]
        last = [(head, True)] if self._is_heard(head) else []
        return [(head, False), (head, True), *((method, False) for method in rest), *last]

    def _is_heard(self, method: InputMethod) -> bool:
        """Return whether the page may listen to a method."""
        return self._heard is None or method.hears is ANYHOW or bool(method.hears & self._heard)

    @property
    def exhausted(self) -> bool:
        """Whether every method has been tried for this move."""
        return self.misses >= len(self._plan())

    @property
    def at_once(self) -> bool:
        """Whether the method whose turn it is takes no time."""
        return not self.exhausted and self._plan()[self.misses][0].at_once

    async def prepare(self) -> None:
        """Prepare for a move: remove obstacles if that may help, and wait until the page takes keys."""
        if self.exhausted:
            self.misses = 0
        if self._plan()[self.misses][1]:
            await self.clear()
        if left := self.pace.left(time.monotonic()):
            await asyncio.sleep(left)
        self.pace.press(time.monotonic())

    async def move(self, direction: Direction) -> None:
        """Make a move by the method whose turn it is."""
        while not self.exhausted:
            self._used = self._plan()[self.misses][0]
            if await self._used.act(direction):
                return
            self.misses += 1

    async def press(self, direction: Direction) -> None:
        """Make a move by the method that works; do not wait for its effect."""
        await (self._proven or self._methods[0]).act(direction)

    def took(self) -> None:
        """Note that the page has moved."""
        self.pace.note(taken=True, first=self.fresh)
        if self._used.holds:
            self.hold.note(taken=True)
        if self._proven is not self._used:
            if self._used is not self._methods[0] or self._proven is not None:
                logger.info("the page is played with: %s", self._used.name)
            self._proven = self._used
        self.misses = 0
        self.moves += 1

    async def missed(self) -> None:
        """Note that the page has ignored the move."""
        if self._used.holds:
            if self.hold.is_reliable:
                self.pace.note(taken=False, first=self.fresh)
            self.hold.note(taken=False)
        else:
            self.pace.note(taken=False, first=self.fresh)
        self.misses += 1
        if self._proven is None and self.misses == (1 if self.fruitless else FOCUSED):
            self._heard = await heard_by(self._page, await self._cdp())
        if self._proven is None and self.exhausted:
            self.fruitless += 1

    def give_up(self) -> None:
        """Begin with the first method at the next move."""
        self.misses = 0

    def begin_anew(self) -> None:
        """Begin with the first method again, because the board is another one."""
        self.misses = self.fruitless = 0

    async def clear(self) -> None:
        """Remove what covers the page, and give the board the focus."""
        in_game = self._proven is not None
        if not await self._obstacles.click_one(KEEP_GOING, CONSENT, START, in_game=in_game):
            await self._obstacles.leaf_through(in_game=in_game)
        with contextlib.suppress(PlaywrightError):
            region = await self._region()
            if region is None:
                return
            if not await self._scripts.call(self._page.main_frame, "isButtonAt", *region.centre):
                await self._page.mouse.click(*region.centre)

    # -- the methods --------------------------------------------------------------------------------------

    async def _arrows(self, direction: Direction) -> bool:
        if self._slow_mo:
            await self._page.keyboard.press(ARROWS[direction])
            return True
        session = await self._cdp()
        # Without a wait between them; the browser keeps their order.
        await asyncio.gather(
            *(session.send("Input.dispatchKeyEvent", event) for event in KEY_EVENTS[direction])
        )
        return True

    async def _held_arrows(self, direction: Direction) -> bool:
        return await self._hold(ARROWS[direction])

    async def _letters(self, direction: Direction) -> bool:
        return await self._hold(LETTERS[direction])

    async def _vi_letters(self, direction: Direction) -> bool:
        return await self._hold(VI_LETTERS[direction])

    async def _hold(self, key: str) -> bool:
        await self._page.keyboard.down(key)
        try:
            frames = self._scripts.call(
                self._page.main_frame, "awaitFrames", self.hold.frames, HOLD_AT_MOST_MS
            )
            await asyncio.gather(asyncio.sleep(self.hold.ms / 1000), frames)
        finally:
            await self._page.keyboard.up(key)
        return True

    async def _drag(self, direction: Direction) -> bool:
        region = await self._region()
        if region is None:
            return False
        (x, y), (dx, dy) = region.centre, STEPS[direction]
        mouse = self._page.mouse
        x, y = x - dx * region.width * REACH / 2, y - dy * region.height * REACH / 2
        await mouse.move(x, y)
        await mouse.down()
        await mouse.move(x + dx * region.width * REACH, y + dy * region.height * REACH, steps=6)
        await mouse.up()
        return True

    async def _swipe(self, direction: Direction) -> bool:
        region = await self._region()
        if region is None:
            return False
        (x, y), (dx, dy) = region.centre, STEPS[direction]
        x, y = x - dx * region.width * REACH / 2, y - dy * region.height * REACH / 2
        await self._touch("touchStart", x, y)
        for step in range(1, 7):
            reach = REACH * step / 6
            await self._touch("touchMove", x + dx * region.width * reach, y + dy * region.height * reach)
        await self._touch("touchEnd")
        return True

    async def _touch(self, kind: str, *point: float) -> None:
        points = [{"x": point[0], "y": point[1]}] if point else []
        await (await self._cdp()).send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    async def _cdp(self) -> CDPSession:
        if self._session is None:
            self._session = await self._page.context.new_cdp_session(self._page)
        return self._session

    async def _buttons(self, direction: Direction) -> bool:
        patterns = {name.value: pattern for name, pattern in BUTTONS.items()}
        for frame in self._page.frames:
            with contextlib.suppress(PlaywrightError, msgspec.DecodeError):
                found: _Places | None = await self._scripts.call(
                    frame, "directionButtons", patterns, into=_Places | None
                )
                if found:
                    x, y = await place_in_window(frame, *found[direction.value])
                    await self._page.mouse.click(x, y)
                    return True
        return False
