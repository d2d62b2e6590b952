"""List the readers of one page: which to try, which have failed, and why."""

from __future__ import annotations

from collections.abc import Mapping

from scraper.eye import Sighting
from scraper.readers import CANVAS_TEXT, PIXELS, BoardReader
from scraper.reading import NoBoardError, Reading


class ReaderList:
    """The readers of one page.

    Args:
        readers: the readers of elements, in the order to try them.

    Attributes:
        reasons: by reader, why the board that it saw is not one of 2048.
        given_up: the readers that are not believed any more, each with the reason.
        is_2048: whether the page has followed the rules. Then a reader that cannot read the board does not
            show that the page is another game.
    """

    def __init__(self, readers: tuple[BoardReader, ...]) -> None:
        self.of_elements = readers
        self._by_name = {reader.name: reader for reader in (*readers, CANVAS_TEXT, PIXELS)}
        self.reasons: dict[str, str] = {}
        self.given_up: dict[str, str] = {}
        self.is_2048 = False

    def names(self, *, weak: bool) -> list[str]:
        """Return the names of the readers of elements to try, either the weak or the reliable ones."""
        return [
            reader.name
            for reader in self.of_elements
            if reader.traits.weak is weak and reader.name not in self.given_up
        ]

    def profile_for(self, name: str) -> Mapping[str, object] | None:
        """Return the board of the site profile, for the reader that uses it."""
        return self._by_name[name].profile

    def exclude(self, name: str, why: str) -> None:
        """Stop believing this reader on this page."""
        self.given_up[name] = why

    @property
    def numbers_refuted(self) -> bool:
        """Whether the page shows a board with numbers that is not one of 2048."""
        return not self.is_2048 and any(self._by_name[name].traits.numbered for name in self.given_up)

    @property
    def weak_may_see(self) -> bool:
        """Whether the weak readers may be tried."""
        return self.is_2048 or not self.reasons

    def reading(self, sighting: Sighting, raw: object, url: str) -> Reading:
        """Check the reading in a sighting.

        Args:
            sighting: the answer of an eye.
            raw: its reading, with face values where they are known.
            url: address of the page, for errors.

        Raises:
            NoBoardError: there is no board.
            UnreadableError: the board is not one of 2048.
        """
        reader = self._by_name.get(sighting.name or "")
        if reader is None or sighting.reading is None:
            raise self.no_board(url)
        return reader.reading(raw)

    def no_board(self, url: str) -> NoBoardError:
        """Make the error that says which boards were looked for, or why the board is not one of 2048."""
        if self.given_up:
            name, why = next(iter(self.given_up.items()))
            return NoBoardError(
                f"{url} is not a game of 2048 as far as {name} can tell: {why}", url=url, reader=name
            )
        if self.reasons:
            name, why = next(iter(self.reasons.items()))
            return NoBoardError(
                f"{url} is not a game of 2048 that can be played: {why}", url=url, reader=name
            )
        looked_for = ", ".join(f"{reader.looks_for} ({reader.name})" for reader in self.of_elements)
        return NoBoardError(
            f"no board of 2048 found on {url}: "
            f"looked for {looked_for}; try --headed to see what the page shows",
            url=url,
        )
