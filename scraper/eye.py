"""The interface `BoardEye`, which sees the board of a page, with its questions and answers.

It has two implementations: the script inside the page (`scraper.detection.page_script`) for boards made of
elements, and pictures of a canvas (`scraper.readers.canvas`).
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

Foreseen = Callable[[TileFaces], None]
"""Takes the board that a move will probably make, before the move is confirmed."""

Explains = Callable[[tuple[str, ...]], bool]
"""Returns whether the rules explain these looks as the result of the move."""


class SightKind(enum.Enum):
    """How a wait for the board ended. The ``value`` is the name in the page's script."""

    SETTLED = "settled"
    """The board is at rest."""
    MOVING = "moving"
    """The board did not come to rest in time."""
    GONE = "gone"
    """The board has disappeared."""
    SLID = "slid"
    """The board slid as expected, and tiles spawned."""
    UNCHANGED = "unchanged"
    """Nothing happened after the key."""
    OTHER = "other"
    """The board came to rest in a state that was not expected."""


class Sighting(msgspec.Struct, frozen=True, rename="camel"):
    """The answer at the end of a wait.

    Attributes:
        outcome: how the wait ended.
        reading: what the reader returned, not checked yet.
        early: the first board that would have been believed on a trusted page; see `Trust`.
        at_key: the board at the moment when the key arrived.
        keys_seen: how many keys have reached the board's document.
        name: the name of the reader.
        foreseen: whether the page showed the board some time before the move was confirmed.
    """

    outcome: SightKind
    reading: object
    early: TileFaces | None
    at_key: TileFaces | None
    keys_seen: Annotated[int, msgspec.Meta(ge=0)]
    name: str | None
    foreseen: bool = False


class SettleQuestion(msgspec.Struct, frozen=True, rename="camel"):
    """A wait for the board to come to rest.

    Attributes:
        quiet: milliseconds without a change.
        fresh: wait until the page has changed and shows the board of a new game.
        unblocked: wait until the win message has gone.
        labels: the face values of the looks that are known.
        ranks: whether tiles show exponents: 3 for the tile 8.
    """

    quiet: int
    fresh: bool = False
    unblocked: bool = False
    labels: dict[str, int] = {}
    ranks: bool = False


class SpawnRule(msgspec.Struct, frozen=True):
    """The tiles that spawn after a move: their face values, the least and the most number of tiles."""

    values: list[int]
    least: int
    most: int


class SlideQuestion(msgspec.Struct, frozen=True, rename="camel"):
    """A wait for the effect of a move; times are in milliseconds.

    Attributes:
        before: the face values before the move.
        afters: the face values of each possible afterstate.
        spawn: the tiles that spawn then.
        score: the digits of the score that the page then shows; ``None`` if the score is unknown.
        looks_before: the looks before the move, on boards without numbers.
        trusting: whether to believe the board at once.
        quiet: how long an expected board must stay unchanged.
        quiet_other: the same for an unexpected board.
        idle: if nothing changes for this long, the page dropped the key.
        labels: the face values of the looks that are known.
        ranks: whether tiles show exponents: 3 for the tile 8.
        foresee: whether to look out for the board before the move is confirmed.
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
    foresee: bool = False


class DocumentGoneError(Exception):
    """The document of the board has gone, for example because the page loaded again."""


class BoardEye(Protocol):
    """Sees the board of one page."""

    @property
    def name(self) -> str:
        """The name in the log."""
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
            DocumentGoneError: the page has loaded again.
            PageError: the page has gone, or does not answer, or answers nonsense.
        """
        ...

    async def await_slide(
        self, question: SlideQuestion, cap: int, explains: Explains, foreseen: Foreseen
    ) -> Sighting:
        """Wait for the effect of a move, at most ``cap`` milliseconds.

        Args:
            question: which boards to expect.
            cap: the longest wait, in milliseconds.
            explains: returns whether the rules explain some looks; for boards without numbers.
            foreseen: called with the board that the move will probably make, if the eye can tell before the
                move is confirmed, and if the question asks for it.

        Raises:
            DocumentGoneError: the page has loaded again.
            PageError: the page has gone, or does not answer, or answers nonsense.
        """
        ...

    async def region(self) -> Region | None:
        """Return where the board is in the window; ``None`` if that is unknown."""
        ...

    async def skip(self) -> bool:
        """Turn to another board that this eye sees on the page; return whether there is one."""
        ...

    def look_closer(self) -> bool:
        """Compare looks more closely from now on; return whether that is possible."""
        ...

    def forget(self) -> None:
        """Forget the board; look for it again before the next question."""
        ...
