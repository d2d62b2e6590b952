"""Types of option values that several commands take."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from game2048.errors import RulesError
from game2048.size import Size

if TYPE_CHECKING:
    _Size = click.ParamType[Size]
    _Text = click.ParamType[str]
    _Number = click.ParamType[int]
    _Numbers = click.ParamType[tuple[int, ...]]
else:
    _Size = _Text = _Number = _Numbers = click.ParamType  # not generic at run time before click 8.4

MAX_TILE_EXPONENT = 64


class SizeType(_Size):
    """The size of a board, as `Size.parse` reads it."""

    name = "size"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return what the help shows for a value."""
        return "ROWSxCOLUMNS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Size:
        """Return the size that a text names."""
        if isinstance(value, Size):
            return value
        try:
            return Size.parse(str(value))
        except RulesError as error:
            self.fail(str(error), param, ctx)


class TileType(_Number):
    """A face value from 4 up: a tile to reach."""

    name = "tile"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the face value that a text names."""
        if (exponent := _exponent(str(value))) is None or exponent < 2:
            self.fail(f"{str(value)[:40]!r} is not a tile; expected a power of two from 4 up", param, ctx)
        return 1 << exponent


class TilesType(_Numbers):
    """Face values separated by commas, as a tuple of exponents."""

    name = "tile,…"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Return the exponents of the tiles that a text names."""
        if isinstance(value, tuple):
            return value
        exponents = [_exponent(word) for word in str(value).split(",")]
        found = tuple(exponent for exponent in exponents if exponent is not None)
        if len(found) != len(exponents):
            self.fail(f"{str(value)[:80]!r} is not a list of tiles; expected e.g. 8192,16384", param, ctx)
        return found


class EngineName(_Text):
    """The name of an engine. Any name is taken: another machine's server may have engines of its own.

    Args:
        known: the names that a shell completes.
    """

    name = "name"

    def __init__(self, known: Collection[str]) -> None:
        self.known = known

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name."""
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the known names that begin so."""
        return [CompletionItem(name) for name in self.known if name.startswith(incomplete)]


def _exponent(text: str) -> int | None:
    """Return the exponent of a face value from 1 up; ``None`` for any other text."""
    if not (text.isascii() and text.isdigit() and len(text) <= 19):
        return None
    tile = int(text)
    return tile.bit_length() - 1 if tile and tile.bit_count() == 1 else None
