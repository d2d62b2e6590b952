"""What stands between a player and the game: start buttons, guides, banners, messages of the win."""

from __future__ import annotations

import contextlib
import logging
import re
from dataclasses import dataclass, field
from importlib import resources

import msgspec
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from scraper.reading import Status

logger = logging.getLogger(__name__)

CONSENT = (
    r"^\W*(accept|agree|i agree|allow|got it|ok|okay|reject|decline|dismiss|close|skip|understood|no thanks|"
    r"x|verstanden|akzeptieren|aceptar|accepter|принять|закрыть|同意|关闭|閉じる)\b.{0,20}$|^[×✕✖✗]$"
)
START = (
    r"^\W*(start|play|begin|launch|enter|go|let'?s (go|play)|continue|resume|spielen|starten?|jouer|"
    r"commencer|jugar|empezar|iniciar|gioca|inizia|играть|начать|старт|graj|oyna|başla|开始.*|開始.*|スタート|はじめる|시작.*)"
    r"(\s+(the\s+)?(game|now|playing|2048))?\W*$|"
    r"^\W*run( game)?\W*$|\b(click|tap|touch)\b.{0,20}\bto (start|play|begin|continue)\b"
)
SIZE = r"^\W*(classic\W*)?4\s*[x×*]\s*4\b.{0,12}$"
LISTED_SIZE = SIZE + r"|^4$"
MODE = (
    r"^\W*(classic|normal|standard|original|easy|beginner|endless|infinite|single[- ]?player|solo|1 player|"
    r"klassisch|leicht|einfach|classique|facile|clásico|clássico|fácil|infinito|классика|легко|"
    r"经典.*|普通.*|简单.*|クラシック|클래식)(\s+(mode|game|2048))?\W*$"
)
GAME = r"^\W*2048( game)?\W*$"
"""What one of many games is called where one has to be chosen."""
NEW = (
    r"^\W*(new( game)?|restart( game)?|reset|try again|play again|start over|again|neues spiel|nuevo juego|"
    r"nouvelle partie|nova partida|nuova partita|новая игра|заново|新游戏|重新开始|リスタート|다시)\b.{0,12}$"
)
GO_ON = (
    r"^\W*(keep (going|playing)|continue|go on|play on|resume|endless|carry on|weiter|continuer|continuar|"
    r"продолжить|继续.*|続ける)\b.{0,20}$"
)
WON = (
    r"\byou(’|')?(ve)?\s*(win|won)\b|\bvictory\b|"
    r"\bcongratulations\b|\bwinner\b|\bgewonnen\b|\bvous avez gagné\b"
)
OVER = r"\bgame over\b|\byou (lose|lost)\b|\bno (more )?moves\b|\bverloren\b|\bperdu\b"
ANYTHING = r"\w"
MOST_PAGES = 8
"""A guide that lies over the game has so many pages at most."""
NAMELESS = """() => {
  const seen = { opacityProperty: true, visibilityProperty: true };
  const fields = [...document.querySelectorAll("input:not([type]), input[type=text]")].filter(
    (field) => !field.value && !field.readOnly && !field.disabled && field.checkVisibility(seen));
  return fields.length === 1 ? fields[0] : null;
}"""
NAME = "Player"
CHOOSE_SIZE = """(pattern) => {
  const wanted = new RegExp(pattern, "iu");
  const seen = { opacityProperty: true, visibilityProperty: true };
  for (const field of document.querySelectorAll("select")) {
    const option = [...field.options].find((one) => wanted.test(one.text) && !one.selected);
    if (!option || field.disabled || !field.checkVisibility(seen)) continue;
    option.selected = true;
    for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
    return true;
  }
  return false;
}"""
NEVER = (
    r"(share|tweet|facebook|download|install|github|log ?in|sign|buy|donat|subscribe|delete|undo|hint|auto|"
    r"ai\b|solve|bot\b|how to|rules|settings|score)"
)
NEVER_IN_GAME = NEVER + r"|(new|restart|reset|again|start|menu|quit|exit|leave)"


class _Found(msgspec.Struct, frozen=True):
    key: str
    text: str
    x: float
    y: float
    inner: int


@dataclass(slots=True)
class Gates:
    """The gates of one page: what was clicked already is not clicked again."""

    page: Page
    taken: list[str] = field(default_factory=list)

    def forget(self) -> None:
        """The page has loaded anew."""
        self.taken.clear()

    async def open_one(
        self, *patterns: str, in_game: bool = False, modal: bool = False, leave: bool = False
    ) -> bool:
        """Click the first thing that says one of these words; whether there was one.

        Args:
            patterns: of the words, the most wanted first.
            in_game: then nothing is clicked that may end the game.
            modal: only buttons of dialogs that lie over the page.
            leave: also what leads to another page of the site.
        """
        taboo = NEVER_IN_GAME if in_game else NEVER
        if in_game:
            self.taken.clear()  # a message may come back
        for pattern in patterns:
            for frame in self.page.frames:
                for found in await self._find(frame, pattern, taboo, modal=modal, leave=leave):
                    if await self._click(frame, found):
                        return True
        return False

    async def leaf_through(self, *, in_game: bool = False) -> None:
        """Click away what lies over the page, whatever its buttons say; a guide may have some pages."""
        before = list(self.taken)
        for _ in range(MOST_PAGES):
            self.taken.clear()  # each page has the same button
            if not await self.open_one(ANYTHING, in_game=in_game, modal=True):
                break
        self.taken += before

    async def give_name(self) -> bool:
        """Fill in the only field of the page, which may ask for a name; whether there is one."""
        for frame in self.page.frames:
            with contextlib.suppress(PlaywrightError):
                field = (await frame.evaluate_handle(NAMELESS)).as_element()
                if field is not None:
                    await field.fill(NAME, timeout=1000)
                    self.taken.clear()
                    return True
        return False

    async def choose_size(self) -> bool:
        """Choose a size from a list where none is chosen yet; whether there was one."""
        for frame in self.page.frames:
            with contextlib.suppress(PlaywrightError):
                if await frame.evaluate(CHOOSE_SIZE, LISTED_SIZE) is True:
                    self.taken.clear()
                    return True
        return False

    async def says(self) -> Status:
        """What the messages on the page say of the game."""
        text = ""
        for frame in self.page.frames:
            with contextlib.suppress(PlaywrightError):
                text += "\n" + str(await frame.evaluate("document.body?.innerText ?? ''"))[:20_000]
        if re.search(WON, text, re.IGNORECASE):
            return Status.WON
        return Status.OVER if re.search(OVER, text, re.IGNORECASE) else Status.PLAYING

    async def _find(
        self, frame: Frame, pattern: str, taboo: str, *, modal: bool, leave: bool
    ) -> list[_Found]:
        script = (resources.files(__package__) / "obstacles.js").read_text(encoding="utf-8")
        with contextlib.suppress(PlaywrightError, msgspec.ValidationError):
            wanted = {"pattern": pattern, "taboo": taboo, "taken": self.taken, "modal": modal, "leave": leave}
            raw = await frame.evaluate(script, wanted)
            return msgspec.convert(raw, list[_Found], strict=False)
        return []

    async def _click(self, frame: Frame, found: _Found) -> bool:
        self.taken.append(found.key)
        with contextlib.suppress(PlaywrightError):
            x, y = await place_in_page(frame, found.x, found.y)
            logger.info("clicking %r", found.text)
            await self.page.mouse.click(x, y)
            return True
        return False


async def place_in_page(frame: Frame, x: float, y: float) -> tuple[float, float]:
    """A point of a frame in the coordinates of the whole page's window."""
    if frame.parent_frame is not None:
        box = await (await frame.frame_element()).bounding_box()  # in the window's coordinates, however deep
        if box is not None:
            return x + box["x"], y + box["y"]
    return x, y
