"""A game as an animation: which states are shown, and the GIF or WebP file of them."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
from PIL import Image

from game2048.board import Board
from game2048.direction import DIRECTIONS
from game2048.errors import RecordError
from recordings.atomic import atomic
from recordings.game_arrays import GameArrays, arrays_of
from recordings.pictures.animation_options import BEST_FRAMES, AnimationOptions, Show
from recordings.pictures.board_image import Renderer
from recordings.pictures.gif import write_gif_frames
from recordings.pictures.motion_frames import Timed, motion_frames
from recordings.record import GameRecord

ANIMATION_SUFFIXES = (".gif", ".webp")

_MAX_HELD_PIXELS = 1 << 28  # WebP takes all frames at once
_MARGIN = 0.93  # when frames are left out: so much of the room is aimed at


class _TooLargeError(Exception):
    """The file grew beyond its bound; ``share`` of its states were written by then."""

    def __init__(self, share: float) -> None:
        self.share = share


def write_animation(
    game: GameRecord | GameArrays, path: str | os.PathLike[str], options: AnimationOptions | None = None
) -> None:
    """Write a game as an animation that repeats for ever.

    Args:
        game: the game.
        path: the file, a ``.gif`` or ``.webp``; replaced whole, or left as it was when something fails.
        options: how it is drawn.

    Raises:
        RecordError: a board of the game is invalid or of another size than the first, the file cannot be
            written, or no frame fits into ``max_bytes``.
    """
    path = Path(path)
    options = options or AnimationOptions()
    if path.suffix.lower() not in ANIMATION_SUFFIXES:
        raise RecordError(
            f"{path} is not the name of a picture; expected .gif or .webp at its end", path=path
        )
    animation = _animation_of(game, path, options)
    try:
        with atomic(path) as file:
            animation.write(file, path)
    except OSError as error:
        raise RecordError(f"{path} cannot be written: {error.strerror or error}", path=path) from error


def gif_bytes(game: GameRecord | GameArrays, options: AnimationOptions | None = None) -> bytes:
    """Return a game as the content of a GIF that repeats for ever.

    Args:
        game: the game.
        options: how it is drawn.

    Raises:
        RecordError: see `write_animation`.
    """
    file, path = io.BytesIO(), Path("game.gif")
    _animation_of(game, path, options or AnimationOptions()).write(file, path)
    return file.getvalue()


def _animation_of(game: GameRecord | GameArrays, path: Path, options: AnimationOptions) -> _Animation:
    try:
        return _Animation(game if isinstance(game, GameArrays) else arrays_of(game), options)
    except RecordError as error:
        raise RecordError(f"the game cannot be drawn: {error}", path=path) from error


def spread_evenly(count: int, frames: int) -> list[int]:
    """Choose which of ``count`` states become frames: all if they are few, else evenly from first to last.

    A single frame shows the last state.
    """
    if count <= frames:
        return list(range(count))
    if frames == 1:
        return [count - 1]
    return [(frame * (count - 1) + (frames - 1) // 2) // (frames - 1) for frame in range(frames)]


def shown_states(game: GameArrays, show: Show) -> list[int]:
    """List the states of a game that are shown: numbers of moves made, the last one among them."""
    if show.kind == "last":
        return list(range(max(0, game.plies - show.moves), game.plies + 1))
    if show.kind == "every":
        return [*range(0, game.plies, show.moves), game.plies]
    if show.kind == "best":
        largest = np.maximum.accumulate(game.cells.reshape(len(game.cells), -1).max(axis=1).astype(np.int64))
        return sorted({0, *(np.flatnonzero(np.diff(largest)) + 1).tolist(), game.plies})
    return list(range(game.plies + 1))


class _Animation:
    """The frames of one game."""

    def __init__(self, game: GameArrays, options: AnimationOptions) -> None:
        self._game = game
        self._options = options
        self._renderer = Renderer(game.size, options.pixels)
        self._states = shown_states(game, options.show)

    def write(self, file: IO[bytes], path: Path) -> None:
        """Write the file, with fewer and fewer frames until it fits."""
        count = min(len(self._states), self._options.frames)
        encode = self._write_webp if path.suffix.lower() == ".webp" else self._write_gif
        while True:
            file.seek(0)
            file.truncate()
            try:
                encode(file, [self._states[place] for place in spread_evenly(len(self._states), count)])
            except _TooLargeError as error:
                if count == 1:
                    raise RecordError(
                        f"not one frame fits into {self._options.max_bytes} bytes; try smaller pictures",
                        path=path,
                    ) from None
                count = max(1, min(count - 1, int(count * error.share * _MARGIN)))
                continue
            return

    def _write_gif(self, file: IO[bytes], states: list[int]) -> None:
        limit = self._options.max_bytes

        def watched() -> Iterator[Timed]:
            for number, frames in enumerate(self._frames(states)):
                yield from frames
                if limit is not None and file.tell() > limit:
                    raise _TooLargeError(number / len(states))

        write_gif_frames(file, self._renderer, watched())
        if limit is not None and file.tell() > limit:
            raise _TooLargeError((len(states) - 1) / len(states))

    def _write_webp(self, file: IO[bytes], states: list[int]) -> None:
        pictures: list[Image.Image] = []
        times: list[int] = []
        for frames in self._frames(states):
            for picture, milliseconds in frames:
                if (len(pictures) + 1) * picture.width * picture.height > _MAX_HELD_PIXELS:
                    raise _TooLargeError(len(pictures) / (len(pictures) + 1) * 0.9)
                picture.putpalette(self._renderer.palette)
                pictures.append(picture)
                times.append(milliseconds)
        buffer = io.BytesIO()
        first, *others = pictures
        given = {"save_all": True, "append_images": others, "duration": times, "loop": 0}
        first.save(buffer, "WEBP", lossless=True, quality=50, **given)
        size = buffer.tell()
        if self._options.max_bytes is not None and size > self._options.max_bytes:
            raise _TooLargeError(self._options.max_bytes / size)
        file.write(buffer.getbuffer())

    def _frames(self, states: list[int]) -> Iterator[list[Timed]]:
        """Yield the frames that lead to each state, and the state itself."""
        shown = None
        for state in states:
            frames = []
            if self._options.moving and state:
                if shown != state - 1:
                    frames.append((self._picture(state - 1), self._options.frame_ms))
                frames += self._motion(state)
            frames.append((self._picture(state), self._time(state)))
            yield frames
            shown = state

    def _time(self, state: int) -> int:
        if state == self._game.plies:
            return self._options.hold_ms
        return self._options.frame_ms * (BEST_FRAMES if self._options.show.kind == "best" else 1)

    def _picture(self, state: int) -> Image.Image:
        return self._renderer.picture(self._game.cells[state].tobytes(), int(self._game.scores[state]), state)

    def _motion(self, state: int) -> Iterator[Timed]:
        before, after = (
            Board(*self._game.size, self._game.cells[place].tobytes()) for place in (state - 1, state)
        )
        scores = int(self._game.scores[state - 1]), int(self._game.scores[state])
        direction = DIRECTIONS[self._game.directions[state - 1]]
        return motion_frames(self._renderer, before, direction, after, scores, state - 1)
