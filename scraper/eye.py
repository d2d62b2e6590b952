"""What sees the board of a page: the questions to it, and what it answers.

There are two: the script inside the page (`scraper.detection.page_script`), for boards made of elements, and
pictures of a canvas (`scraper.readers.canvas`).
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Protocol

import msgspec

from scraper.reading import TileFaces
from scraper.region import Region

if TYPE_CHECKING:
    from playwright.async_api import Frame

Explains = Callable[[tuple[str, ...]], bool]
"""Whether the rules explain these looks as what a move led to."""


class SightKind(enum.Enum):
    """What a wait for the board came to. Its ``value`` is what the page's script calls it."""

    SETTLED = "settled"
    """The board is at rest."""
    MOVING = "moving"
    """The board did not come to rest in time."""
    GONE = "gone"
    """There is no board any more."""
    SLID = "slid"
    """The board slid as expected, and tiles spawned."""
    UNCHANGED = "unchanged"
    """Nothing happened after the key."""
    OTHER = "other"
    """The board came to rest elsewhere than expected."""


class Sighting(msgspec.Struct, frozen=True, rename="camel"):
    """What was seen at the end of a wait.

    Attributes:
        outcome: what the wait came to.
        reading: what the reader returned, not checked yet.
        early: the first board that would have been believed in trust.
        at_key: the board as it stood when the key arrived.
        keys_seen: how many keys have reached the board's document.
        name: the reader's.
    """

    outcome: SightKind
    reading: object
    early: TileFaces | None
    at_key: TileFaces | None
    keys_seen: Annotated[int, msgspec.Meta(ge=0)]
    name: str | None


class SettleQuestion(msgspec.Struct, frozen=True, rename="camel"):
    """A wait for the board to come to rest.

    Attributes:
        quiet: milliseconds without a change.
        fresh: wait until the page has changed and shows the board of a new game.
        unblocked: wait until the message of the win has gone.
        labels: the face values of looks, as far as they are known.
        ranks: whether tiles show the power to which 2 is raised.
    """

    quiet: int
    fresh: bool = False
    unblocked: bool = False
    labels: dict[str, int] = {}
    ranks: bool = False


class SpawnRule(msgspec.Struct, frozen=True):
    """What spawns after a move: which face values, at least and at most how many."""

    values: list[int]
    least: int
    most: int


class SlideQuestion(msgspec.Struct, frozen=True, rename="camel"):
    """A wait for what a move does; times are in milliseconds.

    Attributes:
        before: the face values before the move.
        afters: what it may slide to.
        spawn: what spawns then.
        score: the digits that the page then shows; ``None`` where that cannot be said.
        looks_before: the looks before the move, on boards without numbers.
        trusting: whether the board may be believed at once.
        quiet: how long an expected board must stay as it is.
        quiet_other: the same for another board.
        idle: how long without a change tells that the key was dropped.
        labels: the face values of looks, as far as they are known.
        ranks: whether tiles show the power to which 2 is raised.
    """

    before: list[int]
    afters: list[list[int]]
    spawn: SpawnRule
    score: str | None
    looks_before: tuple[str, ...]
    trusting: bool
    quiet: int
    quiet_other: int
    idle: int
    labels: dict[str, int] = {}
    ranks: bool = False


class DocumentGoneError(Exception):
    """The document that was asked has gone, for instance because the page loaded anew."""


class BoardEye(Protocol):
    """What sees the board of one page."""

    @property
    def name(self) -> str:
        """What logs call it."""
        ...

    @property
    def frame(self) -> Frame:
        """The frame in which the board was found."""
        ...

    @property
    def has_board(self) -> bool:
        """Whether a board has been found and is not known to have gone."""
        ...

    async def await_settled(self, question: SettleQuestion, cap: int) -> Sighting:
        """Wait for the board to come to rest, at most ``cap`` milliseconds.

        Raises:
            DocumentGoneError: the page has loaded anew.
            PageError: the page has gone, or does not answer, or answers nonsense.
        """
        ...

    async def await_slide(self, question: SlideQuestion, cap: int, explains: Explains) -> Sighting:
        """Wait for what a move does, at most ``cap`` milliseconds.

        Args:
            question: what is expected.
            cap: the longest wait.
            explains: for boards without numbers: whether the rules explain these looks.

        Raises:
            DocumentGoneError: the page has loaded anew.
            PageError: the page has gone, or does not answer, or answers nonsense.
        """
        ...

    async def region(self) -> Region | None:
        """Return where the board is in the window; ``None`` if that cannot be told."""
        ...

    async def skip(self) -> bool:
        """Look at another board that is seen in the same way; return whether there is one."""
        ...

    def look_closer(self) -> bool:
        """Tell looks apart that differ less; return whether that is possible."""
        ...

    def forget(self) -> None:
        """Forget the board: it is found anew before the next question."""
        ...
