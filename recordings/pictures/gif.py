"""Animated GIFs, written a frame at a time: one palette for all frames, and each stores only what changed.

Pillow would hold every frame of an animation until it is saved. Here it compresses single frames, and the few
bytes around them are put together: two frames are in memory at a time.

Source: GIF89a specification, CompuServe, 1990.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import IO

from PIL import Image, ImageChops
from PIL.GifImagePlugin import getdata

from recordings.pictures.board_image import Renderer
from recordings.pictures.motion_frames import Timed
from recordings.pictures.palette import TRANSPARENT


def write_gif_frames(file: IO[bytes], renderer: Renderer, frames: Iterable[Timed]) -> None:
    """Write an animation that repeats for ever.

    Args:
        file: where it goes.
        renderer: drew the frames.
        frames: pictures of palette indices, each with its time in milliseconds; GIF counts in tens.

    Raises:
        OSError: the file cannot be written.
    """
    file.write(_head(renderer))
    shown: Image.Image | None = None
    for picture, milliseconds in frames:
        file.write(_frame(picture, shown, milliseconds))
        shown = picture
    file.write(b"\x3b")


def _head(renderer: Renderer) -> bytes:
    """Return header, size, the palette of all frames, and the request to repeat for ever."""
    screen = struct.pack("<6sHHBBB", b"GIF89a", renderer.width, renderer.height, 0xF7, 0, 0)
    return screen + bytes(renderer.palette) + b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"


def _frame(picture: Image.Image, shown: Image.Image | None, milliseconds: int) -> bytes:
    """Return a frame: the rectangle that differs from what is shown, equal pixels transparent."""
    if shown is None:
        return b"".join(getdata(picture, duration=milliseconds, disposal=1))
    changed = ImageChops.difference(picture, shown)
    box = changed.getbbox() or (0, 0, 1, 1)
    part = picture.crop(box)
    part.paste(TRANSPARENT, mask=changed.crop(box).point(_ABSENT))
    return b"".join(getdata(part, box[:2], duration=milliseconds, disposal=1, transparency=TRANSPARENT))


_ABSENT = [255] + [0] * 255
