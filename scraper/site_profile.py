"""Read site profiles: TOML files that describe pages which detection cannot read (docs/pages.md)."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path
from typing import Annotated

import msgspec

from game2048.errors import PageError
from scraper.input.methods import INPUT_METHODS
from scraper.readers.script import ScriptReader, SideLength
from scraper.wait_times import WaitTimes

_MAX_BYTES = 1 << 16

Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=60_000)]


class BoardProfile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a page shows its board. Elements are named by CSS selectors.

    Attributes:
        selector: the element that the cells divide evenly.
        tile: the tiles, or cells, in that element.
        rows: number of rows.
        columns: number of columns.
        value: where a tile's number is: ``text``, ``class``, or the name of an attribute.
        pattern: a regular expression; its first group is the number.
        ranks: whether the number is the exponent: 3 for the tile 8.
        score: the element that shows the score.
    """

    selector: str
    tile: str
    rows: SideLength = 4
    columns: SideLength = 4
    value: str = "text"
    pattern: str | None = None
    ranks: bool = False
    score: str | None = None


class Waits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long to wait for what, in milliseconds; see `scraper.wait_times.WaitTimes`."""

    board: Milliseconds | None = None
    idle: Milliseconds | None = None
    quiet: Milliseconds | None = None
    cap: Milliseconds | None = None


class Buttons(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Selectors of the buttons to click."""

    start: tuple[str, ...] = ()
    new_game: str | None = None
    keep_going: str | None = None


class SiteProfile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The profile of a site.

    Attributes:
        board: how the site shows its board; ``None`` to detect it.
        input: the names of the input methods to try, in order of `INPUT_METHODS`; ``None`` for all.
        wait: how long to wait for what.
        buttons: which buttons to click.
    """

    board: BoardProfile | None = None
    input: tuple[str, ...] | None = None
    wait: Waits = Waits()
    buttons: Buttons = Buttons()

    def wait_times(self, usual: WaitTimes) -> WaitTimes:
        """Return the usual times, replaced by the profile's times where it gives them."""
        given = {
            name: value for name, value in msgspec.structs.asdict(self.wait).items() if value is not None
        }
        return dataclasses.replace(usual, **given)

    def reader(self) -> ScriptReader:
        """Make the reader for the board that the profile describes."""
        assert self.board is not None
        looks_for = f"the board of the site's profile, {self.board.selector}"
        return ScriptReader("site-profile", looks_for, profile=msgspec.to_builtins(self.board))


def read_profile(path: Path) -> SiteProfile:
    """Read a profile from a TOML file. The file is data; nothing in it is run.

    Raises:
        PageError: the file cannot be read, or does not fit the schema of a profile.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise ValueError(f"it is longer than {_MAX_BYTES} bytes")
        profile = msgspec.convert(tomllib.loads(data.decode("utf-8")), SiteProfile)
    except (OSError, ValueError, RecursionError) as error:  # of text, TOML or values
        reason = " ".join(str(error).split())
        raise PageError(f"the site profile {path} cannot be used: {reason}; see docs/pages.md") from error
    unknown = [name for name in profile.input or () if name not in INPUT_METHODS]
    if unknown:
        raise PageError(
            f"the site profile {path} names the input {unknown[0]!r}; "
            f"expected some of {', '.join(INPUT_METHODS)}"
        )
    return profile
