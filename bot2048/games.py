"""Games as values: read from a dataset, or played on a page. In a notebook they draw themselves."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, fields
from html import escape
from pathlib import Path
from typing import Self

from bot.options import GameSummary
from game2048.board import Board
from game2048.direction import DIRECTIONS, Direction
from recordings.datasets import dataset_file
from recordings.game_arrays import GameArrays, arrays_of, record_of
from recordings.pictures.animation_options import AnimationOptions
from recordings.record import GameRecord

_SHOWN = AnimationOptions(frames=150, pixels=260, max_bytes=1_500_000)


@dataclass(frozen=True, slots=True, eq=False)
class Game(GameArrays):
    """One game of n moves. In a notebook it shows itself as a GIF.

    `GameArrays` says which arrays it has. Compare games with `equals`.
    """

    @classmethod
    def of(cls, game: GameArrays) -> Self:
        """Return a game with the arrays of another one."""
        return cls(**{field.name: getattr(game, field.name) for field in fields(GameArrays)})

    @property
    def max_tile(self) -> int:
        """The largest tile at the end."""
        return self.final_board.max_tile

    @property
    def final_board(self) -> Board:
        """The board after the last move."""
        return self.board(self.plies)

    @property
    def moves(self) -> list[Direction]:
        """The directions, in order."""
        return [DIRECTIONS[index] for index in self.directions.tolist()]

    def board(self, moves: int) -> Board:
        """Return the board after a number of moves; 0 is the first board."""
        return Board(*self.size, self.cells[moves].tobytes())

    def boards(self) -> Iterator[Board]:
        """Return the n + 1 boards: before each move, and after the last one."""
        return (self.board(moves) for moves in range(self.plies + 1))

    def record(self) -> GameRecord:
        """Return the game as a record, a line of ``games.jsonl``."""
        return record_of(self)

    def gif(self, options: AnimationOptions | None = None) -> bytes:
        """Return the game as the content of a GIF.

        Raises:
            RecordError: not even one frame fits into ``options.max_bytes``.
        """
        from recordings.pictures.animation import gif_bytes  # loads Pillow

        return gif_bytes(self, options)

    def save_gif(self, path: str | Path, options: AnimationOptions | None = None) -> None:
        """Write the game to a ``.gif`` or ``.webp`` file.

        Raises:
            RecordError: the file cannot be written.
        """
        from recordings.pictures.animation import write_animation  # loads Pillow

        write_animation(self, path, options)

    def __repr__(self) -> str:
        return f"<Game: score {self.final_score:,}, tile {self.max_tile}, {self.plies:,} moves>"

    def _repr_html_(self) -> str:
        """Show the game in a notebook, as a GIF inside the page."""
        data = base64.b64encode(self.gif(_SHOWN)).decode("ascii")
        return f'<img src="data:image/gif;base64,{data}" alt="{escape(repr(self)[1:-1])}">'


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlayedGame(Game):
    """A game that was just played on a page.

    Attributes:
        seconds: from the first question to the last confirmed move.
        gif_path: where its GIF is; ``None`` if none was written.
        gif_fault: why the GIF could not be written; the record is complete without it.
    """

    seconds: float = 0.0
    gif_path: Path | None = None
    gif_fault: str | None = None

    @classmethod
    def of_summary(cls, summary: GameSummary) -> Self:
        """Return the game of a summary."""
        arrays = arrays_of(summary.record)
        given = {field.name: getattr(arrays, field.name) for field in fields(GameArrays)}
        return cls(**given, seconds=summary.seconds, gif_path=summary.gif, gif_fault=summary.gif_fault)


def read_games(path: str | Path) -> Iterator[Game]:
    """Read the games of a dataset, one at a time.

    Args:
        path: a ``.jsonl``, ``.json``, ``.csv``, ``.parquet`` or ``.h5`` file, or a run folder.

    Raises:
        RecordError: the file cannot be read, or holds what is not a game; names file, game and fault.
    """
    return map(Game.of, dataset_file.read_games(path))
