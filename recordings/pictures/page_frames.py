"""Pictures taken of a page during a game, as one animation."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from PIL import Image

from game2048.errors import RecordError
from recordings.atomic import atomic
from recordings.pictures.animation import spread_evenly
from recordings.pictures.animation_options import AnimationOptions

MAX_PAGE_FRAMES = 1000
"""Pictures that are kept of one game: each is some 20 to 200 kB."""


class PagePictures:
    """Keeps pictures of a game, spread evenly, however long it becomes.

    When there are too many, every second one is dropped, and only every second move is pictured from then on.

    Args:
        most: pictures that are kept, at least 2.
    """

    def __init__(self, most: int) -> None:
        self._most = max(2, min(most, MAX_PAGE_FRAMES))
        self._stride = 1
        self._pictures: list[bytes] = []
        self._last: bytes | None = None

    def wants(self, moves: int | None) -> bool:
        """Return whether to take a picture after this many moves; ``None`` is the end of the game."""
        return moves is None or moves % self._stride == 0

    def add(self, moves: int | None, picture: bytes) -> None:
        """Keep a picture that `wants` asked for. Pictures come in the order of the game.

        Args:
            moves: the moves made before the picture; ``None`` for the end of the game.
            picture: a PNG.
        """
        if moves is None:
            self._last = picture
            return
        self._pictures.append(picture)
        if len(self._pictures) > self._most:
            del self._pictures[1::2]
            self._stride *= 2

    def in_order(self) -> list[bytes]:
        """Return the pictures in the order of the game."""
        last = [] if self._last is None else [self._last]
        return self._pictures[: self._most - len(last)] + last


def write_page_animation(
    pictures: Sequence[bytes], path: str | os.PathLike[str], options: AnimationOptions
) -> None:
    """Write pictures of a page as a GIF that repeats for ever.

    Args:
        pictures: PNGs in order; those of another shape than the first are fitted into its shape.
        path: the file; replaced whole, or left as it was when something fails.
        options: ``pixels``, ``frame_ms``, ``hold_ms``, ``frames`` and ``max_bytes`` count.

    Raises:
        RecordError: there is no picture, one cannot be read, the file cannot be written, or not one frame
            fits into ``max_bytes``.
    """
    path = Path(path)
    if not pictures:
        raise RecordError(f"{path} cannot be drawn: no picture was taken of the page", path=path)
    try:
        with atomic(path) as file:
            count = min(len(pictures), options.frames)
            while not _fits(file, _some(pictures, count), options):
                if count == 1:
                    raise RecordError(
                        f"not one frame fits into {options.max_bytes} bytes; try smaller pictures", path=path
                    )
                count = max(1, count * 3 // 4)
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise RecordError(f"{path} cannot be written: {error}", path=path) from error


def _some(pictures: Sequence[bytes], count: int) -> list[bytes]:
    return [pictures[place] for place in spread_evenly(len(pictures), count)]


def _fits(file: IO[bytes], pictures: Sequence[bytes], options: AnimationOptions) -> bool:
    """Write the file; return whether it is small enough."""
    file.seek(0)
    file.truncate()
    frames = _frames(pictures, options.pixels)
    first = next(frames)
    times = [options.frame_ms] * (len(pictures) - 1) + [options.hold_ms]
    first.save(file, "GIF", save_all=True, append_images=frames, duration=times, loop=0)
    return options.max_bytes is None or file.tell() <= options.max_bytes


def _frames(pictures: Sequence[bytes], pixels: int) -> Iterator[Image.Image]:
    size: tuple[int, int] | None = None
    for picture in pictures:
        with Image.open(io.BytesIO(picture), formats=["PNG"]) as image:
            if size is None:
                size = pixels, max(1, round(image.height * pixels / image.width))
            # One adaptive palette for each frame, without dithering: flat colours stay flat.
            yield image.convert("RGB").resize(size).quantize(256, dither=Image.Dither.NONE)
